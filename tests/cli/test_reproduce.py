# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments: runs, tables, and being killed in the middle."""
import csv
import json
import random
import subprocess
import time
import unittest

from harness import NOT_FOUND, SANITIZED, TOOL, USAGE, CliTest, main

PLAN = {
    "name": "small",
    "repeats": 6,
    "cases": [{"name": "flat", "test": "law", "problem": "flat", "rows": 400, "test_rows": 50},
              {"name": "sine", "test": "law", "problem": "sine", "rows": 400, "test_rows": 50}],
    "methods": ["pure_kernel", "nrc regressor=ridge", "nrc_rf"],
}
KILLS = 10


class Reproduce(CliTest):
    def setUp(self):
        super().setUp()
        self.write("small.json", json.dumps(PLAN))

    def results(self, folder):
        """The rows of a results file, without the seconds, which no two runs share."""
        with open(self.path(f"{folder}/small.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            self.assertGreaterEqual(float(row.pop("seconds")), 0.0)
        return rows

    def test_a_run_leaves_a_table_in_three_forms(self):
        done = self.ok("reproduce", "small.json", "--out", "r", "--repeats", "2")
        self.assertIn("nrc regressor=ridge", done.out)
        self.assertIn("perfect", done.out)
        self.assertEqual(len(self.results("r")), 2 * 3 * 2 * 15)
        self.assertIn(b"| pure_kernel |", self.read("r/small.md"))
        self.assertIn(b"<table>", self.read("r/small.html"))

    def test_the_page_has_rankings_and_can_stand_elsewhere(self):
        line = ["reproduce", "small.json", "--out", "r", "--repeats", "2", "-q", "--report", "page.html"]
        self.ok(*line)
        self.assertEqual(self.read("page.html"), self.read("r/small.html"))
        self.assertEqual(self.read("page.html").count(b"Ranking by ICE</h3>"), 2)
        before = self.snapshot()
        self.assertEqual(self.run_tool(*line).code, USAGE)
        self.assertEqual(self.snapshot(), before)
        self.ok(*line, "--force")

    def test_killed_ten_times_it_gives_the_same_file(self):
        line = ["reproduce", "small.json", "-q", "--out"]
        begin = time.monotonic()
        self.ok(*line, "whole")
        longest = time.monotonic() - begin
        rng = random.Random(4)
        killed = 0
        for _ in range(KILLS):
            process = subprocess.Popen([TOOL, *line, "cut"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, longest / 4))
            process.kill()
            killed += process.wait() != 0
        self.assertGreater(killed, KILLS // 3, "the kills must hit the command at work")
        self.ok(*line, "cut")
        self.assertEqual(self.results("cut"), self.results("whole"))

    def test_a_plan_with_a_figure_draws_it(self):
        plan = {**PLAN, "figure": "Bands", "cases": PLAN["cases"][1:], "methods": PLAN["methods"][:2]}
        self.write("small.json", json.dumps(plan))
        self.ok("reproduce", "small.json", "--out", "r", "--repeats", "1")
        svg = self.read("r/small.svg")
        for text in (b">Bands<", b">pure_kernel<", b">NRC regressor=ridge<", b"true 95 % band"):
            self.assertIn(text, svg)
        self.assertIn(svg, self.read("r/small.html"))
        first = svg
        self.ok("reproduce", "small.json", "--out", "r", "--repeats", "1", "--threads", "1")
        self.assertEqual(self.read("r/small.svg"), first)

    def test_several_laws_have_a_table_over_all(self):
        done = self.ok("reproduce", "small.json", "--out", "r", "--repeats", "1", "--methods", "pure_kernel")
        self.assertIn("All problems", done.out)
        self.assertIn("mean ICE of 2, n = 400", done.out)
        self.assertIn(b"## All problems", self.read("r/small.md"))
        self.assertRegex(self.read("r/small.html"), rb"<h2 id=\"\w+-title\">All problems</h2>")

    def test_known_laws_with_jumps_have_floors_of_their_own(self):
        values = {}
        for case in ("zeros_1_n1000", "hetero_1_n1000"):
            self.ok("reproduce", "oracle", "--cases", case, "--methods", "pure_kernel", "--repeats", "1",
                    "--set", "bandwidth=0.2", "--out", case)
            with open(self.path(f"{case}/oracle.csv"), newline="", encoding="utf-8") as file:
                values[case] = {row["metric"]: float(row["value"]) for row in csv.DictReader(file)}
        jumps, smooth = values["zeros_1_n1000"], values["hetero_1_n1000"]
        self.assertIn("ICE", jumps)
        self.assertLess(jumps["MACE_floor"], smooth["MACE_floor"])
        self.assertLess(jumps["MACE"], jumps["MACE_counted"])
        self.assertEqual(smooth["MACE"], smooth["MACE_counted"])

    def test_theory_takes_no_methods(self):
        self.fails(USAGE, "reproduce", "theory", "--methods", "nrc", "--out", "r", says=["theory does not have the options --methods"])
        self.fails(NOT_FOUND, "reproduce", "theroy", says=["theory"])

    def test_says_which_data_is_absent(self):
        done = self.run_tool("reproduce", "uci", "--data", "nowhere", "--cases", "Boston", "--out", "r")
        self.assertEqual(done.code, NOT_FOUND)
        self.assertIn("boston.csv is not there (StatLib", done.err)

    @unittest.skipIf(SANITIZED, "trains networks for half a minute there; the release build runs it")
    def test_failures(self):
        done = self.ok("reproduce", "failures", "--out", "r")
        self.assertIn("squared MMD", done.out)
        self.assertIn(b"| sharpest | 0.9 ", self.read("r/failures.md"))
        self.assertIn(b"<table>", self.read("r/failures.html"))
        self.assertTrue(self.read("r/failures.csv").startswith(b"failure,row,quantity,value"))
        self.fails(USAGE, "reproduce", "failures", "--cases", "x", says=["failures does not have"])

    def test_quick_is_one_repeat_without_the_slow_method(self):
        self.ok("reproduce", "small.json", "--quick", "--out", "r")
        self.assertEqual({row["repeat"] for row in self.results("r")}, {"0"})

    def test_slips(self):
        self.fails(NOT_FOUND, "reproduce", "ucy", says=["ucy", "uci"])
        self.fails(NOT_FOUND, "reproduce", "none.json", says=["none.json"])
        self.fails(NOT_FOUND, "reproduce", "small.json", "--methods", "magic", says=["magic"])
        self.fails(NOT_FOUND, "reproduce", "small.json", "--cases", "Mars", says=["Mars"])
        self.write("bad.json", "{")
        self.fails(USAGE, "reproduce", "bad.json", says=["bad.json", "not JSON"])

    def test_reads_the_layout_of_meps(self):
        rng = random.Random(1)
        rows = [[i, *(rng.randint(0, 1) for _ in range(40)), rng.randint(0, 9)] for i in range(120)]
        header = ["", *(f"REGION={k}" for k in range(40)), "UTILIZATION_reg"]
        text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
        self.write("meps_19_reg.csv", text + "\n")
        self.ok("reproduce", "meps", "--data", ".", "--cases", "meps_19", "--repeats", "1", "--out", "r",
                "--methods", "nrc_rp")
        self.assertIn(b"nrc_rp", self.read("r/meps.csv"))


if __name__ == "__main__":
    main()
