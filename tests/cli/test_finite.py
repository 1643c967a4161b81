# SPDX-License-Identifier: BSD-3-Clause
"""No number that is shown is infinite or no number, however few the rows, unless ',strict' asks for it."""
import json
import math
import random
import re

from harness import CliTest, csv_text, main


def rows_of(count, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        a, b = rng.random(), rng.random()
        rows.append([f"{a:.6f}", f"{b:.6f}", f"{a + (0.2 + b) * rng.gauss(0, 1):.6f}"])
    return rows


def numbers_in(item):
    """All numbers of what JSON has, and None for null. Not every method counts effective rows."""
    if isinstance(item, dict):
        for key, value in item.items():
            if key != "effective_n_median":
                yield from numbers_in(value)
    elif isinstance(item, list):
        for value in item:
            yield from numbers_in(value)
    elif item is None or isinstance(item, (int, float)):
        yield item


class Finite(CliTest):
    FITS = {
        "pure_kernel": ["--split", "cross"],
        "cqr_boost": ["--set", "rounds=20"],
        "qrf": ["--set", "trees=10"],
        "ngboost": ["--set", "rounds=20"],
        "idr": ["--set", "regressor=ridge"],
        "nrc_rf": ["--set", "trees=10"],
    }

    def check(self, label):
        evaluated = self.ok("evaluate", "m.tare", "test.csv", "--json")
        numbers = list(numbers_in(json.loads(evaluated.out)))
        self.assertTrue(numbers)
        for number in numbers:
            self.assertTrue(number is not None and math.isfinite(number), f"{label}: {evaluated.out}")
        text = self.ok("evaluate", "m.tare", "test.csv").out
        self.assertNotRegex(text.lower(), r"\b(inf|nan)\b", label)
        self.ok("report", "m.tare", "test.csv", "-o", "r.html", "--force")
        with open(self.path("r.html"), encoding="utf-8") as file:
            page = re.sub(r"(?s)<script.*?</script>|<style.*?</style>", "", file.read())
        self.assertNotRegex(page, r"\b(inf|-inf|NaN|nan|Infinity|infinite)\b", label)

    def test_evaluate_and_report(self):
        self.write("test.csv", csv_text(["a", "b", "y"], rows_of(200, 2)))
        for count in (30, 300, 3000):
            self.write("data.csv", csv_text(["a", "b", "y"], rows_of(count, 1)))
            for method, options in self.FITS.items():
                for guarantee in ("none", "split:0.7" if count < 100 else "auto" if count > 1000 else "split"):
                    fit = ["fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "--method", method, "--guarantee", guarantee]
                    result = self.run_tool(*fit, *options)
                    if result.code != 0 and count == 30:
                        self.assertIn("too few", result.err)
                        continue
                    self.assertEqual(result.code, 0, result.err)
                    self.assertNotRegex(result.err, r"\b(inf|nan|infinite)\b")
                    self.check(f"{method}, {count} rows, {guarantee}")

    def test_strict_asks_for_it(self):
        self.write("test.csv", csv_text(["a", "b", "y"], rows_of(200, 2)))
        self.write("data.csv", csv_text(["a", "b", "y"], rows_of(300, 1)))
        self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--method", "pure_kernel", "--guarantee", "split,strict")
        self.assertIn("inf", self.ok("evaluate", "m.tare", "test.csv").out)


if __name__ == "__main__":
    main()
