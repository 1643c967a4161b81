# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_workflows.py finds each kind of fault."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKEFILE = "X := 1\n.PHONY: test\nhelp:\n\t@echo\ntest: help\n"
GOOD = """\
on: push
permissions:
  contents: read
jobs:
  first:
    runs-on: somewhere
    steps:
      - uses: actions/checkout@v4
      - run: apt-get install make && make -j 2 test X=2
      - run: tools/script.sh
  second:
    needs: first
    runs-on: somewhere
    steps:
      - run: make help
"""


class CheckWorkflows(unittest.TestCase):
    def check(self, old="", new=""):
        self.assertIn(old, GOOD)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / ".github/workflows").mkdir(parents=True)
            (root / ".github/workflows/one.yml").write_text(GOOD.replace(old, new) if old else GOOD)
            (root / "Makefile").write_text(MAKEFILE)
            (root / "tools").mkdir()
            (root / "tools/script.sh").touch(mode=0o755)
            command = [sys.executable, str(ROOT / "tools/check_workflows.py"), folder]
            done = subprocess.run(command, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def test_a_good_file(self):
        self.assertEqual(self.check(), (0, "workflows: 1 files call what is here\n"))

    def test_each_fault_is_named(self):
        cases = [
            ("test X=2", "tset", "'make tset' is not a target"),
            ("make help", "make", "'make (the default)' is not a target"),
            ("tools/script.sh", "tools/gone.sh", "tools/gone.sh is not there"),
            ("actions/checkout@v4", "somebody/checkout@v4", "somebody/checkout@v4 is none of"),
            ("actions/checkout@v4", "actions/checkout@main", "actions/checkout@main is none of"),
            ("needs: first", "needs: third", "needs third, which is not a job"),
            ("contents: read", "contents: write", "permissions are not"),
            ("on: push\n", "", "does not say when it runs"),
            ("runs-on: somewhere\n    steps:\n      - run: make help", "steps: []", "lacks 'runs-on' or 'steps'"),
            ("jobs:", "jobs: [", "one.yml: while parsing"),
        ]
        for old, new, fault in cases:
            with self.subTest(fault=fault):
                code, out = self.check(old, new)
                self.assertEqual(code, 1)
                self.assertIn(fault, out)


if __name__ == "__main__":
    unittest.main()
