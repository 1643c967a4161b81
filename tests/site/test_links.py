# SPDX-License-Identifier: BSD-3-Clause
"""tools/site/check_links.py finds what it is there to find."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "site"))
import check_links


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pathlib.Path(folder.name).resolve()

    def faults(self, body, **others):
        (self.site / "index.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
        for name, text in others.items():
            (self.site / f"{name}.html").write_text(text, encoding="utf-8")
        return list(check_links.faults_of(self.site))

    def test_a_sound_site(self):
        self.assertEqual(self.faults('<a href="other.html#here">x</a><a href="https://example.org/">y</a>', other='<h1 id="here">z</h1>'), [])

    def test_a_missing_page_and_a_missing_place(self):
        found = self.faults('<a href="none.html">x</a><a href="other.html#there">x</a><a href="#nowhere">x</a>', other='<h1 id="here">z</h1>')
        self.assertEqual(len(found), 3)
        self.assertIn("none.html", found[0])
        self.assertIn("no such place", found[1])
        self.assertIn("no such place", found[2])

    def test_a_missing_picture(self):
        self.assertEqual(len(self.faults('<img src="a.svg#only-light">')), 1)

    def test_what_is_fetched_from_the_network(self):
        for body in ('<script src="https://unpkg.com/a"></script>', '<img src="//example.org/a.png">', '<link rel="stylesheet" href="http://a/b.css">'):
            self.assertEqual(len(self.faults(body)), 1, body)
        (self.site / "a.css").write_text("@font-face {src: url(https://example.org/a.woff2)}", encoding="utf-8")
        self.assertEqual(len(self.faults("")), 1)

    def test_absolute_paths_and_repeated_ids(self):
        self.assertEqual(len(self.faults('<a href="/index.html">x</a>')), 1)
        self.assertEqual(len(self.faults('<p id="a"></p><p id="a"></p>')), 1)

    def test_an_empty_site(self):
        self.assertEqual(len(list(check_links.faults_of(self.site))), 1)


if __name__ == "__main__":
    unittest.main()
