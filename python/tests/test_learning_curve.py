# SPDX-License-Identifier: BSD-3-Clause
"""auto on a sample of rows in partitions, and what more rows would bring."""

from statistics import NormalDist

import numpy as np
import pytest

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
import dask.dataframe as dd

import tare
import tare.dask
from tare import _learning_curve
from tare._learning_curve import LearningCurve


def curve_of(rows, loss, error, total=10**6):
    return LearningCurve(np.array(rows), np.array(loss), np.array(error), 0.0, 0.0, 100, total, "auto", "quick")


def test_a_curve_of_a_known_rate_is_extrapolated_to_its_own_value():
    rows = [1000, 2000, 4000, 8000]
    for rate in (0.25, 1.0):
        loss = [0.5 + 3 * n**-rate for n in rows]
        low, high = curve_of(rows, loss, [0.01] * 4).extrapolate([16_000, 10**6])
        truth = 0.5 + 3 * np.array([16_000.0, 1e6]) ** -rate
        assert np.allclose(low if rate == 0.25 else high, truth, rtol=1e-9) and (low <= high).all()
        assert (high < loss[-1] + 1e-9).all()
    rising = curve_of(rows, [0.5, 0.51, 0.52, 0.53], [0.01] * 4)  # more rows do not help: the mean, and no rise
    assert np.allclose(rising.extrapolate(10**6), 0.515)
    falling = curve_of(rows, [1.0, 0.5, 0.25, 0.01], [0.01] * 4)
    assert (np.array(falling.extrapolate(10**9)) >= 0).all()


def test_every_row_has_the_same_chance():
    counts = [900, 0, 50, 50]
    total = np.zeros(4)
    times = 2000
    for seed in range(times):
        drawn = _learning_curve.rows_of_parts(counts, 100, seed)
        assert sum(drawn) == 100 and all(few <= count for few, count in zip(drawn, counts))
        total += drawn
    # hypergeometric: variance of a part of 50 is 100 * 0.05 * 0.95 * 900 / 999
    assert np.allclose(total / times, [90, 0, 5, 5], atol=4 * np.sqrt(100 * 0.09 / times))
    assert _learning_curve.rows_of_parts([30, 40], 100, 0) == [30, 40]
    part = np.arange(20)
    seen = np.bincount(np.concatenate([_learning_curve.draw_rows(part, 5, seed, 3) for seed in range(2000)]), minlength=20)
    assert np.allclose(seen / 2000, 0.25, atol=4 * np.sqrt(0.25 * 0.75 / 2000))


def test_losses_of_rows_are_those_of_the_metric():
    rng = np.random.default_rng(0)
    levels = tare.metrics.metric_levels()
    y, quantiles = rng.normal(size=50), np.sort(rng.normal(size=(50, len(levels))), axis=1)
    assert _learning_curve.row_losses(y, quantiles, levels).mean() == pytest.approx(tare.metrics.pinball_loss(y, quantiles), rel=1e-12)


@pytest.mark.slow
def test_auto_on_a_sample():
    """On normal noise of sd 1 the best possible mean pinball loss is known; a better curve would be wrong, and more rows come closer."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.uniform(size=20_000), "kind": rng.choice(["x", "y"], size=20_000)})
    table["y"] = np.sin(6 * table.a) * np.where(table.kind == "x", 2, -2) + rng.normal(size=20_000)
    rows = dd.from_pandas(table, npartitions=5)
    rows = dd.concat([rows, rows[rows.a > 2]])
    fit = tare.dask.fit_auto(rows, "y", sample_rows=3000, budget="quick", random_state=0, n_jobs=1)
    assert (fit.sample_rows, fit.total_rows) == (3000, 20_000)
    assert list(fit.curve.rows) == [300, 600, 1200, 2400] and fit.curve.tested == 600
    normal = NormalDist()  # whose expected pinball loss at a level is the density at its quantile
    best = np.mean([normal.pdf(normal.inv_cdf(level)) for level in tare.metrics.metric_levels()])
    assert (fit.curve.loss > best - 4 * fit.curve.error).all()
    assert fit.curve.loss[-1] < fit.curve.loss[0] and fit.curve.loss[-1] < best * 1.15
    low, high = fit.curve.extrapolate(20_000)
    assert 0 < low <= high <= fit.curve.loss[-1] + fit.curve.error[-1]
    assert isinstance(fit.model, tare.QuantileRegressor) and fit.model.predict_interval(table[["a", "kind"]][:5], 0.9).shape == (5, 2)
    assert tare.dask.predict_interval(fit.model, rows, 0.9).compute().shape == (20_000, 2)


def test_what_is_refused():
    rows = dd.from_pandas(pd.DataFrame({"a": np.arange(30.0), "y": np.arange(30.0)}), npartitions=2)
    with pytest.raises(ValueError, match="sample_rows is 5"):
        tare.dask.fit_auto(rows, "y", sample_rows=5)
    with pytest.raises(ValueError, match="at least 500 rows, and the sample has 30"):
        tare.dask.fit_auto(rows, "y")
    with pytest.raises(ValueError, match="no such column"):
        tare.dask.fit_auto(rows, "z")


def test_the_plot_draws_the_curve():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import tare.plot

    curve = curve_of([100, 200, 400, 800], [0.5, 0.4, 0.35, 0.33], [0.01, 0.01, 0.01, 0.01])
    ax = tare.plot.learning_curve(curve)
    assert any(np.array_equal(line.get_ydata(), curve.loss) for line in ax.lines)
    low, high = curve.extrapolate(10**6)
    ends = ax.collections[0].get_paths()[0].vertices
    at_end = ends[np.isclose(ends[:, 0], 10**6)][:, 1]
    assert np.isclose(at_end.min(), low) and np.isclose(at_end.max(), high)
    ax.figure.canvas.draw()
