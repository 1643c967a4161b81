# SPDX-License-Identifier: BSD-3-Clause
"""--prediction-sd and --prediction-quantiles: models that give more than a number."""
import math

from harness import BAD_DATA, NOT_FOUND, USAGE, CliTest, csv_text, main, points

HEADER = ["a", "mu", "sd", "q0.1", "q0.5", "q0.9", "y"]


def rows(count, seed=1, shrink=0.5):
    """A true mean, and a standard deviation and quantiles that are too small by half."""
    made = []
    for a, _, _, _ in points(count, seed):
        sd = shrink * (0.2 + 0.1 * a)
        made.append([a, 2 * a, sd, 2 * a - 1.2816 * sd, 2 * a, 2 * a + 1.2816 * sd])
    for row, (a, _, mean, y) in zip(made, points(count, seed)):
        row.append(round(2 * a + y - mean, 4))
    return made


class Given(CliTest):
    def setUp(self):
        super().setUp()
        self.write("data.csv", csv_text(HEADER, rows(400)))

    def values(self, *args):
        self.fit("data.csv", *args)
        return self.ok("inspect", "m.tare", "--json").json()["values"]

    def names(self, values):
        return [item["name"] for item in values["schema"]["inputs"]]

    def test_columns_of_the_input_are_no_features(self):
        values = self.values("--prediction", "mu", "--prediction-sd", "sd")
        self.assertEqual(self.names(values), ["a", "q0.1", "q0.5", "q0.9"])
        self.assertEqual(values["schema"]["prediction_sd"], "sd")
        values = self.values("--prediction-quantiles", "q*")
        self.assertEqual(self.names(values), ["a", "mu", "sd"])
        self.assertEqual(values["model.point.given.levels"], [0.1, 0.5, 0.9])
        self.assertEqual(values["schema"]["prediction_quantiles"][2], {"name": "q0.9", "level": 0.9})

    def test_ways_to_name_quantiles_agree(self):
        self.fit("data.csv", "--prediction-quantiles", "q*", "--drop", "mu,sd")
        expected = self.read("m.tare")
        for text in ("q0.9,q0.1,q0.5", "q0.?", "q0.5=0.5, q0.1=0.1,q0.9", "*0.*"):
            self.fit("data.csv", "--prediction-quantiles", text, "--drop", "mu,sd", output="other.tare")
            self.assertEqual(self.read("other.tare"), expected, text)

    def test_names_without_levels_are_given_them(self):
        self.write("plain.csv", csv_text(["a", "lo", "mid", "hi", "y"], [[r[0], *r[3:]] for r in rows(400)]))
        self.fit("plain.csv", "--prediction-quantiles", "lo=0.1,mid=0.5,hi=0.9")
        self.fit("data.csv", "--prediction-quantiles", "q*", "--drop", "mu,sd", output="q.tare")
        self.assertEqual(self.ok("predict", "m.tare", "plain.csv").bytes, self.ok("predict", "q.tare", "data.csv").bytes)

    def test_too_sure_is_widened(self):
        self.write("test.csv", csv_text(HEADER, rows(2000, seed=2)))
        for given in (["--prediction", "mu", "--prediction-sd", "sd"], ["--prediction-quantiles", "q*"]):
            self.fit("data.csv", *given, "--features", "a")
            scores = self.ok("evaluate", "m.tare", "test.csv", "--json").json()
            # 400 calibration rows: sd of coverage about 0.015; the input itself covers 0.59.
            self.assertGreater(scores["coverage_90"], 0.85)
            self.assertLess(scores["coverage_90"], 0.95)

    def test_a_mean_and_an_sd_scale_the_residuals(self):
        self.fit("data.csv", "--prediction", "mu", "--prediction-sd", "sd", "--features", "a", "--bandwidth", "infinite",
                 "--set", "ranks=paper")
        ranked = sorted((row[-1] - row[1]) / row[2] for row in rows(400))
        answers = self.ok("predict", "m.tare", "data.csv", "--levels", "0.05,0.5,0.95").numbers()
        for row, answer in zip(rows(400), answers):
            for rank, quantile in zip((20, 200, 380), answer):
                self.assertTrue(math.isclose(quantile, row[1] + row[2] * ranked[rank - 1], rel_tol=1e-9, abs_tol=1e-9))

    def test_only_quantiles_and_a_target(self):
        self.write("bare.csv", csv_text(HEADER[3:], [row[3:] for row in rows(200)]))
        self.fit("bare.csv", "--prediction-quantiles", "q*")
        self.assertEqual(self.ok("inspect", "m.tare", "--json").json()["values"]["model.snq.dims"], 2)
        self.ok("evaluate", "m.tare", "bare.csv")

    def test_features_of_input(self):
        for which, dims in (("none", 1), ("also", 3), ("only", 2), ("auto", 3)):
            values = self.values("--prediction-quantiles", "q*", "--features", "a", "--features-of-input", which)
            self.assertEqual(values["model.snq.dims"], dims, which)
        self.fit_fails(USAGE, "data.csv", "--features-of-input", "also", "--method", "pure_kernel",
                       says=["needs given predictions"])

    def test_inspect_names_the_input(self):
        self.fit("data.csv", "--prediction", "mu", "--prediction-sd", "sd")
        self.assertIn("mean mu, standard deviation sd", self.ok("inspect", "m.tare").out)
        self.fit("data.csv", "--prediction-quantiles", "q*")
        self.assertIn("quantiles q0.1 (level 0.1), q0.5 (level 0.5), q0.9 (level 0.9)", self.ok("inspect", "m.tare").out)

    def test_order_of_columns_and_batches_do_not_matter(self):
        self.fit("data.csv", "--prediction-quantiles", "q*", "--drop", "mu,sd")
        many = rows(12000, seed=3)
        levels = ["--levels", ",".join(f"0.{k:02}" for k in range(1, 100))]  # batches of at most 10,101 rows
        self.write("many.csv", csv_text(HEADER, many))
        self.write("turned.csv", csv_text(["q0.9", "q0.1", "a", "q0.5"], [[r[5], r[3], r[0], r[4]] for r in many]))
        whole = self.ok("predict", "m.tare", "many.csv", *levels).bytes
        self.assertEqual(whole.count(b"\n"), 12001)
        self.assertEqual(self.ok("predict", "m.tare", "-", *levels, stdin=self.read("turned.csv")).bytes, whole)
        # A part of the rows gets what it gets among all of them.
        self.write("last.csv", csv_text(HEADER, many[-7:]))
        self.assertEqual(self.ok("predict", "m.tare", "last.csv", *levels).rows()[1:],
                         [line.split(",") for line in whole.decode().splitlines()[-7:]])

    def test_missing_columns_and_cells_at_prediction(self):
        self.fit("data.csv", "--prediction-quantiles", "q*", "--drop", "mu,sd")
        self.write("new.csv", "a,q0.1,q0.9\n1,2,3\n")
        self.fails(NOT_FOUND, "predict", "m.tare", "new.csv", says=["has no column 'q0.5'", "the prediction the model was fitted with"])
        self.write("new.csv", "a,q0.1,q0.5,q0.9\n1,2,3,4\n1,2,,4\n")
        for policy in ([], ["--missing", "impute"]):
            self.fails(BAD_DATA, "predict", "m.tare", "new.csv", *policy, says=["new.csv:3: column 'q0.5'", "--missing drop"])
        self.assertEqual(len(self.ok("predict", "m.tare", "new.csv", "--missing", "drop").rows()), 2)
        self.write("new.csv", "a,q0.1,q0.5,q0.9\n1,2,many,4\n")
        self.fails(BAD_DATA, "predict", "m.tare", "new.csv", says=["new.csv:2", "q0.5", "many"])

    def test_a_standard_deviation_is_above_zero(self):
        text = csv_text(HEADER, rows(20))
        for bad in ("0", "-0.5"):
            lines = text.splitlines()
            cells = lines[7].split(",")
            cells[2] = bad
            lines[7] = ",".join(cells)
            self.write("bad.csv", "\n".join(lines) + "\n")
            says = [f"bad.csv:8: column 'sd': the standard deviation {bad} is not above 0"]
            self.fit_fails(BAD_DATA, "bad.csv", "--prediction", "mu", "--prediction-sd", "sd", says=says)
            self.fit("data.csv", "--prediction", "mu", "--prediction-sd", "sd")
            self.fails(BAD_DATA, "predict", "m.tare", "bad.csv", says=says)
            self.fails(BAD_DATA, "evaluate", "m.tare", "bad.csv", says=says)

    def test_levels_that_cannot_be_told(self):
        remedy = "--prediction-quantiles 'a=0.05,b=0.5,c=0.95'"
        cases = [("q_5", "contains 0 decimal numbers"), ("q0.1_0.2", "contains 2 decimal numbers"), ("q1.5", "contains 0 decimal numbers"),
                 ("q95", "contains 0 decimal numbers"), ("lower_0.9", "may be the confidence of an interval")]
        for name, why in cases:
            self.write("bad.csv", csv_text(["q0.5", name, "y"], [[1, 2, 3]] * 12))
            self.fit_fails(USAGE, "bad.csv", "--prediction-quantiles", f"q0.5,{name}", says=[f"'{name}'", why, remedy])
        self.write("bad.csv", csv_text(["q0.5", "p0.50", "y"], [[1, 2, 3]] * 12))
        self.fit_fails(USAGE, "bad.csv", "--prediction-quantiles", "q*,p*", says=["'q0.5'", "'p0.50'", "both have level 0.5", remedy])

    def test_a_pattern_leaves_other_parts_alone(self):
        self.write("q.csv", csv_text(["q0.1", "q0.9", "quality", "qid"], [[r[3], r[5], r[6], i] for i, r in enumerate(rows(60))]))
        self.fit("q.csv", "--prediction-quantiles", "q*", "--drop", "qid", target="quality")
        self.fit_fails(USAGE, "q.csv", "--prediction-quantiles", "q*", target="quality", says=["'qid'", "contains 0 decimal numbers"])

    def test_other_slips(self):
        for args, code, says in (
                (["--prediction-quantiles", "q0.5"], USAGE, ["'q0.5' is the only column", "use --prediction"]),
                (["--prediction-quantiles", "z*"], NOT_FOUND, ["no column matches 'z*'"]),
                (["--prediction-quantiles", "q0.1,q0.7"], NOT_FOUND, ["no column matches 'q0.7'"]),
                (["--prediction-quantiles", "q0.1=0.1,no=0.5"], NOT_FOUND, ["has no column 'no'"]),
                (["--prediction-quantiles", "a=0.1,a=0.5"], USAGE, ["'a' is named twice"]),
                (["--prediction-quantiles", "a=0.1,mu=1.5"], USAGE, ["levels strictly between 0 and 1, got 'mu=1.5'"]),
                (["--prediction-quantiles", "a=0.1,mu=x"], USAGE, ["levels strictly between 0 and 1, got 'mu=x'"]),
                (["--prediction-quantiles", ","], NOT_FOUND, ["no column matches ''"]),
                (["--prediction-quantiles", "y=0.1,mu=0.5"], USAGE, ["'y' is the target"]),
                (["--prediction-quantiles", "q*", "--prediction", "mu"], USAGE, ["leave out --prediction, or --prediction-quantiles"]),
                (["--prediction-quantiles", "q*", "--predictor", "cat"], USAGE, ["leave out --prediction-quantiles, or --predictor"]),
                (["--prediction-quantiles", "q*", "--features", "a,q0.5"], USAGE, ["'q0.5' is the prediction"]),
                (["--prediction-quantiles", "q*", "--method", "hnn"], USAGE, ["a prediction is given", "use --method nrc"]),
                (["--prediction-sd", "sd"], USAGE, ["name the mean by --prediction"]),
                (["--prediction", "mu", "--prediction-sd", "s"], NOT_FOUND, ["has no column 's'"]),
                (["--prediction", "mu", "--prediction-sd", "mu"], USAGE, ["'mu' is named twice"])):
            with self.subTest(args=args):
                self.fit_fails(code, "data.csv", *args, says=says)


if __name__ == "__main__":
    main()
