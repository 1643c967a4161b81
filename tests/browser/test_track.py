# SPDX-License-Identifier: BSD-3-Clause
"""The page of 'tare track --report' in a browser: drawn, legible, reachable, and silent on the console."""
import math
import os
import random

import page_checks
from harness import csv_text, main
from test_report import EVIL, SHOTS, SIZES, BrowserTest

HEADER = ["hour", "kind <i>", "p", "löhne & <b>"]


def stream(count, change, seed=1):
    """Errors with a spread by the hour, and twice as large after the change where the hour is late."""
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        hour = i % 24
        spread = (0.3 + 0.02 * hour) * (3.0 if i >= change and hour >= 16 else 1.0)
        p = 10 + 3 * math.sin(2 * math.pi * hour / 24)
        rows.append([hour, rng.choice(["a", EVIL]), f"{p:.3f}", f"{p + rng.gauss(0, spread):.3f}"])
    return rows


class TrackPage(BrowserTest):
    def page_of(self, rows, *args, name="track.html"):
        self.write("stream.csv", csv_text(HEADER, rows))
        self.ok("track", "stream.csv", "--target", HEADER[3], "--prediction", "p", "-q", "-o", "out.csv", "--force",
                "--report", name, *args)
        return name

    def test_is_sound_at_every_size_and_scheme(self):
        rows = stream(900, 500)
        for row in rows[-3:]:
            row[3] = ""
        page = self.check_page(self.page_of(rows, "--interval", "0.9,0.5"), "track")
        text = page.evaluate("document.body.textContent")
        self.assertIn("alarm at line", text)
        self.assertIn("no target yet", text)
        self.assertIn(HEADER[3], text)
        self.assertEqual(page.evaluate("document.querySelectorAll('i, figcaption b').length"), 0)
        self.assertEqual(page.evaluate("document.querySelectorAll('script').length"), 1)

    def test_every_picture_has_a_name_words_numbers_and_marks(self):
        page = self.open(self.page_of(stream(700, 400)))
        names = page.evaluate("[...document.querySelectorAll('svg')].map(svg => svg.getAttribute('aria-label'))")
        for part in ("Coverage of the 90 % interval in stretches of 100 rows", "Coverage of the 90 % interval over all rows so far",
                     "Width of the 90 % interval", "Level that the answers of the last 100 rows needed for 95 %",
                     "Level that the answers of the last 100 rows needed for 5 %", "Evidence of drift",
                     "Targets and intervals of the last rows"):
            self.assertTrue(any(name.startswith(part) for name in names), part)
        empty = page.evaluate("""[...document.querySelectorAll('figure')].filter(figure =>
            figure.querySelector('figcaption').textContent.trim().length < 40 || !figure.querySelector('details table'))
            .map(figure => figure.querySelector('h3').textContent)""")
        self.assertEqual(empty, [])
        reached = set()
        for _ in range(100):
            page.press("Tab")
            name = page.evaluate("document.activeElement.matches('svg') && document.activeElement.getAttribute('aria-label')")
            if name and name not in reached:
                reached.add(name)
                page.press("ArrowRight")
                self.assertRegex(page.evaluate("tip.style.visibility === 'visible' && tip.textContent") or "", r"line [\d,]+", name)
                page.press("Escape")
            if len(reached) == len(names):
                break
        self.assertEqual(len(reached), len(names))

    def test_strange_streams(self):
        for name, rows, args in (("levels.html", stream(400, 200), ["--levels", "0.1,0.5,0.9"]),
                                 ("one-level.html", stream(300, 200), ["--levels", "0.5"]),
                                 ("short.html", stream(103, 200), []),
                                 ("infinite.html", stream(150, 200), ["--method", "aci", "--start", "3"]),
                                 ("constant.html", [[0, "a", 5, 5]] * 300, []),
                                 ("huge.html", [[i % 24, "a", 0, (-1) ** i * 10.0 ** (i % 280)] for i in range(300)], [])):
            self.page_of(rows, *args, name=name)
            for width in SIZES:
                page = self.open(name, width)
                self.assertEqual(page_checks.faults(page), [], f"{name} at {width}")
            if SHOTS:
                page.screenshot(os.path.join(SHOTS, f"track-{name[:-5]}.png"))


if __name__ == "__main__":
    main()
