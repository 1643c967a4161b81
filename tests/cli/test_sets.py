# SPDX-License-Identifier: BSD-3-Clause
"""Shortest sets: predict --set, evaluate --set, report --set."""
import json
import random

from harness import USAGE, CliTest, csv_text, main


def two_modes(count, seed):
    """A target that is about -3 or about 3."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        a = rng.random()
        rows.append([a, rng.choice([-3.0, 3.0]) + rng.gauss(0.0, 0.3 + 0.2 * a)])
    return csv_text(["a", "y"], rows)


class Sets(CliTest):
    def setUp(self):
        super().setUp()
        self.write("data.csv", two_modes(600, 1))
        self.write("new.csv", two_modes(300, 2))

    def fit(self, name, *options):
        self.ok("fit", "data.csv", "--target", "y", "--method", "pure_kernel", "-o", name, "--bands", "off", *options)

    def test_two_parts_that_cover(self):
        self.fit("m.tare", "--guarantee", "split")
        done = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--set", "shortest", "--keep", "y", "--diagnostics")
        rows = done.table()
        self.assertEqual(list(rows[0])[:5], ["y", "lower_0.9", "upper_0.9", "lower2_0.9", "upper2_0.9"])
        central = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9").table()
        covered = length = central_length = two = 0
        for row, wide in zip(rows, central):
            ends = [float(row[name]) for name in ("lower_0.9", "upper_0.9", "lower2_0.9", "upper2_0.9") if row[name]]
            two += len(ends) == 4
            covered += any(low <= float(row["y"]) <= high for low, high in zip(ends[::2], ends[1::2]))
            length += sum(high - low for low, high in zip(ends[::2], ends[1::2]))
            central_length += float(wide["upper_0.9"]) - float(wide["lower_0.9"])
            self.assertGreaterEqual(float(row["delivered_0.9"]), 0.9)
        self.assertGreater(two, 250)
        self.assertGreater(covered, 240)  # 270, with 120 held-out rows; four standard deviations
        self.assertLess(length, 0.6 * central_length)
        measured = self.ok("evaluate", "m.tare", "new.csv", "--set", "shortest", "--json").json()["sets"]
        self.assertAlmostEqual(measured["shortest"]["coverage"], covered / 300)
        self.assertAlmostEqual(measured["shortest"]["length"], length / 300)
        self.assertAlmostEqual(measured["central"]["length"], central_length / 300)
        self.assertTrue(measured["guaranteed"])
        self.assertIn("shortest sets", self.ok("evaluate", "m.tare", "new.csv", "--set", "shortest").out)

    def test_json_has_pairs_and_larger_sets_hold_smaller_ones(self):
        self.fit("m.tare", "--guarantee", "none")
        rows = self.ok("predict", "m.tare", "new.csv", "--interval", "0.5,0.9", "--set", "shortest", "--levels", "0.5", "--json").json_lines()
        for row in rows:
            self.assertEqual(list(row), ["q0.5", "set_0.5", "set_0.9"])
            for low, high in row["set_0.5"]:
                self.assertTrue(any(outer[0] <= low and high <= outer[1] for outer in row["set_0.9"]))
        self.assertEqual(list(self.ok("predict", "m.tare", "new.csv", "--set", "shortest", "--json").json_lines()[0]), ["set_0.9"])

    def test_folds_state_no_guarantee(self):
        self.fit("m.tare", "--guarantee", "cross")
        done = self.ok("predict", "m.tare", "new.csv", "--set", "shortest")
        self.assertIn("[set_without_guarantee]", done.err)
        self.assertFalse(self.ok("evaluate", "m.tare", "new.csv", "--set", "shortest", "--json").json()["sets"]["guaranteed"])

    def test_few_rows_give_the_largest_kept_set(self):
        self.fit("m.tare", "--guarantee", "split")
        done = self.ok("predict", "m.tare", "new.csv", "--set", "shortest", "--interval", "0.9999")
        self.assertIn("[beyond_kept_levels]", done.err)
        self.fit("strict.tare", "--guarantee", "split,strict")
        row = self.ok("predict", "strict.tare", "new.csv", "--set", "shortest", "--interval", "0.9999").table()[0]
        self.assertEqual((row["lower_0.9999"], row["upper_0.9999"]), ("-inf", "inf"))

    def test_the_report_draws_them(self):
        self.fit("m.tare", "--guarantee", "split")
        done = self.ok("report", "m.tare", "new.csv", "-o", "r.html", "--set", "shortest", "--json")
        self.assertGreater(json.loads(done.out)["sets"]["shortest"]["two_parts"], 0.8)
        self.assertIn(b"Shortest sets", self.read("r.html"))

    def test_another_word_is_refused(self):
        self.fit("m.tare")
        for command in (["predict", "m.tare", "new.csv"], ["evaluate", "m.tare", "new.csv"], ["report", "m.tare", "new.csv", "-o", "r.html"]):
            self.fails(USAGE, *command, "--set", "longest", says=["--set", "longest", "shortest"])


if __name__ == "__main__":
    main()
