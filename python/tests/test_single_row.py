# SPDX-License-Identifier: BSD-3-Clause
"""A single row takes a short way to the core: the same answers, errors and warnings as among many rows."""

import numpy as np
import pytest
from conftest import Sample, true_mean
from sklearn.linear_model import Ridge

import tare
from tare._single_row import encode_row


@pytest.fixture(scope="module")
def models():
    data = Sample(300)
    return {
        "function": tare.Calibrator(true_mean, guarantee="cross", bands=False).calibrate(data.X, data.y),
        "folds": tare.Calibrator(Ridge(), guarantee="cross", cv=3, bands=False).fit(data.X, data.y),
        "split": tare.Calibrator(Ridge(), guarantee="split", cv=3, bands=False).fit(data.X, data.y),
        "own": tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, guarantee="none").fit(data.X, data.y),
    }


@pytest.mark.parametrize("name", ["function", "folds", "split", "own"])
def test_a_row_alone_answers_as_among_others(models, name):
    model, X = models[name], Sample(30, seed=1).X
    together = model.predict_interval(X), model.predict_quantiles(X, [0.2, 0.7, 0.1]), model.predict(X)
    for i in range(30):
        row = X[i : i + 1]
        assert encode_row(model, row, None, None) is not None  # the short way
        alone = model.predict_interval(row), model.predict_quantiles(row, [0.2, 0.7, 0.1]), model.predict(row)
        for one, all_ in zip(alone, together):
            # A linear model of scikit-learn may answer a row alone with another last bit.
            np.testing.assert_allclose(one[0], all_[i], rtol=1e-12 if name in ("folds", "split") else 0, atol=1e-14)


@pytest.mark.parametrize("name", ["function", "own"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([[np.nan, 0.0]], "contains NaN"),
        ([[np.inf, 0.0]], "contains infinity"),
        ([[1.0, 2.0, 3.0]], "has 3 features"),
        ([1.0, 2.0], "Expected 2D array"),
    ],
)
def test_errors_are_those_of_many_rows(models, name, row, message):
    with pytest.raises(ValueError, match=message):
        models[name].predict_interval(np.array(row))


def test_given_predictions():
    data = Sample(300)
    model = tare.Calibrator(guarantee="none", bands=False).calibrate(data.X, data.y, y_pred=data.mean)
    expected = model.predict_interval(data.X[:2], y_pred=data.mean[:2])[0]
    for said in (data.mean[:1], [data.mean[0]], data.mean[:1, None]):
        np.testing.assert_array_equal(model.predict_interval(data.X[:1], y_pred=said)[0], expected)
    with pytest.raises(ValueError, match="pass them as y_pred"):
        model.predict_interval(data.X[:1])
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict_interval(data.X[:1], y_pred=[np.nan])
    with pytest.raises(ValueError, match="1 rows"):
        model.predict_interval(data.X[:1], y_pred=[1.0, 2.0])


def test_the_wrapped_model_is_asked_once():
    data, calls = Sample(300), []

    def mean(X):
        calls.append(len(X))
        return true_mean(X).astype(np.float32)

    model = tare.Calibrator(mean, guarantee="none", bands=False).calibrate(data.X, data.y)
    calls.clear()
    model.predict_interval(data.X[:1])
    assert calls == [1]


def test_warnings_come_with_a_single_row(models):
    with pytest.warns(tare.TareWarning, match="level"):
        models["function"].predict_quantiles(Sample(1, seed=1).X, [0.001])


def test_other_forms_take_the_long_way(models):
    row = Sample(1, seed=1).X
    for other in (row.tolist(), row.astype(np.float32), np.asfortranarray(np.repeat(row, 2, axis=0)), row.astype(int)):
        assert encode_row(models["function"], other, None, None) is None
