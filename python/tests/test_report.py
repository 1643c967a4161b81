# SPDX-License-Identifier: BSD-3-Clause
"""tare.report and what a fitted model shows of itself."""
import html
import json
import pathlib
import re
import subprocess

import numpy as np
import pytest

import tare
from tare import _report

pandas = pytest.importorskip("pandas")
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src" / "report"


def mean(X):
    return np.sin(6 * np.asarray(X)[:, 0])


@pytest.fixture
def model(small):
    return tare.Calibrator(mean, guarantee="split", bands=False).calibrate(small.X, small.y)


def test_scores_are_those_of_the_tool(model, fresh, tool, tmp_path):
    X, y = fresh.X[:500], fresh.y[:500]
    frame = pandas.DataFrame(X, columns=["x0", "x1"]).assign(prediction=mean(X), y=y)
    frame.to_csv(tmp_path / "test.csv", index=False, float_format="%.17g")
    model.save(tmp_path / "m.tare")
    words = [tool, "report", tmp_path / "m.tare", tmp_path / "test.csv", "-o", tmp_path / "r.html", "--json", "-q"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    page = tare.report(model, X, y)
    for name, value in page.scores.items():
        assert told["metrics" if "metrics" in told else "scores"][name] == pytest.approx(value, rel=1e-12), name
    # The same page but for the names, the facts and the spelling of options.
    figures = re.compile(r"<svg.*?</svg>", re.S)
    theirs = (tmp_path / "r.html").read_text().replace("place in the file", "place in X")
    assert len(figures.findall(theirs)) > 5
    assert figures.findall(page.html) == figures.findall(theirs)
    # A Predictor takes the predictions from the frame, and the target where y is not passed.
    for predictor in (tare.Predictor(model), tare.Predictor(tmp_path / "m.tare")):
        assert tare.report(predictor, frame).scores == page.scores
        assert tare.report(predictor, frame.drop(columns="y"), y).scores == page.scores


def test_a_notebook_shows_it_in_a_frame_of_its_own(model, fresh):
    page = tare.report(model, fresh.X[:200], fresh.y[:200])
    shown = page._repr_html_()
    inside = re.fullmatch(r'<iframe srcdoc="([^"]*)" .*></iframe>', shown, re.S)[1]
    assert html.unescape(inside) == page.html
    assert page.html.startswith("<!") and "</html>" in page.html
    said = r"<tare.Report: 200 rows, [\d.]+ % of the 90 % intervals contain their target, \d+ of \d+ regions off by more than chance>"
    assert re.fullmatch(said, repr(page))


def test_saving(model, fresh, tmp_path):
    path = tmp_path / "r.html"
    page = tare.report(model, fresh.X[:200], fresh.y[:200], path)
    assert path.read_text() == page.html
    for again in (lambda: page.save(path), lambda: tare.report(model, fresh.X, fresh.y, path)):
        with pytest.raises(FileExistsError, match=r"r.html exists \(use overwrite=True"):
            again()
    page.save(path, overwrite=True)


def test_the_page_speaks_of_arguments():
    """Every option of the tool in the sources of the page has its argument here."""
    if not SOURCES.exists():
        pytest.skip("the sources are not beside the tests")
    found = set()
    for source in SOURCES.rglob("*.cpp"):
        joined = re.sub(r'"\s*\n\s*"', "", source.read_text())  # texts over several lines
        found |= {code for code in re.findall(r"`([^`]*)`", joined) if "--" in code}
    assert found == set(_report._WORDS)
    page = "".join(f"<code>{code}</code>" for code in [*found, "best"])
    assert "--" not in _report.in_python_words(page)
    assert "<code>best</code>" in _report.in_python_words(page)


def test_rows_can_be_told_apart_by_columns_that_are_no_features(model, fresh):
    X, y = fresh.X[:400], fresh.y[:400]
    half = np.where(X[:, 0] < 0.5, "left <b>", "right")
    assert "left &lt;b&gt;" in tare.report(model, X, y, by={"half": half}).html
    named = tare.Calibrator(guarantee="split", bands=False)
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    named.calibrate(frame, y, y_pred=mean(X))
    page = tare.report(named, frame, y, y_pred=mean(X), by=["a"])
    assert page.scores["coverage_90"] > 0.8
    with pytest.raises(ValueError, match="by names 'c', which is not a column of X: a, b"):
        tare.report(named, frame, y, y_pred=mean(X), by=["c"])
    with pytest.raises(ValueError, match=r"by\['half'\] has 3 values, but X has 400 rows"):
        tare.report(model, X, y, by={"half": half[:3]})


def test_rows_with_missing_values(small):
    X = small.X.copy()
    X[::10, 0] = np.nan
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, missing="drop", bands=False)
    with pytest.warns(UserWarning, match="30 rows with a missing value were left out"):
        model.fit(X, small.y)
    page = tare.report(model, X, small.y)
    assert "<td>30 with a missing value or without a full window</td>" in page.html and "270 rows" in repr(page)
    with pytest.raises(ValueError, match="Every row of X was left out"):
        tare.report(model, X[::10], small.y[::10])


