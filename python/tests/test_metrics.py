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
    assert np.allclose(metrics.observed_levels(y, q, levels), observed)  # no ties: the plain count
    assert np.allclose(metrics.observed_levels(y, q, ties="count"), observed)
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


def poisson_quantiles(means, levels):
    """The smallest k with P(Y <= k) >= level, from the probabilities one by one."""
    k = np.arange(60)
    log_factorial = np.cumsum(np.log(np.maximum(k, 1)))
    cdf = np.cumsum(np.exp(k * np.log(means)[:, None] - means[:, None] - log_factorial), axis=1)
    return np.stack([np.searchsorted(row, levels) for row in cdf]).astype(float), cdf


def test_a_perfect_forecaster_of_counts_stands_at_the_floor():
    rng = np.random.default_rng(3)
    levels = metrics.metric_levels()
    every = np.concatenate([levels, metrics.crps_levels(), [0.05, 0.95]])
    excess, counted = [], []
    for _ in range(30):
        means = rng.uniform(0.3, 5.0, size=500)
        y = rng.poisson(means).astype(float)
        q, _ = poisson_quantiles(means, every)
        jumps = metrics.target_jumps(y, q, every)
        floor = metrics.split_mace_floor(y, q[:, :100], jumps=jumps)
        excess.append(metrics.mace(y, q[:, :100], jumps=jumps) - floor)
        counted.append(metrics.mace(y, q[:, :100], ties="count") / floor)
        assert floor <= metrics.mace_floor(500)
    assert abs(np.mean(excess)) < 3 * np.std(excess) / 30**0.5
    assert min(counted) > 4
    assert metrics.coverage(y, q[:, -2], q[:, -1]) > 0.93
    assert metrics.split_coverage(y, q[:, -2], q[:, -1], jumps) == pytest.approx(0.9, abs=0.04)  # three standard errors of 500 rows


def test_split_levels_are_the_mean_of_randomised_transforms():
    rng = np.random.default_rng(4)
    means = rng.uniform(0.3, 5.0, size=2000)
    y = rng.poisson(means)
    levels = metrics.crps_levels()
    q, cdf = poisson_quantiles(means, levels)
    rows = np.arange(len(y))
    high = cdf[rows, y]
    low = np.where(y > 0, cdf[rows, np.maximum(y - 1, 0)], 0.0)
    place = low[:, None] + (high - low)[:, None] * rng.uniform(size=(2000, 50))
    randomised = np.array([(place <= level).mean() for level in levels])
    # 100,000 draws: three standard errors are 0.005.
    assert np.abs(metrics.observed_levels(y.astype(float), q, levels) - randomised).max() < 0.008
    pit = metrics.pit_histogram(y.astype(float), q[:, 9::10], levels[9::10], jumps=metrics.target_jumps(y.astype(float), q, levels))
    assert pit.sum() == pytest.approx(1.0)
    spread = np.histogram(place, bins=np.concatenate([[0], levels[9::10], [1]]))[0] / place.size
    assert np.abs(pit - spread).max() < 0.006


def test_ties_is_checked(forecast):
    y, q, levels = forecast
    with pytest.raises(ValueError, match="'split' or 'count'"):
        metrics.mace(y, q, levels, ties="half")
    with pytest.raises(ValueError, match="jumps"):
        metrics.mace(y, q, levels, jumps=np.zeros(3))
    with pytest.raises(ValueError):
        metrics.mace(y, q, levels, jumps=np.zeros((3, 2)))


def test_pit_histogram_sums_to_one(forecast):
    y, q, _ = forecast
    assert metrics.pit_histogram(y, q).sum() == pytest.approx(1.0)


def test_scores_is_the_scorecard(small):
    model = tare.Calibrator().calibrate(small.X, small.y, y_pred=small.mean)
    model.estimator_ = lambda X: np.sin(6 * X[:, 0])
    scores = metrics.scores(model, small.X, small.y)
    assert scores["check_score"] == pytest.approx(-model.score(small.X, small.y))
    assert set(scores) >= {"mace", "mace_floor", "agce", "agce_floor", "crps", "coverage", "interval_length"}
    for name in ("mace", "agce", "coverage"):
        assert scores[name] == pytest.approx(scores[name + "_counted"], abs=0.02)  # rows of the fit may meet their own residual


def test_scores_are_the_functions_of_this_module(small):
    model = tare.Calibrator().calibrate(small.X, small.y, y_pred=small.mean)
    model.estimator_ = lambda X: np.sin(6 * X[:, 0])
    for confidence, seed in ((0.9, 0), (0.5, 7)):
        every = tare._core.scorecard_levels()
        answers = np.asarray(model._quantile_array(small.X, every), dtype=np.float64)
        q = np.ascontiguousarray(answers[:, :100])
        jumps = metrics.target_jumps(small.y, answers, every)
        low, high = np.asarray(model._quantile_array(small.X, tare._core.interval_levels(confidence)), dtype=np.float64).T
        expected = {
            "mace": metrics.mace(small.y, q, jumps=jumps),
            "mace_floor": metrics.split_mace_floor(small.y, q, jumps=jumps),
            "agce": metrics.agce(small.y, q, random_state=seed, jumps=jumps),
            "agce_floor": metrics.split_agce_floor(small.y, q, random_state=seed, jumps=jumps),
            "mace_counted": metrics.mace(small.y, q, ties="count"),
            "agce_counted": metrics.agce(small.y, q, random_state=seed, ties="count"),
            "check_score": metrics.check_score(small.y, q),
            "crps": metrics.crps(small.y, np.asarray(model._quantile_array(small.X, metrics.crps_levels()), dtype=np.float64)),
            "coverage": metrics.split_coverage(small.y, low, high, jumps, confidence_level=confidence),
            "coverage_counted": metrics.coverage(small.y, low, high),
            "interval_length": metrics.interval_length(low, high),
            "interval_score": metrics.interval_score(small.y, low, high, confidence),
            "hit_share": (small.y[:, None] == q).mean(),
        }
        scores = metrics.scores(model, small.X, small.y, confidence_level=confidence, random_state=seed)
        assert {name: scores[name] for name in expected} == expected  # to the bit; more may come with the table


@pytest.mark.parametrize("bad", [np.zeros((3, 2)), np.zeros(0)])
def test_wrong_shapes_are_value_errors(bad):
    with pytest.raises(ValueError):
        metrics.coverage(bad, np.zeros(3), np.zeros(3))


def test_rows_that_differ_are_value_errors():
    with pytest.raises(ValueError):
        metrics.mace(np.zeros(3), np.zeros((4, 100)))
    with pytest.raises(ValueError):
        metrics.mace(np.zeros(3), np.zeros((3, 2)))
