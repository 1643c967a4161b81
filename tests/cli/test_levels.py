# SPDX-License-Identifier: BSD-3-Clause
"""Levels and intervals are chosen at prediction, and come out as they were asked for."""
from harness import USAGE, CliTest, main


class Levels(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model()

    def predict(self, *args):
        return self.ok("predict", "m.tare", "data.csv", *args)

    def test_level_outside_the_open_interval(self):
        for level in ("0", "1", "1.5", "-0.1", "nan", "inf", "abc", "95", "0.1,,0.5", "0.1,1", " "):
            self.fails(USAGE, "predict", "m.tare", "data.csv", "-o", "out.csv", "--levels", level, says=["--levels"])
        self.fails(USAGE, "predict", "m.tare", "data.csv", "--levels", "0.5,95",
                   says=["'95', which does not lie strictly between 0 and 1", "0.9 means 90 %"])

    def test_interval_outside_the_open_interval(self):
        for level in ("0", "1", "90", "abc", "0.9,"):
            self.fails(USAGE, "predict", "m.tare", "data.csv", "-o", "out.csv", "--interval", level,
                       says=["--interval", "strictly between 0 and 1"])

    def test_levels_are_checked_before_any_file(self):
        self.fails(USAGE, "predict", "nowhere.tare", "nowhere.csv", "--levels", "2", says=["'2'"])

    def test_unsorted_levels_keep_the_users_order(self):
        mixed = self.predict("--levels", "0.9,0.1,0.5").rows()
        self.assertEqual(mixed[0], ["q0.9", "q0.1", "q0.5"])
        tidy = self.predict("--levels", "0.1,0.5,0.9").rows()
        for m, t in zip(mixed[1:], tidy[1:]):
            self.assertEqual(m, [t[2], t[0], t[1]])

    def test_a_level_that_is_asked_for_twice(self):
        for asked in (["--levels", "0.5,0.1,0.50"], ["--interval", "0.9,0.90"]):
            self.fails(USAGE, "predict", "m.tare", "data.csv", *asked, says=["requested twice"])

    def test_default_levels(self):
        self.assertEqual(self.predict().rows()[0], ["q0.05", "q0.5", "q0.95"])

    def test_spellings_of_a_level(self):
        self.assertEqual(self.predict("--levels", "5e-1, .25 ,0.750").rows()[0], ["q0.5", "q0.25", "q0.75"])

    def test_interval_is_its_two_levels_exactly(self):
        rows = self.predict("--interval", "0.9,0.5").rows()
        self.assertEqual(rows[0], ["lower_0.9", "upper_0.9", "lower_0.5", "upper_0.5"])
        self.assertEqual(rows[1:], self.predict("--levels", "0.05,0.95,0.25,0.75").rows()[1:])

    def test_levels_come_before_intervals(self):
        self.assertEqual(self.predict("--interval", "0.8", "--levels", "0.5").rows()[0], ["q0.5", "lower_0.8", "upper_0.8"])

    def test_quantiles_never_cross(self):
        levels = [str(k / 100) for k in range(1, 100)]
        for row in self.predict("--levels", ",".join(levels)).numbers():
            self.assertEqual(row, sorted(row))

    def test_level_does_not_depend_on_its_company(self):
        alone = [row[0] for row in self.predict("--levels", "0.37").rows()[1:]]
        among = [row[2] for row in self.predict("--levels", "0.99,0.01,0.37,0.36").rows()[1:]]
        self.assertEqual(alone, among)


if __name__ == "__main__":
    main()
