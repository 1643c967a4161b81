# SPDX-License-Identifier: BSD-3-Clause
"""Figures of calibration, with matplotlib (``pip install 'tare-quantiles[plot]'``). Each draws on `ax` and returns it.

>>> import numpy as np, tare, tare.plot
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(size=(400, 1)); y = rng.normal(size=400) * X[:, 0]
>>> model = tare.Calibrator(lambda X: np.zeros(len(X))).calibrate(X[:200], y[:200])
>>> ax = tare.plot.reliability(model, X[200:], y[200:])
>>> ax.get_xlabel()
'level'
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import metrics
from ._columns import column_place
from ._frames import is_frame
from ._input import read_features, read_target
from ._learning_curve import LearningCurve
from ._types import FloatArray

__all__ = ["coverage_by_slice", "fan", "learning_curve", "pit", "reliability"]

_BLUE = "#2a6fb0"
_GREY = "#8a8f98"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("tare.plot draws with matplotlib: pip install 'tare-quantiles[plot]'") from error
    return plt.subplots(figsize=(5.5, 4.2), layout="constrained")[1]


def _binomial_band(share: FloatArray, rows: npt.NDArray[Any] | int) -> FloatArray:
    """Half the width of the range that contains 95 % of observed shares for this number of rows, by the normal approximation."""
    return 1.96 * np.sqrt(share * (1.0 - share) / np.maximum(rows, 1))


def reliability(estimator: Any, X: Any, y: Any, *, y_pred: Any = None, y_std: Any = None, ax: Any = None) -> Any:
    """Observed levels against requested levels. At each level, a perfect forecaster lies inside the grey band with probability 95
    %."""
    ax = _axes(ax)
    levels = metrics.metric_levels()
    quantiles = np.asarray(estimator._quantile_array(X, levels, y_pred, y_std), dtype=np.float64)
    target = read_target(y, len(quantiles))
    observed = metrics.observed_levels(target, quantiles, levels)
    half = _binomial_band(levels, len(target))
    ax.fill_between(levels, levels - half, levels + half, color=_GREY, alpha=0.25, linewidth=0, label="sampling noise")
    ax.plot([0, 1], [0, 1], color=_GREY, linewidth=1)
    ax.plot(levels, observed, color=_BLUE, linewidth=2, label="observed")
    ax.set(xlabel="level", ylabel="share of rows below the quantile", xlim=(0, 1), ylim=(0, 1), title="Reliability")
    ax.legend(frameon=False, loc="upper left")
    return ax


def pit(estimator: Any, X: Any, y: Any, *, bins: int = 20, y_pred: Any = None, y_std: Any = None, ax: Any = None) -> Any:
    """Histogram of the PIT, the predicted probabilities of the targets: flat if the distributions are correct, U-shaped if they are
    too narrow."""
    if bins < 2:
        raise ValueError(f"bins must be at least 2, got {bins}.")
    ax = _axes(ax)
    edges = np.arange(1, bins) / bins
    quantiles = np.asarray(estimator._quantile_array(X, edges, y_pred, y_std), dtype=np.float64)
    target = read_target(y, len(quantiles))
    shares = metrics.pit_histogram(target, quantiles)
    half = _binomial_band(np.full(1, 1 / bins), len(target))[0]
    ax.axhspan(1 / bins - half, 1 / bins + half, color=_GREY, alpha=0.25, linewidth=0)
    ax.bar((np.arange(bins) + 0.5) / bins, shares, 0.92 / bins, color=_BLUE)
    ax.set(xlabel="predicted probability of what happened", ylabel="share of rows", xlim=(0, 1), title="PIT")
    return ax


def fan(
    estimator: Any,
    X: Any,
    feature: Any = 0,
    *,
    y: Any = None,
    confidence_levels: Any = (0.5, 0.8, 0.95),
    points: int = 200,
    ax: Any = None,
) -> Any:
    """Intervals over one feature, with the others at their median. The estimator must be able to predict new rows."""
    if is_frame(X):
        raise TypeError("fan takes an array: the others of a frame's columns may have no median. Pass X.to_numpy().")
    ax = _axes(ax)
    X = np.asarray(X, dtype=np.float64)
    grid = np.tile(np.median(X, axis=0), (points, 1))
    grid[:, feature] = np.linspace(X[:, feature].min(), X[:, feature].max(), points)
    for level in sorted(confidence_levels, reverse=True):
        low, high = estimator._quantile_array(grid, [(1 - level) / 2, (1 + level) / 2]).T
        ax.fill_between(grid[:, feature], low, high, color=_BLUE, alpha=0.25, linewidth=0, label=f"{level:.0%}")
    ax.plot(grid[:, feature], estimator._quantile_array(grid, [0.5])[:, 0], color=_BLUE, linewidth=2, label="median")
    if y is not None:
        ax.scatter(X[:, feature], y, s=4, color=_GREY, alpha=0.5, linewidths=0, zorder=0)
    ax.set(xlabel=f"feature {feature}", ylabel="y", title="Intervals, other features at their median")
    ax.legend(frameon=False)
    return ax


def _slice_values(X: Any, by: Any, rows: int) -> FloatArray:
    """The numbers along which rows are sliced: a column of X, or `by` itself."""
    if np.ndim(by) > 0:
        return read_target(by, rows, what="by")

    def place(count: int, names: list[str] | None) -> list[int]:
        return [column_place(by, count, names, "by")]

    columns = read_features(X, select=place).with_columns().columns
    assert columns is not None
    if columns[0].numbers is None:
        raise ValueError(f"by names column {by!r}, which has texts: slices need numbers. Pass a number for each row as by.")
    return columns[0].numbers


def coverage_by_slice(
    estimator: Any,
    X: Any,
    y: Any,
    by: Any = None,
    *,
    confidence_level: float = 0.9,
    slices: int = 10,
    y_pred: Any = None,
    y_std: Any = None,
    ax: Any = None,
) -> Any:
    """Coverage in slices of equal size along `by`: a column of X by name or index, or values, one for each row; None: the predicted
    median."""
    ax = _axes(ax)
    tail = (1 - confidence_level) / 2
    levels = [tail, 0.5, 1 - tail, *metrics.metric_levels()]  # the last show where targets repeat
    answers = np.asarray(estimator._quantile_array(X, levels, y_pred, y_std), dtype=np.float64)
    low, middle, high = answers[:, :3].T
    target = read_target(y, len(low))
    jumps = metrics.target_jumps(target, answers, levels)
    along = middle if by is None else _slice_values(X, by, len(target))
    parts = np.array_split(np.argsort(along, kind="stable"), min(slices, len(target)))
    share = np.array(
        [metrics.split_coverage(target[part], low[part], high[part], jumps[part], confidence_level=confidence_level) for part in parts]
    )
    center = np.array([np.median(along[part]) for part in parts])
    size = np.array([len(part) for part in parts])
    ax.axhline(confidence_level, color=_GREY, linewidth=1)
    band = _binomial_band(np.full(len(parts), confidence_level), size)
    ax.fill_between(center, confidence_level - band, confidence_level + band, color=_GREY, alpha=0.25, linewidth=0, label="sampling noise")
    ax.plot(center, share, "o-", color=_BLUE, label="observed")
    name = "predicted median" if by is None else "value" if np.ndim(by) > 0 else by if isinstance(by, str) else f"feature {by}"
    ax.set(xlabel=name, ylabel=f"coverage of the {confidence_level:.0%} interval", title="Coverage by slices")
    ax.legend(frameon=False)
    return ax


def learning_curve(curve: LearningCurve, *, ax: Any = None) -> Any:
    """The loss on left-out rows against the rows of the fit, with 95 % ranges, and the range of its extrapolation to all rows (`fit_auto` of
    `tare.dask` and `tare.spark`)."""
    ax = _axes(ax)
    if curve.total_rows > curve.rows[-1]:
        rows = np.geomspace(curve.rows[-1], curve.total_rows, 50)
        low, high = curve.extrapolate(rows)
        ax.fill_between(rows, low, high, color=_GREY, alpha=0.25, linewidth=0, label="extrapolation, rates n^-1/4 to n^-1")
    ax.errorbar(
        curve.rows,
        curve.loss,
        1.96 * curve.error,
        color=_BLUE,
        linewidth=2,
        marker="o",
        capsize=3,
        label=f"measured on {curve.tested:,} rows",
    )
    ax.set(xscale="log", xlabel="rows of the fit", ylabel="mean pinball loss", title="What more rows bring")
    ax.legend(frameon=False)
    return ax
