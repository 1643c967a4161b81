# SPDX-License-Identifier: BSD-3-Clause
"""Extreme features, targets and weights: a fit refuses with a reason, or its model answers with finite numbers in order.

TARE_EDGE_ALL=1 runs every method and variant on every table, which takes minutes; without it each table meets a few of
them in turn, and each method a few tables."""
import csv
import io
import math
import os

from cases import cases, variants

from harness import BAD_DATA, SANITIZED, CliTest, main

ALL = os.environ.get("TARE_EDGE_ALL", "0") == "1"
LEVELS = "0.0001,0.001,0.05,0.25,0.5,0.75,0.95,0.999,0.9999"
# Tables on which it must be refused rather than answered are for all alike; a dozen methods need more rows than two.
EACH = 2 if SANITIZED else 4


class Extremes(CliTest):
    def pairs(self):
        every = variants(self.ok("methods", "--json").json()["methods"])
        if ALL:
            return [(case, variant) for case in cases() for variant in every]
        quick = [v for v in every if v[0] not in ("auto", "dgp", "nrc_rf --bands on")]  # the slowest
        chosen = []
        for k, case in enumerate(cases()):
            chosen += [(case, quick[(k * EACH + n * (n + 7)) % len(quick)]) for n in range(EACH)]
        return chosen

    def test_every_answer_is_finite_and_ascends(self):
        for case, (label, flags) in self.pairs():
            with self.subTest(case=case.name, method=label):
                self.write("data.csv", case.text())
                self.write("queries.csv", case.queries())
                weight = ["--weight", "w"] if case.weight else []
                fit = self.run_tool("fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "-q", "--threads", "1", *weight, *flags)
                if fit.code != 0:
                    self.check_refusal(case, label, fit)
                    continue
                self.check_answers(case, self.ok("predict", "m.tare", "queries.csv", "--levels", LEVELS, "--diagnostics", "-q"))

    def check_refusal(self, case, label, fit):
        self.assertEqual(fit.code, BAD_DATA, fit.err)
        few = "guarantee" in fit.err or "too few" in fit.err  # a guarantee needs rows that count
        self.assertTrue(case.refusal is not None or few, f"{case.name}, {label}: {fit.err}")
        if not few:
            self.assertIn(case.refusal or "", fit.err)
        self.assertNotIn("XGBoost", fit.err)
        self.assertNotIn("diverged", fit.err)

    def check_answers(self, case, answer):
        rows = list(csv.DictReader(io.StringIO(answer.out)))
        self.assertTrue(rows)
        for row in rows:
            for name, cell in row.items():
                if cell == "" and not name.startswith("q"):
                    continue  # not every method has a diagnosis
                if name.endswith(("_low", "_high")) and cell == "":
                    continue
                self.assertTrue(math.isfinite(float(cell or "nan")), f"{name} is '{cell}'")
            quantiles = [float(row[f"q{level}"]) for level in LEVELS.split(",")]
            self.assertEqual(quantiles, sorted(quantiles))
            if case.name.startswith("equal"):
                self.assertEqual(set(quantiles), {case.rows[0][-1]})


class LargeTargets(CliTest):
    """What is too large is refused where it is read, with a remedy; the largest that is possible is not."""

    def test_a_target_beyond_the_limit(self):
        self.write("data.csv", "a,y\n" + "".join(f"{i},{i}\n" for i in range(30)) + "30,-1.1e301\n")
        self.fit_fails(BAD_DATA, "data.csv", says=["row 31", "-1.1e+301", "in a larger unit"])

    def test_a_given_prediction_beyond_the_limit(self):
        self.write("data.csv", "a,p,y\n" + "".join(f"{i},{i},{i}\n" for i in range(30)) + "30,1.1e301,1\n")
        self.fit_fails(BAD_DATA, "data.csv", "--prediction", "p", says=["row 31", "given prediction", "1.1e+301"])


if __name__ == "__main__":
    main()
