# SPDX-License-Identifier: BSD-3-Clause
"""Many levels and many columns. TARE_EDGE_ALL=1: 10^5 columns and 10^4 levels; without it a tenth of either."""
import os
import random

from harness import CliTest, main

ALL = os.environ.get("TARE_EDGE_ALL", "0") == "1"
COLUMNS = 100_000 if ALL else 10_000
LEVELS = 10_000 if ALL else 1_000


class Wide(CliTest):
    def test_many_columns(self):
        rng = random.Random(1)
        header = ",".join(f"c{j}" for j in range(COLUMNS))
        rows = [",".join(f"{rng.randrange(100)}" for _ in range(COLUMNS)) for _ in range(30)]
        self.write("data.csv", f"{header},y\n" + "".join(f"{row},{i % 7}\n" for i, row in enumerate(rows)))
        self.write("new.csv", f"{header}\n" + "\n".join(rows[:3]) + "\n")
        for flags in (["--method", "nrc", "--regressor", "ridge"], ["--method", "pure_kernel"]):
            self.fit("data.csv", *flags, "--split", "cross", "--folds", "2", "--bands", "off")
            answers = self.ok("predict", "m.tare", "new.csv", "-q").numbers()
            self.assertEqual(len(answers), 3)
            for row in answers:
                self.assertEqual(row, sorted(row))

    def test_many_levels(self):
        self.small_model(count=200)
        levels = [repr((k + 0.5) / LEVELS) for k in range(LEVELS)]
        answers = self.ok("predict", "m.tare", "data.csv", "--levels", ",".join(levels), "-q").numbers()
        self.assertEqual(len(answers), 200)
        few = self.ok("predict", "m.tare", "data.csv", "--levels", ",".join(levels[:: LEVELS // 10]), "-q").numbers()
        for many, some in zip(answers, few):
            self.assertEqual(len(many), LEVELS)
            self.assertEqual(many, sorted(many))
            self.assertEqual(many[:: LEVELS // 10], some, "a level does not depend on the others")


if __name__ == "__main__":
    main()
