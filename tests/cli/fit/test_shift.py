# SPDX-License-Identifier: BSD-3-Clause
"""--shift-to: weights towards the rows to be predicted, in the fit and in the ranks of a guarantee."""
import random

from harness import BAD_DATA, NOT_FOUND, CliTest, csv_text, main

HEADER = ["a", "kind", "y"]


def rows(count, shift=0.0, seed=1):
    """Noise grows with a, which is `shift` higher."""
    rng = random.Random(seed)
    result = []
    for i in range(count):
        a = rng.gauss(shift, 1)
        result.append([f"{a:.6f}", "pq"[i % 2], f"{rng.gauss(0, 2.718 ** (0.5 * a)):.6f}"])
    return result


class ShiftTo(CliTest):
    FIT = ["fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "--method", "pure_kernel", "--bandwidth", "infinite"]

    def setUp(self):
        super().setUp()
        self.write("data.csv", csv_text(HEADER, rows(2000)))
        self.write("new.csv", csv_text(HEADER[:2], [row[:2] for row in rows(1500, 1.0, seed=2)]))

    def coverage(self):
        self.write("test.csv", csv_text(HEADER, rows(3000, 1.0, seed=3)))
        table = self.ok("predict", "m.tare", "test.csv", "--interval", "0.9", "--keep", "y").table()
        inside = [float(row["lower_0.9"]) <= float(row["y"]) <= float(row["upper_0.9"]) for row in table]
        return sum(inside) / len(inside)

    def test_restores_the_coverage(self):
        self.ok(*self.FIT, "--guarantee", "split:0.5")
        self.assertLess(self.coverage(), 0.82)
        result = self.ok(*self.FIT, "--guarantee", "split:0.5", "--shift-to", "new.csv")
        # About 370 of the 1,000 held-out rows are left: three standard deviations are 0.05.
        self.assertAlmostEqual(self.coverage(), 0.9, delta=0.05)
        self.assertRegex(result.err, r"shift: weights leave \d+ effective rows of 2000 \(\d+\.?\d* %\)")
        self.assertIn("ranks are weighted by an estimate towards the rows of --shift-to", self.ok("inspect", "m.tare").out)
        result = self.ok(*self.FIT, "--guarantee", "cross", "--shift-to", "new.csv")
        self.assertIn("no bound is proven", result.err)
        self.assertAlmostEqual(self.coverage(), 0.9, delta=0.05)

    def test_goes_into_the_fit_without_a_guarantee(self):
        self.ok(*self.FIT)
        before = self.coverage()
        result = self.ok(*self.FIT, "--shift-to", "new.csv", "--json").json()
        self.assertGreater(self.coverage(), before + 0.05)
        self.assertTrue(300 < result["shift"]["effective_rows"] < 1200, result)

    def test_few_rows_left_are_said(self):
        self.write("far.csv", csv_text(HEADER[:2], [row[:2] for row in rows(500, 3.5, seed=4)]))
        result = self.ok(*self.FIT, "--shift-to", "far.csv")
        self.assertIn("few rows of the fit resemble the rows to predict", result.err)

    def test_what_is_wrong_with_the_file_is_said(self):
        self.write("narrow.csv", csv_text(["a"], [["1"]] * 30))
        self.fails(NOT_FOUND, *self.FIT, "--shift-to", "narrow.csv", says=["narrow.csv", "'kind'"])
        self.fails(NOT_FOUND, *self.FIT, "--shift-to", "absent.csv", says=["absent.csv"])
        self.write("short.csv", csv_text(HEADER[:2], [["1", "p"]] * 5))
        self.fails(BAD_DATA, *self.FIT, "--shift-to", "short.csv", says=["short.csv", "20 rows"])
        self.write("bad.csv", csv_text(HEADER[:2], [["1", "p"]] * 30 + [["x", "p"]]))
        self.fails(BAD_DATA, *self.FIT, "--shift-to", "bad.csv", says=["bad.csv", "a"])
        self.write("empty.csv", "a,kind\n")
        self.fails(BAD_DATA, *self.FIT, "--shift-to", "empty.csv", says=["empty.csv"])

    def test_same_seed_same_bytes(self):
        fit = [*self.FIT, "--guarantee", "cross:3", "--shift-to", "new.csv"]
        self.ok(*fit, "--threads", "1")
        one = self.read("m.tare")
        self.ok(*fit, "--threads", "3")
        self.assertEqual(one, self.read("m.tare"))

    def test_weights_are_multiplied(self):
        weighted = [[*row, str(1 + i % 3)] for i, row in enumerate(rows(2000))]
        self.write("data.csv", csv_text([*HEADER, "w"], weighted))
        self.ok(*self.FIT, "--guarantee", "split:0.5", "--weight", "w", "--shift-to", "new.csv")
        self.assertAlmostEqual(self.coverage(), 0.9, delta=0.05)


if __name__ == "__main__":
    main()
