# SPDX-License-Identifier: BSD-3-Clause
"""What calibration is worth where the law is known: orders of a shop, from 10,000 days.

Given two columns u and v, uniform on (0, 1), demand is normal with the mean 150 + 80 u and the standard deviation 4 + 40 v^2. A unit too
many costs 1, a unit too few 4. So the expected cost of any order is known in closed form, and nothing here is left to the test rows."""
import csv
import io
import math
import random
import statistics
import unittest

from harness import CliTest, csv_text

ROWS = 10_000
OVER, UNDER = 1.0, 4.0
NORMAL = statistics.NormalDist()


def days(seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(ROWS):
        u, v = round(rng.random(), 6), round(rng.random(), 6)
        rows.append([u, v, 150 + 80 * u + (4 + 40 * v * v) * rng.gauss(0, 1)])
    return rows


def expected_cost(orders, rows):
    total = 0.0
    for order, (u, v, _) in zip(orders, rows):
        mean, sd = 150 + 80 * u, 4 + 40 * v * v
        z = (order - mean) / sd
        left = sd * (z * NORMAL.cdf(z) + math.exp(-z * z / 2) / math.sqrt(2 * math.pi))
        total += OVER * left + UNDER * (left - (order - mean))
    return total / len(rows)


class Newsvendor(CliTest):
    def test_orders_cost_nearly_as_little_as_possible(self):
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                self.write("past.csv", csv_text(["u", "v", "y"], days(seed)))
                new = days(seed + 100)
                self.write("new.csv", csv_text(["u", "v", "y"], new))
                self.fit("past.csv", "--method", "nrc_boost")
                done = self.ok("predict", "m.tare", "new.csv", "--cost", "over=1,under=4")
                orders = [float(row["action"]) for row in csv.DictReader(io.StringIO(done.out))]
                z = NORMAL.inv_cdf(UNDER / (OVER + UNDER))
                best = expected_cost([150 + 80 * u + (4 + 40 * v * v) * z for u, v, _ in new], new)
                self.assertLess(expected_cost(orders, new), 1.02 * best)
                # The true mean and the best of all constants: the cost is convex in the constant, and its least is between these.
                safety = min(expected_cost([150 + 80 * u + stock / 2 for u, _, _ in new], new) for stock in range(10, 40))
                self.assertGreater(safety, 1.10 * best)
                # What the tool measures on the targets, without knowing the law, says the same.
                worth = self.ok("evaluate", "m.tare", "new.csv", "--cost", "over=1,under=4", "--json").json()["worth"]
                self.assertLess(abs(worth["action"]["cost"] - expected_cost(orders, new)), 4 * worth["action"]["error"])
                margin = worth["mean_plus_margin"]
                self.assertGreater(margin["more_than_action"] + 2 * margin["more_error"], 0.10 * best)
                self.assertGreater(margin["more_than_action"], 5 * margin["more_error"])


if __name__ == "__main__":
    unittest.main()
