# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: what is drawn, what fits, what a keyboard and a screen reader meet, and whether it is right.
Screenshots are kept in $TARE_SCREENSHOTS."""
import csv
import io
import json
import os
import random
import shutil
import sys
import tempfile
import time
import unittest

from serve_harness import ServeTest, csv_text, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "browser"))
import devtools

PLOTS = ("density", "intervals", "fan", "coverage-plot")
DRAWN = "document.querySelectorAll('.plot svg').length === 4"
# Marks of a figure that show numbers, beside axes and words.
MARKS = "[...document.querySelectorAll(`#{} svg path, #{} svg rect, #{} svg circle, #{} svg .nominal`)]"
# Elements that stick out of the window, unless they may be scrolled.
OVERFLOW = """[...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1) && !e.closest('.scroll, .skip, .hidden, textarea');
}).map(e => e.outerHTML.slice(0, 120))"""
# Words of a figure that stick out of it or lie on each other.
WORDS = """[...document.querySelectorAll('.plot svg')].flatMap(svg => {
  const room = svg.getBoundingClientRect(), found = [];
  const words = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  words.forEach(([text, box], i) => {
    if (box.left < room.left - 1 || box.right > room.right + 1 || box.bottom > room.bottom + 1) found.push(`${text} sticks out`);
    words.slice(i + 1).forEach(([other, at]) => {
      if (box.left < at.right && at.left < box.right && box.top + 2 < at.bottom && at.top + 2 < box.bottom) found.push(`${text} on ${other}`);
    });
  });
  return found;
})"""


# Words whose contrast is below WCAG's 4.5.
CONTRAST = """(() => { const light = c => { const p = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2]; };
          const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
            if (!c.endsWith(', 0)')) return c; } return 'rgb(255, 255, 255)'; };
          return [...document.querySelectorAll('p, h1, h2, label, button, dt, dd, th, td, .button, a, svg text')].filter(e => e.textContent.trim() &&
            e.getBoundingClientRect().width > 1).map(e => {
            const style = getComputedStyle(e), ink = light(e instanceof SVGElement ? style.fill : style.color), back = light(ground(e));
            return [(Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05), e.outerHTML.slice(0, 80)]; }).filter(([c]) => c < 4.5); })()"""


def shots():
    return os.environ.get("TARE_SCREENSHOTS") or tempfile.gettempdir()


def cars(count, seed):
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        engine = ("petrol", "diesel", "hybrid")[i % 3]
        power, weight = round(rng.gauss(130, 30)), round(rng.gauss(1400, 200))
        mean = 60 - 0.15 * power - 0.008 * weight + {"petrol": 0, "diesel": 4, "hybrid": 12}[engine]
        rows.append([engine, power, weight, round(mean + rng.gauss(0, 1 + 0.02 * max(0, power - 60)), 1)])
    return rows


CARS = ["engine", "power", "weight", "mpg"]


@unittest.skipUnless(devtools.chromium(), "Chromium is not installed (tools/setup.sh test does it)")
class Page(ServeTest):
    OPTIONS = ("--watch-window", 200)

    @classmethod
    def setUpClass(cls):
        cls.browser = devtools.Browser()
        cls.addClassCleanup(cls.browser.close)

    def make_model(self):
        self.write("cars.csv", csv_text(CARS, cars(600, 1)))
        self.fit("cars.csv", "--method", "nrc", "--regressor", "ridge", target="mpg")

    def open(self, width=1400, scheme="light", wait=DRAWN):
        page = self.browser.open(self.service.url, width, 900, scheme)
        self.addCleanup(page.close)
        page.wait_for(wait)
        return page

    def shot(self, page, name):
        os.makedirs(shots(), exist_ok=True)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(os.path.join(shots(), f"serve-{name}.png"))

    def quantiles(self, page, shortest=False):
        """Those that the page shows: the table of intervals, or of the parts of shortest sets, as numbers."""
        text = page.evaluate("[...document.querySelectorAll('#interval-table tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        return [[float(cell.replace("−", "-").replace(",", "")) for cell in row[1:3]] for row in text
                if (row[0] == "shortest") == shortest]

    def settle(self, page, before):
        """Waits until the shown quantiles are others."""
        page.wait_for(f"JSON.stringify([...document.querySelectorAll('#interval-table td')].map(c => c.textContent)) !== {json.dumps(before)}")

    def shown(self, page):
        return page.evaluate("JSON.stringify([...document.querySelectorAll('#interval-table td')].map(c => c.textContent))")

    def check_drawn(self, page):
        for name in PLOTS:
            marks = page.evaluate(MARKS.replace("{}", name) + ".length")
            self.assertGreater(marks, 0, f"{name} is empty")
            self.assertNotIn("NaN", page.evaluate(f"document.querySelector('#{name} svg').outerHTML"))
            box = page.evaluate(f"(b => [b.width, b.height])(document.querySelector('#{name} svg').getBoundingClientRect())")
            self.assertGreater(min(box), 100, name)
        self.assertEqual(page.errors, [])
        for url in page.requests:
            self.assertTrue(url.startswith((self.service.url, "blob:", "data:")), f"{url} is somewhere else")

    def test_a_model_that_does_not_learn_has_no_stream(self):
        page = self.open()
        self.assertEqual(page.evaluate("['stream', 'drift-alarm'].map(id => document.getElementById(id).hidden)"), [True, True])
        self.assertEqual(page.evaluate("document.getElementById('observe').textContent"), "Count as observations")

    def test_drawn_and_fits_at_every_width(self):
        rows = [dict(zip(CARS, row)) for row in cars(300, 2)]
        self.service.post("/v1/observe", {"rows": rows})
        for width, scheme in ((400, "light"), (700, "light"), (1400, "light"), (1400, "dark"), (400, "dark")):
            page = self.open(width, scheme)
            page.set_file("#file", self.path("cars.csv"))
            page.wait_for("!document.getElementById('csv-result').hidden")
            self.check_drawn(page)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            self.assertEqual(page.evaluate(OVERFLOW), [], width)
            self.assertEqual(page.evaluate(WORDS), [], width)
            self.shot(page, f"{width}-{scheme}")

    def test_another_width_draws_anew(self):
        page = self.open(1400)
        page.resize(400, 900)
        page.wait_for("document.querySelector('#fan svg').viewBox.baseVal.width < 400")
        self.assertEqual(page.evaluate(OVERFLOW), [])
        self.check_drawn(page)

    def test_moving_a_feature_changes_what_is_shown(self):
        page = self.open()
        typical = {column["name"]: column["typical"] for column in self.service.get("/v1/model").json()["inputs"]}
        self.check_quantiles(page, typical)
        pictures = "['density', 'intervals', 'fan'].map(id => document.querySelector(`#${id} svg`).innerHTML)"
        before, drawn, said = self.shown(page), page.evaluate(pictures), page.evaluate("document.getElementById('headline').textContent")
        page.evaluate("""(() => { const s = document.querySelectorAll('#features input[type=range]')[0];
          s.value = Number(s.max); s.dispatchEvent(new Event('input', {bubbles: true})); })()""")
        self.settle(page, before)
        power = page.evaluate("document.querySelectorAll('#features input[type=range]')[0].valueAsNumber")
        self.check_quantiles(page, {**typical, "power": power})
        for one, other in zip(drawn, page.evaluate(pictures)):
            self.assertNotEqual(one, other)
        self.assertNotEqual(said, page.evaluate("document.getElementById('headline').textContent"))
        before = self.shown(page)
        page.evaluate("""(() => { const s = document.querySelector('#features select');
          s.value = 'petrol'; s.dispatchEvent(new Event('change', {bubbles: true})); })()""")
        self.settle(page, before)
        self.check_quantiles(page, {**typical, "power": power, "engine": "petrol"})
        before = self.shown(page)
        page.click("#reset")
        self.settle(page, before)
        self.check_quantiles(page, typical)
        self.assertEqual(page.errors, [])

    def check_quantiles(self, page, row):
        answer = self.service.post("/v1/predict", {"rows": [row], "interval": [0.5, 0.8, 0.9, 0.95]}).json()["rows"][0]
        for (low, high), share in zip(self.quantiles(page), (0.5, 0.8, 0.9, 0.95)):
            self.assertAlmostEqual(low, answer[f"lower_{share}"], delta=0.006)
            self.assertAlmostEqual(high, answer[f"upper_{share}"], delta=0.006)
        answer = self.service.post("/v1/predict", {"rows": [row], "interval": [0.5, 0.8, 0.9, 0.95], "set": "shortest"}).json()["rows"][0]
        shown = self.quantiles(page, shortest=True)
        parts = [part for share in (0.5, 0.8, 0.9, 0.95) for part in answer[f"set_{share}"]]
        self.assertEqual(len(shown), len(parts))
        for ends, part in zip(shown, parts):
            for end, wanted in zip(ends, part):
                self.assertAlmostEqual(end, wanted, delta=0.006)
        self.assertEqual(page.evaluate("document.querySelectorAll('#intervals rect.set').length"), len(parts))

    def test_the_fan_follows_its_feature(self):
        page = self.open()
        self.assertEqual(page.evaluate("document.getElementById('along').value"), "power")
        page.evaluate("(() => { const a = document.getElementById('along'); a.value = 'engine'; a.dispatchEvent(new Event('change')); })()")
        page.wait_for("document.querySelector('#fan svg').getAttribute('aria-label').includes('engine')")
        words = page.evaluate("[...document.querySelectorAll('#fan svg text')].map(t => t.textContent)")
        self.assertLessEqual({"petrol", "diesel", "hybrid"}, set(words))
        self.assertEqual(page.errors, [])

    def test_keyboard(self):
        page = self.open()
        page.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.className"), "skip")
        page.press("Enter")
        self.assertEqual(page.evaluate("document.activeElement.id"), "answer")
        page.evaluate("document.getElementById('reset').focus()")
        order = []
        for _ in range(14):
            page.press("Tab")
            order.append(page.evaluate("(e => e.id || e.getAttribute('aria-label'))(document.activeElement)"))
        self.assertEqual(order[:7], ["feature-0", "feature-1", "power, slider", "feature-2", "weight, slider", "along", "file"])
        self.assertEqual(order[7:11], ["text", "levels", "predict", "observe"])
        page.evaluate("document.querySelectorAll('#features input[type=range]')[0].focus()")
        before, value = self.shown(page), page.evaluate("document.activeElement.valueAsNumber")
        for _ in range(5):
            page.press("ArrowRight")
        self.settle(page, before)
        self.assertGreater(page.evaluate("document.activeElement.valueAsNumber"), value)
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid", "the focus is seen")

    def test_screen_reader_names(self):
        page = self.open()
        found = page.accessible()
        names = {role: [name for kind, name in found if kind == role] for role, _ in found}
        self.assertEqual(len(names["image"] if "image" in names else names["img"]), 4)
        for role in ("button", "textbox", "slider", "spinbutton", "combobox", "link", "region", "heading", "table", "image", "img"):
            for name in names.get(role, []):
                self.assertTrue(name.strip(), f"a {role} has no name")
        pictures = " ".join(names.get("image", []) + names.get("img", []))
        for text in ("Predicted distribution of mpg", "Central intervals of mpg", "mpg along power", "Coverage of the 90 % interval"):
            self.assertIn(text, pictures)
        self.assertLessEqual({"power, slider", "weight, slider"}, set(names["slider"]))
        self.assertLessEqual({"power", "weight"}, set(names["spinbutton"]))
        self.assertEqual(page.evaluate("document.documentElement.lang"), "en")
        self.assertEqual(page.evaluate("document.querySelectorAll('h1').length"), 1)

    def test_colours_can_be_told_from_their_ground(self):
        """WCAG's contrast of 4.5 for words, in both schemes."""
        for scheme in ("light", "dark"):
            page = self.open(1400, scheme)
            page.set_file("#file", self.path("cars.csv"))
            page.wait_for("!document.getElementById('csv-result').hidden")
            self.assertEqual(page.evaluate(CONTRAST), [], scheme)

    def check_download(self, page, levels):
        """Clicks, and compares the file that comes with what the tool writes."""
        folder = tempfile.mkdtemp(prefix="tare-download-")
        self.addCleanup(shutil.rmtree, folder)
        self.browser.send("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
        page.click("#download")
        path, limit = os.path.join(folder, "quantiles.csv"), time.monotonic() + 10
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), limit, "no file came")
            time.sleep(0.02)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), self.ok("predict", "m.tare", "new.csv", "--levels", levels, "--keep", "all").bytes)

    def test_a_dropped_csv_comes_back_right(self):
        rows = cars(40, 3)
        rows[0][0] = '"pet""rol, old"'
        self.write("new.csv", csv_text(CARS, rows))
        page = self.open()
        page.evaluate(f"""(() => {{ const data = new DataTransfer();
          data.items.add(new File([{json.dumps(self.read("new.csv").decode())}], 'new.csv', {{type: 'text/csv'}}));
          for (const name of ['dragenter', 'dragover', 'drop'])
            document.getElementById('drop').dispatchEvent(new DragEvent(name, {{dataTransfer: data, bubbles: true, cancelable: true}})); }})()""")
        page.wait_for("!document.getElementById('csv-result').hidden")
        self.check_download(page, "0.05,0.5,0.95")
        self.assertIn("40 rows", page.evaluate("document.getElementById('csv-state').textContent"))
        shown = page.evaluate("[...document.querySelectorAll('#csv-table tr')].map(r => [...r.cells].map(c => c.title || c.textContent))")
        expected = list(csv.reader(io.StringIO(self.ok("predict", "m.tare", "new.csv", "--keep", "all").out)))
        self.assertEqual(shown, expected[:9])
        self.assertEqual(page.errors, [])

    def test_a_chosen_file_and_pasted_rows(self):
        self.write("new.csv", csv_text(CARS, cars(12, 4)))
        page = self.open(400)
        page.set_file("#file", self.path("new.csv"))
        page.wait_for("!document.getElementById('csv-result').hidden")
        self.check_download(page, "0.05,0.5,0.95")
        self.write("new.csv", csv_text(CARS[:3], [row[:3] for row in cars(5, 5)]))
        page.evaluate(f"""(() => {{ const t = document.getElementById('text'); t.value = {json.dumps(self.read("new.csv").decode())};
          t.dispatchEvent(new Event('input')); document.getElementById('levels').value = '0.1,0.9'; }})()""")
        page.click("#predict")
        page.wait_for("document.getElementById('csv-state').textContent === '5 rows.'")
        self.check_download(page, "0.1,0.9")

    def test_a_bad_csv_is_explained(self):
        page = self.open()
        problem = "document.getElementById('csv-problem').textContent"
        page.click("#predict")
        page.wait_for(problem + ".includes('no rows yet')")
        page.evaluate("document.getElementById('text').value = 'engine,power\\npetrol,100\\n'")
        page.click("#predict")
        page.wait_for(problem + ".includes(\"has no column 'weight'\")")
        self.assertTrue(page.evaluate("document.getElementById('csv-result').hidden"))

    def test_coverage_is_live_and_raises_an_alarm(self):
        page = self.open()
        self.assertIn("No target", page.evaluate("document.getElementById('coverage-text').textContent"))
        self.assertTrue(page.evaluate("document.getElementById('alarm').hidden"))
        rows = [dict(zip(CARS, row)) for row in cars(150, 6)]
        self.service.post("/v1/observe", {"rows": rows})
        page.wait_for("document.getElementById('coverage-text').textContent.includes('150')")
        self.assertTrue(page.evaluate("document.getElementById('alarm').hidden"))
        self.service.post("/v1/observe", {"rows": [{**row, "mpg": row["mpg"] + 30} for row in rows[:80]]})
        page.wait_for("!document.getElementById('alarm').hidden")
        self.assertIn("too narrow", page.evaluate("document.getElementById('alarm').textContent"))
        self.check_drawn(page)
        self.shot(page, "alarm")
        page.set_file("#file", self.path("cars.csv"))
        page.wait_for("!document.getElementById('csv-result').hidden")
        page.click("#observe")
        page.wait_for("document.getElementById('csv-state').textContent.includes('600 observations')")
        page.wait_for("document.getElementById('alarm').hidden")

    def test_another_model_is_noticed(self):
        page = self.open()
        version = self.service.get("/v1/model").json()["version"]
        self.fit("cars.csv", "--method", "nrc", "--regressor", "ridge", "--bandwidth", "0.4", target="mpg")
        self.service.wait_for_log("model_switched")
        page.wait_for(f"!document.getElementById('card').textContent.includes('{version}')")
        self.assertEqual(page.errors, [])

    def test_token(self):
        self.write("token", "sesame")
        self.service = self.serve("--token-file", "token")
        page = self.open(wait="!document.getElementById('login').hidden")
        self.assertTrue(page.evaluate("document.getElementById('main').hidden"))
        page.evaluate("document.getElementById('token').value = 'wrong'")
        page.press("Enter")
        page.wait_for("document.getElementById('login-problem').textContent.includes('not the right one')")
        page.evaluate("document.getElementById('token').value = 'sesame'")
        page.press("Enter")
        page.wait_for(DRAWN)
        self.assertTrue(page.evaluate("document.getElementById('login').hidden"))


