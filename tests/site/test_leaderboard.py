# SPDX-License-Identifier: BSD-3-Clause
"""The leaderboard is what docs/results.md says, in another order."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))
import leaderboard

RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


class Leaderboard(unittest.TestCase):
    def test_numbers_of_cells(self):
        cells = {"0.974 (0.96)": 0.974, "6e-5 (0.0021)": 6e-5, "0.00037": 0.00037, "-": None, "(16)": None, "1,024": 1024.0}
        self.assertEqual({cell: leaderboard.number(cell) for cell in cells}, cells)

    def test_ranks_share_ties(self):
        self.assertEqual(leaderboard.ranks([3.0, 1.0, 1.0, 2.0]), [4.0, 1.5, 1.5, 3.0])

    def test_every_figure_of_the_page_is_one_of_the_results(self):
        rows = [line for line in leaderboard.page(RESULTS).splitlines() if line.startswith("|")]
        known = set(re.findall(r"\d[\d.,e-]*\d|\d", RESULTS))
        checked = 0
        for row in rows:
            head, *cells = leaderboard.cells_of(row)
            if not head.isdigit():
                continue
            for cell in cells[2:] if re.match(r"\d+\.\d$", cells[1]) else cells[1:]:  # a mean rank is computed
                for figure in re.findall(r"\d[\d.,e-]*\d|\d", cell):
                    self.assertIn(figure, known, row)
                    checked += 1
        self.assertGreater(checked, 100)

    def test_a_table_is_sorted(self):
        table = leaderboard.part(RESULTS, "Known laws: individual calibration, measured").tables[0]
        values = [leaderboard.number(leaderboard.cells_of(line)[3]) for line in leaderboard.sorted_by(table, 1)[2:]]
        self.assertEqual(values, sorted(values))
        self.assertEqual(len(values), len(table.rows))

    def test_a_heading_that_is_gone_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no heading"):
            leaderboard.part("# Results\n", "UCI-8, 14 methods")


if __name__ == "__main__":
    unittest.main()
