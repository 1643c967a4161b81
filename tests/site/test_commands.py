# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the tool in README.md and docs runs as it stands there, on small files with the names and columns that the pages speak of.

Blocks of ```sh are run by python/tests/test_docs.py, and so are the commands of decide.md; these are the indented ones."""
import importlib.util
import os
import pathlib
import pickle
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("TARE_TOOL", ROOT / "build" / "tare")).resolve()
# What takes long gets less to do: the words on the left become those on the right.
SHORTER = (("--methods all --repeats 10", "--methods nrc_boost,ngboost --repeats 2"), ("--method NAME", "--method aci"),
           ("tune cars.csv --target mpg --methods hnn", "tune cars.csv --target mpg --methods hnn --grid hidden=8 --splits 3"))
# The commands behind the figures of a page: minutes to hours, on data that not every machine has. Their options are tested by tests/cli.
NOT_RUN = {"docs/results.md": "figures", "docs/testing.md": "targets of make", "docs/decide.md": "run by python/tests/test_docs.py"}
# Files of a page that an earlier part of it makes in Python.
ELSEWHERE = {"docs/tutorial.md": "run by python/tests/test_docs.py", "docs/python.md": "run by python/tests/test_docs.py"}


def is_whole(command):
    try:
        return bool(shlex.split(command))
    except ValueError:  # a quotation that goes on in the next line
        return False


def commands_of(page):
    """The indented commands that begin with tare, each with its line; blocks between ``` are left out."""
    found = []
    fenced = False
    lines = iter(enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and line.startswith("    tare "):
            command = line.strip()
            while not is_whole(re.sub(r"\s+#.*$", "", command)):
                command += "\n" + next(lines)[1][4:]
            found.append((number, command))
    return found


def pages_with_commands():
    pages = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md")))]
    return [page for page in pages if commands_of(page)]


def write(path, names, rows):
    path.write_text("\n".join([",".join(names), *(",".join(str(cell) for cell in row) for row in rows)]) + "\n", encoding="utf-8")


def prepare(folder):
    """Files of the pages: cars (also as new and test rows), rows with predictions, a series, a stream."""
    draw = random.Random(1)

    def cars(count):
        for row in range(count):
            x, hp, weight, origin, year = draw.uniform(0, 10), draw.uniform(50, 200), draw.uniform(1.5, 4.5), draw.choice("abc"), draw.randint(70, 82)
            yield [row, f"{x:.4f}", f"{hp:.2f}", f"{weight:.3f}", origin, year, f"{60 - 8 * weight + draw.gauss(0, weight):.3f}",
                   f"{x + draw.gauss(0, 1):.4f}"]

    for name, count in (("cars", 400), ("new", 60), ("test", 150), ("old", 300)):
        write(folder / f"{name}.csv", ["id", "x", "horsepower", "weight", "origin", "year", "mpg", "y"], cars(count))
    rows = []
    for _ in range(400):
        x, sd = draw.uniform(0, 5), draw.uniform(0.5, 1.5)
        rows.append([f"{x:.4f}", x, x, sd, x - 1.64 * sd, x, x + 1.64 * sd, x - 1.64 * sd, x, x + 1.64 * sd, f"{x + draw.gauss(0, sd):.4f}"])
    write(folder / "cal.csv", ["x", "yhat", "mu", "sigma", "q0.05", "q0.5", "q0.95", "low", "mid", "high", "y"], rows)
    (folder / "model.py").write_text("import sys\nnext(sys.stdin)\nfor line in sys.stdin:\n    print(line.split(',')[0])\n", encoding="utf-8")
    if importlib.util.find_spec("sklearn") and importlib.util.find_spec("pandas"):
        from sklearn.dummy import DummyRegressor

        (folder / "m.pkl").write_bytes(pickle.dumps(DummyRegressor().fit([[0.0]], [2.5])))
    write(folder / "hours.csv", ["hr", "cnt"], ([row % 24, 50 + row % 24 + draw.randint(0, 9)] for row in range(400)))

    def load(count):
        for row in range(count):
            yield [row % 24, 50 + row % 24, f"{50 + row % 24 + draw.gauss(0, 2):.3f}"]

    for name, count in (("load", 400), ("yesterday", 24), ("tomorrow", 24)):
        write(folder / f"{name}.csv", ["hour", "forecast", "y"], load(count))
    write(folder / "elec2.csv", ["period", "f_ar", "y"], ([row % 48, row % 48, f"{row % 48 + draw.gauss(0, 1):.3f}"] for row in range(400)))
    (folder / "secret.txt").write_text("a-token-of-more-than-sixteen-letters\n", encoding="utf-8")


def shortened(command):
    for long, short in SHORTER:
        command = command.replace(long, short)
    command = re.sub(r"\s+#.*$", "", command)
    words = shlex.split(command)
    if words[1] == "fit" and not any(word in command for word in ("--method", "--prediction", "--predictor", "--budget", "--config")):
        command = command.replace("tare fit", "tare fit --budget quick", 1)
    if words[1] == "serve":
        command = re.sub(r" --port \d+", "", command) + " --port 0"
    return command


@unittest.skipUnless(TOOL.is_file(), "there is no tool: TARE_TOOL")
class Commands(unittest.TestCase):
    def run_page(self, page):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            prepare(folder)
            (folder / "bin").mkdir()
            (folder / "bin" / "tare").symlink_to(TOOL)
            (folder / "bin" / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
            (folder / "bin" / "python3").chmod(0o755)
            environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
            fitted = page not in ("docs/serve.md", "docs/gpu.md") or self.fit_first(folder, environment)
            self.assertTrue(fitted)
            for number, written in commands_of(page):
                if "m.pkl" in written and not (folder / "m.pkl").exists():
                    continue  # needs scikit-learn
                command = shortened(written)
                words = shlex.split(command)
                # A page says once that nothing is overwritten without --force; here each command starts anew.
                for flag in ("-o", "--write", "--save", "--report"):
                    if flag in words and words[1] != "update":
                        (folder / words[words.index(flag) + 1]).unlink(missing_ok=True)
                with self.subTest(page=page, line=number, command=command):
                    if words[1] == "serve":
                        self.serve(command, folder, environment)
                        continue
                    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def fit_first(self, folder, environment):
        for model, target in (("cars.tare", "mpg"), ("model.tare", "mpg")):
            subprocess.run(["tare", "fit", "cars.csv", "--target", target, "--method", "nrc_boost", "-o", model], cwd=folder, env=environment,
                           check=True, capture_output=True)
        return True

    def serve(self, command, folder, environment):
        """It starts, says where, and ends by SIGTERM with 0."""
        process = subprocess.Popen(["sh", "-c", f"exec {command}"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        try:
            first = process.stdout.readline()
            self.assertIn("http://", first, "" if first else process.stderr.read())
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_no_page_is_overlooked(self):
        tested = {name for name in dir(self) if name.startswith("test_page_")}
        wanted = {f"test_page_{page_name(page)}" for page in pages_with_commands() if page not in NOT_RUN and page not in ELSEWHERE}
        self.assertEqual(tested, wanted)
        known = {page for page in (*NOT_RUN, *ELSEWHERE) if (ROOT / page).exists()}
        self.assertLessEqual(known, {*pages_with_commands(), "docs/testing.md"})


def page_name(page):
    return pathlib.Path(page).stem.replace("-", "_").lower()


def add_tests():
    for page in pages_with_commands():
        if page not in NOT_RUN and page not in ELSEWHERE:
            setattr(Commands, f"test_page_{page_name(page)}", lambda self, page=page: self.run_page(page))


add_tests()

if __name__ == "__main__":
    unittest.main()
