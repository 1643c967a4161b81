# SPDX-License-Identifier: BSD-3-Clause
"""OnlineCalibrator: frames, texts, missing values, names, numbers that cannot be, and settings that are refused."""

import warnings

import numpy as np
import pytest
from online_streams import Stream, mean, state

import tare

pandas = pytest.importorskip("pandas")


def frame_of(stream, seed=0):
    """Numbers, a text, a category, gaps."""
    rng = np.random.default_rng(seed)
    rows = len(stream.X)
    return pandas.DataFrame(
        {
            "load": stream.X[:, 0],
            "wind": np.where(np.arange(rows) % 17 == 5, np.nan, stream.X[:, 1]),
            "zone": rng.choice(["north", "south"], rows),
            "shift": pandas.Categorical(rng.integers(0, 3, rows)),
        }
    )


def load_mean(X):
    return np.sin(6 * np.asarray(X["load"], dtype=float))


def test_frames_of_pandas_and_polars_are_the_same():
    polars = pytest.importorskip("polars")
    stream = Stream(300)
    data = frame_of(stream).drop(columns="shift").fillna({"wind": 0.5})
    one = tare.OnlineCalibrator(load_mean)
    answers = one.set_output(transform="pandas").track(data, pandas.Series(stream.y))
    assert list(answers.columns) == ["lower_0.9", "upper_0.9"] and answers.index.equals(data.index)
    two = tare.OnlineCalibrator(load_mean)
    other = two.set_output(transform="polars").track(polars.from_pandas(data), polars.Series(stream.y))
    np.testing.assert_array_equal(answers.to_numpy(), other.to_numpy())
    assert state(one) == state(two)


