# SPDX-License-Identifier: BSD-3-Clause
"""Model files of earlier versions open and answer as they did.

The files in old_models were written by the version whose guarantee had scores on a grid of levels, and whose answers were infinite where
held-out rows are too few: `split` and `cross` are pure_kernel on 60 and 40 rows, `conformal` is cqr_boost on 60, `conformal_weighted` with
weights of 1 to 3. The answers beside them are what that version gave for rows.csv.
"""
import math
import os

from harness import CliTest, main

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "old_models")


class OldModels(CliTest):
    def answers(self, name):
        with open(os.path.join(HERE, name + ".csv"), encoding="utf-8") as file:
            lines = file.read().split()
        return lines[0], [[float(cell) for cell in line.split(",")] for line in lines[1:]]

    def test_answers_are_the_same(self):
        for name in ("split", "cross", "conformal", "conformal_weighted"):
            header, expected = self.answers(name)
            levels = header.replace("q", "")
            path = os.path.join(HERE, name + ".tare")
            found = self.ok("predict", path, os.path.join(HERE, "rows.csv"), "--levels", levels).numbers()
            self.assertEqual(len(found), len(expected))
            for row, (one, other) in enumerate(zip(found, expected)):
                for a, b in zip(one, other):
                    same = a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
                    self.assertTrue(same, f"{name}, row {row}: {a} was {b}")
            self.assertTrue(any(math.isinf(cell) for cell in found[0]), "the earlier version was infinite here")

    def test_delivered_is_what_it_was(self):
        path, rows = (os.path.join(HERE, name) for name in ("split.tare", "rows.csv"))
        row = self.ok("predict", path, rows, "--levels", "0.01,0.95", "--diagnostics").table()[0]
        self.assertEqual((row["q0.01"], row["delivered_q0.01"]), ("-inf", "0"))
        self.assertAlmostEqual(float(row["delivered_q0.95"]), 30 / 31)
        self.assertIn("0.99: 1 (infinite)", self.ok("inspect", path).out)

    def test_models_of_the_first_version_answer_to_the_bit(self):
        """old_models/0.1 holds models of several methods and what they answered, diagnostics and all, for its rows.csv.

        Networks work in single precision and add up products in an order that depends on the compiler's and the machine's vectors, so
        that their last digits may differ elsewhere.
        """
        folder = os.path.join(HERE, "0.1")
        with_networks = {"auto", "cqr", "deep_ensemble"}
        names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".tare"))
        self.assertGreaterEqual(len(names), 10)
        for name in names:
            with self.subTest(name), open(os.path.join(folder, name + ".csv"), encoding="utf-8") as file:
                expected = file.read()
                asked = ["--levels", "0.05,0.5", "--interval", "0.8", "--diagnostics", "--keep", "id", "--missing", "impute"]
                found = self.ok("predict", os.path.join(folder, name + ".tare"), os.path.join(folder, "rows.csv"), *asked).out
                if name not in with_networks:
                    self.assertEqual(found, expected)
                    continue
                for one, other in zip(found.split("\n"), expected.split("\n"), strict=True):
                    for a, b in zip(one.split(","), other.split(","), strict=True):
                        self.assertTrue(a == b or math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-5), f"{a} was {b}")


if __name__ == "__main__":
    main()
