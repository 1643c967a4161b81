# SPDX-License-Identifier: BSD-3-Clause
"""OnlineCalibrator: what it answers, what it counts, and around which models."""

import math
import os
import signal
import threading

import numpy as np
import pytest
from online_streams import Stream, mean, state

import tare


def test_answers_cover_as_many_targets_as_they_say():
    stream = Stream(1500)
    online = tare.OnlineCalibrator(mean, interval=0.8)
    low, high = online.track(stream.X, stream.y).T
    assert np.isnan(low[:100]).all() and np.isnan(high[:100]).all()
    inside = (low[100:] <= stream.y[100:]) & (stream.y[100:] <= high[100:])
    assert online.coverage_ == inside.mean()
    assert 0.0 < online.bound_ < 0.5
    assert abs(online.coverage_ - 0.8) <= online.bound_
    assert abs(online.coverage_ - 0.8) < 0.05  # 4.7 standard deviations of independent rows
    assert online.n_seen_ == 1500


def test_the_width_follows_the_feature_on_which_errors_depend():
    stream = Stream(2000)
    answers = tare.OnlineCalibrator(mean).track(stream.X, stream.y)[500:]
    width, feature = np.diff(answers)[:, 0], stream.X[500:, 1]
    assert width[feature > 0.8].mean() > 1.5 * width[feature < 0.2].mean()


def test_a_prediction_is_the_next_answer_and_changes_nothing():
    stream = Stream(300)
    online = tare.OnlineCalibrator(mean, levels=[0.1, 0.5, 0.9]).update(stream.X[:250], stream.y[:250])
    before = state(online)
    asked = online.predict_quantiles(stream.X[250:], [0.1, 0.5, 0.9])
    np.testing.assert_array_equal(online.predict(stream.X[250:]), mean(stream.X[250:]))
    online.predict_interval(stream.X[250:])
    assert state(online) == before
    for row in range(250, 255):  # each row of X is answered as the next one
        asked = online.predict_quantiles(stream.X[row:], [0.1, 0.5, 0.9])
        np.testing.assert_array_equal(asked[0], online.track(stream.X[row : row + 1], stream.y[row : row + 1])[0])


def test_one_interval_several_and_levels():
    stream = Stream(400)
    several = tare.OnlineCalibrator(mean, interval=[0.5, 0.9]).update(stream.X, stream.y)
    assert several.coverage_.shape == several.bound_.shape == (2,)
    assert several.coverage_[0] < several.coverage_[1]
    assert several.predict_interval(stream.X[:3]).shape == (3, 2, 2)
    levels = tare.OnlineCalibrator(mean, levels=[0.9, 0.1])
    answers = levels.set_output(transform="pandas").track(stream.X, stream.y)
    assert list(answers.columns) == ["q0.9", "q0.1"]
    below = stream.y[100:, None] <= answers.to_numpy()[100:]
    np.testing.assert_array_equal(levels.coverage_, below.mean(axis=0))
    assert levels.bound_.shape == (2,)
    both = tare.OnlineCalibrator(mean, levels=[0.5], interval=0.8).set_output(transform="pandas")
    assert list(both.track(stream.X, stream.y).columns) == ["q0.5", "lower_0.8", "upper_0.8"]
    assert isinstance(both.coverage_, float)
    default = tare.OnlineCalibrator(mean).update(stream.X, stream.y)
    np.testing.assert_array_equal(default.predict_interval(stream.X[:2]), default.predict_interval(stream.X[:2], 0.9))
    wider = default.predict_interval(stream.X[:2], 0.95)  # a level that is not kept
    assert (np.diff(wider) > np.diff(default.predict_interval(stream.X[:2]))).all()


@pytest.mark.parametrize("method", sorted(tare.online_methods()))
def test_every_online_method_goes_by_its_name(method):
    stream = Stream(400)
    online = tare.OnlineCalibrator(mean, method=method)
    answers = online.track(stream.X, stream.y)
    assert 0.75 < online.coverage_ <= 1.0
    assert (answers[100:, 0] <= answers[100:, 1]).all()


