# SPDX-License-Identifier: BSD-3-Clause
"""--guarantee local and conditional: levels near a row, and under reweightings of rows."""
import math
import random

from harness import USAGE, CliTest, csv_text, main

HEADER = ["x", "g", "y"]


def widening(count, seed=1):
    """Noise that grows with x, and is twice as large in group c."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        x, group = rng.uniform(-1, 1), rng.choice("abc")
        y = math.exp(1.5 * x) * (2 if group == "c" else 1) * rng.gauss(0, 1)
        rows.append([f"{x:.6f}", group, f"{y:.6f}"])
    return rows


class RowwiseGuarantee(CliTest):
    # One spread everywhere: a bad model.
    FIT = ["--method", "pure_kernel", "--bandwidth", "infinite"]

    def fitted(self, guarantee, *args):
        self.write("data.csv", csv_text(HEADER, widening(2000)))
        return self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", *self.FIT, "--guarantee", guarantee, *args)

    def misses(self, key):
        """Worst distance of a slice's coverage from 90 %."""
        self.write("new.csv", csv_text(HEADER, widening(4000, 2)))
        hits = {}
        for row in self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--keep", "x,g,y").table():
            inside = float(row["lower_0.9"]) <= float(row["y"]) <= float(row["upper_0.9"])
            hits.setdefault(key(row), []).append(inside)
        return max(abs(sum(flags) / len(flags) - 0.9) for flags in hits.values())

    def test_slices_and_groups_are_covered(self):
        """500 or 1,000 rows are held out; a slice of 250 has a standard deviation of 2 %."""
        side = lambda row: float(row["x"]) > 0.5
        group = lambda row: row["g"]
        self.fitted("split:0.5")
        self.assertGreater(self.misses(side), 0.15)
        self.assertGreater(self.misses(group), 0.06)
        self.fitted("local,share=0.5")
        self.assertLess(self.misses(side), 0.07)
        self.fitted("conditional:x,g,share=0.5")
        self.assertLess(self.misses(group), 0.05)
        self.fitted("conditional:groups,share=0.5", "--group", "g")
        self.assertLess(self.misses(group), 0.05)

    def test_fit_and_inspect_say_what_it_is(self):
        result = self.fitted("local,share=0.3")
        self.assertIn("400 rows ranked, 200 other held-out rows chose the kernel; rows near in x", result.err)
        self.assertIn("local, 400 rows ranked", self.ok("inspect", "m.tare").out)
        self.assertEqual(self.ok("inspect", "m.tare", "--json").json()["description"]["guarantee"]["local"]["columns"][0], "x")
        self.assertIn("nothing is proven", self.fitted("local,fixed").err)
        result = self.fitted("conditional:x,g", "--json").json()["guarantee"]
        self.assertEqual((result["form"], result["rows"]), ("conditional", 400))
        self.assertIn("conditional on x, g (4 independent functions of a row)", self.ok("inspect", "m.tare").out)

    def test_rows_far_away_are_named(self):
        self.fitted("conditional:g")
        self.write("new.csv", csv_text(HEADER, [["0.1", "a", "0"], ["0.1", "unseen", "0"]]))
        result = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--diagnostics")
        rows = result.table()
        self.assertEqual([float(row["delivered_0.9"]) for row in rows][1], 0.0)
        self.assertAlmostEqual(float(rows[0]["delivered_0.9"]), 0.9)
        self.assertIn("beyond_kept_levels", result.err)
        self.fitted("conditional:g,strict")
        rows = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9").table()
        self.assertTrue(math.isinf(float(rows[1]["upper_0.9"])))
        self.assertFalse(math.isinf(float(rows[0]["upper_0.9"])))

    def test_what_cannot_be_is_refused_with_a_remedy(self):
        data = "data.csv"
        self.write(data, csv_text(["x", "g", "y", "w"], [[*row, str(1 + i % 3)] for i, row in enumerate(widening(200))]))
        for guarantee, says in (
            ("local,near", ["--guarantee", "local"]),
            ("conditional", ["conditional:COLUMNS"]),
            ("conditional:z", ["'z'", "x"]),
            ("conditional:groups", ["--group"]),
        ):
            self.fit_fails(USAGE, data, *self.FIT, "--guarantee", guarantee, says=says)
        self.fit_fails(USAGE, data, *self.FIT, "--guarantee", "local", "--group", "g", says=["--guarantee conditional:groups"])
        self.fit_fails(USAGE, data, *self.FIT, "--guarantee", "conditional:x", "--split", "time", says=["--guarantee split"])
        self.fit_fails(USAGE, data, "--method", "pure_kernel", "--guarantee", "local", "--weight", "w", says=["weight"])


if __name__ == "__main__":
    main()