@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_texts_and_missing_values(missing):
    stream = Stream(300)
    data = frame_of(stream)
    online = tare.OnlineCalibrator(load_mean, missing=missing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = online.track(data, stream.y)
    gaps = data["wind"].isna().to_numpy()
    if missing == "drop":
        assert np.isnan(answers[gaps]).all()
        assert online.n_seen_ == (~gaps).sum()
        assert np.isnan(online.predict(data)[gaps]).all()
    else:
        assert not np.isnan(answers[100:]).any()
    blocks = tare.OnlineCalibrator(load_mean, missing=missing)
    for first, last in ((0, 110), (110, 111), (111, 300)):
        blocks.update(data[first:last], stream.y[first:last])
    assert state(blocks) == state(online)


def test_the_columns_are_those_of_the_first_rows():
    """A category that comes after the first `start` rows is a new one, in a block or not."""
    stream = Stream(300)
    data = frame_of(stream).drop(columns=["wind", "shift"])
    data.loc[200:, "zone"] = "moon"
    online = tare.OnlineCalibrator(load_mean)
    with pytest.warns(UserWarning, match="100 cells have a category that was not there"):
        online.update(data, stream.y)
    assert online.describe()["inputs"][1]["categories"] == ["north", "south"]


def test_a_text_that_is_known_later():
    stream = Stream(300)
    data = frame_of(stream).drop(columns=["wind", "shift"])
    online = tare.OnlineCalibrator(load_mean, known_later="zone").update(data, stream.y)
    expected = online.predict_interval(data[:3])
    for unknown in (None, np.nan, "south"):
        np.testing.assert_array_equal(online.predict_interval(data[:3].assign(zone=unknown)), expected)
    with pytest.raises(ValueError, match="column 'zone', row 0; it must be known with the target"):
        online.update(data[:3].assign(zone=None), stream.y[:3])


def test_tare_reads_only_the_columns_it_is_told_to(tmp_path):
    stream = Stream(300)
    data = frame_of(stream)[["load"]].assign(when=pandas.Timestamp("2026-01-01"), wind=stream.X[:, 1])
    with pytest.raises(TypeError, match="column 'when'"):
        tare.OnlineCalibrator(load_mean).update(data, stream.y)
    online = tare.OnlineCalibrator(load_mean, features=["wind", "load"]).update(data, stream.y)
    plain = tare.OnlineCalibrator(load_mean).update(data[["wind", "load"]], stream.y)
    np.testing.assert_array_equal(online.predict_interval(data), plain.predict_interval(data[["wind", "load"]]))
    assert online.n_features_in_ == 3
    online.save(tmp_path / "online.tare")
    loaded = tare.OnlineCalibrator.load(tmp_path / "online.tare", load_mean)
    np.testing.assert_array_equal(loaded.predict_interval(data), online.predict_interval(data))
    assert loaded.features == ["wind", "load"]
    wide = np.column_stack([stream.X, stream.X])
    some = tare.OnlineCalibrator(mean, features=[0, 1]).update(wide, stream.y)
    some.save(tmp_path / "some.tare")
    again = tare.OnlineCalibrator.load(tmp_path / "some.tare", mean)
    np.testing.assert_array_equal(again.predict_interval(wide), tare.OnlineCalibrator(mean).update(stream.X, stream.y).predict_interval(stream.X))
    with pytest.raises(ValueError, match="not among features: add it there"):
        tare.OnlineCalibrator(mean, features=[0], known_later=[1]).update(wide, stream.y)


def test_targets_of_pandas_with_gaps():
    stream = Stream(200)
    y = pandas.Series(stream.y, dtype="Float64")
    y[150] = pandas.NA
    plain = stream.y.copy()
    plain[150] = np.nan
    assert state(tare.OnlineCalibrator(mean).update(stream.X, y)) == state(tare.OnlineCalibrator(mean).update(stream.X, plain))


def test_names_are_checked_as_scikit_learn_does():
    stream = Stream(200)
    data = pandas.DataFrame(stream.X, columns=["a", "b"])
    online = tare.OnlineCalibrator(lambda X: np.zeros(len(X))).update(data, stream.y)
    assert list(online.feature_names_in_) == ["a", "b"] and online.n_features_in_ == 2
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        online.update(data[["b", "a"]], stream.y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- c"):
        online.predict_interval(data.rename(columns={"b": "c"}))
    with pytest.raises(ValueError, match="expecting 2 features"), pytest.warns(UserWarning, match="valid feature names"):
        online.update(stream.X[:, :1], stream.y)
    with pytest.warns(UserWarning, match="valid feature names"):
        online.update(stream.X, stream.y)


@pytest.mark.parametrize(
    ("X", "y", "text"),
    [
        ([[0.1, np.nan]], [1.0], "NaN: row 0, column 1"),
        ([[0.1, np.inf]], [1.0], "infinity .* row 0, column 1"),
        ([[0.1, 0.2]], [np.inf], "Input y contains infinity .* row 0"),
        ([[0.1, 0.2]], [1.0, 2.0], "inconsistent numbers of samples"),
        ([[0.1, 0.2]], ["one"], "y has an entry that is not a number"),
        ([[0.1, 0.2]], None, "the target y is None"),
        ([0.1, 0.2], [1.0, 2.0], "Expected 2D array"),
    ],
)
@pytest.mark.parametrize("rows", [0, 150])
def test_what_cannot_be_learned_leaves_the_state_alone(X, y, text, rows):
    stream = Stream(150)
    online = tare.OnlineCalibrator(mean)
    if rows:
        online.update(stream.X, stream.y)
        before = state(online)
    with pytest.raises(ValueError, match=text):
        online.update(X, y)
    if rows:
        assert state(online) == before
    else:
        assert not online.__sklearn_is_fitted__()


def test_a_block_with_a_bad_prediction_is_refused_as_a_whole():
    stream = Stream(150)
    online = tare.OnlineCalibrator().update(stream.X, stream.y, y_pred=mean(stream.X))
    before = state(online)
    given = mean(stream.X)
    given[149] = np.nan
    with pytest.raises(ValueError, match="Input y_pred contains NaN: row 149"):
        online.update(stream.X, stream.y, y_pred=given)
    given[149], stream.y[149] = -1.5e308, 1.5e308
    with pytest.raises(ValueError, match=r"row 149.*too large for a number"):
        online.update(stream.X, stream.y, y_pred=given)
    assert state(online) == before


@pytest.mark.parametrize("model", [mean, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [1e-300, 1e12, 1e100, 1e300])
def test_huge_and_tiny_values_are_answered_with_numbers(model, size):
    stream = Stream(400)
    y = stream.y.copy()
    y[200:210] *= size
    online = tare.OnlineCalibrator(model)
    assert np.isfinite(online.track(stream.X, y)[100:]).all()
    assert np.isfinite(online.predict_interval(stream.X * min(size, 1e100))).all()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"interval": 1.5}, "interval must lie strictly between 0 and 1, got 1.5"),
        ({"interval": "wide"}, "interval must be a number or a list"),
        ({"levels": [0.5, 0.5]}, "levels has a number twice"),
        ({"start": -1}, "start must be a whole number from 0 to 1000000000, got -1"),
        ({"delay": 2.5}, "delay must be a whole number from 0 to 100000, got 2.5"),
        ({"drift_rate": 0}, "drift_rate must be a probability between 0 and 1, got 0"),
        ({"known_later": ["z"]}, "known_later names 'z'"),
        ({"missing": "skip"}, "missing must be 'error', 'drop' or 'impute', got 'skip'"),
        ({"method": "best"}, "best"),
        ({"period": "yearly"}, "period"),
        ({"delay": 3, "lags": [1]}, "lags"),
        ({"options": {"widow": 3}}, "widow"),
        ({"window": 5, "options": {"window": 6}}, "window is 5, but options"),
        ({"random_state": -1}, "random_state"),
        ({"model": dict}, "is the class dict"),
        ({"model": 3}, "has no predict method"),
    ],
)
def test_settings_that_cannot_be(settings, text):
    stream = Stream(150)
    online = tare.OnlineCalibrator(**{"model": mean, **settings})
    with pytest.raises((ValueError, TypeError), match=text) as error:
        online.update(stream.X, stream.y)
    assert "--" not in str(error.value)
    assert not online.__sklearn_is_fitted__()


