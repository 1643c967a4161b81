# SPDX-License-Identifier: BSD-3-Clause
"""A single row of plain numbers takes a short way through a stream: the same bits, errors and warnings as on the usual way."""

import pickle
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


class Subclass(np.ndarray):
    pass


def not_aligned(X):
    """The same numbers, at an address that is no multiple of their size."""
    room = np.zeros(X.nbytes + 1, dtype=np.int8)[1:]
    room[:] = X.view(np.int8).ravel()
    return room.view(np.float64).reshape(X.shape)


def rows_of_all_kinds(rng, count):
    """Rows that the short way takes, and rows that it must leave to the usual way."""
    for _ in range(count):
        X = rng.uniform(size=(1, 2))
        y = mean(X) + rng.normal(size=1)
        kind = rng.integers(26)
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
        elif kind == 13:
            X, y = pickle.loads(pickle.dumps((X, y)))  # with dtypes of their own
        elif kind == 14:
            X = not_aligned(X)
        elif kind == 15:
            X = np.asfortranarray(rng.uniform(size=(3, 2)))[:1]
        elif kind == 16:
            X = np.broadcast_to(X[:, :1], (1, 2))
        elif kind == 17:
            X, y = X.view(Subclass), y.view(Subclass)
        elif kind == 18:
            X = X.astype(object)
        elif kind == 19:
            X = X[None]
        elif kind == 20:
            X.flags.writeable = False
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
                    patch.setattr(_online, "plain_way", lambda stream, own: None)
                    patch.setattr(_online_rows, "plain_way", lambda stream, own: None)
                else:
                    taken += bool(plain_way(online, online.__dict__))
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


class Counted(tare.OnlineCalibrator):
    """Counts the rows that take the usual way."""

    usual = 0

    def _teach(self, *arguments, **named):
        self.usual += 1
        return super()._teach(*arguments, **named)

    def _encode_rows(self, *arguments, **named):
        self.usual += 1
        return super()._encode_rows(*arguments, **named)


@pytest.mark.parametrize("form", ["as they are", "pickled", "read-only", "y_pred", "a function"])
def test_plain_rows_do_take_the_short_way(form):
    """Otherwise every test of it would pass, and a row take ten times as long."""
    stream = Stream(200)
    model = mean if form == "a function" else Model()
    online = Counted(model).update(stream.X, stream.y)
    online.usual = 0
    X, y = stream.X[:1], stream.y[:1]
    if form == "pickled":
        X, y = pickle.loads(pickle.dumps((X, y)))
    elif form == "read-only":
        X.flags.writeable = False
    given = {"y_pred": mean(X)} if form == "y_pred" else {}
    online.predict_interval(X, **given)
    online.predict_quantiles(X, [0.05, 0.95], **given)
    online.update(X, y, **given)
    assert online.usual == 0
    online.update(X.tolist(), y)
    assert online.usual > 0


class Model:
    def predict(self, X):
        return mean(X)


def test_what_a_model_raises_comes_through():
    stream = Stream(200)

    class Refuses(Model):
        @property
        def predict(self):
            raise RuntimeError("not now")

    class Fails(Model):
        def predict(self, X):
            raise KeyError("no such row")

    online = tare.OnlineCalibrator(Model()).update(stream.X, stream.y)
    for model, error in ((Refuses(), RuntimeError), (Fails(), KeyError)):
        online.estimator_ = model
        for call in (lambda: online.predict_interval(stream.X[:1]), lambda: online.update(stream.X[:1], stream.y[:1])):
            with pytest.raises(error):
                call()
    assert online.n_seen_ == 200


def test_a_model_may_change_the_row():
    """The row counts as the model leaves it, on both ways."""

    def writes(X):
        X[:, 1] = 0.25
        return mean(X)

    def spoils(X):
        X[:, 1] = np.nan
        return mean(X)

    stream = Stream(200)
    stream.X[:, 1] = 0.25
    writing, plain = (tare.OnlineCalibrator(model).update(stream.X.copy(), stream.y) for model in (writes, mean))
    for i in range(20):
        row, y = stream.X[i : i + 1], stream.y[i : i + 1]
        other = np.array([[row[0, 0], 0.75]])
        np.testing.assert_array_equal(writing.predict_interval(other.copy()), plain.predict_interval(row))
        writing.update(other.copy(), y)
        plain.update(row, y)
    assert state(writing) == state(plain)
    writing.estimator_ = spoils
    with pytest.raises(ValueError, match=r"finite|NaN"):
        writing.update(stream.X[:1].copy(), stream.y[:1])


def test_an_answer_is_an_array_of_its_own():
    stream = Stream(200)
    online = tare.OnlineCalibrator(mean).update(stream.X, stream.y)
    first = online.predict_interval(stream.X[:1])
    kept = first.copy()
    second = online.predict_interval(stream.X[1:2])
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, kept)
    assert first.flags.owndata and first.flags.writeable and first.dtype is np.dtype(float)


def test_a_row_that_is_learned_need_not_be_the_one_that_was_asked_for():
    """The answer to a row is kept for its target: for no other row, and for no other prediction."""
    stream = Stream(300)
    asked, plain = (tare.OnlineCalibrator(mean).update(stream.X[:200], stream.y[:200]) for _ in range(2))
    rng = np.random.default_rng(0)
    for i in range(200, 300):
        row = slice(i, i + 1)
        for other in rng.integers(300, size=rng.integers(3)):
            asked.predict_interval(stream.X[other : other + 1])
        if rng.integers(2):
            asked.predict_interval(stream.X[row])
        if rng.integers(4) == 0:
            asked.predict_interval(stream.X[row], y_pred=mean(stream.X[row]) + 1.0)
        asked.update(stream.X[row], stream.y[row])
        plain.update(stream.X[row], stream.y[row])
    assert state(asked) == state(plain)
