# SPDX-License-Identifier: BSD-3-Clause
"""Warnings are data, and the same in Python, in the tool and in the service."""

import csv
import json
import pickle
import re
import subprocess
import urllib.request
import warnings

import numpy as np
import pytest

import tare

LEVELS = [0.0001, 0.5]


@pytest.fixture
def model(small):
    """A narrow window that far rows fall out of, and a guarantee of few rows, which cannot keep 0.0001."""
    options = {"kernel": "naive", "bandwidth": 0.8}
    return tare.QuantileRegressor("pure_kernel", options=options, guarantee="split").fit(small.X, small.y)


@pytest.fixture
def rows():
    return np.array([[0.5, 0.5], [0.2, 0.8], [40.0, 40.0], [0.9, 0.1], [-30.0, 0.0]])


def caught(call):
    """Codes and counts of what a call warns about."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    ours = [one.message for one in found if issubclass(one.category, tare.TareWarning)]
    assert all(one.filename == __file__ for one in found)  # where the user called
    assert len({one.code for one in ours}) == len(ours)
    return {one.code: one.rows for one in ours}


def by_tool(tool, path, file, *options):
    done = subprocess.run([tool, "predict", path, file, "--levels", "0.0001,0.5", *options], capture_output=True, text=True, check=True)
    found = (re.search(r"(\d+) of \d+ rows .*\[(\w+)\]$", line) for line in done.stderr.splitlines())
    return {one[2]: int(one[1]) for one in found if one}


def by_service(tool, path, rows, diagnostics):
    process = subprocess.Popen([tool, "serve", path, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = process.stdout.readline().strip()
        body = {"rows": [{"x0": a, "x1": b} for a, b in rows.tolist()], "levels": LEVELS, "diagnostics": diagnostics}
        request = urllib.request.Request(url.rstrip("/") + "/v1/predict", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return {one["code"]: one["rows"] for one in json.load(answer)["warnings"]}
    finally:
        process.terminate()
        process.wait(30)


def test_the_same_rows_give_the_same_warnings_everywhere(model, rows, tool, tmp_path):
    path, file = str(tmp_path / "m.tare"), str(tmp_path / "new.csv")
    model.save(path)
    with open(file, "w", newline="") as out:
        csv.writer(out).writerows([["x0", "x1"], *rows.tolist()])
    plain = caught(lambda: model.predict_quantiles(rows, LEVELS))
    assert plain["fallback"] == 2
    assert {"infinite_answer", "beyond_kept_levels"} & set(plain)  # as the guarantee answers what it cannot keep
    assert plain == by_tool(tool, path, file) == by_service(tool, path, rows, False)
    full = caught(lambda: model.diagnostics(rows, LEVELS))
    assert full["outside"] == 2
    assert full["few_effective_rows"] >= 1
    assert full == by_tool(tool, path, file, "--diagnostics") == by_service(tool, path, rows, True)
    assert {one.code: one.rows for one in model.answer_warnings(rows, LEVELS)} == plain  # with a guarantee nothing holds for the model
    assert {one.code: one.rows for one in model.answer_warnings(rows, LEVELS, diagnostics=True)} == full


def test_every_call_of_a_user_warns_and_no_other(model, rows):
    assert caught(lambda: model.predict(rows)) == {"fallback": 2}
    assert caught(lambda: model.predict_interval(rows, 0.5)) == {"fallback": 2}
    assert caught(lambda: model.predict_quantiles(rows.astype(np.float32), LEVELS))["fallback"] == 2
    assert caught(lambda: model.predict_distribution(rows).cdf(0.0)) == {}
    assert caught(lambda: model.score(rows, np.zeros(5))) == {}
    near = rows[[0, 1, 3]]
    assert caught(lambda: model.predict_interval(near, 0.5)) == {}


def test_a_model_without_a_guarantee_says_so_when_asked(small, rows):
    model = tare.QuantileRegressor("pure_kernel", guarantee="none").fit(small.X, small.y)
    assert "no_guarantee" not in caught(lambda: model.predict_quantiles(rows))
    (first, *_) = model.answer_warnings(rows)
    assert (first.code, first.rows) == ("no_guarantee", 0)


def test_a_warning_can_be_filtered_and_copied(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error", tare.TareWarning)
        with pytest.raises(tare.TareWarning, match="2 of 5 rows had no calibration row within the bandwidth") as found:
            model.predict(rows)
    copy = pickle.loads(pickle.dumps(found.value))
    assert (copy.code, copy.rows, str(copy)) == (found.value.code, found.value.rows, str(found.value))
    assert isinstance(copy, UserWarning)
