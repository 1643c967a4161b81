# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_version.py: this repository agrees with itself, and each way to disagree is found."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACROS = "include/tare/base/version_macros.h"
TEXTS = {
    MACROS: '#define TARE_VERSION_MAJOR 1\n#define TARE_VERSION_MINOR 2\n#define TARE_VERSION_PATCH 3\n#define TARE_VERSION "1.2.3"\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
    "CHANGELOG.md": "# Changes\n\n## 1.2.3 (2026-01-31)\n\n## 1.2.2 (2025-01-31)\n",
}


def run(root, *arguments):
    command = [sys.executable, str(ROOT / "tools" / "check_version.py"), "--root", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


class CheckVersion(unittest.TestCase):
    def check(self, *arguments, **changed):
        """The answer for a repository in which the texts of some files are changed: path with _ for what is not a letter."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in TEXTS.items():
                old, new = changed.get(pathlib.Path(name).stem.lower(), ("", ""))
                self.assertIn(old, text)
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.replace(old, new) if old else text)
            return run(folder, *arguments)

    def test_this_repository_agrees(self):
        self.assertEqual(run(ROOT), (0, "version: every place names the same\n"))

    def test_a_release(self):
        self.assertEqual(self.check("v1.2.3")[0], 0)

    def test_each_fault_is_named(self):
        cases = [
            (("v1.2.4",), {}, "the tag v1.2.4 names another version"),
            (("1.2.3",), {}, "the tag 1.2.3 is not of the form"),
            (("v1.2.3",), {"changelog": ("2026-01-31", "unreleased")}, "a release has its date there"),
            ((), {"changelog": ("2026-01-31", "soon")}, "'(soon)' is neither a date"),
            ((), {"changelog": ("## 1.2.3 (2026-01-31)\n", "")}, "the newest section is 1.2.2"),
            ((), {"citation": ("version: 1.2.3", "version: 1.2.2")}, "CITATION.cff: version is 1.2.2"),
            ((), {"version_macros": ("PATCH 3", "PATCH 4")}, "TARE_VERSION is 1.2.3, and its numbers are 1.2.4"),
        ]
        for arguments, changed, fault in cases:
            with self.subTest(fault=fault):
                code, out = self.check(*arguments, **changed)
                self.assertEqual(code, 1)
                self.assertIn(fault, out)

    def test_an_unreleased_version_needs_no_date(self):
        self.assertEqual(self.check(changelog=("2026-01-31", "unreleased"))[0], 0)


if __name__ == "__main__":
    unittest.main()
