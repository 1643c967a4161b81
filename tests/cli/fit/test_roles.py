# SPDX-License-Identifier: BSD-3-Clause
"""Which column plays which part: --features, --drop, --calibrate-on, --split by a column."""
from harness import BAD_DATA, USAGE, CliTest, csv_text, main, points


class Roles(CliTest):
    def setUp(self):
        super().setUp()
        self.write("data.csv", csv_text(["a", "b", "p", "g", "y"],
                                        [[*r[:3], "new" if i % 3 else "old", r[3]] for i, r in enumerate(points(90))]))

    def model(self, *args, output="m.tare"):
        self.fit("data.csv", *args, output=output)
        return self.ok("inspect", output, "--json").json()["values"]

    def inputs(self, *args):
        return [item["name"] for item in self.model(*args)["schema"]["inputs"]]

    def test_features_and_drop(self):
        self.assertEqual(self.inputs(), ["a", "b", "p", "g"])
        self.assertEqual(self.inputs("--drop", "p,g"), ["a", "b"])
        self.assertEqual(self.inputs("--features", "b,a"), ["a", "b"])
        self.assertEqual(self.inputs("--features", "a,b,p", "--drop", "b"), ["a", "p"])
        self.assertEqual(self.inputs("--prediction", "p"), ["a", "b", "g"])

    def test_features_equals_dropping_the_rest(self):
        self.model("--features", "a,b", output="one.tare")
        self.model("--drop", "p,g", output="two.tare")
        self.assertEqual(self.read("one.tare"), self.read("two.tare"))

    def test_dropped_column_need_not_be_there_at_prediction(self):
        self.model("--drop", "p,g")
        self.write("new.csv", "b,a\n1,2\n")
        self.ok("predict", "m.tare", "new.csv")

    def test_calibrate_on_narrows_the_kernel_only(self):
        values = self.model("--drop", "g", "--calibrate-on", "b")
        self.assertEqual(values["model.snq.dims"], 1)
        self.assertEqual(values["model.features.inputs"], 3)

    def test_calibrate_on_a_category_uses_all_its_columns(self):
        self.assertEqual(self.model("--calibrate-on", "g")["model.snq.dims"], 2)

    def test_dropped_column_can_still_be_calibrated_on(self):
        values = self.model("--drop", "p,g,b", "--calibrate-on", "b")
        self.assertEqual([(i["name"], i["for_model"]) for i in values["schema"]["inputs"]], [("a", True), ("b", False)])
        self.assertIn("b (kernel only)", self.ok("inspect", "m.tare").out)
        self.ok("evaluate", "m.tare", "data.csv")

    def test_point_model_needs_a_feature_of_its_own(self):
        self.fit_fails(USAGE, "data.csv", "--drop", "a,b,p,g", "--calibrate-on", "b",
                       says=["no feature is left for the point model", "pure_kernel"])
        self.model("--drop", "a,b,p,g", "--calibrate-on", "b", "--method", "pure_kernel")

    def test_no_feature_at_all_is_the_marginal_law(self):
        self.model("--drop", "a,b,p,g", "--method", "pure_kernel")
        self.assertEqual(len({tuple(row) for row in self.ok("predict", "m.tare", "data.csv").numbers()}), 1)

    def test_split_by_a_column(self):
        values = self.model("--split", "by:g=old")
        self.assertEqual(values["model.snq.rows"], 30)
        self.assertEqual([item["name"] for item in values["schema"]["inputs"]], ["a", "b", "p"])
        self.write("new.csv", "a,b,p\n1,2,3\n")
        self.ok("predict", "m.tare", "new.csv")

    def test_split_by_a_column_that_leaves_a_part_empty(self):
        self.fit_fails(BAD_DATA, "data.csv", "--split", "by:g=other", says=["data.csv: 0 of 90 rows have g=other"])
        self.write("data.csv", csv_text(["a", "g", "y"], [[r[0], 1, r[3]] for r in points(60)]))
        self.fit_fails(BAD_DATA, "data.csv", "--split", "by:g=1", says=["60 of 60 rows have g=1", "both need rows"])

    def test_column_cannot_play_two_parts(self):
        for args in (["--features", "y"], ["--calibrate-on", "y"], ["--weight", "y"], ["--prediction", "y"],
                     ["--prediction", "p", "--features", "p,a"], ["--split", "by:g=old", "--features", "g,a"]):
            self.fit_fails(USAGE, "data.csv", *args, says=["column '"])


if __name__ == "__main__":
    main()
