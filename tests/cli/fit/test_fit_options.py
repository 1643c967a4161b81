# SPDX-License-Identifier: BSD-3-Clause
"""Every option of fit does what its name says."""
import itertools
import json

from harness import CliTest, main


class FitOptions(CliTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 100)

    def values(self, *args):
        self.fit("data.csv", *args)
        self.ok("evaluate", "m.tare", "data.csv", "--json")
        return self.ok("inspect", "m.tare", "--json").json()["values"]

    def test_default_method(self):
        self.assertEqual(self.values()["method"], "nrc_rf")
        given = self.values("--prediction", "p")
        self.assertEqual((given["method"], given["model.point.regressor"], given["model.snq.rows"]), ("nrc", "given", 100))

    def test_names_are_matched_as_the_paper_spells_them(self):
        self.assertEqual(self.values("--method", "NRC-RF-RP", "--dims", "2")["method"], "nrc_rf_rp")
        self.assertEqual(self.values("--kernel", "Gaussian")["model.snq.kernel"], "gaussian")

    def test_split(self):
        for split, rows in (("0.3", 30), ("0.5", 50), ("cross", 100), ("time", 30), ("time:0.2", 20)):
            self.assertEqual(self.values("--method", "nrc", "--regressor", "ridge", "--split", split)["model.snq.rows"], rows)

    def test_time_split_calibrates_on_the_last_rows(self):
        self.write("data.csv", "x,y\n" + "".join(f"{i % 5},{1000 if i >= 80 else 0}\n" for i in range(100)))
        self.fit("data.csv", "--method", "pure_kernel", "--split", "time:0.2")
        self.assertEqual({v for row in self.ok("predict", "m.tare", "data.csv").numbers() for v in row}, {1000.0})

    def test_a_method_that_is_slow_on_many_rows_says_so(self):
        quick = [word for name in ("epochs=1", "inducing=4", "width=1", "draws=1", "samples=1", "batch=1000")
                 for word in ("--set", name)]
        for rows, warns in ((20000, False), (20001, True)):
            self.write("many.csv", "x,y\n" + "".join(f"{i % 97},{i % 89}\n" for i in range(rows)))
            line = ["fit", "many.csv", "--target", "y", "--method", "dgp", *quick, "-o", "many.tare", "--force"]
            self.assertEqual("fitting method 'dgp' on" in self.ok(*line).err, warns)

    def test_folds_are_models(self):
        for folds in (2, 7):
            values = self.values("--method", "nrc", "--regressor", "ridge", "--split", "cross", "--folds", folds)
            self.assertEqual(values["model.point.members"], folds)

    def test_every_kernel(self):
        answers = set()
        for kernel in ("naive", "epanechnikov", "triangular", "tricube", "gaussian", "laplace", "knn"):
            self.assertEqual(self.values("--prediction", "p", "--kernel", kernel)["model.snq.kernel"], kernel)
            answers.add(self.ok("predict", "m.tare", "data.csv", "--diagnostics").bytes)
        self.assertEqual(len(answers), 7)

    def test_bandwidth_rules(self):
        def chosen(text, *more):
            values = self.values("--prediction", "p", "--bandwidth", text, *more)
            return values["model.snq.bandwidth"], values["model.bandwidth_rule"]

        self.assertEqual(chosen("0.75"), (0.75, "given"))
        rate = chosen("rate:1")[0]
        self.assertAlmostEqual(rate, 100 ** -0.25, places=12)
        self.assertAlmostEqual(chosen("rate:2")[0], 2 * rate, places=12)
        self.assertEqual(chosen("rate")[1], "rate")
        self.assertEqual(chosen("auto")[1], "auto")
        self.assertEqual(chosen("12", "--kernel", "knn"), (12, "given"))

    def test_infinite_bandwidth_is_the_marginal_law(self):
        self.values("--method", "pure_kernel", "--bandwidth", "infinite")
        self.assertEqual(len({tuple(row) for row in self.ok("predict", "m.tare", "data.csv").numbers()}), 1)
        self.assertIn("infinite", self.ok("inspect", "m.tare").out)

    def test_reducers(self):
        for args, dims in (([], 3), (["--reducer", "projection", "--dims", "2"], 2),
                           (["--reducer", "correlation", "--dims", "1"], 1), (["--reducer", "projection", "--dims", "9"], 3)):
            self.assertEqual(self.values("--method", "nrc", "--regressor", "ridge", *args)["model.snq.dims"], dims, args)

    def test_scale_none_leaves_units_alone(self):
        self.write("data.csv", "x,p,y\n" + "".join(f"{i},0,{i}\n" for i in range(50)))
        self.fit("data.csv", "--prediction", "p", "--scale", "none", "--kernel", "naive", "--bandwidth", "3", "--ranks", "paper")
        # A window of 7 rows; with the standard scale it would hold all of them.
        self.assertEqual(self.ok("predict", "m.tare", "data.csv", "--levels", "0.5").numbers()[20], [20])

    def test_settings_of_the_regressor(self):
        small = self.values("--method", "nrc", "--regressor", "forest", "--set", "trees=3", "--set", "depth=2")
        self.assertEqual((small["params"]["trees"], small["params"]["depth"]), ("3", "2"))
        size = len(self.read("m.tare"))
        self.values("--method", "nrc", "--regressor", "forest", "--set", "trees=30")
        self.assertGreater(len(self.read("m.tare")), 2 * size)

    def test_json_says_what_was_made(self):
        result = self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--json")
        made = result.json()
        self.assertEqual((made["model"], made["method"], made["rows"], made["features"]), ("m.tare", "nrc_rf", 100, 3))
        self.assertEqual(result.err, "")

    def test_model_on_standard_output(self):
        self.fit("data.csv")
        result = self.ok("fit", "data.csv", "--target", "y", "-o", "-")
        self.assertEqual(result.bytes, self.read("m.tare"))

    def test_text_goes_to_standard_error_and_quiet_means_it(self):
        result = self.ok("fit", "data.csv", "--target", "y", "-o", "a.tare")
        self.assertEqual(result.out, "")
        self.assertIn("a.tare: nrc_rf on 100 rows with 3 features", result.err)
        self.assertNotIn("\r", result.err, "a progress bar is for terminals")
        self.assertEqual(self.ok("fit", "data.csv", "--target", "y", "-o", "b.tare", "-q").err, "")

    def test_metadata_is_readable_by_safetensors_tools(self):
        self.fit("data.csv")
        content = self.read("m.tare")
        header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
        self.assertTrue(all(isinstance(value, str) for value in header["__metadata__"].values()))
        ends = sorted(entry["data_offsets"] for name, entry in header.items() if name != "__metadata__")
        self.assertEqual(ends[0][0], 0)
        for left, right in itertools.pairwise(ends):
            self.assertEqual(left[1], right[0])


if __name__ == "__main__":
    main()
