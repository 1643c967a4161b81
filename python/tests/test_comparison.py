# SPDX-License-Identifier: BSD-3-Clause
"""docs/comparison.md: each cell of tare names a test that exists, each of another package something that it has."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "comparison.md"

if not PAGE.exists():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

PACKAGES = ["mapie", "crepes", "quantile_forest", "ngboost", "skpro"]


def rows():
    """The cells of each row of the table that compares."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and not line.startswith("| **")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def names_in(cell):
    return [name for name in re.findall(r"`([^`]+)`", cell) if "=" not in name]


def test_every_cell_says_what_it_rests_on():
    table = rows()
    assert len(table) > 25
    for row in table:
        assert len(row) == 2 + len(PACKAGES), row
        for cell in row[1:]:
            word = re.match(r"(yes|partly|no)\b", cell)
            assert word, (row[0], cell)
            assert (word[1] == "no") == (not names_in(cell)), (row[0], cell)


def test_the_tests_exist():
    for row in rows():
        for name in names_in(row[1]):
            file, _, function = name.partition("::")
            path = ROOT / file if file.startswith("tests/") else ROOT / "python" / "tests" / file
            assert path.exists(), name
            assert not function or re.search(rf"def {function}\(", path.read_text(encoding="utf-8")), name


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_of_others_exist(package):
    pytest.importorskip(package)
    for row in rows():
        for name in names_in(row[2 + PACKAGES.index(package)]):
            if name.partition(".")[0] == "skpro" and package != "skpro":
                pytest.importorskip("skpro")
            assert resolve(name) is not None, name


def resolve(name):
    """What a dotted name stands for: a module, or something inside the longest part that is one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            value = getattr(value, part, None)
        return value
    return None