def test_errors(model, small, tmp_path):
    with pytest.raises(TypeError, match="got LinearRegression"):
        tare.report(type("LinearRegression", (), {})(), small.X, small.y)
    with pytest.raises(tare.NotFittedError):
        tare.report(tare.Calibrator(mean), small.X, small.y)
    with pytest.raises(ValueError, match="y to be passed"):
        tare.report(model, small.X)
    model.save(tmp_path / "m.tare")
    frame = pandas.DataFrame(small.X, columns=["x0", "x1"]).assign(prediction=0.0)
    with pytest.raises(ValueError, match="X has no column 'y'"):
        tare.report(tare.Predictor(tmp_path / "m.tare"), frame)

    def stop(stage, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tare.report(model, np.tile(small.X, (200, 1)), np.tile(small.y, 200), progress=stop)


def facts_of_the_tool(tool, model, path):
    model.save(path)
    text = subprocess.run([tool, "inspect", path], check=True, capture_output=True, text=True).stdout
    return {line[:12].strip(): line[13:] for line in text.split("\n\n")[0].splitlines()[1:]}


def test_inspect_says_what_the_tool_says(tool, small, tmp_path):
    frame = pandas.DataFrame({"a": small.X[:, 0], "b": np.where(small.X[:, 1] < 0.5, "x", "y")})
    models = [
        tare.Calibrator(guarantee="split", features=["a"]).calibrate(frame, small.y, y_pred=small.mean),
        tare.Calibrator(guarantee="none", bounds=(-9, None), bands=False).calibrate(small.X, small.y, y_pred=small.mean, y_std=np.ones(300)),
        tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, guarantee="cross:3", features="auto").fit(small.X, small.y),
        tare.QuantileRegressor("cqr", bands=False).fit(small.X[:60], np.round(small.y[:60])),
    ]
    for k, model in enumerate(models):
        said = facts_of_the_tool(tool, model, tmp_path / f"{k}.tare")
        facts = dict(model.inspect().facts)
        for name in {*said, *facts} - {"guarantee", "window", "missing"}:
            ours, theirs = facts.get(name, ""), said.get(name, "")
            assert ours.split(" (of the model of")[0].split(" (where the")[0].split(" (fit with")[0] in theirs, name
            assert ours or "none" not in theirs
        assert facts["guarantee"] == said.get("guarantee", "none")
        text = str(model.inspect())
        assert text.startswith(type(model).__name__) and "--" not in text
        assert all(html.escape(fact) in model._repr_html_() for _, fact in model.inspect().facts)
    assert "columns tested" in str(models[2].inspect()) and "bandwidths tried" in str(models[2].inspect())
    assert dict(models[1].inspect().facts)["bounds"] == "-9 and above"


def test_the_display_of_estimators(model, small):
    pytest.importorskip("sklearn")
    import sklearn

    assert "guarantee" in model._repr_html_() and "split, 60 rows held out" in model._repr_mimebundle_()["text/html"]
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    for unfitted in (tare.Calibrator(mean), tare.QuantileRegressor()):
        assert "sk-" in unfitted._repr_html_() and "sk-" in unfitted._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_") and "text/html" not in model._repr_mimebundle_()
    hostile = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False)
    hostile.fit(pandas.DataFrame({"<script>": small.X[:, 0]}), small.y)
    assert "<script>" not in hostile._repr_html_() and "&lt;script&gt;" in hostile._repr_html_()