def test_before_the_first_row():
    online = tare.OnlineCalibrator(mean)
    for ask in (online.predict, online.predict_interval, online.predict_quantiles):
        with pytest.raises(tare.NotFittedError, match="Call 'update'"):
            ask([[0.1, 0.2]])
    for name in ("coverage_", "bound_", "drift_", "n_seen_"):
        assert not hasattr(online, name)


@pytest.mark.parametrize("method", ["snq", "trailing", "tracker"])
def test_before_two_known_targets(method):
    stream = Stream(60)
    online = tare.OnlineCalibrator(mean, start=0, method=method)
    for i in range(2):
        # The first target never comes.
        online.update(stream.X[i : i + 1], stream.y[i : i + 1] if i else [np.nan])
        for X in (stream.X[:1], stream.X[:2], stream.X[:1].tolist()):
            for ask in (online.predict_interval, online.predict_quantiles):
                with pytest.raises(ValueError, match=r"fewer than 2 targets are known.*update"):
                    ask(X)
        assert online.predict(stream.X[:1]) == mean(stream.X[:1])
    online.update(stream.X[2:3], stream.y[2:3])
    assert online.predict_interval(stream.X[:1]).shape == (1, 2)


@pytest.mark.parametrize("start", [0, 1, 5])
def test_track_answers_from_two_known_targets_on(start):
    stream = Stream(60)
    y = stream.y.copy()
    y[[0, *range(2, 20)]] = np.nan  # known: 1, and from 20 on
    answers = tare.OnlineCalibrator(mean, start=start).track(stream.X, y)
    assert np.isnan(answers[:21]).all()
    assert (answers[21:, 0] < answers[21:, 1]).all()
    late = tare.OnlineCalibrator(mean, start=start + 7, delay=5).track(stream.X, y)
    assert np.isnan(late[:26]).all()
    assert (late[26:, 0] < late[26:, 1]).all()
    unknown = tare.OnlineCalibrator(mean, start=start).track(stream.X, np.full(60, np.nan))
    assert np.isnan(unknown).all()


def test_targets_that_come_too_late_for_the_start():
    stream = Stream(60)
    for delay in (19, 20, 40):
        online = tare.OnlineCalibrator(mean, start=20, delay=delay)
        for learn in (online.update, online.track):
            with pytest.raises(ValueError, match=f"start is 20 and the delay {delay}.*use start={delay + 2} or more") as error:
                learn(stream.X, stream.y)
            assert "--" not in str(error.value)
    answers = tare.OnlineCalibrator(mean, start=20, delay=18).track(stream.X, stream.y)
    assert (answers[20:, 0] < answers[20:, 1]).all()


def test_parameters_as_scikit_learn_expects():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression

    stream = Stream(200)
    model = LinearRegression().fit(stream.X, stream.y)
    online = tare.OnlineCalibrator(model, interval=0.8, period=7, start=20).update(stream.X, stream.y)
    params = online.get_params()
    assert params["interval"] == 0.8 and params["model"] is model and params["model__fit_intercept"] is True
    copy = sklearn.clone(online)
    assert copy.get_params(deep=False).keys() == online.get_params(deep=False).keys()
    assert copy.interval == 0.8 and copy.period == 7 and not copy.__sklearn_is_fitted__()
    assert online.set_params(start=50).start == 50
    loaded = tare.OnlineCalibrator(interval=[0.5, 0.9], levels=[0.2], random_state=3, window=500, lags=[1, 2])
    loaded.update(stream.X, stream.y, y_pred=stream.y * 0.9)
    assert loaded.drift_.alarm_row is None


def test_what_a_file_says_about_its_settings(tmp_path):
    stream = Stream(200)
    settings = {"interval": [0.5, 0.9], "levels": [0.2], "start": 30, "known_later": [1], "window": 500, "lags": "1,2", "period": "7",
                "drift_rate": 0.05, "random_state": 3, "target": "load", "method": "snq", "delay": 0}  # fmt: skip
    online = tare.OnlineCalibrator(mean, **settings).update(stream.X, stream.y)
    online.save(tmp_path / "online.tare")
    with pytest.raises(ValueError, match="overwrite=True"):
        online.save(tmp_path / "online.tare")
    loaded = tare.OnlineCalibrator.load(tmp_path / "online.tare", mean)
    assert {name: loaded.get_params()[name] for name in settings} == settings
    assert loaded.describe() == online.describe()
    assert str(loaded.inspect()) == str(online.inspect())
    with pytest.raises(ValueError, match="already follows a stream"):
        tare.OnlineCalibrator(tmp_path / "online.tare").update(stream.X, stream.y)
    with pytest.raises(ValueError, match="already follows a stream"):
        tare.OnlineCalibrator(online).update(stream.X, stream.y)
    fitted = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(stream.X, stream.y)
    fitted.save(tmp_path / "fitted.tare")
    with pytest.raises(ValueError, match="does not follow a stream"):
        tare.OnlineCalibrator.load(tmp_path / "fitted.tare")
    with pytest.raises(FileNotFoundError):
        tare.OnlineCalibrator.load(tmp_path / "absent.tare")
