# SPDX-License-Identifier: BSD-3-Clause
"""The method that is taken when none is named."""
from harness import BAD_DATA, HEADER, USAGE, CliTest, csv_text, main, points

QUICK = ("--budget", "quick", "--set", "steps=100", "--set", "folds=2")
FEW_STEPS = ("--set", "steps=20", "--set", "folds=2", "--bands", "off")


class Auto(CliTest):
    def setUp(self):
        super().setUp()
        self.write("data.csv", csv_text(HEADER, points(120)))

    def fit_default(self, *args, output="m.tare"):
        return self.ok("fit", "data.csv", "--target", "y", "-o", output, "--force", *args, default_method=True)

    def method(self):
        return self.ok("inspect", "m.tare", "--json").json()["values"]["method"]

    def test_is_the_default(self):
        self.fit_default(*QUICK, "--drop", "p")
        self.assertEqual(self.method(), "auto")
        self.fit_default("--prediction", "p")
        self.assertEqual(self.method(), "auto")

    def test_an_option_of_the_nrc_family_means_that_family(self):
        for args, method in (
            (("--regressor", "ridge", "--drop", "p"), "nrc_rf"),
            (("--split", "0.4", "--drop", "p"), "nrc_rf"),
            (("--window", "2", "--drop", "p"), "nrc_rf"),
            (("--prediction", "p", "--bandwidth", "1"), "nrc"),
        ):
            with self.subTest(args=args):
                self.fit_default(*args)
                self.assertEqual(self.method(), method)

    def test_few_rows_get_a_loose_guarantee_or_what_they_ask_for(self):
        said = self.fit_default(*QUICK, "--drop", "p").err
        self.assertIn("a 90 % interval is proven to cover at least 80 %", said)
        self.assertIn("--guarantee split", said)
        text = self.ok("inspect", "m.tare").out
        self.assertIn("guarantee    loose, 19 rows ranked by a second model", text)
        self.assertIn("delivers     at least 0.5: nothing, 0.8: 0.6000, 0.9: 0.8000, 0.95: 0.9000", text)
        self.fit_default(*QUICK, "--drop", "p", "--guarantee", "cross:2")
        text = self.ok("inspect", "m.tare").out
        self.assertIn("guarantee    cross", text)
        self.assertIn("candidates of budget quick, by pinball loss on 60 left-out rows", text)
        self.assertEqual(self.fit_default(*QUICK, "--drop", "p", "--guarantee", "none", "-q").err, "")

    def test_the_guarantee_begins_with_thirty_rows(self):
        self.write("data.csv", csv_text(HEADER, points(30)))
        self.assertIn("a second model ranks 10 rows", self.fit_default(*QUICK, "--drop", "p").err)
        self.write("data.csv", csv_text(HEADER, points(29)))
        self.assertIn("guarantee: none, because 29 rows are too few", self.fit_default(*QUICK, "--drop", "p").err)
        self.fit_default(*QUICK, "--drop", "p", "--guarantee", "loose")
        self.write("data.csv", csv_text(HEADER, points(18)))
        self.fails(BAD_DATA, "fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", *QUICK, "--drop", "p", "--guarantee", "loose",
                   default_method=True, says=["would train on 9 and rank 9 of the rows", "at least 19 rows"])

    def test_weights_and_the_guarantee_of_few_rows(self):
        every_second = [[*row, i % 2] for i, row in enumerate(points(40))]
        self.write("data.csv", csv_text([*HEADER, "w"], every_second))
        said = self.fit_default(*QUICK, "--drop", "p", "--weight", "w").err
        self.assertIn("guarantee: none, because 20 rows of positive weight are too few", said)
        heavy = [[*row, 1e6 if i == 7 else 1] for i, row in enumerate(points(40))]
        self.write("data.csv", csv_text([*HEADER, "w"], heavy))
        said = self.fit_default(*QUICK, "--drop", "p", "--weight", "w", "--guarantee", "loose:0.6").err
        self.assertIn("no coverage is proven", said)
        self.assertIn("warning: the 90 % interval rests on the outermost ranked rows", said)

    def test_from_two_thousand_rows_on_a_twentieth_is_held_out(self):
        self.write("data.csv", csv_text(HEADER, points(2000)))
        text = self.fit_default("--prediction", "p").err
        self.assertIn("100 rows held out (5 %); a 90 % interval is proven to cover at least 86.1 %", text)

    def test_a_limit_of_rows_is_told(self):
        plain = ("--drop", "p", "--guarantee", "none")
        said = self.fit_default(*QUICK, *plain, "--set", "most_rows=100").err
        self.assertIn("rows: learned from 100 of 120 (--set most_rows=N for another number)", said)
        self.assertIn("fitted on    120 rows, learned from 100 of 120", self.ok("inspect", "m.tare").out)
        model = self.ok("inspect", "m.tare", "--json").json()["description"]
        self.assertEqual([model["trail"][name] for name in ("trained_rows", "eligible_rows")], [100, 120])
        self.assertNotIn("rows: learned", self.fit_default(*QUICK, *plain).err)
        self.fit_fails(USAGE, "data.csv", "--method", "auto", "--set", "most_rows=99", says=["--set most_rows", "from 100", "got '99'"])

    def test_inspect_shows_the_trail(self):
        self.fit_default(*QUICK, "--drop", "p", "--guarantee", "none")
        text = self.ok("inspect", "m.tare").out
        for part in ("candidates of budget quick, by pinball loss on 120 left-out rows", "mean", "raw_local", "target", "average", " %"):
            self.assertIn(part, text)

    def test_a_time_stands_for_the_budget_that_is_done_by_then(self):
        self.fit_default("--time", "1h", *FEW_STEPS, "--drop", "p")
        self.assertIn("candidates of budget best", self.ok("inspect", "m.tare").out)
        self.fit_default("--time", "0.001s", *FEW_STEPS, "--drop", "p")
        self.assertIn("candidates of budget quick", self.ok("inspect", "m.tare").out)
        self.write("data.csv", csv_text(HEADER, points(4500)))
        text = self.fit_default("--time", "0.001s", *FEW_STEPS, "--drop", "p").err
        self.assertIn("the answers are those of --budget quick, fitted on 3800 of 4500 rows with 200 more held out", text)
        for wrong in (("--time", "soon"), ("--time", "5s", "--budget", "quick")):
            self.fails(USAGE, "fit", "data.csv", "--target", "y", "-o", "n.tare", *wrong, says=["time"], default_method=True)

    def test_the_model_predicts(self):
        self.fit_default(*QUICK, "--drop", "p")
        table = self.ok("predict", "m.tare", "data.csv", "--levels", "0.1,0.5,0.9").numbers()
        self.assertEqual(len(table), 120)
        self.assertTrue(all(row[-3] <= row[-2] <= row[-1] for row in table))

    def test_progress_tells_what_is_tried(self):
        # Only where somebody looks: a run that is not on a terminal is silent.
        self.assertEqual(self.fit_default(*QUICK, "--drop", "p", "-q").err, "")

    def test_columns_to_calibrate_on_are_found(self):
        self.write("many.csv", csv_text(HEADER, points(600)))
        for args in ((*QUICK, "--drop", "p"), ("--prediction", "p", "--method", "nrc")):
            with self.subTest(args=args):
                self.ok("fit", "many.csv", "--target", "y", "-o", "m.tare", "--force", "--calibrate-on", "auto", *args,
                        default_method=True)
                lines = self.ok("inspect", "m.tare").out.splitlines()
                found = [line.split()[0] for line in lines if "feature of the kernel" in line]
                self.assertIn("a", found)  # the noise grows with it

    def test_a_wrong_budget_is_refused(self):
        self.fails(USAGE, "fit", "data.csv", "--target", "y", "-o", "n.tare", "--budget", "endless",
                   says=["quick, default or best", "endless"], default_method=True)


if __name__ == "__main__":
    main()
