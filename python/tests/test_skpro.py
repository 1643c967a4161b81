# SPDX-License-Identifier: BSD-3-Clause
"""tare as a regressor of skpro: skpro's own checks, and the numbers against those of tare."""

import doctest

import numpy as np
import pytest

pytest.importorskip("skpro")
pd = pytest.importorskip("pandas")

from sklearn.linear_model import LinearRegression

import tare
import tare.skpro
from tare.skpro import QuantileFunction, TareRegressor

LEVELS = np.arange(1, 1000) / 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [TareRegressor, QuantileFunction])
def test_check_estimator(kind):
    """All of skpro's checks, none left out."""
    from skpro.utils import check_estimator

    results = check_estimator(kind, raise_exceptions=True, verbose=False)
    assert len(results) > 20
    assert set(results.values()) == {"PASSED"}


@pytest.fixture
def fitted(small):
    X = pd.DataFrame(small.X, columns=["a", "b"], index=np.arange(300) * 2)
    y = pd.DataFrame({"load": small.y}, index=X.index)
    model = tare.Calibrator(LinearRegression(), guarantee="split")
    return TareRegressor(model).fit(X, y), model.fit(X, small.y), X, y


def test_answers_are_those_of_tare(fitted):
    regressor, model, X, _ = fitted
    assert np.array_equal(regressor.predict(X)["load"], model.predict(X))
    quantiles = regressor.predict_quantiles(X, [0.9, 0.1])
    assert list(quantiles.columns) == [("load", 0.9), ("load", 0.1)]
    assert np.array_equal(quantiles.to_numpy(), model.predict_quantiles(X, [0.9, 0.1]))
    interval = regressor.predict_interval(X, [0.8, 0.5])
    assert list(interval.columns) == [("load", 0.8, "lower"), ("load", 0.8, "upper"), ("load", 0.5, "lower"), ("load", 0.5, "upper")]
    np.testing.assert_allclose(interval.to_numpy()[:, :2], model.predict_interval(X, 0.8))
    assert not hasattr(regressor.model, "n_features_in_") or regressor.model is model  # the parameter is not fitted by the regressor


def test_the_distribution_is_that_of_the_quantiles(fitted):
    regressor, model, X, y = fitted
    distribution = regressor.predict_proba(X)
    grid = model.predict_quantiles(X, LEVELS.tolist())
    np.testing.assert_allclose(distribution.quantile([0.25])["load"][0.25], grid[:, 249])
    np.testing.assert_allclose(distribution.ppf(0.2505)["load"], (grid[:, 249] + grid[:, 250]) / 2)
    np.testing.assert_allclose(regressor.predict_var(X)["load"], grid.var(axis=1))
    np.testing.assert_allclose(distribution.mean()["load"], grid.mean(axis=1))
    # The level of a quantile is in the jump of the cdf there, if several levels share it, and else the level.
    at = pd.DataFrame({"load": grid[:, 399]}, index=X.index)
    below = distribution.cdf(at - 1e-9)["load"].to_numpy()
    assert (below <= 0.4 + 1e-6).all() and (distribution.cdf(at)["load"] >= 0.4 - 1e-12).all()
    np.testing.assert_allclose(below, model.predict_distribution(X).cdf(at["load"].to_numpy() - 1e-9), atol=0.006)  # it has 241 levels
    draws = distribution.sample(200)
    assert draws.shape == (300 * 200, 1)
    assert abs(draws["load"].mean() - grid.mean()) < 0.05
    # The continuous ranked probability score is the energy to y less half the energy of two draws.
    score = distribution.energy(y).to_numpy()[:, 0] - distribution.energy().to_numpy()[:, 0] / 2
    np.testing.assert_allclose(score, model.predict_distribution(X).crps(y["load"].to_numpy()), rtol=0.02, atol=2e-3)


def test_parts_of_a_distribution(fitted):
    regressor, _, X, _ = fitted
    distribution = regressor.predict_proba(X)
    part = distribution.iloc[[5, 2]]
    assert list(part.index) == [10, 4]
    assert part.mean().loc[10, "load"] == distribution.mean().loc[10, "load"]
    assert distribution.loc[[10]].shape == (1, 1)
    single = distribution.iat[5, 0]
    assert single.shape == ()
    assert single.mean() == distribution.mean().loc[10, "load"]


def test_a_jump_an_infinite_end_and_levels_outside():
    masses = QuantileFunction(np.repeat([0.0, 1.0, 2.0], 333))
    assert masses.cdf(0.0) == pytest.approx(0.333)
    assert masses.cdf(-1e-9) == 0.0
    assert masses.cdf(2.0) == 1.0
    assert np.isnan(masses.cdf(np.nan)) and np.isnan(masses.ppf(1.5))
    open_ended = QuantileFunction(np.concatenate([[-np.inf], np.arange(997.0), [np.inf]]))
    assert open_ended.ppf(0.0015) == -np.inf
    assert open_ended.ppf(0.002) == 0.0
    assert open_ended.ppf(0.9985) == np.inf
    with pytest.raises(ValueError, match="999 quantiles"):
        QuantileFunction(np.zeros((2, 5)))


def test_missing_values_by_the_setting_of_the_model(small):
    X = pd.DataFrame(small.X, columns=["a", "b"])
    X.iloc[::10, 1] = np.nan
    y = pd.DataFrame({"y": small.y})
    with pytest.raises(ValueError):
        TareRegressor(tare.QuantileRegressor("nrc", options={"regressor": "ridge"})).fit(X, y)
    own = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, missing="impute")
    assert TareRegressor(own).fit(X, y).predict(X).notna().all().all()


def test_scores_and_searches_of_skpro(fitted):
    metrics = pytest.importorskip("skpro.metrics")
    regressor, _, X, y = fitted
    good = metrics.CRPS()(y, regressor.predict_proba(X))
    assert 0 < good < metrics.CRPS()(y + 3.0, regressor.predict_proba(X))
    assert metrics.PinballLoss()(y, regressor.predict_quantiles(X, [0.1, 0.9])) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_forecaster_of_sktime():
    """A series that depends on exogenous columns: skpro's regressor is all that sktime needs."""
    compose = pytest.importorskip("sktime.forecasting.compose")
    rng = np.random.default_rng(0)
    days = pd.period_range("2025-01-01", periods=700, freq="D")
    X = pd.DataFrame({"warm": rng.uniform(size=700)}, index=days)
    y = pd.Series(2 * X["warm"] + rng.normal(size=700) * (0.1 + X["warm"]), index=days, name="load")
    forecaster = compose.YfromX(TareRegressor(tare.Calibrator(LinearRegression())))
    forecaster.fit(y[:500], X=X[:500])
    steps = np.arange(1, 201)
    interval = forecaster.predict_interval(fh=steps, X=X[500:], coverage=0.9)
    low, high = interval.to_numpy().T
    inside = (low <= y[500:]) & (y[500:] <= high)
    assert 0.83 < inside.mean() < 0.98  # 200 days: a standard deviation of 0.02
    width = high - low
    assert width[X["warm"][500:] > 0.7].mean() > 1.5 * width[X["warm"][500:] < 0.3].mean()
    assert forecaster.predict_proba(fh=steps[:3], X=X[500:503]).shape == (3, 1)


def test_examples_in_docstrings():
    assert doctest.testmod(tare.skpro).failed == 0
