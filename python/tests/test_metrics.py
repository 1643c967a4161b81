# SPDX-License-Identifier: BSD-3-Clause
"""The metrics against what NumPy says."""

import numpy as np
import pytest

import tare
from tare import metrics


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    levels = np.array([0.1, 0.25, 0.5, 0.9])
    quantiles = np.sort(rng.normal(size=(500, 4)), axis=1)
    return y, quantiles, levels


def test_check_score(forecast):
    y, q, levels = forecast
    gap = y[:, None] - q
    assert metrics.check_score(y, q, levels) == pytest.approx(np.maximum(levels * gap, (levels - 1) * gap).mean())


def test_mace_and_observed_levels(forecast):
    y, q, levels = forecast
    observed = (y[:, None] <= q).mean(axis=0)
    assert np.allclose(metrics.observed_levels(y, q), observed)
    assert metrics.mace(y, q, levels) == pytest.approx(np.abs(observed - levels).mean())


def test_intervals(forecast):
    y, q, _ = forecast
    low, high = q[:, 0], q[:, 3]
    assert metrics.coverage(y, low, high) == pytest.approx(((low <= y) & (y <= high)).mean())
    assert metrics.interval_length(low, high) == pytest.approx((high - low).mean())
    price = (high - low) + 20 * (np.clip(low - y, 0, None) + np.clip(y - high, 0, None))
    assert metrics.interval_score(y, low, high, 0.9) == pytest.approx(price.mean())


def test_floors_are_what_a_perfect_forecaster_scores():
    rng = np.random.default_rng(1)
    levels = metrics.metric_levels()
    perfect = [metrics.mace(rng.uniform(size=100), np.tile(levels, (100, 1))) for _ in range(400)]
    assert metrics.mace_floor(100) == pytest.approx(np.mean(perfect), rel=0.06)  # sd of a mean of 400: 2 %
    assert metrics.agce_floor(100) > metrics.mace_floor(100)
    assert metrics.agce(rng.uniform(size=100), np.tile(levels, (100, 1))) < 0.5


def test_pit_histogram_sums_to_one(forecast):
    y, q, _ = forecast
    assert metrics.pit_histogram(y, q).sum() == pytest.approx(1.0)


def test_scores_is_the_scorecard(small):
    model = tare.Calibrator().calibrate(small.X, small.y, y_pred=small.mean)
    model.estimator_ = lambda X: np.sin(6 * X[:, 0])
    scores = metrics.scores(model, small.X, small.y)
    assert scores["check_score"] == pytest.approx(-model.score(small.X, small.y))
    assert set(scores) >= {"mace", "mace_floor", "agce", "agce_floor", "crps", "coverage", "interval_length"}


@pytest.mark.parametrize("bad", [np.zeros((3, 2)), np.zeros(0)])
def test_wrong_shapes_are_value_errors(bad):
    with pytest.raises(ValueError):
        metrics.coverage(bad, np.zeros(3), np.zeros(3))


def test_rows_that_differ_are_value_errors():
    with pytest.raises(ValueError):
        metrics.mace(np.zeros(3), np.zeros((4, 100)))
    with pytest.raises(ValueError):
        metrics.mace(np.zeros(3), np.zeros((3, 2)))
