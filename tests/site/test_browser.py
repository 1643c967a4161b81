# SPDX-License-Identifier: BSD-3-Clause
"""The built site (TARE_SITE) in a headless Chromium, opened from its folder: no error and no request to the network, nothing wider than a
phone, contrast in light and dark, headings, names and keyboard, and a search that finds. Screenshots go to TARE_SCREENSHOTS.

It takes the checks of tests/browser/page_checks.py where they fit; the theme has parts of its own that they do not know."""
import os
import pathlib
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import devtools
import page_checks

SITE = pathlib.Path(os.environ.get("TARE_SITE", ROOT / "build" / "site"))
SHOTS = os.environ.get("TARE_SCREENSHOTS")
SIZES = (400, 1400)
SCHEMES = ("light", "dark")
PAGES = ("index.html", "start-tool.html", "tutorial.html", "questions/index.html", "questions/guarantee.html", "methods.html", "gallery/index.html",
         "gallery/house-prices.html", "guide.html", "python-api.html", "cpp-api.html", "c-api.html", "serve.html", "results.html",
         "leaderboard.html", "decisions/index.html", "newcomer.html")
SETTLED = "document.fonts.ready.then(() => new Promise((done) => setTimeout(() => done(true), 150)))"

# Of what is shown. A part that scrolls by itself (tables, code) may be wider than the screen, and so may what the theme keeps out of view.
OVERFLOW = """(() => {
  const width = document.documentElement.clientWidth;
  const faults = [];
  if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth} wide on ${width}`);
  for (const element of document.querySelectorAll('.md-content *, .md-header__title, .md-footer *')) {
    if (element.closest('.md-typeset__scrollwrap, pre, .tabbed-labels, .md-code__nav')) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && getComputedStyle(element).visibility === 'visible' && (box.right > width + 1 || box.left < -1))
      faults.push(`<${element.tagName}> '${element.textContent.trim().slice(0, 40)}' from ${box.left} to ${box.right}`);
  }
  return faults.slice(0, 5);
})()"""

# By the formula of WCAG 2, with grounds that are partly transparent put on top of each other, and the opacity of texts.
CONTRAST = """(() => {
  const parse = (text) => {
    const numbers = (text.match(/[\\d.]+/g) || []).map(Number);
    return numbers.length === 3 ? [...numbers, 1] : numbers;
  };
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
    return .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]);
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || element.closest('.md-skip, [hidden], .md-search__output, .md-tooltip, .md-dialog, .md-top')) return false;
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.visibility !== 'visible' || Number(style.opacity) === 0) return false;
    }
    return true;
  };
  const opacity = (element) => { let all = 1; for (let at = element; at; at = at.parentElement) all *= getComputedStyle(at).opacity; return all; };
  const faults = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.matches('script, style, title, noscript') || element.closest('svg, .headerlink') || !shown(element)) continue;
    const ink = parse(getComputedStyle(element).color), below = ground(element);
    ink[3] *= opacity(element);
    const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faults.add(`${ratio.toFixed(2)}: '${element.textContent.trim().slice(0, 40)}' .${element.className}`);
  }
  return [...faults].slice(0, 8);
})()"""

NAMES = """(() => {
  const faults = [];
  if (!document.documentElement.lang) faults.push('the page has no language');
  if (!document.title.trim()) faults.push('the page has no title');
  if (document.querySelectorAll('h1').length !== 1) faults.push(`there are ${document.querySelectorAll('h1').length} main headings`);
  if (!document.querySelector('main')) faults.push('there is no main part');
  let level = 1;
  for (const heading of document.querySelectorAll('article h1, article h2, article h3, article h4, article h5')) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) faults.push(`'${heading.textContent}' skips a level of headings`);
    level = own;
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  if (new Set(ids).size !== ids.length) faults.push('two elements share an id');
  for (const picture of document.querySelectorAll('article img')) {
    if (!picture.hasAttribute('alt')) faults.push(`a picture without a description: ${picture.src}`);
    if (!picture.complete || picture.naturalWidth === 0) if (getComputedStyle(picture).display !== 'none') faults.push(`not drawn: ${picture.src}`);
  }
  for (const table of document.querySelectorAll('article table')) if (!table.querySelector('th')) faults.push('a table without headings');
  for (const box of document.querySelectorAll('.md-typeset__scrollwrap, pre > code'))
    if (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== 'visible' &&
        (box.tabIndex !== 0 || !box.getAttribute('aria-label')))
      faults.push(`scrolls, but cannot be reached: ${box.textContent.trim().slice(0, 40)}`);
  return faults.slice(0, 8);
})()"""

# Which of the two forms of a figure is shown.
FIGURES = """[...document.querySelectorAll('article img[src*="#only-"]')]
  .filter((picture) => getComputedStyle(picture).display !== 'none').map((picture) => picture.src.split('#only-')[1])"""


