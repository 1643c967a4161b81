# SPDX-License-Identifier: BSD-3-Clause
"""--weight: how much a calibration row counts."""
import random

from harness import BAD_DATA, CliTest, csv_text, main, points

HEADER = ["a", "b", "p", "y", "w"]


def weighted(count=60, seed=8):
    rng = random.Random(seed)
    return [[*row, rng.choice([0, 1, 2, 3])] for row in points(count)]


class Weight(CliTest):
    def quantiles(self, rows, *args):
        self.write("data.csv", csv_text(HEADER, rows))
        self.write_points("new.csv", 40, seed=3)
        self.fit("data.csv", "--prediction", "p", *args)
        return self.ok("predict", "m.tare", "new.csv", "--levels", "0.05,0.3,0.5,0.95").bytes

    def test_rows_of_weight_zero_do_not_matter(self):
        rows = weighted()
        for args in (["--bandwidth", "0.7"], ["--bandwidth", "auto"], ["--bandwidth", "rate"]):
            args = [*args, "--scale", "none", "--weight", "w"]
            self.assertEqual(self.quantiles(rows, *args), self.quantiles([r for r in rows if r[4]], *args), args)

    def test_whole_weights_equal_repeated_rows(self):
        rows = weighted()
        repeated = [row for row in rows for _ in range(row[4])]
        # Wide enough that no row falls back: the fallback counts rows, whatever their weight.
        # Only by the paper's ranks: expected ones take unequal weights for fewer effective rows.
        args = ["--kernel", "naive", "--bandwidth", "4", "--scale", "none", "--ranks", "paper"]
        self.assertEqual(self.quantiles(rows, *args, "--weight", "w"), self.quantiles(repeated, *args, "--drop", "w"))

    def test_equal_weights_equal_none(self):
        rows = [[*row, 2.5] for row in points(60)]
        for kernel in ("naive", "gaussian", "knn"):
            bandwidth = "7" if kernel == "knn" else "1"
            args = ["--kernel", kernel, "--bandwidth", bandwidth]
            self.assertEqual(self.quantiles(rows, *args, "--weight", "w"), self.quantiles(rows, *args, "--drop", "w"))

    def test_weight_is_not_a_feature_and_not_needed_at_prediction(self):
        self.quantiles(weighted(), "--weight", "w")
        self.assertIn("weight       w", self.ok("inspect", "m.tare").out)
        names = [item["name"] for item in self.ok("inspect", "m.tare", "--json").json()["values"]["schema"]["inputs"]]
        self.assertEqual(names, ["a", "b"])

    def test_negative_weight(self):
        rows = weighted()
        rows[15][4] = -2
        self.write("data.csv", csv_text(HEADER, rows))
        self.fit_fails(BAD_DATA, "data.csv", "--weight", "w",
                       says=["data.csv:17: column 'w': the weight -2 is negative", "0 or more"])

    def test_weight_that_is_text_infinite_or_missing(self):
        for value, says in (("abc", "is not a number"), ("inf", "is not finite"), ("", "is a missing value")):
            rows = weighted()
            rows[15][4] = value
            self.write("data.csv", csv_text(HEADER, rows))
            self.fit_fails(BAD_DATA, "data.csv", "--weight", "w", says=[f"data.csv:17: column 'w': '{value}' {says}"])

    def test_too_few_rows_with_weight(self):
        rows = [[*row, int(i < 9)] for i, row in enumerate(points(60))]
        self.write("data.csv", csv_text(HEADER, rows))
        self.fit_fails(BAD_DATA, "data.csv", "--prediction", "p", "--weight", "w", says=["data.csv: 9 calibration rows"])

    def test_every_regressor_takes_weights(self):
        self.write("data.csv", csv_text(HEADER, weighted(120)))
        for regressor in ("ridge", "forest", "boosting", "zero"):
            self.fit("data.csv", "--method", "nrc", "--regressor", regressor, "--weight", "w")
            self.ok("evaluate", "m.tare", "data.csv")


if __name__ == "__main__":
    main()
