# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code of docs/python.md and docs/migration.md: a page that does not work does not pass."""

import importlib.util
import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
threadpoolctl = pytest.importorskip("threadpoolctl")

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```python\n(?P<code>.*?)^```$", re.M | re.S)
PAGES = ROOT / "docs"

if not (PAGES / "python.md").exists():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)


def blocks(page):
    """(mark, first line, code) of each block."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return [(m["mark"], text[: m.start("code")].count("\n") + 1, m["code"]) for m in BLOCK.finditer(text)]


def run(page, line, code, names):
    """Errors point to the page's own lines. One thread: boosting on several waits for ages where others use the machine."""
    with threadpoolctl.threadpool_limits(1):
        exec(compile("\n" * (line - 1) + code, str(PAGES / page), "exec"), names)


def test_no_block_is_overlooked():
    for page in ("python.md", "migration.md"):
        assert len(blocks(page)) == (PAGES / page).read_text(encoding="utf-8").count("```python"), page


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names = {}
    for mark, line, code in blocks("python.md"):
        if mark == "needs the command" and not (os.environ.get("TARE_TOOL") or shutil.which("tare")):
            continue
        run("python.md", line, code, names)
    capsys.readouterr()
    # What the text says about what the reader sees.
    assert 0.86 < names["inside"][names["left"]].mean() < 0.95
    assert 0.86 < names["inside"][names["right"]].mean() < 0.95
    width = names["high"] - names["low"]
    assert width[names["right"]].mean() > 1.5 * width[names["left"]].mean()
    assert names["several"].shape == (1000, 2, 3)
    assert list(names["table"].columns) == ["lower_0.9", "upper_0.9"]
    assert names["search"].best_params_["features"] != [1]
    assert names["seen"]
    check_tool(tmp_path, names)


def check_tool(folder, names):
    """The commands of the page give what Python gave."""
    tool = os.environ.get("TARE_TOOL") or shutil.which("tare") or str(ROOT / "build" / "tare")
    if not os.access(tool, os.X_OK):
        return
    subprocess.run([tool, "inspect", "errors.tare"], cwd=folder, check=True, capture_output=True)
    done = subprocess.run(
        [tool, "predict", "errors.tare", "new.csv", "--interval", "0.9"], cwd=folder, check=True, capture_output=True, text=True
    )
    answers = np.loadtxt(done.stdout.splitlines(), delimiter=",", skiprows=1)
    expected = names["calibrated"].predict_interval(names["X_new"], 0.9)
    np.testing.assert_allclose(answers, expected, rtol=1e-5, atol=1e-6)


MIGRATION = blocks("migration.md")


def marks_of(code):
    """A block in which tare trains its own models takes seconds."""
    return [pytest.mark.slow] if "QuantileRegressor(" in code or ".fit(" in code else []


@pytest.fixture(scope="module")
def rows_and_model():
    mark, line, code = MIGRATION[0]
    assert mark is None
    names = {}
    run("migration.md", line, code, names)
    return names


@pytest.mark.parametrize("block", [pytest.param(block, id=f"line{block[1]}", marks=marks_of(block[2])) for block in MIGRATION[1:]])
def test_each_side_of_the_migration_notes_runs(block, rows_and_model):
    mark, line, code = block
    if mark != "tare":
        library = mark.removeprefix("needs: ")
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    names = dict(rows_and_model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other libraries
        run("migration.md", line, code, names)
    low, high = np.asarray(names["interval"]).T
    covered = ((low <= names["y_new"]) & (names["y_new"] <= high)).mean()
    # 1,000 rows, and 200 that are held out: a standard deviation is 0.023. The forest covers less than it says.
    assert 0.82 < covered < 0.97