@unittest.skipIf(devtools.chromium() is None, "there is no Chromium: 'tools/setup.sh test' installs it")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (SITE / "index.html").is_file():
            raise AssertionError(f"there is no site in {SITE}: 'make docs' builds it")
        if SHOTS:
            pathlib.Path(SHOTS).mkdir(parents=True, exist_ok=True)

    def setUp(self):
        # Each test has a profile of its own: the theme remembers the colours that were chosen.
        self.browser = devtools.Browser()
        self.addCleanup(self.browser.close)

    def open(self, page, width=1400, scheme="light"):
        opened = self.browser.open(SITE / page, width, 900, scheme)
        opened.evaluate(SETTLED)
        return opened

    def soon(self, page, script):
        """The faults that are left when scripts of the page have had their turn, on a busy machine too."""
        limit = time.monotonic() + 5.0
        while (faults := page.evaluate(script)) and time.monotonic() < limit:
            time.sleep(0.1)
        return faults

    def shoot(self, page, name, whole=False):
        if SHOTS:
            page.screenshot(pathlib.Path(SHOTS) / f"{name}.png", whole)

    def check_pages(self, scheme):
        for name in PAGES:
            page = self.open(name, SIZES[-1], scheme)
            for width in reversed(SIZES):
                with self.subTest(page=name, width=width, scheme=scheme):
                    page.resize(width, 900)
                    page.evaluate(SETTLED)
                    self.shoot(page, f"{name[:-5].replace('/', '-')}-{width}-{scheme}")
                    self.assertEqual(page.errors, [])
                    self.assertEqual([address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))], [])
                    self.assertEqual(page.evaluate(OVERFLOW), [])
                    self.assertEqual(page.evaluate(CONTRAST), [])
                    self.assertEqual(self.soon(page, NAMES), [])
                    self.assertLessEqual(set(page.evaluate(FIGURES)), {scheme})
            page.close()

    def test_pages_in_light(self):
        self.check_pages("light")

    def test_pages_in_dark(self):
        self.check_pages("dark")

    def test_the_colours_can_be_chosen_and_stay(self):
        page = self.open("index.html")
        seen = []
        for _ in range(3):
            page.click("form.md-header__option label:not([hidden])")
            page.evaluate(SETTLED)
            seen.append(page.evaluate("document.body.getAttribute('data-md-color-scheme')"))
        self.assertEqual(set(seen), {"default", "slate"})
        while page.evaluate("document.body.getAttribute('data-md-color-scheme')") != "slate":
            page.click("form.md-header__option label:not([hidden])")
            page.evaluate(SETTLED)
        page.goto(SITE / "guide.html")
        page.evaluate(SETTLED)
        self.assertEqual(page.evaluate("document.body.getAttribute('data-md-color-scheme')"), "slate")

    def test_the_search_finds_in_a_folder(self):
        for width in SIZES:
            page = self.open("questions/index.html", width)
            page.evaluate("document.querySelector('[data-md-toggle=search]').click(); document.querySelector('.md-search__input').focus()")
            for letter in "newsvendor":
                page.press(letter)
            page.wait_for("document.querySelectorAll('.md-search-result__item').length > 0", 30)
            self.assertIn("newsvendor", page.evaluate("document.querySelector('.md-search-result__list').textContent").lower())
            self.shoot(page, f"search-{width}")
            there = page.evaluate("document.querySelector('.md-search-result__item a').href")
            self.assertTrue(there.startswith("file:"))
            page.goto(there.partition("?")[0].partition("#")[0])
            self.assertEqual(page.errors, [])
            page.close()

    def test_the_keyboard_is_enough(self):
        """Tab leads to the skip link first, then through header, navigation and page, and what has the focus shows it."""
        page = self.open("index.html")
        reached = []
        for _ in range(45):
            page.press("Tab")
            reached.append(page.evaluate("""(() => {
              const at = document.activeElement, style = getComputedStyle(at);
              return [at.className.toString(), at.textContent.trim().slice(0, 40), style.outlineStyle !== 'none' || style.boxShadow !== 'none'];
            })()"""))
        self.assertIn("md-skip", reached[0][0])
        texts = {text for _, text, _ in reached}
        self.assertLessEqual({"Questions", "Gallery", "Reference", "Results"}, texts)
        self.assertTrue(any("Five minutes with the tool" in text for text in texts))
        hidden = [text for name, text, visible in reached if text and not visible and "md-search" not in name and "md-skip" not in name]
        self.assertEqual(hidden, [])

    def test_the_menu_on_a_phone(self):
        page = self.open("index.html", 400)
        page.click("label.md-header__button[for=__drawer]")
        page.wait_for("document.querySelector('.md-nav--primary').getBoundingClientRect().left >= 0")
        page.evaluate(SETTLED)
        self.shoot(page, "menu-400")
        self.assertIn("Gallery", page.evaluate("document.querySelector('.md-nav--primary').innerText"))

    def test_the_report_of_a_notebook(self):
        if not (SITE / "gallery/files/house-prices/report.html").is_file():
            self.skipTest("the notebook was not run: TARE_DATA is not set")
        for width in SIZES:
            for scheme in SCHEMES:
                page = self.open("gallery/files/house-prices/report.html", width, scheme)
                self.shoot(page, f"notebook-report-{width}-{scheme}")
                self.assertEqual(page_checks.faults(page), [], f"{width} {scheme}")
                page.close()


if __name__ == "__main__":
    unittest.main()
