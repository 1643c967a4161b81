# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python code of README.md and of every page in docs: a page that does not work does not pass."""

import importlib.util
import os
import shutil
import site
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tare

pytest.importorskip("sklearn")
threadpoolctl = pytest.importorskip("threadpoolctl")

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs"

if not (PAGES / "python.md").exists():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

reader = importlib.util.spec_from_file_location("doc_blocks", ROOT / "tools" / "doc_blocks.py")
doc_blocks = importlib.util.module_from_spec(reader)
sys.modules["doc_blocks"] = doc_blocks  # its dataclass looks there
reader.loader.exec_module(doc_blocks)


def blocks(page):
    return doc_blocks.blocks_of(PAGES / page)


def run(page, block, names):
    """Errors point to the page's own lines. One thread: boosting on several waits for ages where others use the machine."""
    with threadpoolctl.threadpool_limits(1):
        exec(compile("\n" * (block.line - 1) + block.code, str(PAGES / page), "exec"), names)


def run_page(page, names):
    for block in blocks(page):
        library = (block.mark or "").partition("needs: ")[2]
        if library and importlib.util.find_spec(library) is None:
            continue
        run(page, block, names)


# Each has a test below; python-api.md is made from docstrings, whose examples test_package.py runs.
EXECUTED = {"../README.md", "python.md", "decide.md", "tutorial.md", "tutorial-online.md", "migration.md", "scale.md"}
# Run whole, Python and shell, from top to bottom in an empty folder, by test_a_page_runs_from_top_to_bottom.
FROM_TOP_TO_BOTTOM = ["index.md", "start-tool.md", *sorted(os.path.relpath(page, PAGES) for page in (PAGES / "questions").glob("*.md"))]


def test_no_page_with_code_is_overlooked():
    def has_code(page):
        return any(mark in page.read_text(encoding="utf-8") for mark in ("```python", "```sh"))

    pages = {os.path.relpath(page, PAGES) for page in [ROOT / "README.md", *PAGES.rglob("*.md")] if has_code(page)}
    assert pages == EXECUTED | {page for page in FROM_TOP_TO_BOTTOM if has_code(PAGES / page)}


@pytest.mark.slow
@pytest.mark.parametrize("page", FROM_TOP_TO_BOTTOM)
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    """As a reader would who copies one block after the other."""
    pytest.importorskip("pandas")
    tool = the_tool()
    if tool is None:
        pytest.skip("there is no tool: TARE_TOOL")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tare").symlink_to(Path(tool).resolve())
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    names = {"__name__": "__main__"}
    for block in doc_blocks.all_blocks_of(PAGES / page):
        if block.language == "python":
            run(page, block, names)
            continue
        done = subprocess.run(["sh", "-eu", "-c", block.code], capture_output=True, text=True)
        assert done.returncode == 0, f"{page}:{block.line}\n{block.code}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
def test_the_readme_runs():
    """Its block starts from a model and rows that the reader has."""
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(900, 2))
    y = X[:, 0] + rng.normal(size=900) * 0.1
    names = {
        "X": X[:300], "y": y[:300], "X_cal": X[300:600], "y_cal": y[300:600], "X_new": X[600:],
        "model": RandomForestRegressor(10, random_state=0).fit(X[:300], y[:300]),
        "RandomForestRegressor": lambda: RandomForestRegressor(10, random_state=0),
    }  # fmt: skip
    run_page("../README.md", names)
    assert (names["low"] < names["high"]).all()


