# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of quantiles and intervals, with the noise floors of those that need one.

`quantiles` is an array of shape (n, Q), `levels` its Q levels; by default they are the 100 of :func:`metric_levels`, on which
the tool measures.

>>> import numpy as np
>>> from tare import metrics
>>> y = np.arange(1, 101) / 101
>>> levels = metrics.metric_levels()
>>> perfect = np.tile(levels, (100, 1))
>>> metrics.mace(y, perfect) < 0.006
True
>>> round(metrics.coverage(y, np.full(100, 0.05), np.full(100, 0.95)), 2)
0.9
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

__all__ = [
    "agce", "agce_floor", "check_score", "coverage", "crps", "crps_levels", "interval_length", "interval_score", "mace",
    "mace_floor", "metric_levels", "observed_levels", "pinball_loss", "pit_histogram", "scores",
]


def metric_levels() -> np.ndarray:
    """0.01 + 0.98 j / 99 for j = 0, ..., 99."""
    return np.array(_core.metric_levels())


def crps_levels() -> np.ndarray:
    """The levels at which :func:`crps` wants its quantiles."""
    return np.array(_core.crps_levels())


def _vector(values: Any, what: str) -> np.ndarray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got shape {array.shape}.")
    return array


def _quantiles(values: Any) -> np.ndarray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"quantiles should have shape (n, Q), got {array.shape}.")
    return array


def _levels(levels: Any) -> list[float]:
    return _core.metric_levels() if levels is None else [float(level) for level in np.atleast_1d(levels)]


def pinball_loss(y: Any, quantiles: Any, levels: Any = None) -> float:
    """Mean pinball loss over rows and levels; the tool calls it CheckScore."""
    return _core.check_score(_vector(y, "y"), _quantiles(quantiles), _levels(levels))


check_score = pinball_loss


def observed_levels(y: Any, quantiles: Any) -> np.ndarray:
    """Share of rows with y <= q at each level: what a reliability curve shows."""
    return _core.observed_levels(_vector(y, "y"), _quantiles(quantiles))


def mace(y: Any, quantiles: Any, levels: Any = None) -> float:
    """Mean absolute calibration error: mean over levels of \\|level - observed level\\|."""
    return _core.mace(_vector(y, "y"), _quantiles(quantiles), _levels(levels))


def mace_floor(rows: int, levels: Any = None) -> float:
    """What a perfect forecaster's MACE is on average on so many rows."""
    return _core.mace_floor(rows, _levels(levels))


def agce(y: Any, quantiles: Any, levels: Any = None, *, random_state: int = 0) -> float:
    """Adversarial group calibration error: the largest MACE of ten random groups of a tenth of the rows."""
    return _core.agce(_vector(y, "y"), _quantiles(quantiles), _levels(levels), random_state)


def agce_floor(rows: int, levels: Any = None, *, random_state: int = 0) -> float:
    """What a perfect forecaster's AGCE is on average on so many rows."""
    return _core.agce_floor(rows, _levels(levels), random_state)


def crps(y: Any, quantiles: Any) -> float:
    """Continuous ranked probability score; quantiles at :func:`crps_levels`."""
    return _core.crps(_vector(y, "y"), _quantiles(quantiles))


def coverage(y: Any, lower: Any, upper: Any) -> float:
    """Share of rows with lower <= y <= upper."""
    return _core.interval_coverage(_vector(y, "y"), _vector(lower, "lower"), _vector(upper, "upper"))


def interval_length(lower: Any, upper: Any) -> float:
    """Mean of upper - lower."""
    return _core.interval_length(_vector(lower, "lower"), _vector(upper, "upper"))


def interval_score(y: Any, lower: Any, upper: Any, confidence_level: float) -> float:
    """Mean interval (Winkler) score: length, and a price for each row outside."""
    return _core.winkler_score(_vector(y, "y"), _vector(lower, "lower"), _vector(upper, "upper"), confidence_level)


def pit_histogram(y: Any, quantiles: Any) -> np.ndarray:
    """Shares of rows between neighbouring quantiles: even where the law is right. Quantiles at ascending levels."""
    return _core.pit_histogram(_vector(y, "y"), _quantiles(quantiles))


def scores(estimator: Any, X: Any, y: Any, *, confidence_level: float = 0.9, random_state: int = 0) -> dict[str, float]:
    """All of the above for a fitted estimator of tare, as ``tare evaluate`` prints them."""
    levels = metric_levels()
    target = _vector(y, "y")
    quantiles = np.asarray(estimator._quantile_array(X, levels), dtype=np.float64)
    low, high = np.asarray(estimator._quantile_array(X, _core.interval_levels(confidence_level)), dtype=np.float64).T
    return {
        "mace": mace(target, quantiles),
        "mace_floor": mace_floor(len(target)),
        "agce": agce(target, quantiles, random_state=random_state),
        "agce_floor": agce_floor(len(target), random_state=random_state),
        "check_score": check_score(target, quantiles),
        "crps": crps(target, np.asarray(estimator._quantile_array(X, crps_levels()), dtype=np.float64)),
        "coverage": coverage(target, low, high),
        "interval_length": interval_length(low, high),
        "interval_score": interval_score(target, low, high, confidence_level),
    }
