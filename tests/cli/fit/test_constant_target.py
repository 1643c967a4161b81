# SPDX-License-Identifier: BSD-3-Clause
"""A target that never changes works: every quantile is that constant, exactly."""
import random

from harness import SANITIZED, CliTest, csv_text, main

CONSTANTS = ["0.1", "123456.789"] if SANITIZED else ["0", "0.1", "-7.7", "123456.789", "1e-20"]
LEVELS = "0.001,0.05,0.5,0.95,0.999"


class ConstantTarget(CliTest):
    def check(self, constant, *args, prediction="0.5"):
        rng = random.Random(3)
        rows = [[round(rng.random(), 4), round(rng.random(), 4), prediction, constant] for _ in range(80)]
        self.write("data.csv", csv_text(["a", "b", "p", "y"], rows))
        self.fit("data.csv", *args)
        quantiles = self.ok("predict", "m.tare", "data.csv", "--levels", LEVELS).numbers()
        self.assertEqual({value for row in quantiles for value in row}, {float(constant)}, args)
        scores = self.ok("evaluate", "m.tare", "data.csv", "--json").json()
        self.assertEqual((scores["check_score"], scores["length_90"], scores["coverage_90_counted"]), (0, 0, 1))
        # All of the distribution is one jump, of which 90 % lies between the levels of the interval.
        self.assertAlmostEqual(scores["coverage_90"], 0.9, places=9)
        self.assertAlmostEqual(scores["mace"], 0, places=9)

    def test_every_method(self):
        for constant in CONSTANTS:
            for method in ("nrc_rf", "nrc_rf_rp", "pure_kernel"):
                self.check(constant, "--method", method)

    def test_every_regressor(self):
        for constant in CONSTANTS:
            for regressor in ("ridge", "forest", "boosting", "zero"):
                self.check(constant, "--method", "nrc", "--regressor", regressor)

    def test_cross_fitting(self):
        for regressor in ("ridge", "forest", "boosting", "zero"):
            self.check("0.1", "--method", "nrc", "--regressor", regressor, "--split", "cross")

    def test_given_predictions(self):
        self.check("3.25", "--prediction", "p")

    def test_every_kernel(self):
        for kernel in ("naive", "epanechnikov", "triangular", "tricube", "gaussian", "laplace", "knn"):
            self.check("2.2", "--method", "pure_kernel", "--kernel", kernel)

    def test_constant_feature_is_harmless(self):
        rng = random.Random(4)
        rows = [[7, round(rng.random(), 4), round(rng.random(), 4)] for _ in range(80)]
        self.write("data.csv", csv_text(["a", "b", "y"], rows))
        self.write("less.csv", csv_text(["b", "y"], [row[1:] for row in rows]))
        for data, model in (("data.csv", "m.tare"), ("less.csv", "less.tare")):
            self.fit(data, "--method", "pure_kernel", output=model)
        self.assertEqual(self.ok("predict", "m.tare", "data.csv").bytes, self.ok("predict", "less.tare", "data.csv").bytes)


if __name__ == "__main__":
    main()
