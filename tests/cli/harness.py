# SPDX-License-Identifier: BSD-3-Clause
"""What every test of the command line needs: a folder of its own, the tool, small data."""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

TOOL = os.path.abspath(os.environ.get("TARE_TOOL", "build/tare"))
SANITIZED = os.environ.get("TARE_SANITIZED", "0") == "1"
# 'make test' and the sanitizers try a part of the cases of a long series; 'make check' tries them all.
EVERY_CASE = "TARE_DRAWS" in os.environ

# Exit codes of the tool.
DONE, OTHER, USAGE, NOT_FOUND, BAD_DATA, UNSUPPORTED, CHECK = 0, 1, 2, 3, 4, 5, 6


class Result:
    """What a run left: exit code, standard output and standard error."""

    def __init__(self, code, out, err):
        self.code, self.bytes, self.err = code, out, err.decode(errors="replace")

    @property
    def out(self):
        return self.bytes.decode()

    def json(self):
        return json.loads(self.out)

    def json_lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def table(self):
        """Standard output as CSV: a dictionary per row."""
        return list(csv.DictReader(io.StringIO(self.out, newline="")))

    def rows(self):
        return list(csv.reader(io.StringIO(self.out, newline="")))

    def numbers(self):
        """Every cell of the CSV on standard output, as numbers."""
        return [[float(cell) for cell in row] for row in self.rows()[1:]]


def with_quick_method(args):
    """The default method trains many models. Where a test is not about it and names no method, the forest does, or
    the given prediction."""
    if len(args) < 2 or args[0] != "fit" or any(str(arg) in ("--method", "--config", "--help") for arg in args):
        return args
    given = any(str(arg) in ("--prediction", "--predictor", "--prediction-quantiles") for arg in args)
    return (*args, "--method", "nrc" if given else "nrc_rf")


def run(*args, stdin=None, cwd=None, env=None, limits=None, timeout=120, stdout=subprocess.PIPE,
        default_method=False):
    """Runs the tool. `limits` is called in the child before the tool starts; with `default_method` nothing is added
    to a fit."""
    if not default_method:
        args = with_quick_method(args)
    environment = {**os.environ, **(env or {})}
    done = subprocess.run([TOOL, *map(str, args)], input=stdin if stdin is not None else b"", stdout=stdout,
                          stderr=subprocess.PIPE, cwd=cwd, env=environment, preexec_fn=limits, timeout=timeout,
                          check=False)
    return Result(done.returncode, done.stdout or b"", done.stderr)


def csv_text(header, rows, delimiter=","):
    """Rows as CSV without any quoting."""
    lines = [delimiter.join(header)]
    lines += [delimiter.join(str(cell) for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def points(count, seed=1):
    """Rows of a, b, p, y: two features, a fair prediction of y, and y."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        a, b = round(rng.uniform(0, 10), 3), round(rng.gauss(0, 1), 3)
        mean = 2 * a + b
        rows.append([a, b, round(mean, 3), round(mean + rng.gauss(0, 0.2 + 0.1 * a), 3)])
    return rows


HEADER = ["a", "b", "p", "y"]


class CliTest(unittest.TestCase):
    """A test in an empty folder, with checks on what a run says and leaves."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tare-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        data = content.encode() if isinstance(content, str) else content
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write_points(self, name="data.csv", count=60, seed=1):
        return self.write(name, csv_text(HEADER, points(count, seed)))

    def run_tool(self, *args, **options):
        """Runs the tool in the test's folder."""
        options.setdefault("cwd", self.folder)
        result = run(*args, **options)
        for sign in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "terminate called"):
            self.assertNotIn(sign, result.err)
        self.assertGreaterEqual(result.code, 0, f"died of a signal: {result.err}")
        return result

    def ok(self, *args, **options):
        result = self.run_tool(*args, **options)
        self.assertEqual(result.code, DONE, result.err)
        return result

    def fit(self, data="data.csv", *args, target="y", output="m.tare", **options):
        """Fits a model, and returns its file's name."""
        self.ok("fit", data, "--target", target, "-o", output, "--force", "-q", *args, **options)
        return output

    def small_model(self, output="m.tare", count=60):
        """A model on a column of predictions, and the data it was fitted on."""
        self.write_points("data.csv", count)
        return self.fit("data.csv", "--prediction", "p", "--bandwidth", "1", output=output)

    def snapshot(self):
        """Name, content and kind of all there is in the folder, hidden files too."""
        found = {}
        for base, folders, files in os.walk(self.folder):
            for name in folders:
                found[os.path.relpath(os.path.join(base, name), self.folder)] = None
            for name in files:
                path = os.path.join(base, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.folder)] = file.read()
        return found

    def fails(self, code, *args, says=(), **options):
        """The run must end with `code`, say on standard error all of `says`, and leave the folder as it was."""
        before = self.snapshot()
        result = self.run_tool(*args, **options)
        self.assertEqual(result.code, code, f"{args}: {result.err}")
        self.assertTrue(result.err.startswith(("error: ", "check failed: ")), result.err)
        self.assertEqual(result.err.count("\n"), 1, f"one line is enough: {result.err}")
        self.assertEqual(result.out, "", "an error leaves standard output clean")
        for text in says:
            self.assertIn(text, result.err)
        self.assertEqual(self.snapshot(), before, "a failed run must leave every file as it was")
        return result

    def fit_fails(self, code, data, *args, says=(), target="y", **options):
        """A fit that must fail, once onto nothing and once onto a file that is there already."""
        line = ["fit", data, "--target", target, *args]
        self.fails(code, *line, "-o", "new.tare", says=says, **options)
        self.write("old.tare", b"what was there before")
        return self.fails(code, *line, "-o", "old.tare", "--force", says=says, **options)


def main():
    unittest.main()
