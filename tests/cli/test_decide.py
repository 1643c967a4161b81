# SPDX-License-Identifier: BSD-3-Clause
"""Costs and actions: predict --cost, control-risk."""
import math
import unittest
from fractions import Fraction

from harness import BAD_DATA, NOT_FOUND, USAGE, CliTest, csv_text

ACTIONS = [0.0, 4.0, 8.0, 12.0, 16.0, 20.0]
OUTCOMES = [-20.0, *ACTIONS, 60.0]


def newsvendor_rows(over, under):
    """A table with the same costs as over and under, for some actions: lines with a kink at the action."""
    return [[a, y, max(over * (a - y), under * (y - a))] for a in ACTIONS for y in OUTCOMES]


class Predict(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.small_model(count=200)

    def actions(self, *args):
        return self.ok("predict", self.model, "data.csv", *args).table()

    def test_action_is_the_quantile_at_the_level_of_the_costs(self):
        for over, under, level in ((1, 4, "0.8"), (0.03, 0.07, "0.7"), (3, 1, "0.25")):
            rows = self.actions("--cost", f"over={over},under={under}")
            wanted = self.actions("--levels", level)
            self.assertEqual(list(rows[0]), ["action", "cost", "cost_of_mean"])
            self.assertEqual([row["action"] for row in rows], [row[f"q{level}"] for row in wanted])
            for row in rows:
                self.assertLessEqual(float(row["cost"]), float(row["cost_of_mean"]) + 1e-12)
                self.assertGreater(float(row["cost"]), 0.0)

    def test_expected_cost_is_that_of_many_quantiles(self):
        """The mean pinball cost over 999 equal steps of level, by quantiles that were asked for."""
        levels = [(k + 0.5) / 999 for k in range(999)]
        asked = self.actions("--levels", ",".join(f"{level:.12g}" for level in levels))
        for row, law in list(zip(self.actions("--cost", "over=1,under=4"), asked))[:20]:
            draws = [float(value) for value in law.values()]
            mean = sum(draws) / len(draws)
            for name, action in (("cost", float(row["action"])), ("cost_of_mean", mean)):
                slow = sum(max(action - y, 4 * (y - action)) for y in draws) / len(draws)
                # The steps are 0.001 wide, those of the tool up to 0.005; the quantiles of 60 rows jump between them.
                self.assertAlmostEqual(float(row[name]), slow, delta=0.02 * slow)

    def test_table_chooses_the_best_of_its_actions(self):
        self.write("costs.csv", csv_text(["cost", "note", "action", "outcome"],
                                         [[c, "n", a, y] for a, y, c in newsvendor_rows(1, 4)]))
        free = self.actions("--cost", "over=1,under=4")
        for row, best in zip(self.actions("--cost", "costs.csv"), free):
            self.assertIn(float(row["action"]), ACTIONS)
            # The expected cost is convex in the action, so the best of a grid is beside the best of all.
            self.assertLess(abs(float(row["action"]) - float(best["action"])), 4.0)
            self.assertGreaterEqual(float(row["cost"]), float(best["cost"]) - 1e-9)
            self.assertLessEqual(float(row["cost"]), float(row["cost_of_mean"]))

    def test_columns_stand_beside_others(self):
        rows = self.actions("--cost", "over=1,under=4", "--levels", "0.5", "--interval", "0.8", "--keep", "a", "--diagnostics")
        self.assertEqual(list(rows[0])[:7], ["a", "q0.5", "lower_0.8", "upper_0.8", "action", "cost", "cost_of_mean"])
        self.assertEqual([row["action"] for row in rows], [row["action"] for row in self.actions("--cost", "over=1,under=4")])
        lines = self.ok("predict", self.model, "data.csv", "--cost", "over=1,under=4", "--json").json_lines()
        self.assertEqual(set(lines[0]), {"action", "cost", "cost_of_mean"})

    def test_guarantee_of_few_rows_says_what_it_assumes(self):
        model = self.fit("data.csv", "--prediction", "p", "--guarantee", "split,strict", output="g.tare")
        done = self.ok("predict", model, "data.csv", "--cost", "over=1,under=4")
        self.assertIn("[infinite_tail]", done.err)
        self.assertTrue(all(math.isfinite(value) for row in done.numbers() for value in row))
        extreme = self.ok("predict", model, "data.csv", "--cost", "over=1,under=9999")
        self.assertIn("[infinite_answer]", extreme.err)
        self.assertEqual(extreme.table()[0]["action"], "inf")

    def test_outcomes_beyond_the_table_are_reported(self):
        self.write("narrow.csv", "action,outcome,cost\n1,0,0\n1,5,1\n")
        done = self.ok("predict", self.model, "data.csv", "--cost", "narrow.csv")
        self.assertIn("[outside_cost_table]", done.err)

    def test_wrong_costs_name_the_remedy(self):
        self.write("texts.csv", "action,outcome,cost\nwait,1,2\n")
        self.write("twice.csv", "action,outcome,cost\n1,1,2\n1,1,3\n")
        self.write("hole.csv", "action,outcome,cost\n1,1,2\n1,,3\n")
        cases = [("over=1", USAGE, "no 'under'"), ("over=1,under=-4", USAGE, "positive"), ("over=1,under=x", USAGE, "positive"),
                 ("ovr=1,under=4", USAGE, "neither"), ("over=1,under=4,over=2", USAGE, "twice"), ("nowhere.csv", NOT_FOUND, "nowhere.csv"),
                 ("data.csv", NOT_FOUND, "needs a column 'action'"), ("texts.csv", BAD_DATA, "number the actions"),
                 ("twice.csv", BAD_DATA, "two costs for action 1 and outcome 1"), ("hole.csv", BAD_DATA, "hole.csv:3: column 'outcome'")]
        for cost, code, words in cases:
            with self.subTest(cost=cost):
                done = self.run_tool("predict", self.model, "data.csv", "--cost", cost)
                self.assertEqual(done.code, code, done.err)
                self.assertIn(words, done.err)
                self.assertEqual(done.out, "")

    def test_threads_do_not_matter(self):
        texts = {self.ok("predict", self.model, "data.csv", "--cost", "over=1,under=4", "--threads", k).out for k in (1, 2, 5)}
        self.assertEqual(len(texts), 1)


class Worth(CliTest):
    """evaluate --cost and report --cost."""

    def setUp(self):
        super().setUp()
        self.model = self.small_model(count=300)
        self.write_points("test.csv", 200, seed=9)

    def test_costs_are_those_of_the_actions(self):
        for cost in ("over=1,under=4", "costs.csv"):
            self.write("costs.csv", csv_text(["action", "outcome", "cost"], newsvendor_rows(1, 4)))
            worth = self.ok("evaluate", self.model, "test.csv", "--cost", cost, "--json").json()["worth"]
            rows = self.ok("predict", self.model, "test.csv", "--cost", cost, "--keep", "y").table()
            paid = [max(float(row["action"]) - float(row["y"]), 4 * (float(row["y"]) - float(row["action"]))) for row in rows]
            self.assertAlmostEqual(worth["action"]["cost"], sum(paid) / len(paid), places=9)
            self.assertAlmostEqual(worth["expected"], sum(float(row["cost"]) for row in rows) / len(rows), places=9)
            self.assertEqual(worth["rows"], 200)
            for rule in ("mean", "mean_plus_margin"):
                self.assertAlmostEqual(worth[rule]["more_than_action"], worth[rule]["cost"] - worth["action"]["cost"], places=9)

    def test_page_and_text_have_the_section(self):
        text = self.ok("evaluate", self.model, "test.csv", "--cost", "over=1,under=4", "--report", "a.html").out
        self.assertIn("mean plus a margin", text)
        plain = self.ok("report", self.model, "test.csv", "-o", "b.html", "--cost", "over=1,under=4", "--json").json()
        page = self.read("b.html").decode()
        self.assertIn("What calibration is worth", page)
        self.assertIn("What calibration is worth", self.read("a.html").decode())
        alone = self.ok("evaluate", self.model, "test.csv", "--cost", "over=1,under=4", "--json").json()["worth"]
        self.assertEqual(plain["worth"], alone)
        self.ok("report", self.model, "test.csv", "-o", "c.html")
        self.assertNotIn("What calibration is worth", self.read("c.html").decode())

    def test_wrong_costs_leave_no_page(self):
        done = self.run_tool("report", self.model, "test.csv", "-o", "d.html", "--cost", "over=1")
        self.assertEqual(done.code, USAGE)
        self.assertNotIn("d.html", self.snapshot())


TAIL = ["0.000001", "0.00001", "0.0001", "0.0002", "0.0005"]
RISK_LEVELS = [*TAIL, *(f"{k / 1000:g}" for k in range(1, 1000)), "0.9995", "0.9998", "0.9999", "0.99999", "0.999999"]


class ControlRisk(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.small_model(count=150)
        self.write_points("cal.csv", 90, seed=5)

    def control(self, *args):
        return self.ok("control-risk", self.model, "cal.csv", "--json", *args).json()

    def losses(self, side, rate, bound):
        """Of each row at each level, by quantiles that were asked for."""
        asked = self.ok("predict", self.model, "cal.csv", "--keep", "y", "--levels", ",".join(RISK_LEVELS)).rows()[1:]
        sign = 1 if side == "under" else -1
        return [[min(max(rate * (sign * (float(row[0]) - float(q))), 0.0), bound) for q in row[1:]] for row in asked]

    def test_level_is_that_of_a_scan_in_fractions(self):
        for side, rate, at_most, bound in (("under", 1, "0.2", 6), ("under", 2.5, "0.55", 20), ("over", 1, "0.4", 8), ("over", 0.3, "0.07", 3)):
            with self.subTest(side=side, rate=rate):
                rows = self.losses(side, rate, bound)
                order = range(len(RISK_LEVELS)) if side == "under" else reversed(range(len(RISK_LEVELS)))
                kept = next(j for j in order if sum(Fraction(row[j]) for row in rows) + bound <= Fraction(at_most) * (len(rows) + 1))
                found = self.control("--loss", f"{side}={rate}", "--at-most", at_most, "--bound", bound)
                self.assertEqual(found["level"], float(RISK_LEVELS[kept]))
                self.assertEqual(found["rows"], 90)
                self.assertAlmostEqual(found["mean_loss"], sum(row[kept] for row in rows) / 90, places=12)
                self.assertLessEqual(found["corrected_loss"], float(at_most))

    def test_says_what_is_proven_and_what_is_assumed(self):
        text = self.ok("control-risk", self.model, "cal.csv", "--loss", "under=1", "--at-most", "0.3", "--bound", "5").out
        for words in ("Proven: the expected loss of a new row is at most 0.3", "exchangeable", "no part of the fit has used", "--levels 0."):
            self.assertIn(words, text)

    def test_refusals_name_the_remedy(self):
        cases = [(["under=1", "0.01", "5"], BAD_DATA, "give at least 499 rows"), (["under=1", "5", "5"], USAGE, "--at-most"),
                 (["under=0", "1", "5"], USAGE, "--loss"), (["under=1", "0.1", "-5"], USAGE, "--bound"), (["both=1", "0.1", "5"], USAGE, "--loss")]
        for (loss, at_most, bound), code, words in cases:
            with self.subTest(words=words, loss=loss):
                done = self.run_tool("control-risk", self.model, "cal.csv", "--loss", loss, "--at-most", at_most, f"--bound={bound}")
                self.assertEqual(done.code, code, done.err)
                self.assertIn(words, done.err)
                self.assertEqual(done.out, "")
        # A model that is far off has large losses at every level.
        self.write("far.csv", csv_text(["a", "b", "p", "y"], [[1, 1, 3, 1000 + k] for k in range(40)]))
        done = self.run_tool("control-risk", self.model, "far.csv", "--loss", "under=1", "--at-most", "1", "--bound", "30")
        self.assertEqual(done.code, BAD_DATA)
        self.assertIn("no level", done.err)


if __name__ == "__main__":
    unittest.main()