def test_the_bound_holds_where_targets_equal_the_lower_end():
    """Half of the targets are 0, which is where the lower end then is."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 1))
    y = np.where(rng.uniform(size=3000) < 0.5, 0.0, rng.uniform(size=3000))
    online = tare.OnlineCalibrator(lambda X: np.zeros(len(X)), interval=0.5).update(X, y)
    assert abs(online.coverage_ - 0.5) <= online.bound_


def test_settings_that_change_later_are_for_the_next_stream():
    stream = Stream(300)
    online = tare.OnlineCalibrator(mean, interval=0.8).update(stream.X, stream.y)
    before = online.coverage_, online.predict_interval(stream.X[:3])
    online.set_params(interval=[0.5, 0.9], levels=[0.1, 0.2, 0.3])
    assert online.coverage_ == before[0]
    np.testing.assert_array_equal(online.predict_interval(stream.X[:3]), before[1])
    assert online.track(stream.X[:3], stream.y[:3]).shape == (3, 2)
    online.fit(stream.X, stream.y)
    assert online.coverage_.shape == (2,)
    assert online.track(stream.X[:3], stream.y[:3]).shape == (3, 7)


def test_any_model_of_scikit_learn():
    pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    past, stream = Stream(300, seed=1), Stream(400)
    for model in (LinearRegression(), RandomForestRegressor(5, random_state=0), make_pipeline(StandardScaler(), KNeighborsRegressor())):
        model.fit(past.X, past.y)
        online = tare.OnlineCalibrator(model).update(stream.X, stream.y)
        np.testing.assert_array_equal(online.predict(stream.X), model.predict(stream.X))
        assert 0.8 < online.coverage_ < 0.98
        assert repr(online).startswith("OnlineCalibrator(model=")


def test_predictions_from_outside():
    stream = Stream(300)
    around, outside = tare.OnlineCalibrator(mean), tare.OnlineCalibrator()
    given = mean(stream.X)
    np.testing.assert_array_equal(around.track(stream.X, stream.y), outside.track(stream.X, stream.y, y_pred=given))
    np.testing.assert_array_equal(around.predict_interval(stream.X), outside.predict_interval(stream.X, y_pred=given))
    with pytest.raises(ValueError, match="pass them as y_pred"):
        outside.predict_interval(stream.X)


@pytest.mark.slow
def test_a_model_of_its_own_learns_the_mean():
    stream = Stream(700)
    online = tare.OnlineCalibrator().update(stream.X, stream.y)
    assert np.mean((online.predict(stream.X) - mean(stream.X)) ** 2) < 0.5 * np.var(mean(stream.X))
    with pytest.raises(ValueError, match="has a model of its own"):
        online.update(stream.X, stream.y, y_pred=stream.y)


def test_a_model_of_tare_its_file_and_its_predictor(tmp_path):
    past, stream = Stream(400, seed=1), Stream(300)
    fitted = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(past.X, past.y)
    fitted.save(tmp_path / "model.tare")
    answers = []
    for model in (fitted, tmp_path / "model.tare", str(tmp_path / "model.tare"), tare.Predictor(fitted)):
        online = tare.OnlineCalibrator(model)
        answers.append(online.track(stream.X, stream.y))
        np.testing.assert_array_equal(online.predict(stream.X), fitted.predict(stream.X))
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0], other)
    calibrated = tare.Calibrator(mean, guarantee="none", bands=False).calibrate(past.X, past.y)
    online = tare.OnlineCalibrator(calibrated).update(stream.X, stream.y)
    np.testing.assert_array_equal(online.predict(stream.X), calibrated.predict_quantiles(stream.X, 0.5)[:, 0])


def test_targets_that_come_late():
    """The answers of a delay are those of a model that has not seen the last targets: a slow oracle."""
    delay, rows = 3, 260
    stream = Stream(rows)
    online = tare.OnlineCalibrator(mean, delay=delay, start=50)
    answers = online.track(stream.X, stream.y)
    for row in (60, 61, 130, 259):
        changed = stream.y.copy()
        changed[row - delay :] = 1e3  # none of these targets is known when the row is answered
        other = tare.OnlineCalibrator(mean, delay=delay, start=50).track(stream.X, changed)
        np.testing.assert_array_equal(answers[: row + 1], other[: row + 1])
        changed[row - delay - 1] = 1e3  # this one is
        other = tare.OnlineCalibrator(mean, delay=delay, start=50).track(stream.X, changed)
        assert (answers[row] != other[row]).any()


def test_columns_that_are_known_later():
    stream = Stream(170)
    late = np.concatenate([[0.0], np.diff(stream.y)])
    X = np.column_stack([stream.X, late])
    for model in (mean, None):
        answers = tare.OnlineCalibrator(model, known_later=[2]).track(X, stream.y)
        for row in (120, 169):
            changed = X.copy()
            changed[row:, 2] = 77.0
            other = tare.OnlineCalibrator(model, known_later=[2])
            np.testing.assert_array_equal(answers[: row + 1], other.track(changed, stream.y)[: row + 1])
    online = tare.OnlineCalibrator(mean, known_later=[2]).update(X, stream.y)
    unknown = X[:4].copy()
    unknown[:, 2] = np.nan
    np.testing.assert_array_equal(online.predict_interval(unknown), online.predict_interval(X[:4]))
    with pytest.raises(ValueError, match=r"column 'x2', row 1; it must be known with the target"):
        online.update(np.vstack([X[:1], unknown[:1]]), stream.y[:2])
    fitted = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(X, stream.y)
    with pytest.raises(ValueError, match="known_later"):
        tare.OnlineCalibrator(fitted, known_later=[2]).update(X, stream.y)


def test_rows_without_a_target():
    """In the middle they are passed over; at the end of track they are answered only."""
    stream = Stream(400)
    y = stream.y.copy()
    y[[150, 151, 200]] = np.nan
    online = tare.OnlineCalibrator(mean).update(stream.X, y)
    assert online.n_seen_ == 400
    y[390:] = np.nan
    online = tare.OnlineCalibrator(mean)
    answers = online.track(stream.X, y)
    assert online.n_seen_ == 390
    assert not np.isnan(answers[100:]).any()
    np.testing.assert_array_equal(answers[390], online.predict_interval(stream.X[390:])[0])
    # Their answers are those of a stream whose later targets are not known yet.
    delayed = tare.OnlineCalibrator(mean, period=12, lags=[12]).track(stream.X, y)
    y[395:] = 3.0  # the first of these is the first target that comes again
    whole = tare.OnlineCalibrator(mean, period=12, lags=[12]).track(stream.X, y)
    np.testing.assert_array_equal(delayed[390:396], whole[390:396])


def test_threads_ask_while_one_teaches():
    """Answers of a state that is not torn: each is one that some number of rows gives."""
    stream = Stream(170)
    online = tare.OnlineCalibrator(mean, n_jobs=1).update(stream.X[:120], stream.y[:120])
    oracle = tare.OnlineCalibrator(mean).update(stream.X[:120], stream.y[:120])
    row = stream.X[:1]
    possible = {tuple(oracle.predict_interval(row)[0])}
    for i in range(120, 170):
        oracle.update(stream.X[i : i + 1], stream.y[i : i + 1])
        possible.add(tuple(oracle.predict_interval(row)[0]))
    seen, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            seen.append(tuple(online.predict_interval(row)[0]))
            assert not math.isnan(online.coverage_)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(120, 170):
        online.update(stream.X[i : i + 1], stream.y[i : i + 1])
    stop.set()
    for thread in threads:
        thread.join()
    assert seen and set(seen) <= possible
    assert state(online) == state(oracle)


def test_what_inspect_says():
    stream = Stream(1500)
    online = tare.OnlineCalibrator(mean, levels=[0.3], interval=0.8, period=7).update(stream.X[:50], stream.y[:50])
    assert dict(online.inspect().facts)["0.8 interval"] == "no target yet"
    online.update(stream.X[50:], stream.y[50:])
    facts = dict(online.inspect().facts)
    assert facts["method"] == "online, snq period=7"
    assert facts["rows"] == "1500, of which 1400 with a target came after the first 100"
    assert facts["0.8 interval"].startswith(f"{online.coverage_:.4f} covered; proven: within ")
    assert facts["level 0.3"].endswith(f"{online._learner().coverage()['bound'][1]:.4f}")
    assert facts["drift"].startswith("no alarm; evidence ")
    assert "<table>" in online._repr_html_()


def test_control_c_stops_an_update_between_two_rows():
    stream = Stream(60_000)
    online = tare.OnlineCalibrator(mean, n_jobs=1)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        online.update(stream.X, stream.y)
    timer.join()
    seen = online.n_seen_
    assert 0 < seen < 60_000
    assert state(online) == state(tare.OnlineCalibrator(mean).update(stream.X[:seen], stream.y[:seen]))


def test_fit_forgets():
    stream = Stream(300)
    online = tare.OnlineCalibrator(mean).update(stream.X[:200], stream.y[:200])
    online.fit(stream.X[200:], stream.y[200:])
    assert state(online) == state(tare.OnlineCalibrator(mean).partial_fit(stream.X[200:], stream.y[200:]))
    before = state(online)
    with pytest.raises(ValueError, match="NaN"):
        online.fit([[np.nan, 0.0]], [1.0])
    assert state(online) == before
