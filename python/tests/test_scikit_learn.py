# SPDX-License-Identifier: BSD-3-Clause
"""All estimators are estimators of scikit-learn to the letter."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import tare

ESTIMATORS = [
    tare.Calibrator(),
    tare.Calibrator(LinearRegression()),
    tare.QuantileRegressor(),
    tare.QuantileRegressor("nrc", options={"regressor": "ridge", "split": "cross"}),
    tare.QuantileRegressor("nrc"),
    tare.OnlineCalibrator(),
]


def named_checks():
    for estimator in ESTIMATORS:
        for place, (instance, check) in enumerate(estimator_checks_generator(estimator)):
            name = getattr(check, "func", check).__name__
            # Hundreds of fits; of one estimator they are quick.
            marks = [] if estimator is ESTIMATORS[1] else [pytest.mark.slow]
            if name == "check_sample_weight_equivalence_on_dense_data" and (
                isinstance(estimator, tare.QuantileRegressor) or repr(estimator) == "Calibrator()"
            ):
                # Which rows train and which calibrate is drawn by row number, and a repeated row has several. A Calibrator without a
                # model trains tare's own in the same way.
                strict = isinstance(estimator, tare.QuantileRegressor)  # the targets of the check are so plain that the other may pass
                marks.append(pytest.mark.xfail(strict=strict, reason="a weight is not a number of rows"))
            yield pytest.param(instance, check, id=f"{estimator!r}-{place}-{name}".replace("\n", " "), marks=marks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(named_checks()))
def test_check_estimator(estimator, check):
    """All of scikit-learn's checks; one is expected to fail."""
    check(estimator)


def test_a_pipeline_takes_it_as_its_last_step(small):
    model = make_pipeline(StandardScaler(), tare.Calibrator(Ridge())).fit(small.X, small.y)
    assert model.predict(small.X).shape == (300,)
    scaled = model[:-1].transform(small.X)
    assert model[-1].predict_interval(scaled).shape == (300, 2)


def test_a_pipeline_can_be_inside(small):
    inner = make_pipeline(StandardScaler(), Ridge())
    model = tare.Calibrator(inner, guarantee="none").fit(small.X, small.y)
    assert np.allclose(model.predict(small.X), inner.fit(small.X, small.y).predict(small.X))


@pytest.mark.slow
def test_grid_search_finds_the_bandwidth_that_loses_least(large):
    grid = {"bandwidth": [0.02, 0.3, 50.0]}
    search = GridSearchCV(tare.Calibrator(Ridge(), guarantee="none"), grid, cv=3).fit(large.X, large.y)
    assert search.best_params_["bandwidth"] == 0.3


def test_grid_search_over_the_model_inside(small):
    y = 3 * small.X[:, 0] + 0.1 * small.y
    search = GridSearchCV(tare.Calibrator(Ridge()), {"estimator__alpha": [0.1, 1e6]}, cv=3).fit(small.X, y)
    assert search.best_params_["estimator__alpha"] == 0.1


def test_cross_val_score_is_minus_the_pinball_loss(small):
    scores = cross_val_score(tare.Calibrator(Ridge()), small.X, small.y, cv=3)
    assert (scores < 0).all() and (scores > -1).all()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_clone_has_the_same_parameters_and_no_fit(estimator, small):
    copy = clone(estimator)
    assert repr(copy) == repr(estimator)
    with pytest.raises(tare.NotFittedError):
        copy.predict(small.X)


def test_set_output_survives_clone(small):
    pytest.importorskip("pandas")
    model = clone(tare.Calibrator(Ridge()).set_output(transform="pandas")).fit(small.X, small.y)
    assert list(model.predict_quantiles(small.X, [0.1, 0.9]).columns) == ["q0.1", "q0.9"]
