# SPDX-License-Identifier: BSD-3-Clause
"""evaluate: its keys, its figures against a plain recomputation, and its exit code for checks."""
import statistics

from harness import BAD_DATA, CHECK, SANITIZED, USAGE, CliTest, main

KEYS = ["rows", "mace", "mace_floor", "agce", "agce_floor", "mace_counted", "agce_counted", "check_score", "crps", "length_90",
        "coverage_90", "coverage_90_counted", "winkler_90", "effective_n_median", "fallback_rows", "hit_share", "pit", "warnings"]
LEVELS = [0.01 + 0.98 * j / 99 for j in range(100)]


def pinball(y, q, tau):
    return max(tau * (y - q), (tau - 1) * (y - q))


class Evaluate(CliTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 120)
        self.write_points("test.csv", 90, seed=2)
        self.fit("data.csv")

    def scores(self, *args):
        return self.ok("evaluate", "m.tare", "test.csv", "--json", *args).json()

    def test_keys(self):
        scores = self.scores()
        self.assertEqual(list(scores), KEYS)
        self.assertEqual(scores["rows"], 90)
        self.assertEqual(len(scores["pit"]), 20)
        self.assertAlmostEqual(sum(scores["pit"]), 1, places=12)

    def test_figures_equal_a_plain_recomputation(self):
        scores = self.scores()
        y = [float(row["y"]) for row in self.ok("predict", "m.tare", "test.csv", "--keep", "y").table()]
        q = self.ok("predict", "m.tare", "test.csv", "--levels", ",".join(map(repr, LEVELS))).numbers()
        observed = [sum(y[i] <= q[i][j] for i in range(90)) / 90 for j in range(100)]
        self.assertAlmostEqual(scores["mace"], statistics.fmean(abs(o - t) for o, t in zip(observed, LEVELS)), places=12)
        self.assertAlmostEqual(scores["check_score"], statistics.fmean(
            pinball(y[i], q[i][j], LEVELS[j]) for i in range(90) for j in range(100)), places=12)

        ends = self.ok("predict", "m.tare", "test.csv", "--interval", "0.9").numbers()
        self.assertAlmostEqual(scores["length_90"], statistics.fmean(high - low for low, high in ends), places=12)
        self.assertEqual(scores["coverage_90"], sum(low <= t <= high for t, (low, high) in zip(y, ends)) / 90)
        self.assertAlmostEqual(scores["winkler_90"], statistics.fmean(
            high - low + 20 * max(low - t, 0) + 20 * max(t - high, 0) for t, (low, high) in zip(y, ends)), places=10)

        steps = [(j + 0.5) / 200 for j in range(200)]
        q = self.ok("predict", "m.tare", "test.csv", "--levels", ",".join(map(repr, steps))).numbers()
        self.assertAlmostEqual(scores["crps"], 2 * statistics.fmean(
            pinball(y[i], q[i][j], steps[j]) for i in range(90) for j in range(200)), places=12)

    def test_without_ties_counting_is_the_same(self):
        scores = self.scores()
        self.assertEqual(scores["hit_share"], 0)
        for name in ("mace", "agce", "coverage_90"):
            self.assertEqual(scores[name], scores[name + "_counted"])
        self.assertNotIn("equals the predicted quantile", self.ok("evaluate", "m.tare", "test.csv").out)

    def test_targets_on_their_quantiles_count_by_shares(self):
        self.write("counts.csv", "x,y\n" + "".join(f"{i / 200},{i * 7 % 3}\n" for i in range(200)))
        self.ok("fit", "counts.csv", "--target", "y", "--method", "pure_kernel", "--set", "ranks=paper", "-o", "c.tare")
        q = self.ok("predict", "c.tare", "counts.csv", "--levels", ",".join(map(repr, LEVELS))).numbers()
        y = [i * 7 % 3 for i in range(200)]
        hits = sum(q[i][j] == y[i] for i in range(200) for j in range(100))
        scores = self.ok("evaluate", "c.tare", "counts.csv", "--json").json()
        self.assertAlmostEqual(scores["hit_share"], hits / 20_000, places=12)
        counted = [sum(y[i] <= q[i][j] for i in range(200)) / 200 for j in range(100)]
        self.assertAlmostEqual(scores["mace_counted"], statistics.fmean(abs(o - t) for o, t in zip(counted, LEVELS)), places=12)
        # Every level is that of some target, so plain counting is off by half a jump of a third; shares are not.
        self.assertGreater(scores["mace_counted"], 0.1)
        self.assertLess(scores["mace"], 0.05)
        self.assertLess(scores["mace_floor"], 0.0223)  # of a continuous target
        self.assertEqual(scores["coverage_90_counted"], 1)
        self.assertAlmostEqual(scores["coverage_90"], 0.9, delta=0.03)
        out = self.ok("evaluate", "c.tare", "counts.csv").out
        self.assertIn(f"In {100 * scores['hit_share']:.0f} % of cases", out)
        self.assertIn("If ties count as below and as inside: mace 0.", out)

    def test_diagnostics_are_those_of_predict(self):
        rows = self.ok("predict", "m.tare", "test.csv", "--diagnostics").table()
        scores = self.scores()
        self.assertEqual(scores["effective_n_median"], sorted(float(row["effective_n"]) for row in rows)[45])
        self.assertEqual(scores["fallback_rows"], sum(row["fallback"] == "1" for row in rows))

    def test_floors_are_those_of_a_perfect_forecaster(self):
        scores = self.scores()
        self.assertAlmostEqual(scores["mace_floor"], 0.3133 / 90**0.5, delta=0.003)
        self.assertGreater(scores["agce_floor"], scores["mace_floor"])
        self.assertGreaterEqual(scores["agce"], scores["mace"] * 0.5)

    def test_seed_only_moves_the_random_groups(self):
        one, two = self.scores("--seed", "1"), self.scores("--seed", "2")
        for key in KEYS:
            if not key.startswith("agce"):
                self.assertEqual(one[key], two[key])
        self.assertEqual(one, self.scores("--seed", "1"))

    def test_more_rows_than_a_batch(self):
        count = 2_000 if SANITIZED else 20_000
        self.fit("data.csv", "--method", "pure_kernel", "--bandwidth", "infinite")
        head, body = self.read("test.csv").split(b"\n", 1)
        times = count // 90
        scores = self.ok("evaluate", "m.tare", "-", "--json", stdin=head + b"\n" + body * times).json()
        once = self.scores()
        self.assertEqual(scores["rows"], 90 * times)
        for key in ("mace", "check_score", "crps", "length_90", "coverage_90", "winkler_90"):
            self.assertAlmostEqual(scores[key], once[key], places=9)

    def test_warnings_are_data(self):
        self.assertEqual(self.scores()["warnings"], [])
        self.fit("data.csv", "--method", "pure_kernel", "--bandwidth", "0.05", "--kernel", "naive")
        self.write("test.csv", "a,b,p,y\n900,-900,3,4\n5,0,10,10\n")
        (one,) = [warning for warning in self.scores()["warnings"] if warning["code"] == "fallback"]
        self.assertGreaterEqual(one["rows"], 1)
        self.assertEqual(one["rows"], self.scores()["fallback_rows"])
        self.assertEqual(list(one), ["code", "rows", "levels", "text"])
        self.assertIn(f"warning: {one['text']} [fallback]", self.ok("evaluate", "m.tare", "test.csv").err)
        self.assertEqual(self.ok("evaluate", "m.tare", "test.csv", "--quiet").err, "")

    def test_check_that_fails(self):
        result = self.run_tool("evaluate", "m.tare", "test.csv", "--json", "--fail-if", "coverage<=1")
        self.assertEqual(result.code, CHECK)
        self.assertEqual(list(result.json()), KEYS, "the figures are printed all the same")
        self.assertIn("check failed: coverage_90 is ", result.err)
        self.assertIn("coverage<=1", result.err)

    def test_checks(self):
        for text, code in (("coverage<0.01", 0), ("coverage>0.01", CHECK), ("coverage_90>=0.01", CHECK), ("mace>0.9", 0),
                           ("rows<91", CHECK), ("rows<90", 0), ("rows<=90", CHECK), ("CRPS > 0", CHECK),
                           ("fallback_rows>=0", CHECK), ("length<1e-9", 0), ("effective_n_median<1e9", CHECK)):
            self.assertEqual(self.run_tool("evaluate", "m.tare", "test.csv", "--fail-if", text).code, code, text)

    def test_one_failing_check_of_several_is_enough(self):
        args = ["evaluate", "m.tare", "test.csv", "--fail-if", "mace>0.9", "--fail-if", "rows>1"]
        self.assertEqual(self.run_tool(*args).code, CHECK)

    def test_condition_that_cannot_be_read(self):
        for text in ("coverage", "coverage<", "coverage=0.9", "cover<0.9", "<0.9", "pit<1", "coverage<low", "coverage<0.9x"):
            self.fails(USAGE, "evaluate", "m.tare", "test.csv", "--fail-if", text, says=["--fail-if", text, "coverage_90"])

    def test_table_for_people(self):
        result = self.ok("evaluate", "m.tare", "test.csv")
        for key in KEYS[:-2]:
            if not key.endswith(("floor", "counted")):
                self.assertIn(key, result.out)
        self.assertEqual(result.err, "")

    def test_missing_target_value(self):
        self.write("test.csv", "a,b,p,y\n1,2,3,4\n1,2,3,\n")
        self.fails(BAD_DATA, "evaluate", "m.tare", "test.csv", says=["test.csv:3: column 'y'", "--missing drop"])
        self.assertEqual(self.scores("--missing", "drop")["rows"], 1)

    def test_dropping_every_row_is_bad_data(self):
        self.write("test.csv", "a,b,p,y\n1,2,3,\n")
        self.fails(BAD_DATA, "evaluate", "m.tare", "test.csv", "--missing", "drop", says=["test.csv", "no row"])


if __name__ == "__main__":
    main()
