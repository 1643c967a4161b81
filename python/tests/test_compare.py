# SPDX-License-Identifier: BSD-3-Clause
"""tare.compare and tare.tune: the same numbers as the tool's, and that they stop."""
import json
import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import tare

pandas = pytest.importorskip("pandas")
RIDGE = {"regressor": "ridge"}
GLOBAL = {"regressor": "ridge", "bandwidth": "infinite"}


@pytest.fixture
def frame(small):
    X = pandas.DataFrame({"a": small.X[:, 0], "b": small.X[:, 1], "c": np.where(small.X[:, 0] < 0.3, "x", "y")})
    X.loc[::50, "b"] = np.nan
    return X


def write(frame, y, path):
    frame.assign(target=y).to_csv(path, index=False, float_format="%.17g")
    return str(path)


def test_compare_gives_the_numbers_of_the_tool(frame, small, tool, tmp_path):
    data = write(frame, small.y, tmp_path / "d.csv")
    words = [tool, "compare", data, "--target", "target", "--methods", "nrc,nrc_rp", "--set", "regressor=ridge", "--missing", "impute"]
    told = json.loads(subprocess.run([*words, "--repeats", "4", "--seed", "3", "--json", "-q"], check=True, capture_output=True, text=True).stdout)
    found = tare.compare(frame, small.y, ["nrc", "nrc_rp"], options=RIDGE, repeats=4, missing="impute", random_state=3)
    assert found.table["method"] == [row["method"] for row in told]
    for name in set(told[0]) - {"method", "options", "comparisons"}:
        assert found.table[name] == [pytest.approx(row[name], rel=1e-12) for row in told], name
    assert len(found.trials) == 8 and found.best == told[0]["method"]


def test_the_result_does_not_depend_on_threads_and_can_be_shown(small, tmp_path):
    methods = [("nrc", RIDGE), ("nrc", GLOBAL)]
    one, two = (tare.compare(small.X, small.y, methods, repeats=5, n_jobs=n) for n in (1, 2))
    assert all(one.table[name] == two.table[name] for name in one.table if name != "seconds")
    assert one.table["options"][0] == RIDGE  # the spread depends on the second feature
    assert one.table["behind_low"][1] <= one.table["behind"][1] <= one.table["behind_high"][1]
    frame = one.to_frame()
    assert list(frame["check_score"]) == one.table["check_score"]
    text = repr(one)
    assert "nrc bandwidth=infinite regressor=ridge" in text and "best" in text and "5 random splits" in text
    assert "nrc bandwidth=infinite regressor=ridge" in one._repr_html_()
    one.page.save(tmp_path / "p.html")
    assert "Which method is best on X" in (tmp_path / "p.html").read_text() and one.page._repr_html_().startswith("<iframe srcdoc=")
    assert tare.compare(small.X, small.y, methods, repeats=2, random_state=5).table["check_score"] != one.table["check_score"]


def test_a_method_that_cannot_be_fitted_is_told(small):
    found = tare.compare(small.X, small.y, [("nrc", RIDGE), ("nrc", {"regressor": "ridge", "bandwidth": "-1"})], repeats=2)
    assert len(found.table["method"]) == 1 and len(found.failed) == 2 and "bandwidth" in found.failed[0]
    assert "2 trials could not be fitted" in repr(found)
    with pytest.raises(ValueError, match=r"no method could be fitted: .*bandwidth"):
        tare.compare(small.X, small.y, ["nrc"], options={"bandwidth": -1}, repeats=1)


def test_tune_gives_what_the_tool_writes(frame, small, tool, tmp_path):
    data = write(frame, small.y, tmp_path / "d.csv")
    words = [tool, "tune", data, "--target", "target", "--methods", "nrc", "--grid", "kernel=naive,gaussian,knn", "--grid", "ranks=paper,expected"]
    words += ["--set", "regressor=ridge", "--missing", "drop", "--splits", "3", "--random", "5", "--seed", "2", "-o", tmp_path / "c.json", "-q"]
    subprocess.run(words, check=True)
    told = json.loads((tmp_path / "c.json").read_text())
    grid = {"kernel": ["naive", "gaussian", "knn"], "ranks": ["paper", "expected"]}
    found = tare.tune(frame, small.y, "nrc", grid=grid, options=RIDGE, missing="drop", splits=3, n_iter=5, random_state=2)
    assert found.options == told["options"] and found.method == "nrc"
    assert found.score == pytest.approx(told["found"]["validation_check_score"], rel=1e-12)
    assert len(found.trail) == told["found"]["settings_tried"] == 5
    assert "the best of 5 settings" in repr(found) and "kernel=" in found._repr_html_()
    tare.QuantileRegressor(found.method, options=found.options, missing="drop", bands=False).fit(small.X, small.y)


def test_progress_and_its_exceptions(small):
    seen = []
    tare.compare(small.X, small.y, [("nrc_rf", {})], repeats=4, n_jobs=1, progress=lambda stage, share: seen.append((stage, share)))
    assert seen and all(stage.startswith("X nrc_rf ") and 0 < share <= 1 for stage, share in seen)

    def stop(stage, share):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tare.tune(small.X, small.y, "nrc_rf", grid={"trees": range(10, 60)}, progress=stop)


@pytest.mark.parametrize("job", ["compare", "tune"])
def test_ctrl_c_stops_within_a_trial(large, job):
    """One fit of 'auto' on 4,000 rows takes far longer than this waits."""
    jobs = {
        "compare": lambda: tare.compare(large.X, large.y, ["auto"], repeats=1, n_jobs=1),
        "tune": lambda: tare.tune(large.X, large.y, "auto", grid={"budget": ["default", "best"]}, n_jobs=1),
    }
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        jobs[job]()
    assert time.monotonic() - start < 10


def test_errors(small):
    X, y = small.X, small.y
    for wrong, text in [
        (lambda: tare.compare(X, y, "nrc"), "methods must be a list of names of methods, or 'all', got 'nrc'"),
        (lambda: tare.compare(X, y, []), "methods is empty"),
        (lambda: tare.compare(X, y, ["nrx"]), "nrx"),
        (lambda: tare.compare(X, y, ["nrc"], repeats=0), "repeats must be a whole number from 1 to 10000, got 0"),
        (lambda: tare.compare(X, y, ["nrc"], test_share=1), "test_share must lie between 0.001 and 0.9, got 1"),
        (lambda: tare.compare(X, y, ["nrc"], missing="none"), "missing must be 'error', 'drop' or 'impute', got 'none'"),
        (lambda: tare.compare(np.where(X < 0.1, np.nan, X), y, ["nrc"]), "contains NaN"),
        (lambda: tare.tune(X, y, "nrc", splits=0), "splits must be a whole number from 1 to 1000, got 0"),
        (lambda: tare.tune(X, y, "nrc", n_iter=1.5), "n_iter must be a whole number"),
        (lambda: tare.tune(X, y, "nrc", grid={"kernel": "naive"}), r"grid\['kernel'\] must be a list of values to try, got 'naive'"),
        (lambda: tare.tune(X, y, "nrc", grid={"kernel": []}), r"grid\['kernel'\] has no value to try"),
        (lambda: tare.tune(X, y, "nrc", grid={"kernel": ["naive"]}, options={"kernel": "knn"}), "'kernel' is in grid and in options"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()
