# SPDX-License-Identifier: BSD-3-Clause
"""--guarantee and --group: levels that hold for a finite sample, overall and within groups."""
import math
import random

from harness import BAD_DATA, NOT_FOUND, USAGE, CliTest, csv_text, main

HEADER = ["a", "g", "y"]


def grouped(count, seed=1, rare=0):
    """Rows of two groups, one three times as noisy; the last `rare` ones of a third."""
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        group = "rare" if i >= count - rare else ("calm", "wild")[i % 2]
        a = rng.random()
        rows.append([f"{a:.6f}", group, f"{a + rng.gauss(0, 3 if group == 'wild' else 1):.6f}"])
    return rows


class Guarantee(CliTest):
    FIT = ["--method", "pure_kernel", "--bandwidth", "infinite", "--drop", "g"]

    def fitted(self, rows, *args):
        self.write("data.csv", csv_text(HEADER, rows))
        return self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", *self.FIT, *args)

    def coverage(self, rows):
        """Share of the 90 % interval, by group."""
        self.write("new.csv", csv_text(HEADER, rows))
        table = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--keep", "g,y").table()
        hits = {}
        for row in table:
            inside = float(row["lower_0.9"]) <= float(row["y"]) <= float(row["upper_0.9"])
            hits.setdefault(row["g"], []).append(inside)
        return {group: sum(flags) / len(flags) for group, flags in hits.items()}

    def test_fit_and_inspect_say_what_is_held_out(self):
        result = self.fitted(grouped(200), "--guarantee", "split:0.25")
        self.assertIn("guarantee: 50 rows held out (25 %)", result.err)
        self.assertIn("CheckScore", result.err)
        text = self.ok("inspect", "m.tare").out
        self.assertIn("split, 50 rows held out", text)
        self.assertIn("0.9: 0.9216", text)  # ranks 2 and 49 of 51
        self.assertIn("0.99: 0.9608 (too few rows for more)", text)  # all but the outermost of 51
        self.fitted(grouped(200), "--guarantee", "split:0.25,strict")
        self.assertIn("0.99: 1 (infinite)", self.ok("inspect", "m.tare").out)
        result = self.fitted(grouped(200), "--guarantee", "split", "--json").json()["guarantee"]
        self.assertEqual((result["rows"], result["share"], result["groups"]), (40, 0.2, 0))

    def test_levels_beyond_the_rows_are_the_models_own_or_infinite(self):
        levels = ["--levels", "0.01,0.05,0.5,0.95,0.99"]
        self.fitted(grouped(200), "--guarantee", "split")
        own = self.ok("predict", "m.tare", "data.csv", *levels).numbers()[0]
        self.assertTrue(all(math.isfinite(q) for q in own), own)
        self.assertEqual(own, sorted(own))
        self.fitted(grouped(200), "--guarantee", "split,strict")
        row = self.ok("predict", "m.tare", "data.csv", *levels).numbers()[0]
        self.assertEqual((row[0], row[4]), (-math.inf, math.inf))
        self.assertEqual(row[1:4], own[1:4])

    def test_diagnostics_tell_what_is_delivered(self):
        self.fitted(grouped(200), "--guarantee", "split")
        args = ["predict", "m.tare", "data.csv", "--levels", "0.01,0.95", "--interval", "0.9", "--diagnostics"]
        row = self.ok(*args).table()[0]
        self.assertEqual([name for name in row if name.startswith("delivered")],
                         ["delivered_q0.01", "delivered_q0.95", "delivered_0.9"])
        # Ranks of 40 held-out rows: the first of 41, 39 of 41, and 2 less.
        self.assertAlmostEqual(float(row["delivered_q0.01"]), 1 / 41)
        self.assertAlmostEqual(float(row["delivered_q0.95"]), 39 / 41)
        self.assertAlmostEqual(float(row["delivered_0.9"]), 37 / 41)
        item = self.ok(*args, "--json").json_lines()[0]
        self.assertAlmostEqual(item["delivered_0.9"], 37 / 41)
        self.fitted(grouped(3000), "--guarantee", "split", "--group", "g")
        shares = {row["delivered_0.9"] for row in self.ok(*args).table()}
        self.assertEqual(len(shares), 2, "each group has its own ranks")
        self.assertTrue(all(float(share) >= 0.9 for share in shares))
        self.fitted(grouped(200), "--guarantee", "split,strict")
        row = self.ok(*args).table()[0]
        self.assertEqual((row["q0.01"], row["delivered_q0.01"]), ("-inf", "0"))

    def test_given_predictions_must_be_of_rows_not_trained_on(self):
        self.write("data.csv", csv_text(["a", "p", "y"], [[a, a, y] for a, _, y in grouped(200)]))
        for guarantee in ("split", "cross"):
            result = self.ok("fit", "data.csv", "--target", "y", "--prediction", "p", "-o", "m.tare", "--force", "--method", "nrc",
                             "--guarantee", guarantee)
            self.assertIn("assumes that the model behind the given predictions was not trained on", result.err)
            self.assertRegex(self.ok("inspect", "m.tare").out, "assumes +the model behind the given predictions")
        self.fitted(grouped(200), "--guarantee", "split")
        self.assertNotIn("assumes", self.ok("inspect", "m.tare").out)

    def test_too_few_rows_are_named(self):
        self.write("data.csv", csv_text(HEADER, grouped(60)))
        fit = ["fit", "data.csv", "--target", "y", "-o", "m.tare", *self.FIT, "--guarantee"]
        self.fails(BAD_DATA, *fit, "split", says=["at least 95 rows"])
        self.fails(USAGE, *fit, "always", says=["split:SHARE"])

    def test_groups_are_covered_each(self):
        fresh = grouped(4000, seed=2)
        self.fitted(grouped(3000), "--guarantee", "split")
        overall = self.coverage(fresh)
        self.assertLess(overall["wild"], 0.87)
        self.fitted(grouped(3000), "--guarantee", "split", "--group", "g")
        within = self.coverage(fresh)
        # 300 held-out rows and 2,000 new ones a group: three standard deviations are 0.06.
        for group in ("calm", "wild"):
            self.assertAlmostEqual(within[group], 0.9, delta=0.06, msg=group)
        self.assertIn("calm (", self.ok("inspect", "m.tare").out)

    def test_small_and_new_groups_are_said(self):
        result = self.fitted(grouped(400, rare=20), "--guarantee", "split", "--group", "g")
        self.assertIn("1 of 3 groups have fewer than the 19 held-out rows", result.err)
        self.assertIn("'rare' has", result.err)
        self.write("new.csv", csv_text(HEADER, [["0.5", "calm", "1"], ["0.5", "strange", "1"], ["0.5", "rare", "1"]]))
        result = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9")
        self.assertIn("1 rows have a value of 'g' that was not there at fit", result.err)
        numbers = result.numbers()
        self.assertEqual(numbers[1], numbers[2])
        self.assertNotEqual(numbers[0], numbers[1])
        rows = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--levels", "0.1,0.5", "--diagnostics").table()
        self.assertGreaterEqual(float(rows[0]["delivered_0.9"]), 0.9)
        for row in rows[1:]:  # nothing is known about these
            self.assertEqual([row[f"delivered_{name}"] for name in ("q0.1", "q0.5", "0.9")], ["1", "0", "0"])
        self.write("without.csv", csv_text(["a"], [["0.5"]]))
        self.fails(NOT_FOUND, "predict", "m.tare", "without.csv", says=["has no column 'g'"])

    def test_a_number_that_is_a_feature_can_be_the_group(self):
        rows = [[a, {"calm": "1", "wild": "2"}[g], y] for a, g, y in grouped(400)]
        self.write("data.csv", csv_text(HEADER, rows))
        self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--method", "pure_kernel", "--guarantee", "split",
                "--group", "g")
        self.ok("evaluate", "m.tare", "data.csv")
        self.assertEqual(self.ok("predict", "m.tare", "data.csv").rows()[0], ["q0.05", "q0.5", "q0.95"])

    def test_a_group_needs_a_guarantee(self):
        self.write("data.csv", csv_text(HEADER, grouped(200)))
        fit = ["fit", "data.csv", "--target", "y", "-o", "m.tare"]
        self.fails(USAGE, *fit, "--group", "g", says=["--guarantee split"])
        self.fails(USAGE, *fit, "--group", "y", "--guarantee", "split", says=["cannot have another role"])
        self.fails(NOT_FOUND, *fit, "--group", "h", "--guarantee", "split", says=["column of groups"])

    def test_cross_says_what_is_proven_and_what_is_not(self):
        result = self.fitted(grouped(203), "--guarantee", "cross")
        self.assertIn("200 rows ranked, each by the one of 5 models", result.err)
        self.assertIn("at least 72.2 % is proven", result.err)  # 1 - 2 (0.1 + 1.6 / 41)
        text = self.ok("inspect", "m.tare").out
        self.assertIn("cross, 5 folds, 200 rows ranked", text)
        self.assertRegex(text, "delivers .*0.9: 0.9005.*where the folds' models agree")  # ranks 10 and 191 of 201
        self.assertRegex(text, "proven .*0.9: 0.7220")
        self.assertIn("(of the model of the first fold", text)
        result = self.fitted(grouped(203), "--guarantee", "cross:10", "--json").json()["guarantee"]
        self.assertEqual((result["form"], result["folds"], result["rows"]), ("cross", 10, 200))
        self.assertAlmostEqual(result["proven_coverage_90"], 1 - 2 * (0.1 + 1.8 / 21))
        result = self.fitted(grouped(203), "--guarantee", "cross", "--split", "time")
        self.assertIn("no bound is proven for rows in time order", result.err)

    def test_cross_covers_each_group_and_knows_its_limits(self):
        self.fitted(grouped(1000), "--guarantee", "cross", "--group", "g")
        within = self.coverage(grouped(4000, seed=2))
        # 500 ranked rows and 2,000 new ones a group: four standard deviations are 0.06.
        for group in ("calm", "wild"):
            self.assertAlmostEqual(within[group], 0.9, delta=0.06, msg=group)
        result = self.fitted(grouped(400, rare=15), "--guarantee", "cross", "--group", "g")
        self.assertIn("1 of 3 groups have fewer than the 19 ranked rows", result.err)
        levels = ["--levels", "0.001,0.05,0.5,0.95,0.999"]
        row = self.ok("predict", "m.tare", "data.csv", *levels).numbers()[0]
        self.assertTrue(all(math.isfinite(q) for q in row), row)
        self.assertEqual(row, sorted(row))
        self.fitted(grouped(400, rare=15), "--guarantee", "cross,strict", "--group", "g")
        strict = self.ok("predict", "m.tare", "data.csv", *levels).numbers()[0]
        self.assertEqual((strict[0], strict[4]), (-math.inf, math.inf))
        self.assertEqual(strict[1:4], row[1:4])
        self.write("data.csv", csv_text(HEADER, grouped(19)))
        fit = ["fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", *self.FIT, "--guarantee"]
        self.fails(BAD_DATA, *fit, "cross", says=["at least 20 rows"])
        self.fails(USAGE, *fit, "cross:21", says=["2 to 20 folds"])

    def test_loose_says_what_is_proven_and_widens_only(self):
        self.fitted(grouped(400), "--guarantee", "none")
        alone = self.ok("predict", "m.tare", "data.csv", "--interval", "0.9").numbers()
        said = self.fitted(grouped(400), "--guarantee", "loose").err
        self.assertIn("a 90 % interval is proven to cover at least 80.4 %: a second model ranks 50 rows", said)
        result = self.ok("predict", "m.tare", "data.csv", "--interval", "0.9", "--diagnostics")
        self.assertEqual(result.err.count("cannot keep"), 0)
        for (low, high), row in zip(alone, result.table()):
            self.assertLessEqual(float(row["lower_0.9"]), low)
            self.assertGreaterEqual(float(row["upper_0.9"]), high)
            self.assertAlmostEqual(float(row["delivered_0.9"]), 41 / 51)  # 46 of 51 above less 5 of 51 below
        said = self.fitted(grouped(400), "--guarantee", "loose:0.25", "--group", "g").err
        self.assertIn("coverage is proven within each group of at least 19", said)
        said = self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "--method", "nrc", "--regressor", "ridge",
                       "--drop", "g", "--window", "2", "--guarantee", "loose").err
        self.assertIn("no coverage is proven", said)
        fit = ["fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", *self.FIT, "--guarantee"]
        self.fails(BAD_DATA, *fit, "loose:0.01", says=["--guarantee loose:SHARE"])
        self.fails(USAGE, *fit, "loose,strict", says=["loose"])

    def test_compare_and_config_take_it(self):
        self.write("data.csv", csv_text(["a", "y"], [[a, y] for a, _, y in grouped(900)]))
        result = self.ok("compare", "data.csv", "--target", "y", "--methods", "pure_kernel,cqr_boost", "--repeats", "2",
                         "--set", "guarantee=split:0.5", "--json")
        self.assertIn("guarantee=split:0.5", result.out)
        self.write("c.json", '{"method": "pure_kernel", "options": {"guarantee": "split"}}')
        self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--config", "c.json")
        self.assertIn("split, 180 rows held out", self.ok("inspect", "m.tare").out)


if __name__ == "__main__":
    main()
