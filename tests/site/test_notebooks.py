# SPDX-License-Identifier: BSD-3-Clause
"""tools/site/gallery.py: what it makes of a notebook, and what it refuses. It needs the packages of tools/docs-requirements.txt."""
import contextlib
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))
if importlib.util.find_spec("nbclient") is None:
    print("skipped: nbclient is not installed")
    sys.exit(0)
import figures
import gallery

HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n# %% [markdown]\n# # Title\n#\n# What it\n# shows.\n\n"
DRAW = "# %% alt=\"A line.\"\nimport matplotlib.pyplot as plt\nplt.plot([1, 2], color='#2a6fb0')\nplt.show()\n"


class Notebooks(unittest.TestCase):
    def make(self, code, **environment):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        source = self.folder / "01_a_test.py"
        source.write_text(HEAD + code, encoding="utf-8")
        with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(io.StringIO()) as self.printed:
            made = gallery.run(source, self.folder / "made")
        return made, (self.folder / "made" / "a-test.md").read_text(encoding="utf-8")

    def test_text_code_output_and_figure(self):
        made, page = self.make("# %%\nprint(6 * 7)\nopen('kept.html', 'w').close()\nopen('left.txt', 'w').close()\n\n" + DRAW +
                               "# %% [markdown]\n# [A page](files/a-test/kept.html)\n")
        self.assertEqual((made.name, made.title, made.summary, made.alt), ("a-test", "Title", "What it shows.", "A line."))
        self.assertTrue(page.startswith("# Title\n"))
        self.assertNotIn("SPDX", page)
        self.assertIn('```text title="Output"\n42\n```', page)
        self.assertIn("![A line.](figures/a-test.svg#only-light)", page)
        light = (self.folder / "made/figures/a-test.svg").read_text(encoding="utf-8")
        dark = (self.folder / "made/figures/a-test-dark.svg").read_text(encoding="utf-8")
        self.assertIn("#2a6fb0", light)
        self.assertNotIn("#2a6fb0", dark)
        self.assertTrue((self.folder / "made/a-test.ipynb").is_file())
        self.assertEqual([path.name for path in (self.folder / "made/files/a-test").iterdir()], ["kept.html"])

    def test_without_the_data_it_says_so(self):
        code = "# %%\nimport os\nprint(os.environ['TARE_DATA'])\n\n" + DRAW + "# %% [markdown]\n# [A page](files/a-test/kept.html)\n"
        made, page = self.make(code, TARE_DATA="")
        self.assertEqual(made.alt, "")
        self.assertIn("This notebook was not run", page)
        self.assertNotIn("files/a-test", page)
        self.assertIn("not run, TARE_DATA is not set", self.printed.getvalue())
        self.assertIn("[Title](a-test.md)", gallery.index([made]))

    def test_what_is_refused(self):
        for code, reason in ((DRAW.replace(' alt="A line."', ""), "without a description"), (DRAW.replace("#2a6fb0", "#123456"), "#123456"),
                             ("# %%\n1 / 0\n", "ZeroDivisionError"), ("# %%\nimport warnings\nwarnings.warn('careful')\n", "standard error"),
                             ("# %%\n1 + 1\n", "no figure")):
            with self.subTest(reason), self.assertRaisesRegex((ValueError, RuntimeError), reason):
                self.make(code)

    def test_every_colour_has_a_counterpart_and_enough_contrast(self):
        def luminance(colour):
            parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
            parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        def contrast(one, other):
            low, high = sorted((luminance(one), luminance(other)))
            return (high + 0.05) / (low + 0.05)

        ground = ("#ffffff", figures.COLOURS["#ffffff"])
        for colour, dark in figures.COLOURS.items():
            if colour not in ("#ffffff", "#d9dee4"):  # ground and grid
                least = 3.0 if colour == "#8a8f98" else 4.5
                self.assertGreaterEqual(contrast(colour, ground[0]), least, colour)
                self.assertGreaterEqual(contrast(dark, ground[1]), least, dark)


if __name__ == "__main__":
    unittest.main()