@unittest.skipUnless(devtools.chromium(), "Chromium is not installed (tools/setup.sh test does it)")
class OnlinePage(ServeTest):
    """A model that learns: rows, coverage so far and drift are on the page, and follow what is taught."""

    OPTIONS = ("--journal", "j", "--watch-window", 200)
    open, shot, check_drawn, setUpClass = Page.open, Page.shot, Page.check_drawn, Page.__dict__["setUpClass"]

    def make_model(self):
        self.write("cars.csv", csv_text(CARS, cars(300, 1)))
        self.fit("cars.csv", "--method", "nrc", "--regressor", "ridge", target="mpg", output="base.tare")
        self.write("stream.csv", csv_text(CARS, cars(300, 2)))
        self.ok("track", "stream.csv", "--model", "base.tare", "--start", "50", "--interval", "0.9,0.5", "--save", "m.tare", "-o", "x.csv", "-q")

    def text(self, page, name):
        return page.evaluate(f"document.getElementById('{name}').textContent")

    def test_learning_is_shown_as_it_goes_on(self):
        page = self.open()
        self.assertIn("300 rows learned, 250 of them after the warm-up", self.text(page, "stream-text"))
        self.assertIn("300 rows of a stream", self.text(page, "subtitle"))
        self.assertIn("log e is", self.text(page, "evidence-text"))
        self.assertTrue(page.evaluate("document.getElementById('drift-alarm').hidden"))
        table = page.evaluate("[...document.querySelectorAll('#stream-table tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual([row[0] for row in table], ["90 %", "50 %"])
        online = self.service.get("/v1/model").json()["online"]
        for row, interval in zip(table, online["intervals"]):
            self.assertAlmostEqual(float(row[1].removesuffix(" %")), 100 * interval["coverage"], delta=0.051)
        page.set_file("#file", self.path("cars.csv"))
        page.wait_for("!document.getElementById('csv-result').hidden")
        self.assertEqual(self.text(page, "observe"), "Teach these rows")
        before = self.text(page, "headline")
        page.click("#observe")
        page.wait_for("document.getElementById('csv-state').textContent === '300 rows were learned.'")
        page.wait_for("document.getElementById('stream-text').textContent.startsWith('600 rows learned')")
        page.wait_for(f"document.getElementById('headline').textContent !== {json.dumps(before)}")
        self.assertIn("600 rows of a stream", self.text(page, "subtitle"))
        self.check_drawn(page)

    def test_an_alarm_is_shown_with_its_row(self):
        rows = [dict(zip(CARS, row)) for row in cars(700, 6)]
        middle = sum(row["mpg"] for row in rows) / len(rows)
        self.service.post("/v1/observe", {"rows": rows[:400]})
        page = self.open()
        self.assertTrue(page.evaluate("document.getElementById('drift-alarm').hidden"))
        self.service.post("/v1/observe", {"rows": [{**row, "mpg": row["mpg"] + 3 * (row["mpg"] - middle)} for row in rows[400:]]})
        page.wait_for("!document.getElementById('drift-alarm').hidden")
        alarm = self.service.get("/v1/model").json()["online"]["drift"]["alarm"]
        self.assertIn(f"at row {alarm['row']} of the stream", self.text(page, "drift-alarm").replace(",", ""))
        self.assertIn("times what it was", self.text(page, "drift-alarm"))
        for cause in alarm["causes"]:
            self.assertIn(cause["column"], self.text(page, "drift-alarm"))
        self.assertIn("alarm at row", self.text(page, "evidence-text"))
        self.assertEqual(page.evaluate("document.getElementById('evidence').value"), 1)
        self.shot(page, "drift")
        for width, scheme in ((400, "light"), (1400, "dark")):
            page = self.open(width, scheme)
            self.check_drawn(page)
            self.assertEqual(page.evaluate(OVERFLOW), [], width)
            self.assertEqual(page.evaluate(WORDS), [], width)
            self.assertEqual(page.evaluate(CONTRAST), [], scheme)
            self.shot(page, f"drift-{width}-{scheme}")


@unittest.skipUnless(devtools.chromium(), "Chromium is not installed (tools/setup.sh test does it)")
class OtherModels(Page):
    """Cards that are unlike the usual one: each must be drawn without an error."""

    def make_model(self):
        self.write_points(count=150)
        self.small_model(count=150)

    def try_model(self, *options, data="data.csv", target="y"):
        self.fit(data, *options, target=target, output="special.tare")
        self.service = self.serve(model="special.tare")
        page = self.open(400)
        self.check_drawn(page)
        self.assertEqual(page.evaluate(OVERFLOW), [])
        self.assertEqual(page.evaluate(WORDS), [])
        return page

    def test_given_laws_groups_guarantees_windows_and_constants(self):
        self.try_model("--prediction", "p")
        self.try_model("--method", "nrc", "--regressor", "ridge", "--window", "3", "--drop", "p")
        rows = [["uv"[i % 2], i % 10, 5, i % 7 - 3, 1e-7 * (i * 7 % 13)] for i in range(100)]
        self.write("odd.csv", csv_text(["a group with quite a long name", "n", "same", "m<b>&", "y"], rows))
        page = self.try_model("--method", "pure_kernel", "--guarantee", "split,strict", "--bounds", "none",
                              "--group", "a group with quite a long name", "--drop", "a group with quite a long name", data="odd.csv")
        self.assertIn("∞", page.evaluate("document.getElementById('interval-table').textContent"))
        self.assertIn("m<b>&", page.evaluate("document.getElementById('features').textContent"))

    def test_names_that_are_html_are_shown_as_text(self):
        """Columns, categories and the target: nothing of them becomes an element, and no script runs."""
        column, category, target = ("<img src=x onerror=alert(1)>", "<script>document.title='x'</script>", "<b onclick=alert(2)>y</b>")
        rows = [[i % 10, (category, "plain")[i % 2], i % 7] for i in range(100)]
        self.write("html.csv", csv_text([column, "</option><svg/onload=alert(3)>", target], rows))
        self.fit("html.csv", "--method", "pure_kernel", target=target, output="special.tare")
        self.service = self.serve(model="special.tare")
        page = self.open(1400)
        page.set_file("#file", self.path("html.csv"))
        page.wait_for("!document.getElementById('csv-result').hidden")
        made = "document.querySelectorAll('img:not([width]), b, script:not([src]), [onerror], [onclick], [onload]').length"
        self.assertEqual(page.evaluate(made), 0)
        self.assertIn(column, page.evaluate("document.getElementById('features').textContent"))
        self.assertIn(category, page.evaluate("document.querySelector('#features select').textContent"))
        self.assertIn(target, page.evaluate("document.title"))
        self.assertIn(column, page.evaluate("document.getElementById('csv-table').textContent"))
        self.check_drawn(page)


# What Page tests is not tested again with the other models.
for inherited in [name for name in dir(Page) if name.startswith("test_")]:
    setattr(OtherModels, inherited, None)


if __name__ == "__main__":
    main()
