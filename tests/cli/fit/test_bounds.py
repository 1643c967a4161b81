# SPDX-License-Identifier: BSD-3-Clause
"""Where targets can be: --bounds and --masses."""
from harness import BAD_DATA, USAGE, CliTest, csv_text, main


class Bounds(CliTest):
    def write_counts(self):
        rows = [((t * 37) % 101 / 101, (t * 11) % 7, max(0, (t * 53) % 9 - 4)) for t in range(300)]
        self.write("counts.csv", csv_text(["a", "b", "y"], rows))

    def lowest(self, *options):
        self.fit("counts.csv", "--method", "nrc", "--regressor", "ridge", *options)
        return min(float(row["q0.01"]) for row in self.ok("predict", "m.tare", "counts.csv", "--levels", "0.01,0.5").table())

    def test_counts_are_not_negative_unless_asked(self):
        self.write_counts()
        self.assertLess(self.lowest("--bounds", "none"), 0)
        self.assertGreaterEqual(self.lowest("--force"), 0)
        self.assertIn("bounds       0 and above", self.ok("inspect", "m.tare").out)

    def test_given_bounds_are_kept_and_checked(self):
        self.write_counts()
        self.assertGreaterEqual(self.lowest("--bounds=-1,10"), -1)
        self.assertIn("bounds       -1 and 10", self.ok("inspect", "m.tare").out)
        self.fit_fails(BAD_DATA, "counts.csv", "--method", "nrc", "--regressor", "ridge", "--bounds", "1,",
                       says=["outside the bounds 1,", "--bounds"])
        self.fit_fails(USAGE, "counts.csv", "--bounds", "3", says=["LOW,HIGH"])
        self.fit_fails(USAGE, "counts.csv", "--masses", "perhaps", says=["masses is auto, yes or no"])

    def test_masses_are_told(self):
        self.write_counts()
        self.fit("counts.csv", "--method", "nrc", "--regressor", "ridge", "--masses", "yes")
        self.assertIn("quantiles can equal 0, 1, 2, 3, 4 and are whole numbers", self.ok("inspect", "m.tare").out)
        for row in self.ok("predict", "m.tare", "counts.csv", "--levels", "0.1,0.5,0.9").table():
            self.assertTrue(all(float(row[q]).is_integer() for q in ("q0.1", "q0.5", "q0.9")))


if __name__ == "__main__":
    main()
