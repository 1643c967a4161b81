# SPDX-License-Identifier: BSD-3-Clause
"""The newcomer's test of docs/newcomer.md on the built site (TARE_SITE): the blocks of the pages, as a reader copies them, on a file of the
reader's own. The file has a text column and a missing cell, so that the newcomer also meets an error and follows its remedy.

The part with R needs R and the package 'tare' in its library (R_LIBS). `make r-check`, which has both, runs it with --documents on the pages
in docs, without a site; here it is checked that the blocks of R on the site are those of these pages."""
import html
import html.parser
import os
import pathlib
import random
import re
import shutil
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


class Document:
    """Links and blocks of code of a page in docs, by the names that Reader gives those of the site; blocks of tabs are indented."""

    def __init__(self, page):
        text = (ROOT / "docs" / page.replace(".html", ".md")).read_text(encoding="utf-8")
        self.links = {label: target.replace(".md", ".html") for label, target in re.findall(r"\[([^]]+)\]\(([^)\s]+)\)", text)}
        self.blocks = {}
        heading, language, indent, lines = "", None, "", []
        for line in text.splitlines():
            if language is None and (found := re.match(r"#{1,3} (.+)", line)):
                heading = found[1]
            elif language is None and (found := re.match(r"( *)```(\w+)$", line)):
                indent, language, lines = found[1], found[2], []
            elif language is not None and line == f"{indent}```":
                self.blocks.setdefault((heading, language), "".join(f"{one}\n" for one in lines))
                language = None
            elif language is not None:
                lines.append(line.removeprefix(indent))


def has_r():
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(tare)"], capture_output=True).returncode == 0


class Timed(unittest.TestCase):
    """Every test has a folder with the reader's file, and five minutes."""

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


@unittest.skipUnless(TOOL.is_file(), "there is no tool: TARE_TOOL")
class Newcomer(Timed):
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

    def test_the_site_has_the_r_of_the_documents(self):
        page = Reader("index.html").links["Five minutes with R"]
        for name in ("index.html", page):
            shown, written = Reader(name).blocks, Document(name).blocks
            blocks = [key for key in written if key[1] == "r"]
            self.assertTrue(blocks, name)
            for key in blocks:
                self.assertEqual(shown[key].rstrip(), written[key].rstrip(), name)


class NewcomerInR(Timed):
    page = Reader

    def r(self, code):
        done = subprocess.run(["Rscript", "-"], input=code, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def replaced(self, text, **changes):
        """The block with other words in it; each must be there."""
        for old, new in changes.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def test_with_r(self):
        if not has_r():
            self.skipTest("there is no R with the package 'tare'; 'make r-check' runs this test")
        first = self.page("index.html")
        own = {"file": ("airquality ", 'read.csv("mine.csv") '), "target": ("Ozone", "mpg"), "answer": ("predict(", "answer <- predict(")}
        check = """
own <- read.csv("mine.csv")
asked <- complete.cases(own)
lower <- answer[, "lower"]
upper <- answer[, "upper"]
stopifnot(lower[asked] < upper[asked])
cat(nrow(answer), sum(is.na(lower)), which(!asked), mean((lower <= own$mpg & own$mpg <= upper)[asked]))
"""
        rows, missing, where, covered = self.r(self.replaced(first.blocks["In four lines", "r"], **own) + check).split()
        self.assertEqual((rows, missing, where), ("1500", "1", "18"))  # the row with an empty cell is answered with NA
        self.assertGreater(float(covered), 0.85)  # of rows of the fit, so this is no test of calibration

        page = self.page(first.links["Five minutes with R"])
        own = {"file": ('read.csv("air.csv"', 'read.csv("mine.csv"'), "target": ("Ozone", "mpg")}
        steps = self.replaced(page.blocks["From your file to intervals", "r"], **own).splitlines()
        own = {"rows": ("data.frame(x = runif(900))", 'na.omit(read.csv("mine.csv"))'), "target": ("y ~ x", "mpg ~ .")}
        look = self.replaced(page.blocks["How good is it?", "r"], **own).splitlines()
        drawn = ("stands for a file of your own", "rnorm(")
        printed = self.r("\n".join(line for line in [*steps, *look] if not any(mark in line for mark in drawn)))
        self.assertRegex(printed, r"lower +upper\n1 +[\d.]+ +[\d.]+\n2 ")
        self.assertRegex(printed, r"q0\.1 +q0\.5 +q0\.9")
        self.assertIn("coverage_90", printed)


if __name__ == "__main__":
    if "--documents" in sys.argv:
        sys.argv.remove("--documents")
        NewcomerInR.page = Document
        unittest.main(argv=[sys.argv[0], "NewcomerInR"])
    unittest.main()
