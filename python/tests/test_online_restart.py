# SPDX-License-Identifier: BSD-3-Clause
"""The same bits: rows one by one, in blocks and at once; after a pickle, a copy and a file; and no look ahead."""

import itertools

import numpy as np
import pytest
from online_streams import Stream, copied, mean, restarted, saved_and_loaded, state

import tare

ROWS = 240
ROWS_OF_OWN = 150  # each of five fits of its model takes a tenth of a second
FORMS = {
    "function": (mean, {}),
    "own": (None, {}),
    "delay": (mean, {"delay": 5}),
    "own_delay": (None, {"delay": 2, "start": 60}),
    "season": (mean, {"period": 12, "lags": [1, 12], "levels": [0.1, 0.8]}),
    "tracker": (mean, {"method": "tracker"}),
}


def rows_of(form):
    return ROWS_OF_OWN if "own" in form else ROWS


def make(form):
    model, settings = FORMS[form]
    return tare.OnlineCalibrator(model, **settings)


@pytest.fixture(scope="module", params=[pytest.param(form, marks=[pytest.mark.slow] * ("own" in form)) for form in sorted(FORMS)])
def case(request):
    stream = Stream(rows_of(request.param))
    stream.y[[130, 131]] = np.nan
    online = make(request.param)
    return request.param, stream, online.track(stream.X, stream.y), online


def parts(rng, rows):
    """Rows in random blocks, empty ones left out."""
    return np.unique([0, *rng.integers(1, rows, size=6), rows])


@pytest.mark.parametrize("seed", [0, 1])
def test_in_blocks(case, seed):
    form, stream, answers, whole = case
    online = make(form)
    rows = len(stream.y)
    cuts = np.arange(rows + 1) if seed == 1 else parts(np.random.default_rng(seed), rows)  # 1: one by one
    got = []
    for first, last in itertools.pairwise(cuts):
        X, y = stream.X[first:last], stream.y[first:last]
        if np.isnan(y[-1]):  # track would not pass over the last rows
            got.append(np.full((last - first, answers.shape[1]), np.nan))
            online.update(X, y)
        else:
            got.append(online.track(X, y))
    got = np.concatenate(got)
    same = ~np.isnan(got)
    np.testing.assert_array_equal(got[same], answers[same])
    assert same[100:].mean() > 0.5
    assert state(online) == state(whole)


@pytest.mark.parametrize("restart", ["pickle", "copy", "file"])
def test_after_a_restart(case, restart, tmp_path):
    form, stream, answers, whole = case
    again = {"pickle": restarted, "copy": copied, "file": saved_and_loaded(tmp_path)}[restart]
    if restart == "file" and "delay" in form:  # it does not have the rows between, so the next ones are answered as by the tool (test_track.py)
        loaded = again(whole)
        assert state(loaded)[0] == state(whole)[0]
        np.testing.assert_array_equal(loaded.predict_interval(stream.X[:5]), whole.predict_interval(stream.X[:5]))
        return
    online = make(form)
    for row in np.random.default_rng(2).integers(1, len(stream.y) - 1, size=2 if "own" in form else 3):
        online = again(make(form).update(stream.X[:row], stream.y[:row]))
        got = online.track(stream.X[row:], stream.y[row:])
        np.testing.assert_array_equal(got, answers[row:])
        np.testing.assert_array_equal(online.predict_interval(stream.X[:5], 0.8), whole.predict_interval(stream.X[:5], 0.8))
        assert online.drift_ == whole.drift_
        assert online.n_seen_ == whole.n_seen_
        assert np.array_equal(online.coverage_, whole.coverage_) and np.array_equal(online.bound_, whole.bound_)
    assert state(online)[0] == state(whole)[0]


def test_no_answer_depends_on_a_later_row(case):
    form, stream, answers, _ = case
    rng = np.random.default_rng(3)
    for row in rng.integers(100, len(stream.y) - 1, size=2 if "own" in form else 3):
        X, y = stream.X.copy(), stream.y.copy()
        X[row + 1 :] = rng.uniform(-3, 3, size=X[row + 1 :].shape)
        y[row:] = rng.normal(size=len(y[row:])) * 50  # the target of the row itself, too
        np.testing.assert_array_equal(make(form).track(X, y)[: row + 1], answers[: row + 1])


def test_a_copy_goes_its_own_way():
    stream = Stream(200)
    online = make("function").update(stream.X[:150], stream.y[:150])
    other, before = copied(online), state(online)
    other.update(stream.X[150:], stream.y[150:])
    assert state(online) == before
    assert other.n_seen_ == 200 and online.n_seen_ == 150


def test_joblib(tmp_path):
    joblib = pytest.importorskip("joblib")
    stream = Stream(200)
    online = make("delay").update(stream.X[:150], stream.y[:150])
    joblib.dump(online, tmp_path / "online.joblib")
    again = joblib.load(tmp_path / "online.joblib")
    assert state(again) == state(online)
    assert state(again.update(stream.X[150:], stream.y[150:])) == state(make("delay").update(stream.X, stream.y))


def test_the_number_of_threads_changes_nothing():
    past, stream = Stream(300, seed=1), Stream(ROWS)
    fitted = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(past.X, past.y)
    one, two = (tare.OnlineCalibrator(fitted, n_jobs=jobs).update(stream.X, stream.y) for jobs in (1, 2))
    assert state(one) == state(two)
    many = np.tile(stream.X, (3, 1))
    np.testing.assert_array_equal(one.predict_interval(many), two.predict_interval(many))
