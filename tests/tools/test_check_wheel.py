#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of tools/check_wheel.py: it accepts a wheel that has everything, and names what is wrong with one that has not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INFO = "tare_quantiles-0.1.0.dist-info"


def contents():
    """A wheel's files, with the package's own as git lists them."""
    files = subprocess.run(["git", "ls-files", "python/tare"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    wheel = {name.removeprefix("python/"): "" for name in files}
    wheel.update({"tare/_core.abi3.so": "", "tare/_core.pyi": "", "tare/bin/tare": "", "tare_quantiles-0.1.0.data/scripts/tare": "",
                  "tare_quantiles.libs/libxgboost-0b38d856.so.1.6.0": "", f"{INFO}/WHEEL": "", f"{INFO}/RECORD": "",
                  f"{INFO}/licenses/python/licenses/README.md": "| XGBoost | `libxgboost` |",
                  f"{INFO}/METADATA": "Name: tare-quantiles\nRequires-Dist: numpy>=1.22\nRequires-Dist: pytest; extra == \"test\"\n"})
    return wheel


class CheckWheel(unittest.TestCase):
    def check(self, wheel, name="tare_quantiles-0.1.0-cp312-abi3-manylinux_2_35_x86_64.whl", mode=0o755):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            with zipfile.ZipFile(path, "w") as archive:
                for file, text in wheel.items():
                    entry = zipfile.ZipInfo(file)
                    entry.external_attr = (mode if file == "tare/bin/tare" else 0o644) << 16
                    archive.writestr(entry, text)
            result = subprocess.run([sys.executable, ROOT / "tools" / "check_wheel.py", path], capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def refused(self, part, wheel, **how):
        status, text = self.check(wheel, **how)
        self.assertEqual(status, 1, text)
        self.assertIn(part, text)

    def test_one_that_has_everything(self):
        status, text = self.check(contents())
        self.assertEqual(status, 0, text)

    def test_what_is_missing_is_named(self):
        for name in ("tare/__init__.py", "tare/_core.pyi", "tare/py.typed", "tare/_core.abi3.so"):
            wheel = contents()
            del wheel[name]
            self.refused("it has not exactly one", wheel)

    def test_what_does_not_belong_there_is_named(self):
        self.refused("tare/notes.txt does not belong there", {**contents(), "tare/notes.txt": ""})

    def test_a_library_without_a_licence(self):
        self.refused("does not name libfoo", {**contents(), "tare_quantiles.libs/libfoo-12345678.so.1": ""})

    def test_a_licence_that_the_metadata_names_and_the_wheel_lacks(self):
        wheel = contents()
        wheel[f"{INFO}/METADATA"] += "License-File: LICENSE\n"
        self.refused("the licence LICENSE is missing", wheel)

    def test_another_requirement(self):
        wheel = contents()
        wheel[f"{INFO}/METADATA"] += "Requires-Dist: scipy\n"
        self.refused("NumPy is to be the only requirement", wheel)

    def test_not_repaired_or_not_executable(self):
        self.refused("not manylinux", contents(), name="tare_quantiles-0.1.0-cp312-abi3-linux_x86_64.whl")
        self.refused("not executable", contents(), mode=0o644)


if __name__ == "__main__":
    unittest.main()
