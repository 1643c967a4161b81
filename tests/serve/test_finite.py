# SPDX-License-Identifier: BSD-3-Clause
"""Every number that the service answers is finite, however few the rows of the fit and however far out the level."""
import math
import random

from serve_harness import CliTest, Service, csv_text, main

LEVELS = [1e-6, 0.001, 0.05, 0.5, 0.95, 0.999, 1 - 1e-6]


def rows_of(count, seed):
    rng = random.Random(seed)
    return [[a := rng.random(), a + (0.2 + a) * rng.gauss(0, 1)] for _ in range(count)]


class Finite(CliTest):
    def test_quantiles_intervals_and_diagnostics(self):
        queries = [{"a": a} for a in (-1e6, 0.0, 0.5, 1.0, 1e6)]
        for count, guarantee in ((40, "none"), (100, "split:0.5"), (300, "split"), (300, "cross:4"), (3000, "split")):
            self.write("data.csv", csv_text(["a", "y"], rows_of(count, 1)))
            for method in ("nrc_boost", "pure_kernel"):
                self.ok("fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "--method", method, "--guarantee", guarantee)
                service = Service("m.tare", cwd=self.folder)
                try:
                    for asked in ({"levels": LEVELS}, {"interval": [0.5, 0.9, 0.999]}):
                        answer = service.post("/v1/predict", {"rows": queries, "diagnostics": True, **asked})
                        self.assertEqual(answer.status, 200, answer.body)
                        for row in answer.json()["rows"]:
                            for name, value in row.items():
                                self.assertTrue(value is not None and math.isfinite(value), f"{method}, {count} rows, {guarantee}: {name} {value}")
                finally:
                    service.close()


if __name__ == "__main__":
    main()
