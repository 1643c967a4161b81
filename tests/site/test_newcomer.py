# SPDX-License-Identifier: BSD-3-Clause
"""The newcomer's test of docs/newcomer.md on the built site (TARE_SITE): the blocks of the pages, as a reader copies them, on a file of the
reader's own. The file has a text column and a missing cell, so that the newcomer also meets an error and follows its remedy."""
import html
import html.parser
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path(os.environ.get("TARE_SITE", ROOT / "build" / "site"))
TOOL = pathlib.Path(os.environ.get("TARE_TOOL", ROOT / "build" / "tare")).resolve()
LIMIT = 300.0  # seconds: five minutes, reading not counted


class Reader(html.parser.HTMLParser):
    """Headings, links and blocks of code of a page, in order."""

    def __init__(self, page):
        super().__init__()
        self.links, self.blocks, self.heading = {}, {}, ""
        self._inside, self._texts, self._target, self._language = set(), {}, None, None
        self.feed((SITE / page).read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("a", "h1", "h2", "h3", "code"):
            self._inside.add(tag)
            self._texts[tag] = ""
        if tag == "a":
            self._target = given.get("href")
        elif tag == "div" and (found := re.search(r"language-(\w+)", given.get("class") or "")):
            self._language = found[1]

    def handle_data(self, data):
        for tag in self._inside:
            self._texts[tag] += data

    def handle_endtag(self, tag):
        if tag not in self._inside:
            return
        self._inside.discard(tag)
        text = self._texts[tag]
        if tag == "a" and self._target:
            self.links.setdefault(text.strip(), self._target)
        elif tag in ("h1", "h2", "h3"):
            self.heading = text.replace("¶", "").strip()
        elif tag == "code" and self._language and "\n" in text:
            self.blocks.setdefault((self.heading, self._language), text)


@unittest.skipUnless(TOOL.is_file(), "there is no tool: TARE_TOOL")
class Newcomer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        draw = random.Random(1)
        lines = ["weight,origin,mpg"]
        for row in range(1500):
            weight, origin = draw.uniform(0.8, 2.4), draw.choice(["Europe", "Japan", "USA"])
            mpg = 50.0 - 15.0 * weight + (3.0 if origin == "Japan" else 0.0) + draw.gauss(0.0, weight)
            lines.append(f"{'' if row == 17 else f'{weight:.3f}'},{origin},{mpg:.2f}")
        (self.folder / "mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.begun = time.monotonic()

    def tearDown(self):
        taken = time.monotonic() - self.begun
        print(f"{self.id().rpartition('.')[2]}: {taken:.1f} s")
        self.assertLess(taken, LIMIT)

    def shell(self, code):
        path = f"{TOOL.parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(["sh", "-eu", "-c", code], cwd=self.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)

    def test_with_the_tool(self):
        first = Reader("index.html")
        page = Reader(first.links["Five minutes with the tool"])

        def own(heading, block="sh"):
            return page.blocks[heading, block].replace("cars.csv", "mine.csv").replace("new.csv", "mine.csv").replace("--target y", "--target mpg")

        fit = own("2. Fit")
        refused = self.shell(fit)
        self.assertEqual(refused.returncode, 4)
        self.assertIn("--missing impute", refused.stderr)
        done = self.shell(fit.replace("--budget", "--missing impute --budget"))
        self.assertEqual(done.returncode, 0, done.stderr)
        predict = own("3. Predict").replace("--keep x", "--keep origin")
        done = self.shell(predict)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (self.folder / "intervals.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(rows[0], "lower_0.9,upper_0.9")
        self.assertEqual(len(rows), 1501)
        self.assertTrue(all(float(low) < float(high) for low, high in (row.split(",") for row in rows[1:])))
        done = self.shell(own("4. Look"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("coverage_90", done.stdout)
        self.assertTrue((self.folder / "report.html").is_file())

    def test_with_python(self):
        first = Reader("index.html")
        code = first.blocks["In four lines", "python"]
        self.assertIn("or rows of your own", code)
        # The lines that draw rows give way to the reader's own file.
        before, _, after = code.partition("rng = ")
        after = after[after.index("model = ") :]
        own = 'import pandas as pd\n\nframe = pd.read_csv("mine.csv").dropna()\nX, y = frame.drop(columns="mpg"), frame["mpg"]\n'
        check = "print(len(low), bool((low < high).all()), ((low <= y) & (y <= high)).mean())\n"
        (self.folder / "mine.py").write_text(before + own + after + check, encoding="utf-8")
        done = subprocess.run([sys.executable, "mine.py"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, ordered, covered = done.stdout.split()
        self.assertEqual((rows, ordered), ("1499", "True"))
        self.assertGreater(float(covered), 0.85)  # of rows of the fit, so this is no test of calibration
        # And the page that the first one leads to has its blocks.
        self.assertIn(("3. Calibrate", "python"), Reader(first.links["Five minutes with Python"]).blocks)


if __name__ == "__main__":
    unittest.main()
