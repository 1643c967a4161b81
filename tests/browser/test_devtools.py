# SPDX-License-Identifier: BSD-3-Clause
"""The client itself: what it reports of a page must be what is there, or the other browser tests show nothing."""
import os
import tempfile
import unittest

import devtools
import page_checks

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>a page</title><style>body { color: #111 } @media (prefers-color-scheme: dark) { body { color: #eee } }</style>
<label>Rows <input type="file" id="file"></label><label>Name <input id="name"></label>
<button id="button" onclick="document.title = 'clicked'">Go</button>
<script>console.log("no error"); console.error("an error", 3); setTimeout(() => { throw new Error("thrown") });</script>"""


@unittest.skipUnless(devtools.chromium(), "Chromium is not installed (tools/setup.sh test does it)")
class Devtools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = devtools.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tare-devtools-")
        self.addCleanup(self.folder.cleanup)
        self.page = self.browser.open(self.path("page.html", PAGE), 400, 600)
        self.addCleanup(self.page.close)

    def path(self, name, text=""):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_size_value_and_scheme(self):
        self.assertEqual(self.page.evaluate("[innerWidth, document.title]"), [400, "a page"])
        colour = "getComputedStyle(document.body).color"
        self.assertEqual(self.page.evaluate(colour), "rgb(17, 17, 17)")
        self.page.emulate(scheme="dark")
        self.assertEqual(self.page.evaluate(colour), "rgb(238, 238, 238)")
        self.page.resize(1400, 600)
        self.assertEqual(self.page.evaluate("innerWidth"), 1400)

    def test_errors_are_collected_and_nothing_else(self):
        self.page.evaluate("new Promise(done => setTimeout(done, 50))")
        self.assertEqual(len(self.page.errors), 2, self.page.errors)
        self.assertEqual(self.page.errors[0], "an error 3")
        self.assertIn("thrown", self.page.errors[1])
        self.assertEqual(len(self.page.requests), 1)
        with self.assertRaisesRegex(devtools.DevtoolsError, "nothing_like_it"):
            self.page.evaluate("nothing_like_it")

    def test_keys_mouse_and_files(self):
        self.page.press("Tab")
        self.page.press("Tab")
        for key in "ab":
            self.page.press(key)
        self.assertEqual(self.page.evaluate("[document.activeElement.id, document.activeElement.value]"), ["name", "ab"])
        self.page.press("Tab", shift=True)
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "file")
        self.page.set_file("#file", self.path("rows.csv", "a,b\n"))
        self.assertEqual(self.page.evaluate("document.querySelector('#file').files[0].name"), "rows.csv")
        self.page.click("#button")
        self.assertEqual(self.page.wait_for("document.title == 'clicked' && document.title"), "clicked")

    def test_pictures_and_names(self):
        for name, method in (("page.png", self.page.screenshot), ("page.pdf", self.page.print_pdf)):
            method(self.path(name))
            with open(os.path.join(self.folder.name, name), "rb") as file:
                self.assertIn(file.read(4), (b"\x89PNG", b"%PDF"))
        self.assertIn(("button", "Go"), self.page.accessible())
        self.assertIn(("textbox", "Name"), self.page.accessible())

    def test_a_missing_file_is_an_error(self):
        with self.assertRaises(devtools.DevtoolsError):
            self.page.goto(os.path.join(self.folder.name, "none.html"))


BAD = """<!doctype html><html><meta name="viewport" content="width=device-width"><body style="background: #fff">
<h1>one</h1><h3>skipped</h3><p style="color: #aaa">pale</p><div style="width: 900px">wide</div><table><tr><td>1</td></tr></table>
<a href="#nowhere">link</a><svg width="200" height="100"><text x="300" y="20">out</text></svg></body></html>"""


@unittest.skipUnless(devtools.chromium(), "Chromium is not installed (tools/setup.sh test does it)")
class Checks(unittest.TestCase):
    def test_every_fault_of_a_bad_page_is_seen(self):
        with tempfile.NamedTemporaryFile("w", suffix=".html") as file, devtools.Browser() as browser:
            file.write(BAD)
            file.flush()
            faults = "\n".join(page_checks.faults(browser.open(file.name, 400, 600)))
        for text in ("overflow: the page is", "overflow: <DIV> 'wide'", "pictures: a picture without a name", "has no role",
                     "has no marks", "'out' leaves the picture", "contrast: 2.", "'pale'", "names: the page has no language",
                     "the page has no title", "'skipped' skips a level", "leads nowhere", "a table without headings",
                     "there is no main part"):
            self.assertIn(text, faults)


if __name__ == "__main__":
    unittest.main()
