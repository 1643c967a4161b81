# SPDX-License-Identifier: BSD-3-Clause
"""The pictures show the numbers they say they show."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from conftest import true_mean

import tare
import tare.plot


@pytest.fixture
def model(large):
    return tare.Calibrator(true_mean, guarantee="none").calibrate(large.X, large.y)


def test_reliability_draws_the_observed_levels(model, fresh):
    ax = tare.plot.reliability(model, fresh.X, fresh.y)
    levels = tare.metrics.metric_levels()
    observed = tare.metrics.observed_levels(fresh.y, model.predict_quantiles(fresh.X, levels))
    assert any(np.array_equal(line.get_ydata(), observed) for line in ax.lines)
    ax.figure.canvas.draw()


def test_pit_draws_shares_that_sum_to_one(model, fresh):
    ax = tare.plot.pit(model, fresh.X, fresh.y, bins=10)
    heights = [bar.get_height() for bar in ax.patches if bar.get_height() > 0 and bar.get_width() < 0.5]
    assert sum(heights) == pytest.approx(1.0)
    with pytest.raises(ValueError):
        tare.plot.pit(model, fresh.X, fresh.y, bins=1)


def test_fan_draws_the_median(model, fresh):
    ax = tare.plot.fan(model, fresh.X, feature=1, y=fresh.y, points=20)
    grid = np.column_stack([np.full(20, np.median(fresh.X[:, 0])), np.linspace(fresh.X[:, 1].min(), fresh.X[:, 1].max(), 20)])
    assert any(np.allclose(line.get_ydata(), model.predict_quantiles(grid, [0.5])[:, 0]) for line in ax.lines)


def test_coverage_by_slice_draws_shares(model, fresh):
    for by in (None, 1, fresh.X[:, 0]):
        ax = tare.plot.coverage_by_slice(model, fresh.X, fresh.y, by, slices=5)
        share = next(line.get_ydata() for line in ax.lines if len(line.get_ydata()) == 5)
        low, high = model.predict_interval(fresh.X).T
        assert np.mean(share) == pytest.approx(((low <= fresh.y) & (fresh.y <= high)).mean())
    assert tare.plot.coverage_by_slice(model, fresh.X, fresh.y, ax=ax) is ax
