# SPDX-License-Identifier: BSD-3-Clause
"""pandas, polars and Arrow go in; frames come out where they are asked for."""

import numpy as np
import pytest

import tare


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["blue", "red"], size=n)
    size = rng.uniform(size=n)
    y = size + np.where(colour == "red", 2.0, 0.1) * rng.normal(size=n)
    return {"size": size, "colour": colour.tolist()}, y


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


FRAMES = [pandas_frame, polars_frame, arrow_table]
OPTIONS = {"regressor": "ridge"}


@pytest.mark.parametrize("frame", FRAMES)
def test_categories_are_features(frame):
    columns, y = rows()
    model = tare.QuantileRegressor("nrc", options=OPTIONS).fit(frame(columns), y)
    assert list(model.feature_names_in_) == ["size", "colour"]
    new = frame({"size": [0.5, 0.5], "colour": ["blue", "red"]})
    blue, red = np.diff(model.predict_interval(new)).ravel()
    assert red > 3 * blue


@pytest.mark.parametrize("frame", FRAMES)
def test_all_frames_give_what_an_array_gives(frame):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    by_array = tare.QuantileRegressor("nrc", options=OPTIONS).fit(X, y).predict_quantiles(X)
    table = frame({"a": X[:, 0], "b": X[:, 1]})
    assert np.array_equal(tare.QuantileRegressor("nrc", options=OPTIONS).fit(table, y).predict_quantiles(table), by_array)


@pytest.mark.parametrize("frame", FRAMES)
def test_an_unseen_category_is_told(frame):
    columns, y = rows()
    model = tare.QuantileRegressor("nrc", options=OPTIONS).fit(frame(columns), y)
    with pytest.warns(UserWarning, match="1 cells have a category that was not there at fit"):
        model.predict(frame({"size": [0.5, 0.5], "colour": ["blue", "green"]}))


@pytest.mark.parametrize("frame", FRAMES)
def test_missing_values(frame):
    columns, y = rows()
    columns["size"] = [None if i % 10 == 3 else float(v) for i, v in enumerate(columns["size"])]
    columns["colour"][5] = None
    table = frame(columns)
    with pytest.raises(ValueError, match="column 'size', row 3, 40 of 400 rows"):
        tare.QuantileRegressor("nrc", options=OPTIONS).fit(table, y)
    imputed = tare.QuantileRegressor("nrc", options=OPTIONS, missing="impute").fit(table, y)
    assert np.isfinite(imputed.predict(table)).all()
    with pytest.warns(UserWarning, match="41 rows with a missing value were left out"):
        dropped = tare.QuantileRegressor("nrc", options=OPTIONS, missing="drop").fit(table, y)
    answer = dropped.predict(table)
    assert np.isnan(answer).sum() == 41 and np.isnan(answer[3])
    assert np.isfinite(dropped.score(table, y))
    assert np.isnan(dropped.diagnostics(table)["effective_n"]).sum() == 41


def test_missing_values_in_an_array():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = X[:, 0].copy()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN: row 7, column 1"):
        tare.QuantileRegressor("nrc", options=OPTIONS).fit(X, y)
    model = tare.QuantileRegressor("nrc", options=OPTIONS, missing="impute").fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_pandas_types():
    pandas = pytest.importorskip("pandas")
    n = 200
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "whole": pandas.array(rng.integers(5, size=n), dtype="Int64"),
            "flag": rng.uniform(size=n) < 0.5,
            "kind": pandas.Categorical(rng.choice(["a", "b"], size=n)),
            "single": rng.uniform(size=n).astype(np.float32),
        }
    )
    model = tare.QuantileRegressor("nrc", options=OPTIONS).fit(frame, rng.normal(size=n))
    assert model.n_features_in_ == 4
    with pytest.raises(TypeError, match="column 'when', row 0"):
        tare.QuantileRegressor("nrc").fit(pandas.DataFrame({"when": pandas.date_range("2020-01-01", periods=n)}), np.zeros(n))


def test_a_text_among_numbers_is_named():
    frame = pandas_frame({"hp": [1, 2, "?", 4]})
    with pytest.raises(ValueError, match=r"column 'hp', row 2: '\?' is not a number"):
        tare.QuantileRegressor("nrc").fit(frame, [1, 2, 3, 4])


def test_set_output():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns, y = rows()
    frame = pandas.DataFrame(columns, index=np.arange(400) + 1000)
    model = tare.QuantileRegressor("nrc", options=OPTIONS).fit(frame, y).set_output(transform="pandas")
    answer = model.predict_interval(frame, [0.5, 0.9])
    assert list(answer.columns) == ["lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    assert answer.index[0] == 1000
    assert isinstance(model.set_output(transform="polars").predict_quantiles(frame), polars.DataFrame)
    assert isinstance(model.set_output(transform="default").predict_quantiles(frame), np.ndarray)
    with pytest.raises(ValueError, match="'default', 'pandas' or 'polars'"):
        model.set_output(transform="csv")


def test_a_wrapped_model_gets_the_frame_as_it_is():
    columns, y = rows()
    frame = pandas_frame(columns)
    seen = []

    def model(X):
        seen.append(type(X).__name__)
        return X["size"].to_numpy()

    calibrated = tare.Calibrator(model, features=["colour"]).calibrate(frame, y)
    blue, red = np.diff(calibrated.predict_interval(pandas_frame({"size": [0.1, 0.1], "colour": ["blue", "red"]}))).ravel()
    assert set(seen) == {"DataFrame"}
    assert red > 3 * blue


def test_features_that_do_not_exist_are_named():
    columns, y = rows()
    with pytest.raises(ValueError, match="'color'"):
        tare.Calibrator(lambda X: np.zeros(len(X)), features=["color"]).calibrate(pandas_frame(columns), y)


@pytest.mark.parametrize("names", [("prediction", "y"), ("prediction", "prediction_"), ("y", "y_"), ("q0.1", "q0.9")])
def test_features_may_have_the_names_of_what_is_given(names):
    """A model file has columns for the target and the prediction, too; features keep theirs."""
    rng = np.random.default_rng(0)
    frame = pandas_frame({name: rng.uniform(size=400) for name in names})
    y = rng.normal(size=400) * (0.1 + frame[names[0]])
    narrow_and_wide = pandas_frame({names[0]: [0.05, 0.95], names[1]: [0.5, 0.5]})
    point = tare.Calibrator(lambda X: np.zeros(len(X)), guarantee="none").calibrate(frame, y)
    assert point.predict_interval(narrow_and_wide).shape == (2, 2)
    narrow, wide = np.diff(point.predict_interval(narrow_and_wide)).ravel()
    assert wide > 3 * narrow
    given = np.tile([-1.0, 1.0], (400, 1))
    law = tare.Calibrator(guarantee="none").calibrate(frame, y, given, quantiles=[0.1, 0.9])
    narrow, wide = np.diff(law.predict_interval(narrow_and_wide, y_pred=given[:2])).ravel()
    assert wide > 3 * narrow


def test_masked_cells_are_missing():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    masked = np.ma.masked_array(X, mask=np.arange(400).reshape(200, 2) == 7)
    with pytest.raises(ValueError, match="NaN: row 3, column 1"):
        tare.QuantileRegressor("nrc", options=OPTIONS).fit(masked, X[:, 0])


def test_a_name_is_no_category():
    with pytest.raises(ValueError, match="2000 different texts") as caught:
        tare.QuantileRegressor("nrc").fit(pandas_frame({"id": [str(i) for i in range(2000)]}), np.zeros(2000))
    assert "--" not in str(caught.value) and "drop" not in str(caught.value)
    assert caught.value.column == "id"
