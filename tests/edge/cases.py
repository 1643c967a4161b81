# SPDX-License-Identifier: BSD-3-Clause
"""Tables at the edge of what a double holds, and every method with options that make it quick."""
import random
import sys

MOST = sys.float_info.max
LEAST = 5e-324  # the smallest denormal


def plain_rows(count, seed=1):
    """Rows of a, b, y: y is about a + 0.3 b, with a spread that grows with a."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        a, b = rng.random(), rng.gauss(0, 1)
        rows.append((a, b, a + 0.3 * b + (0.2 + a) * rng.gauss(0, 1)))
    return rows


class Case:
    """A table: its columns, whether one of them is a weight, and why a fit may refuse it (None: it must not)."""

    def __init__(self, name, rows, weight=False, refusal=None):
        self.name, self.rows, self.weight, self.refusal = name, rows, weight, refusal
        self.width = len(rows[0]) - 1 - int(weight)
        self.header = [f"x{j}" for j in range(self.width)] + ["w"] * int(weight) + ["y"]

    def text(self):
        return csv_of(self.header, self.rows)

    def queries(self, known=10):
        """Some rows of the table, and rows that are as far away as a double can be."""
        rows = [row[: self.width] for row in self.rows[:known]]
        rows += [[value] * self.width for value in (MOST, -MOST, 1e308, LEAST, 0.0, -0.0)]
        rows.append([MOST if j % 2 else -MOST for j in range(self.width)])
        return csv_of(self.header[: self.width], rows)


def csv_of(header, rows):
    return ",".join(header) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)


TOO_LARGE = "too large to calculate with"
TOO_FEW = "too few"


def cases(count=80):
    plain = plain_rows(count)

    def table(name, make, **more):
        return Case(name, [make(i, *row) for i, row in enumerate(plain)], **more)

    return [
        table("plain", lambda i, a, b, y: [a, b, y]),
        # Features.
        table("constant of 1e308", lambda i, a, b, y: [a, 1e308, y]),
        table("constant of the least number", lambda i, a, b, y: [a, -MOST, y]),
        table("both ends of double", lambda i, a, b, y: [a, MOST if i % 2 else -MOST, y]),
        table("one value of 1e308", lambda i, a, b, y: [1e308 if i == 3 else a, b, y]),
        table("features of 1e300", lambda i, a, b, y: [a * 1e300, b * 1e300, y]),
        table("features of 1e300 and 1e-300", lambda i, a, b, y: [a * (1e300 if i % 2 else 1e-300), b * 1e-300, y]),
        table("denormal features", lambda i, a, b, y: [a * 4e-320, b * 5e-322, y]),
        table("duplicate columns", lambda i, a, b, y: [a, a, a, b, b, b, y]),
        table("constant columns", lambda i, a, b, y: [3.0, -1e300, y]),
        table("zeros of both signs", lambda i, a, b, y: [-0.0 if i % 2 else 0.0, b, y]),
        table("as many columns as rows", lambda i, a, b, y: [a, b, *(((i * 37 + k * 101) % 97) / 97 for k in range(count - 2)), y]),
        # Targets.
        table("targets of 1e300", lambda i, a, b, y: [a, b, y * 1e300]),
        table("targets of 1e-300", lambda i, a, b, y: [a, b, y * 1e-300]),
        table("denormal targets", lambda i, a, b, y: [a, b, y * 1e-320]),
        table("targets of 1e300 and 1e-300", lambda i, a, b, y: [a, b, y * (1e300 if i % 2 else 1e-300)]),
        table("features of 1e-300, targets of 1e300", lambda i, a, b, y: [a * 1e-300, b * 1e-10, y * 1e300]),
        table("one target of 1e300", lambda i, a, b, y: [a, b, 1e300 if i == 3 else y]),
        table("two targets", lambda i, a, b, y: [a, b, 0.0 if y < 0.5 else 1e-300]),
        table("equal targets", lambda i, a, b, y: [a, b, 0.1]),
        table("equal targets of 1e301", lambda i, a, b, y: [a, b, 1e301]),
        table("equal denormal targets", lambda i, a, b, y: [a, b, LEAST]),
        table("targets at both ends", lambda i, a, b, y: [a, b, MOST if y > 0.5 else -MOST], refusal=TOO_LARGE),
        # Weights.
        table("weights of 1e-300", lambda i, a, b, y: [a, b, 1e-300, y], weight=True),
        table("weights of 1e300", lambda i, a, b, y: [a, b, 1e300 * (1 + i % 3), y], weight=True),
        table("the largest weights", lambda i, a, b, y: [a, b, MOST, y], weight=True),
        table("denormal weights", lambda i, a, b, y: [a, b, LEAST, y], weight=True),
        table("weights of 1e80, targets of 1e300", lambda i, a, b, y: [a, b, 1e80 * (1 + i % 3), y * 1e300], weight=True),
        table("weights from 1 to 1e-100", lambda i, a, b, y: [a, b, 1 if i % 4 == 0 else 1e-100, y], weight=True),
        table("weights of 1e300 and 1e-300", lambda i, a, b, y: [a, b, 1e300 if i % 4 else 1e-300, y], weight=True,
              refusal=TOO_FEW),
        # Rows.
        Case("one row", [[0.1, 0.2, 0.3]], refusal=""),
        Case("two rows", [[0.1, 0.2, 0.3], [0.4, 0.1, 0.2]], refusal=""),
    ]


def quick_options(method):
    """Flags that make the fit of a method, as `tare methods --json` lists it, take a moment."""
    names = {option["name"] for option in method["options"]}
    settings = []
    if method["name"] == "auto":
        settings += ["steps=20", "folds=2", "guarantee=none"]
    elif method["name"] in ("nrc_rf", "nrc_rf_rp", "qrf"):
        settings += ["trees=5"]
    elif "epochs" in names or ("regressor" in names and method["name"] not in ("pure_kernel", "nrc_boost", "idr")):
        settings += ["epochs=2"]
    settings += ["inducing=16"] if "inducing" in names else []
    settings += ["rounds=10"] if "rounds" in names else []
    settings += ["members=2"] if "members" in names else []
    return [part for setting in settings for part in ("--set", setting)]


def variants(methods):
    """Every method, every regressor, and the parts that stand around a method: (label, flags)."""
    found = [(m["name"], ["--method", m["name"], *quick_options(m)]) for m in methods]
    for name, flags in {"ridge": [], "extra_trees": ["--set", "trees=5"], "boosting": ["--set", "rounds=10"], "gp": [], "zero": []}.items():
        found.append((f"nrc, {name}", ["--method", "nrc", "--regressor", name, *flags]))
    for kernel in ("naive", "knn", "laplace"):
        found.append((f"pure_kernel, {kernel}", ["--method", "pure_kernel", "--kernel", kernel]))
    forest = ["--method", "nrc_rf", "--set", "trees=5"]
    for flags in ("--split cross", "--guarantee split:0.3", "--guarantee cross:2", "--masses yes", "--bands on", "--scale none",
                  "--set screen=yes", "--reducer projection --dims 1", "--reducer correlation --dims 1", "--index brute",
                  "--index dense", "--index tree --kernel naive", "--bandwidth rate"):
        found.append((f"nrc_rf {flags}", forest + flags.split()))
    return found
