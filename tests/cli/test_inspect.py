# SPDX-License-Identifier: BSD-3-Clause
"""inspect, methods and demo: what a person or a program can learn from them."""
import xml.dom.minidom

from harness import CliTest, main

KERNELS = ["naive", "epanechnikov", "triangular", "tricube", "gaussian", "laplace"]
REGRESSORS = ["ridge", "forest", "boosting", "zero"]  # those that train in no time


class Inspect(CliTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 100)

    def test_path_has_24_values_and_its_ends_do_not_win(self):
        for kernel in KERNELS:
            for seed in range(3):
                self.write_points("data.csv", 80, seed=seed)
                self.fit("data.csv", "--prediction", "p", "--kernel", kernel)
                values = self.ok("inspect", "m.tare", "--json").json()["values"]
                path = values["model.bandwidth_path"]
                tried = [bandwidth for bandwidth, _ in path]
                self.assertGreaterEqual(len(path), 24)
                self.assertEqual(tried, sorted(set(tried)))
                place = tried.index(values["model.snq.bandwidth"])
                self.assertTrue(0 < place < len(path) - 1, f"{kernel}: {place} of {len(path)}")
                best = min(loss for _, loss in path)
                self.assertLessEqual(path[place][1], best * (1 + 1e-8))

    def test_text(self):
        self.fit("data.csv", "--method", "nrc", "--regressor", "ridge", "--seed", "3", "--split", "0.4")
        text = self.ok("inspect", "m.tare").out
        for part in ("m.tare", "nrc", "seed 3", "target       y", "a, b, p", "100 rows", "40 rows in 3 kernel features",
                     "ridge", "gaussian", "(auto)", "<- taken", "nearest, 20 rows", "split=0.4"):
            self.assertIn(part, text)
        self.assertGreaterEqual(len(text.splitlines()), 24)

    def test_says_what_trees_found(self):
        rows = [f"{i / 400},{i % 7},{(i * 37 % 100 - 50) * (0.1 + i / 400)},0" for i in range(400)]
        self.write("scale.csv", "a,b,y,p\n" + "\n".join(rows) + "\n")
        for more in ([], ["--guarantee", "cross:2"]):
            self.fit("scale.csv", "--prediction", "p", "--method", "nrc_boost", *more)
            text = self.ok("inspect", "m.tare").out
            self.assertRegex(text, r"residuals +center by no trees, size by [1-9]\d* trees")
            self.assertRegex(text, r"along +(a|b|the prediction|the size estimated by the trees)\n")

    def test_json(self):
        self.fit("data.csv", "--prediction", "p")
        result = self.ok("inspect", "m.tare", "--json")
        self.assertEqual(result.json()["format_version"], 1)
        self.assertEqual(result.json()["tensors"]["model.snq.residuals"], {"dtype": "F64", "shape": [100]})
        self.assertEqual(result.err, "")

    def test_json_describes_the_model(self):
        self.fit("data.csv", "--prediction", "p", "--method", "nrc", "--guarantee", "split:0.3", "--seed", "4")
        model = self.ok("inspect", "m.tare", "--json").json()
        said = model["description"]
        self.assertEqual((said["method"], said["seed"], said["rows"], said["target"]), ("nrc", 4, 100, "y"))
        self.assertEqual([column["name"] for column in said["inputs"]], ["a", "b"])
        self.assertEqual((said["given"]["kind"], said["given"]["columns"][0]["name"]), ("point", "p"))
        self.assertEqual((said["guarantee"]["form"], said["guarantee"]["rows"]), ("split", 30))
        self.assertTrue(said["guarantee"]["assumes_unseen_predictions"])
        kernel = said["kernel"]
        self.assertEqual(kernel["bandwidth"], model["values"]["model.snq.bandwidth"])
        self.assertEqual([[one["bandwidth"], one["loss"]] for one in kernel["tried"]], model["values"]["model.bandwidth_path"])


class Methods(CliTest):
    def test_text_and_json_agree(self):
        listed = self.ok("methods", "--json").json()
        names = [method["name"] for method in listed["methods"]]
        self.assertLessEqual({"nrc", "nrc_rf", "nrc_rf_rp", "pure_kernel"}, set(names))
        self.assertLessEqual(set(REGRESSORS), {kind["name"] for kind in listed["regressors"]})
        text, long = self.ok("methods").out, self.ok("methods", "-v").out
        for kind in listed["methods"] + listed["regressors"]:
            self.assertIn(kind["name"], text)
            self.assertIn(kind["summary"], text)
            for option in kind["options"]:
                self.assertIn(option["name"], long)

    def test_every_method_says_what_it_relies_on_and_where_it_is_from(self):
        for method in self.ok("methods", "--json").json()["methods"]:
            for key in ("summary", "guarantee", "citation"):
                self.assertTrue(method[key], (method["name"], key))
            self.assertNotIn("guaranteed", method["guarantee"])

    def test_every_option_listed_is_one_that_fit_knows(self):
        self.write_points("data.csv", 100)
        for kind in self.ok("methods", "--json").json()["regressors"]:
            if kind["name"] not in REGRESSORS:
                continue
            settings = [part for option in kind["options"] if option["default"].replace(".", "").isdigit()
                        for part in ("--set", f"{option['name']}={option['default']}")]
            self.fit("data.csv", "--method", "nrc", "--regressor", kind["name"], *settings)


class Demo(CliTest):
    SMALL = ["--rows", "600", "--share", "0.3", "--test-rows", "100", "--regressor", "ridge"]

    def test_written_rows_can_be_fitted(self):
        result = self.ok("demo", "--write", "sine.csv", "--rows", "150")
        self.assertEqual(result.out, "")
        self.assertIn("sine.csv: 150 rows of 'sine'", result.err)
        lines = self.read("sine.csv").decode().splitlines()
        self.assertEqual((lines[0], len(lines)), ("x,y", 151))
        self.fit("sine.csv", "--method", "pure_kernel")

    def test_every_problem_named_in_the_help_can_be_written(self):
        text = self.ok("demo", "--help").out
        names = [name for name in ("sine", "skewed_2") if name in text]
        self.assertEqual(len(names), 2)
        for name in names:
            self.ok("demo", "--problem", name, "--write", f"{name}.csv", "--rows", "100")

    def test_json(self):
        rows = self.ok("demo", "--json", "--plot", "", *self.SMALL).json()
        self.assertEqual([row["calibrator"] for row in rows], ["NRC (local)", "marginal", "the true law"])
        for row in rows:
            self.assertEqual(set(row), {"calibrator", "ice", "quantile_rmse", "check_score", "length_90", "coverage_90"})
        self.assertLess(rows[2]["ice"], 1e-9)
        self.assertLess(rows[0]["ice"], rows[1]["ice"])
        self.assertEqual(self.snapshot(), {})

    def test_picture_and_table(self):
        result = self.ok("demo", "--plot", "d.svg", *self.SMALL)
        for part in ("ICE", "CheckScore", "Length", "Coverage", "NRC (local)", "marginal", "the true law"):
            self.assertIn(part, result.out)
        self.assertIn("picture: d.svg", result.err)
        self.assertEqual(xml.dom.minidom.parseString(self.read("d.svg")).documentElement.tagName, "svg")
        self.assertEqual(set(self.snapshot()), {"d.svg"})


if __name__ == "__main__":
    main()
