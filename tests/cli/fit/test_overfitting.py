# SPDX-License-Identifier: BSD-3-Clause
"""A guarantee around the worst of models: least squares with as many columns as rows, which fits its own rows exactly."""
import random

from harness import CliTest, csv_text, main

COLUMNS = 400
ROWS = 400
NEW = 100
DRAWS = 20


def sample(count, rng):
    rows = []
    for _ in range(count):
        x = [rng.gauss(0, 1) for _ in range(COLUMNS)]
        mean = sum(x[j] * (1 if j % 2 else -1) for j in range(COLUMNS)) / COLUMNS**0.5
        rows.append([f"{value:.4f}" for value in [*x, mean + rng.gauss(0, 1)]])
    return rows


class Overfitting(CliTest):
    def coverage(self, guarantee):
        """Of the 90 % interval, and what is said to be delivered."""
        self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "-q", "--method", "nrc", "--set", "regressor=ridge",
                "--set", "penalty=1e-9", "--bandwidth", "infinite", "--guarantee", guarantee)
        table = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--diagnostics", "--keep", "y").table()
        inside = [float(row["lower_0.9"]) <= float(row["y"]) <= float(row["upper_0.9"]) for row in table]
        return sum(inside) / len(inside), float(table[0]["delivered_0.9"])

    def test_covers_what_it_delivers(self):
        header = [f"x{j}" for j in range(COLUMNS)] + ["y"]
        seen = {"split": [], "cross": []}
        delivered = {}
        for draw in range(DRAWS):
            rng = random.Random(1000 + draw)
            self.write("data.csv", csv_text(header, sample(ROWS, rng)))
            self.write("new.csv", csv_text(header, sample(NEW, rng)))
            for guarantee, shares in seen.items():
                share, delivered[guarantee] = self.coverage(guarantee)
                shares.append(share)
        # 80 held-out rows and 100 new ones: the coverage of one draw has a standard deviation of 0.045, the mean of 20 one of 0.01.
        self.assertGreaterEqual(sum(seen["split"]) / DRAWS, 0.88)
        self.assertAlmostEqual(delivered["split"], 73 / 81)
        self.assertGreaterEqual(sum(seen["cross"]) / DRAWS, delivered["cross"])
        self.assertAlmostEqual(delivered["cross"], 1 - 2 * (0.1 + 1.6 / 81))


if __name__ == "__main__":
    main()