@pytest.mark.slow
def test_python_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    run_page("python.md", names)
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
    answers = tool_answers(tmp_path, "errors.tare")
    if answers is not None:
        np.testing.assert_allclose(answers, names["calibrated"].predict_interval(names["X_new"], 0.9), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names = {}
    run_page("tutorial.md", names)
    capsys.readouterr()
    # What the text says about what the reader sees: 1,000 new rows, 3,000 that calibrate.
    assert 0.87 < names["inside"].mean() < 0.94
    assert 0.84 < names["inside"][names["small"]].mean() < 0.97
    assert 0.84 < names["inside"][names["large"]].mean() < 0.97
    width = names["high"] - names["low"]
    assert width[names["large"]].mean() > 1.5 * width[names["small"]].mean()
    assert names["calibrated"].guarantee_["form"] != "none"
    answers = tool_answers(tmp_path, "houses.tare")
    if answers is not None:
        np.testing.assert_allclose(answers, names["calibrated"].predict_interval(names["new"], 0.9), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_the_online_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names = {}
    run_page("tutorial-online.md", names)
    printed = capsys.readouterr().out
    # What the text says about what the reader sees.
    width = np.diff(names["answers"])[:, 0]
    assert 1.7 < width[names["far"]].mean() / width[names["near"]].mean() < 2.7
    assert not names["calm"] and ("covered so far: 90" in printed or "covered so far: 89" in printed)
    assert names["CHANGE"] <= names["alarm"].alarm_row < names["CHANGE"] + 100
    assert abs(names["alarm"].change_row - names["CHANGE"]) < 60
    assert "mostly where zone=north = 1\n" in printed
    assert 0.86 < names["inside"].mean() < 0.94
    assert abs(names["online"].coverage_ - 0.9) < 0.02
    assert names["tracked"].alarms[0].alarm_row == names["alarm"].alarm_row
    assert names["tracked"].coverage == names["online"].coverage_


@pytest.mark.slow
def test_the_page_about_scale_runs(tmp_path, monkeypatch):
    """Without its block about Spark, which tests/spark runs."""
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    try:
        for block in blocks("scale.md"):
            library = (block.mark or "").partition("needs: ")[2]
            if library != "pyspark" and (not library or importlib.util.find_spec(library) is not None):
                run("scale.md", block, names)
        lines = (PAGES / "scale.md").read_text(encoding="utf-8").splitlines()
        commands = [line.split()[1:] for line in lines if line.startswith("tare ")]
        assert len(commands) == 2
        if shutil.which("tare") or os.environ.get("TARE_TOOL"):
            for command in commands:
                subprocess.run([sys.executable, "-m", "tare", *command], check=True)
            assert os.path.exists("ridge.tare") and len(names["pd"].read_parquet("out.parquet")) == 5_000
        new = names["rows"](5_000, 1)
        inside = (names["intervals"]["lower_0.9"] <= new.y) & (new.y <= names["intervals"]["upper_0.9"])
        assert 0.87 < inside.mean() < 0.93
        direct = names["local"].predict_interval(new[["a", "b"]], 0.9)
        np.testing.assert_allclose(names["intervals"].to_numpy(), direct, rtol=0, atol=0.05)
        if "of_boosted" in names:
            covered = (names["of_boosted"]["lower_0.9"] <= new.y) & (new.y <= names["of_boosted"]["upper_0.9"])
            assert 0.85 < covered.mean() < 0.95
        one = tare.Predictor("cars.tare", interval=0.9).predict(new[["a", "b"]])["upper_0.9"]
        assert (names["dd"].read_parquet("answers").compute()["upper_0.9"].to_numpy() == one).all()
    finally:
        if "client" in names:
            names["client"].close()


@pytest.mark.slow
def test_the_page_about_decisions_runs(tmp_path, monkeypatch, capsys):
    """And its commands; its figures are those of the page, to the digits that it shows."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names = {}
    run_page("decide.md", names)
    capsys.readouterr()
    page = (PAGES / "decide.md").read_text(encoding="utf-8")
    possible, worth = names["possible"], names["worth"]
    assert names["ordered"] < 1.02 * possible
    assert names["safety"] > 1.10 * possible
    for name in ("ordered", "safety", "forecast"):
        assert f"| {names[name]:.2f} | {100 * (names[name] / possible - 1):.1f} % |" in page
    assert f"| {possible:.2f} | |" in page
    assert f"cost {worth['action']['cost']:.2f} a day, where the model expected {worth['expected']:.2f};" in page
    for rule in ("mean", "mean_plus_margin"):
        assert f"{worth[rule]['more_than_action']:.2f} more" in page and f"{worth[rule]['more_error']:.2f})" in page
    assert f"The level is {names['control'].level}, and on 10,000 later days {names['missing']:.2f} units" in page
    assert names["control"].corrected_loss <= 2
    # What was ordered costs about as much on the days that came as the best possible orders, on the same days.
    demand = names["new"]["demand"].to_numpy()
    paid = [np.maximum(order - demand, 4 * (demand - order)).mean()
            for order in (names["best"].action, names["mean"] + names["sd"] * names["norm"].ppf(0.8))]  # fmt: skip
    assert paid[0] < 1.02 * paid[1]
    tool = the_tool()
    if tool is None:
        return
    commands = [line.split()[1:] for line in page.splitlines() if line.startswith("    tare ")]
    assert len(commands) == 7
    for command in commands:
        done = subprocess.run([tool, *command], cwd=tmp_path, check=True, capture_output=True, text=True)
        if command[0] == "control-risk":
            assert f"level {names['control'].level}:" in done.stdout
    orders = np.loadtxt(tmp_path / "orders.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(orders[:, 2], names["best"].action, rtol=1e-9)
    np.testing.assert_allclose(orders[:, 3], names["best"].cost, rtol=1e-7)


def the_tool():
    tool = os.environ.get("TARE_TOOL") or shutil.which("tare") or str(ROOT / "build" / "tare")
    return tool if os.access(tool, os.X_OK) else None


def tool_answers(folder, model):
    """What the commands of a page print; None where the tool is not there."""
    tool = the_tool()
    if tool is None:
        return None
    subprocess.run([tool, "inspect", model], cwd=folder, check=True, capture_output=True)
    # The fill values of missing cells are the file's own.
    done = subprocess.run([tool, "predict", model, "new.csv", "--interval", "0.9"], cwd=folder, check=True, capture_output=True, text=True)
    return np.loadtxt(done.stdout.splitlines(), delimiter=",", skiprows=1)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["tutorial.md", "tutorial-online.md"])
def test_the_types_of_a_tutorial(page, tmp_path):
    """mypy --strict on its code, as tools/check_python.sh does, where mypy is installed."""
    pytest.importorskip("mypy")
    import tare

    (tmp_path / "tutorial.py").write_text(doc_blocks.program(PAGES / page), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--follow-imports=silent", "tutorial.py"]
    folder = str(Path(tare.__file__).parents[1])
    path = "" if folder in site.getsitepackages() else folder  # mypy finds what is installed, and refuses to be told
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "MYPYPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


MIGRATION = blocks("migration.md")


def marks_of(code):
    """A block that trains takes seconds, and so does MAPIE's program for each row."""
    return [pytest.mark.slow] if any(word in code for word in ("QuantileRegressor(", ".fit(", "Conditional")) else []


@pytest.fixture(scope="module")
def rows_and_model():
    assert MIGRATION[0].mark is None
    names = {}
    run("migration.md", MIGRATION[0], names)
    return names


@pytest.mark.parametrize("block", [pytest.param(block, id=f"line{block.line}", marks=marks_of(block.code)) for block in MIGRATION[1:]])
def test_each_side_of_the_migration_notes_runs(block, rows_and_model):
    if block.mark != "tare":
        assert block.mark.startswith("needs: ")
        library = block.mark.removeprefix("needs: ")
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    names = dict(rows_and_model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other libraries
        run("migration.md", block, names)
    low, high = np.asarray(names["interval"]).T
    covered = ((low <= names["y_new"]) & (names["y_new"] <= high)).mean()
    # 1,000 rows, and 200 that are held out: a standard deviation is 0.023. Models without a guarantee cover less than they say.
    assert 0.82 < covered < 0.97
