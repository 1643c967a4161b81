# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_packaging.py: this repository's files are well formed, and each planted fault is found."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ["include/tare/base/version_macros.h", "CMakeLists.txt", "tools/setup.sh", "r/DESCRIPTION"]
META, VCPKG, PORT = "packaging/conda/meta.yaml", "packaging/vcpkg/tare/vcpkg.json", "packaging/vcpkg/tare/portfile.cmake"
CONTROL, CONTAINER = "packaging/debian/control", "packaging/container/Containerfile"


def run(root):
    command = [sys.executable, str(ROOT / "tools" / "check_packaging.py"), "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class CheckPackaging(unittest.TestCase):
    def changed(self, name, old, new):
        """The answer for a repository in which one file differs."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copytree(ROOT / "packaging", root / "packaging")
            for file in FILES:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, root / file)
            text = (root / name).read_text(encoding="utf-8")
            self.assertIn(old, text)
            (root / name).write_text(text.replace(old, new), encoding="utf-8")
            return run(root)

    def test_this_repository_is_well_formed(self):
        code, out = run(ROOT)
        self.assertEqual(code, 0, out)

    def test_each_fault_is_named(self):
        cases = [
            ("r/DESCRIPTION", "Version: 0", "Version: 9", "r/DESCRIPTION: the version is 9"),
            ("r/DESCRIPTION", "License: BSD", "Licence: BSD", "r/DESCRIPTION: License is missing"),
            (META, 'version = "0', 'version = "9', "meta.yaml: the version is 9"),
            (META, "  license: BSD-3-Clause\n", "", "about/license is missing"),
            (META, "about:\n", "about: [\n", "meta.yaml: while parsing"),
            ("packaging/conda/build.sh", "TARE_UNITY", "TARE_UNIT", "CMakeLists.txt has no option TARE_UNIT"),
            (VCPKG, '"version": "0', '"version": "9', "vcpkg.json: the version is 9"),
            (VCPKG, '"dependencies": [\n    "eigen3",', '"dependencies": [', None),
            (VCPKG, '"eigen3",\n    "fast-float",', '"fast-float",\n    "eigen3",', "not in the order of their names"),
            (VCPKG, '"name": "tare",', '"name": "tare"', "vcpkg.json: Expecting"),
            (PORT, "vcpkg_cmake_install()", "", "vcpkg_cmake_install is missing"),
            (PORT, "    tool TARE_BUILD_TOOL", "    shell TARE_BUILD_TOOL", "the feature shell is not in vcpkg.json"),
            (CONTROL, " libhwy-dev,\n libxgboost", " libxgboost", "Build-Depends lacks libhwy-dev"),
            (CONTROL, "Package: libtare0.1\n", "Package: libtare0\n", "the packages are"),
            (CONTROL, "Standards-Version: ", "Standard: ", "Standards-Version is missing"),
            (CONTAINER, "USER 10001:10001", "USER root", "must not run as root"),
            (CONTAINER, "/readyz", "/livez", "must ask for /readyz"),
            (CONTAINER, 'ENTRYPOINT ["', 'ENTRYPOINT exec ["', "ENTRYPOINT must be a list"),
        ]
        for name, old, new, fault in cases:
            with self.subTest(file=name, new=new):
                code, out = self.changed(name, old, new)
                if fault is None:
                    self.assertEqual(code, 0, out)
                else:
                    self.assertEqual(code, 1, out)
                    self.assertIn(fault, out)


if __name__ == "__main__":
    unittest.main()
