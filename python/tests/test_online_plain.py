# SPDX-License-Identifier: BSD-3-Clause
"""A single row of plain numbers takes a short way through a stream: the same bits, errors and warnings as on the usual way."""

import warnings

import numpy as np
import pandas as pd
import pytest
from online_streams import Stream, mean, state

import tare
from tare import _online, _online_rows
from tare._online_plain import plain_way

FORMS = {
    "model": {},
    "list": {"model": lambda X: mean(X).tolist()},
    "float32": {"model": lambda X: mean(X).astype(np.float32)},
    "column": {"model": lambda X: mean(X)[:, None]},
    "masked": {"model": lambda X: np.ma.masked_array(mean(X), X[:, 0] > 0.9)},
    "sometimes NaN": {"model": lambda X: np.where(X[:, 0] > 0.9, np.nan, mean(X))},
    "own": {"model": None},
    "delay": {"delay": 3},
    "levels": {"levels": [0.2, 0.7]},
    "several": {"interval": [0.5, 0.9]},
    "infinite": {"method": "aci"},
    "late": {"known_later": [1]},
    "impute": {"missing": "impute"},
}


def rows_of_all_kinds(rng, count):
    """Rows that the short way takes, and rows that it must leave to the usual way."""
    for _ in range(count):
        X = rng.uniform(size=(1, 2))
        y = mean(X) + rng.normal(size=1)
        kind = rng.integers(18)
        if kind == 0:
            X[0, rng.integers(2)] = [np.nan, np.inf, -np.inf][rng.integers(3)]
        elif kind == 1:
            y[0] = [np.nan, np.inf, 1e308][rng.integers(3)]
        elif kind == 2:
            X = X.astype(np.float32)
        elif kind == 3:
            X = rng.uniform(size=(1, 3))
        elif kind == 4:
            X = X[0]
        elif kind == 5:
            X = X.astype(">f8")
        elif kind == 6:
            X = pd.DataFrame(X, columns=["a", "b"])
        elif kind == 7:
            X, y = rng.uniform(size=(2, 2)), rng.normal(size=2)
        elif kind == 8:
            X = np.ma.masked_array(X, [[False, True]])
        elif kind == 9:
            X = rng.uniform(size=(1, 4))[:, ::2]
        elif kind == 10:
            y = [y.tolist(), y[:, None], y.astype(np.float32), y[0], None, "x"][rng.integers(6)]
        elif kind == 11:
            X = X.tolist()
        elif kind == 12:
            X = np.empty((0, 2))
        yield X, y


def outcome(call, *arguments):
    """What came of a call: bits, or the error; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call(*arguments)
            told = np.asarray(answer).tobytes() if isinstance(answer, np.ndarray) else "done"
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
    return told, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("form", [pytest.param(form, marks=[pytest.mark.slow] * (form == "own")) for form in FORMS])
def test_both_ways_have_the_same_bits_errors_and_warnings(form, monkeypatch):
    stream = Stream(150)
    settings = {"model": mean, **FORMS[form]}
    if settings["model"] is not None and form in ("masked", "sometimes NaN"):
        stream.X[:, 0] *= 0.8
    streams = [tare.OnlineCalibrator(start=20, **settings).update(stream.X, stream.y) for _ in range(2)]
    taken = 0
    for X, y in rows_of_all_kinds(np.random.default_rng(len(form)), 150):
        told = []
        for way, online in enumerate(streams):
            with monkeypatch.context() as patch:
                if way == 1:
                    patch.setattr(_online, "plain_way", lambda stream, X: None)
                    patch.setattr(_online_rows, "plain_way", lambda stream, X: None)
                else:
                    taken += plain_way(online, X) is not None
                told.append([outcome(online.predict_interval, X), outcome(online.update, X, y)])
        assert told[0] == told[1], (X, y)
        assert streams[0].n_seen_ == streams[1].n_seen_
    assert state(streams[0]) == state(streams[1])
    assert (taken > 0) == (form not in ("late", "impute"))


def test_the_model_is_asked_once_for_each_call():
    stream = Stream(200)
    asked = []

    def model(X):
        asked.append(len(X))
        return mean(X).astype(np.float32)  # not the usual form

    online = tare.OnlineCalibrator(model).update(stream.X, stream.y)
    asked.clear()
    online.predict_interval(stream.X[:1])
    assert asked == [1]
    online.update(stream.X[:1], stream.y[:1])
    assert asked == [1, 1]


def test_predictions_from_outside_take_it_too():
    stream = Stream(200)
    predicted = mean(stream.X)
    given, asked = (tare.OnlineCalibrator(model).update(stream.X[:150], stream.y[:150], y_pred=predicted[:150]) for model in (None, mean))
    for i in range(150, 200):
        row = slice(i, i + 1)
        expected = asked.predict_interval(stream.X[row])
        np.testing.assert_array_equal(given.predict_interval(stream.X[row], y_pred=predicted[row]), expected)
        asked.update(stream.X[row], stream.y[row])
        given.update(stream.X[row], stream.y[row], y_pred=predicted[row])
    assert state(given) == state(asked)
    with pytest.raises(ValueError, match="pass them as y_pred"):
        given.predict_interval(stream.X[:1])


def test_what_changes_later_counts():
    stream = Stream(200)
    online = tare.OnlineCalibrator(mean).update(stream.X, stream.y)
    row = stream.X[:1]
    answer = online.predict_interval(row)
    framed = online.set_output(transform="pandas").predict_interval(row)
    assert list(framed.columns) == ["lower_0.9", "upper_0.9"]
    np.testing.assert_array_equal(framed.to_numpy(), answer)
    with pytest.raises(ValueError, match="n_jobs"):
        online.set_params(n_jobs="two").update(row, stream.y[:1])
    online.set_params(n_jobs=1).estimator_ = lambda X: mean(X) + 1.0
    np.testing.assert_allclose(online.set_output(transform="default").predict_interval(row), answer + 1.0, atol=0.5)
