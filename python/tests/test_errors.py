# SPDX-License-Identifier: BSD-3-Clause
"""Wrong input raises what users of scikit-learn expect, and says what is wrong."""

import numpy as np
import pytest
from conftest import true_mean

import tare


@pytest.fixture
def fitted(small):
    return tare.Calibrator(true_mean).calibrate(small.X, small.y)


@pytest.mark.parametrize("method", ["predict", "predict_quantiles", "predict_interval", "predict_distribution", "diagnostics"])
def test_not_fitted(method, small):
    for estimator in (tare.Calibrator(), tare.QuantileRegressor()):
        with pytest.raises(tare.NotFittedError, match="not fitted yet"):
            getattr(estimator, method)(small.X)
    with pytest.raises(tare.NotFittedError):
        tare.Calibrator().save("x.tare")


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (np.zeros(5), "Expected 2D array, got 1D"),
        (np.zeros((5, 3)), "X has 3 features, but Calibrator is expecting 2"),
        (np.zeros((5, 2, 2)), "dim 3"),
        (np.zeros((0, 2)), r"0 sample\(s\) \(shape=\(0, 2\)\)"),
        ([[1.0, np.inf]], "infinity.*row 0, column 1"),
        ([[1.0, 2.0], [np.nan, 1.0]], "NaN: row 1, column 0"),
        ([[1j, 2.0]], "Complex data not supported"),
        ([["a", "b"]], "not a number"),
    ],
)
def test_bad_rows(fitted, X, text):
    with pytest.raises(ValueError, match=text):
        fitted.predict_interval(X)


@pytest.mark.parametrize("levels", [[0.0], [1.0], [-0.1], [np.nan], [2], [], [0.5, 5]])
def test_bad_levels(fitted, small, levels):
    with pytest.raises(ValueError):
        fitted.predict_quantiles(small.X, levels)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, np.nan, 90])
def test_bad_confidence(fitted, small, level):
    with pytest.raises(ValueError):
        fitted.predict_interval(small.X, level)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: tare.Calibrator(true_mean).calibrate(s.X, s.y[:-1]), r"inconsistent numbers of samples: \[300, 299\]"),
        (lambda s: tare.Calibrator(true_mean).calibrate(s.X, None), "y is None"),
        (lambda s: tare.Calibrator().calibrate(s.X, s.y, y_pred=s.y[:-1]), r"y_pred has shape \(299,\)"),
        (lambda s: tare.Calibrator().calibrate(s.X, s.y, y_pred=np.full(300, np.nan)), "y_pred contains NaN"),
        (lambda s: tare.Calibrator().calibrate(s.X, s.y, y_std=s.y), "y_pred was not passed"),
        (lambda s: tare.Calibrator().calibrate(s.X, s.y, s.mean, y_std=np.zeros(300)), "y_std is 0.0 in row 0"),
        (lambda s: tare.Calibrator().calibrate(s.X, s.y, s.mean, quantiles=[0.1, 0.9]), r"where \(300, 2\) is expected"),
        (lambda s: tare.Calibrator(true_mean).calibrate(s.X, s.y, sample_weight=-np.ones(300)), "sample_weight is -1.0 in row 0"),
        (lambda s: tare.Calibrator(true_mean).calibrate(s.X, s.y, sample_weight=np.ones(3)), "sample_weight.shape"),
        (lambda s: tare.Calibrator(true_mean, features=[7]).calibrate(s.X, s.y), "column 7, but X has 2"),
        (lambda s: tare.Calibrator(true_mean, features="some").calibrate(s.X, s.y), "'some'"),
        (lambda s: tare.Calibrator(true_mean, kernel="cubic").calibrate(s.X, s.y), "cubic"),
        (lambda s: tare.Calibrator(true_mean, bandwidth=-1.0).calibrate(s.X, s.y), "bandwidth"),
        (lambda s: tare.Calibrator(true_mean, guarantee="certain").calibrate(s.X, s.y), "certain"),
        (lambda s: tare.Calibrator(true_mean, missing="ignore").calibrate(s.X, s.y), "'ignore'"),
        (lambda s: tare.Calibrator(true_mean, options={"bandwith": 1}).calibrate(s.X, s.y), "bandwith"),
        (lambda s: tare.Calibrator(true_mean, random_state=-1).calibrate(s.X, s.y), "random_state"),
        (lambda s: tare.Calibrator(true_mean, random_state=2**64).calibrate(s.X, s.y), "random_state"),
        (lambda s: tare.QuantileRegressor("nrc", options={3: 1}).fit(s.X, s.y), "3"),
        (lambda s: tare.QuantileRegressor("forest").fit(s.X, s.y), "forest"),
        (lambda s: tare.QuantileRegressor("nrc", options={"split": 0.3}).fit(s.X[:12], s.y[:12]), "too few"),
    ],
)
def test_bad_fits(small, call, text):
    with pytest.raises(ValueError, match=text):
        call(small)


def test_a_method_that_does_not_exist():
    with pytest.raises(ValueError, match="known: auto"):
        tare.method_options("forest")


def error_of(call):
    with pytest.raises((ValueError, OSError)) as caught:
        call()
    assert "--" not in str(caught.value)
    return caught.value


def test_a_message_speaks_python(small, fitted, tmp_path):
    too_few = error_of(lambda: tare.QuantileRegressor("nrc", options={"split": 0.3}).fit(small.X[:12], small.y[:12]))
    assert "a larger options['split'], or use options={'split': 'cross'}" in str(too_few)
    assert too_few.code == "bad_data" and too_few.option is None
    fitted.save(tmp_path / "m.tare")
    there = error_of(lambda: fitted.save(tmp_path / "m.tare"))
    assert "exists already (use overwrite=True to replace it)" in str(there)


def test_an_error_can_be_read_by_a_program(small):
    option = error_of(lambda: tare.QuantileRegressor("nrc", options={"min_support": 0}).fit(small.X, small.y))
    assert (option.code, option.option, option.value, option.row) == ("invalid_argument", "min_support", "0", None)
    assert "options['min_support'] must be" in str(option)
    name = error_of(lambda: tare.Calibrator(true_mean, kernel="cubic").calibrate(small.X, small.y))
    assert (name.option, name.value) == ("kernel", "cubic")
    target = error_of(lambda: tare.QuantileRegressor("nrc", bounds=(float(np.min(small.y)) + 1e-9, None)).fit(small.X, small.y))
    assert (target.code, target.row) == ("bad_data", int(np.argmin(small.y)))
    assert f"row {target.row}: the target" in str(target) and "change bounds" in str(target)


def test_a_model_that_cannot_be_trained(small):
    with pytest.raises(TypeError, match="use calibrate"):
        tare.Calibrator(true_mean).fit(small.X, small.y)
    with pytest.raises(TypeError, match="no predict method"):
        tare.Calibrator(object()).calibrate(small.X, small.y)


def test_a_failed_fit_leaves_the_old_one(small, fitted):
    before = fitted.predict_interval(small.X)
    with pytest.raises(ValueError):
        fitted.calibrate(small.X, small.y[:-1])
    assert np.array_equal(fitted.predict_interval(small.X), before)


def test_predictions_where_none_belong(small):
    model = tare.Calibrator(method="nrc", options={"regressor": "ridge"}).fit(small.X, small.y)
    with pytest.raises(ValueError, match="has its own model"):
        model.predict_interval(small.X, y_pred=small.y)
