# SPDX-License-Identifier: BSD-3-Clause
"""The pages of 'tare report' in a browser: drawn, legible, reachable, and silent on the console."""
import json
import math
import os
import random
import re
import sys
import unittest

import devtools
import page_checks

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from harness import HEADER as NAMES
from harness import CliTest, csv_text, main, points

SHOTS = os.environ.get("TARE_SCREENSHOTS", "")
SIZES = (400, 1400)
EVIL = "<script>alert('x')</script>"


def people(count, seed):
    """Rows with numbers, names, a constant, and names that would break a careless page."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        age, pay = rng.uniform(18, 80), math.exp(rng.gauss(10, 0.4))
        region, site = rng.choice(["north", "south", EVIL]), rng.choice(["Ünïcødé", "B & C"])
        spread = (1 + age / 20) * (2.5 if region == "south" and age > 50 else 1)
        rows.append([f"{age:.2f}", f"{pay:.1f}", region, "7", site, f"{0.3 * age + pay / 5000 + rng.gauss(0, spread):.3f}"])
    return rows


HEADER = ["age", "löhne & <i>", "region", "constant", "site", "y"]


@unittest.skipUnless(devtools.chromium(), "Chromium is not installed (tools/setup.sh test does it)")
class BrowserTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = devtools.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, width=1400, scheme="light"):
        page = self.browser.open(self.path(name), width, 900, scheme)
        self.addCleanup(page.close)
        return page

    def check_page(self, name, shot):
        """The page at every size and in both schemes and on paper; leaves screenshots."""
        for scheme in ("light", "dark"):
            page = self.open(name, SIZES[0], scheme)
            for width in SIZES:
                page.resize(width, 900)
                self.assertEqual(page_checks.faults(page), [], f"{name} at {width}, {scheme}")
                if SHOTS:
                    page.screenshot(os.path.join(SHOTS, f"{shot}-{width}-{scheme}.png"))
            self.assertEqual(len(page.requests), 1, f"nothing but the file itself is asked for: {page.requests}")
        page.emulate(scheme="dark", media="print")
        page.resize(720, 1000)
        if SHOTS:
            page.screenshot(os.path.join(SHOTS, f"{shot}-print.png"))
        self.assertEqual(page.evaluate(page_checks.CONTRAST), [], "dark ink on paper, whatever the scheme")
        self.assertEqual(page.evaluate(page_checks.OVERFLOW), [])
        return page


class ModelReport(BrowserTest):
    def setUp(self):
        super().setUp()
        self.write("train.csv", csv_text(HEADER, people(800, 1)))
        self.write("test.csv", csv_text(HEADER, people(500, 2)))
        self.fit("train.csv", "--method", "nrc", "--regressor", "ridge", "--drop", "site", "--calibrate-on", "age")
        self.ok("report", "m.tare", "test.csv", "-o", "report.html", "--group", "site", "--cost", "over=1,under=4")

    def test_is_sound_at_every_size_and_scheme(self):
        self.check_page("report.html", "report")

    def test_every_picture_the_issue_names_is_there_with_words_and_numbers(self):
        page = self.open("report.html")
        names = page.evaluate("[...document.querySelectorAll('svg')].map(svg => svg.getAttribute('aria-label'))")
        for part in ("Reliability curve:", "PIT histogram", "Regions where calibration is worst",
                     "Coverage of the 90 % interval along age", "Width of the 90 % interval along age",
                     "Coverage of the 90 % interval by region", "Coverage of the 90 % interval by site",
                     "Coverage of the 90 % interval along löhne & <i>", "Observed targets and their 90 % intervals",
                     "Histogram of the effective sample size", "Loss of each bandwidth"):
            self.assertTrue(any(name.startswith(part) for name in names), part)
        empty = page.evaluate("""[...document.querySelectorAll('figure')].filter(figure =>
            figure.querySelector('figcaption').textContent.trim().length < 40 || !figure.querySelector('details table'))
            .map(figure => figure.querySelector('h3').textContent)""")
        self.assertEqual(empty, [])
        roles = page.accessible()
        self.assertGreaterEqual(sum(role == "image" and bool(name) for role, name in roles), len(names))
        self.assertIn(("main", ""), roles)

    def test_no_name_of_the_user_becomes_markup(self):
        page = self.open("report.html")
        self.assertEqual(page.evaluate("document.querySelectorAll('script').length"), 1)
        self.assertEqual(page.evaluate("document.querySelectorAll('i').length"), 0)
        self.assertIn(EVIL, page.evaluate("document.body.textContent"))
        self.assertEqual(page.errors, [])

    def test_pointing_at_a_mark_shows_its_values(self):
        page = self.open("report.html")
        x, y = page.evaluate("""(() => {
            const svg = [...document.querySelectorAll('svg')].find(svg => svg.getAttribute('aria-label').startsWith('PIT'));
            svg.scrollIntoView({block: 'center', behavior: 'instant'});
            const box = svg.querySelector('.bars rect[data-tip]').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })()""")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.hover(x, y)
        self.assertRegex(page.wait_for("tip.style.visibility === 'visible' && tip.textContent"),
                         r"^0\.00 to 0\.05: \d+\.\d % of the rows\nby chance")
        box = page.evaluate("(({left, right, top, bottom}) => [left, right, top, bottom])(tip.getBoundingClientRect())")
        self.assertTrue(0 <= box[0] < box[1] <= 1400 and 0 <= box[2] < box[3] <= 900, box)
        page.hover(2, 2)
        page.wait_for("tip.style.visibility === 'hidden'")

    def test_the_keyboard_reaches_every_picture_and_its_marks(self):
        page = self.open("report.html")
        pictures = page.evaluate("document.querySelectorAll('svg').length")
        reached, limit = set(), 400
        for _ in range(limit):
            page.press("Tab")
            name = page.evaluate("document.activeElement.matches('svg') && document.activeElement.getAttribute('aria-label')")
            if name and name not in reached:
                reached.add(name)
                page.press("ArrowRight")
                first = page.evaluate("tip.style.visibility === 'visible' && tip.textContent")
                self.assertTrue(first, name)
                page.press("Escape")
                self.assertEqual(page.evaluate("tip.style.visibility"), "hidden")
            if len(reached) == pictures:
                break
        self.assertEqual(len(reached), pictures)

    def test_numbers_are_there_without_scripts(self):
        text = self.read("report.html").decode()
        self.assertGreater(len(re.findall(r"<title>[^<]*% of the rows", text)), 20, "marks say what they are by themselves")
        self.assertNotRegex(text, r"(src|href)=\"(?!#)|url\(|@import")


class Contests(BrowserTest):
    def test_compare(self):
        self.write("data.csv", csv_text(HEADER, people(150, 3)))
        self.ok("compare", "data.csv", "--target", "y", "--methods", "pure_kernel,nrc,nrc_cov", "--set", "regressor=ridge",
                "--repeats", "3", "--report", "contest.html")
        page = self.check_page("contest.html", "compare")
        self.assertRegex(page.evaluate("document.querySelector('svg').getAttribute('aria-label')"),
                         "difference of each method from the best, with 95 % intervals")

    def test_reproduce(self):
        law = {"test": "law", "rows": 200, "test_rows": 40}
        plan = {"name": "small", "title": "A <plan>", "repeats": 2, "figure": "Bands", "methods": ["pure_kernel", "nrc regressor=ridge"],
                "cases": [{"name": "sine", "problem": "sine", **law}, {"name": "flat", "problem": "flat", **law}]}
        self.write("small.json", json.dumps(plan))
        self.ok("reproduce", "small.json", "--out", "r", "--report", "r.html")
        self.assertEqual(self.read("r.html"), self.read("r/small.html"))
        page = self.check_page("r.html", "reproduce")
        self.assertEqual(page.evaluate("document.querySelectorAll('figure').length"), 4)
        self.assertIn("All problems", page.evaluate("document.querySelector('nav').textContent"))

    @unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("TARE_DATA", ""), "yacht.csv")), "TARE_DATA has no yacht.csv")
    def test_the_papers_figures_stand_beside_ours(self):
        self.ok("reproduce", "uci", "--cases", "Yacht", "--methods", "nrc_rf", "--repeats", "2", "--out", "r")
        page = self.check_page("r/uci.html", "reproduce-uci")
        self.assertIn("the paper's", page.evaluate("document.querySelector('#case1').textContent"))


class StrangeData(BrowserTest):
    def sound(self, name, shot):
        for width in SIZES:
            page = self.open(name, width)
            self.assertEqual(page_checks.faults(page), [], f"{name} at {width}")
        if SHOTS:
            page.screenshot(os.path.join(SHOTS, f"{shot}.png"))
        return page.evaluate("document.body.innerText")

    def test_one_row(self):
        self.small_model()
        self.write("one.csv", "a,b,p,y\n1,0,2,2.1\n")
        self.ok("report", "m.tare", "one.csv", "-o", "one.html", "--cost", "over=1,under=4")
        self.assertIn("few test rows", self.sound("one.html", "one-row"))

    def test_the_trail_of_auto(self):
        self.write_points("data.csv", 120)
        self.ok("fit", "data.csv", "--target", "y", "--prediction", "p", "-o", "m.tare", default_method=True)
        self.ok("report", "m.tare", "data.csv", "-o", "auto.html")
        self.assertIn("What 'auto' tried", self.sound("auto.html", "auto"))

    def test_infinite_intervals(self):
        # A few rows have most of the weight: too few for the guarantee to bound the 90 % interval.
        rows = [[*row, 100 if i % 5 == 0 else 1] for i, row in enumerate(points(120))]
        self.write("data.csv", csv_text([*NAMES, "w"], rows))
        self.fit("data.csv", "--prediction", "p", "--guarantee", "split:0.3,strict", "--weight", "w")
        self.write_points("test.csv", 50, seed=3)
        self.ok("report", "m.tare", "test.csv", "-o", "infinite.html", "--cost", "over=1,under=99")
        text = self.sound("infinite.html", "infinite")
        self.assertIn("Some 90 % intervals are infinite", text)
        self.assertIn("The intervals of 50 rows are infinite and not drawn", text)

    def test_many_long_names(self):
        rng = random.Random(5)
        header = [f"a column with a very long name indeed, number {k}" for k in range(25)] + ["kind", "y"]
        rows = [[f'"{rng.gauss(0, 1):.3f}"' for _ in range(25)] +
                [f"a category whose name goes on and on, the {rng.randrange(40)}th", f"{rng.gauss(0, 1):.3f}"] for _ in range(300)]
        self.write("data.csv", csv_text(header, rows, "\t"))
        self.fit("data.csv", "--method", "nrc", "--regressor", "ridge", "--reducer", "projection", "--dims", "2")
        self.ok("report", "m.tare", "data.csv", "-o", "many.html")
        self.assertIn("with the largest errors are drawn", self.sound("many.html", "many-columns"))


if __name__ == "__main__":
    main()
