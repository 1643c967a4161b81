# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of quantiles and intervals, with the noise floors of those that need one.

`quantiles` is an array of shape (n, Q), `levels` its Q levels; by default they are the 100 of :func:`metric_levels`, on which
the tool measures.

A target that equals a predicted quantile (a tie, frequent with counts, grades and zeros) counts as below by the share of its jump
in the predicted distribution (:func:`target_jumps`), so that a perfect forecaster of counts has no larger calibration error than
one of continuous targets. Without ties this is the plain count. ``ties="count"`` counts every tie as below.

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
from ._host import on_host
from ._types import FloatArray

__all__ = [
    "agce",
    "agce_floor",
    "check_score",
    "coverage",
    "crps",
    "crps_levels",
    "interval_length",
    "interval_score",
    "mace",
    "mace_floor",
    "metric_levels",
    "observed_levels",
    "pinball_loss",
    "pit_histogram",
    "scores",
    "split_agce_floor",
    "split_coverage",
    "split_mace_floor",
    "target_jumps",
]


def metric_levels() -> FloatArray:
    """0.01 + 0.98 j / 99 for j = 0, ..., 99."""
    return np.array(_core.metric_levels())


def crps_levels() -> FloatArray:
    """The levels of the quantiles that :func:`crps` requires."""
    return np.array(_core.crps_levels())


def _vector(values: Any, what: str) -> FloatArray:
    array = np.ascontiguousarray(on_host(values, what), dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got shape {array.shape}.")
    return array


def _quantiles(values: Any) -> FloatArray:
    array = np.ascontiguousarray(on_host(values, "quantiles"), dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"quantiles should have shape (n, Q), got {array.shape}.")
    return array


def _levels(levels: Any) -> list[float]:
    return _core.metric_levels() if levels is None else [float(level) for level in np.atleast_1d(levels)]


def pinball_loss(y: Any, quantiles: Any, levels: Any = None) -> float:
    """Mean pinball loss over rows and levels; the tool calls it CheckScore."""
    return _core.check_score(_vector(y, "y"), _quantiles(quantiles), _levels(levels))


check_score = pinball_loss


def target_jumps(y: Any, quantiles: Any, levels: Any = None) -> FloatArray:
    """Shape (n, 2): P(Y < y) and P(Y <= y) for each target that equals some of its quantiles, as far as the levels show them; equal for others.

    A jump reaches half way to the next level on either side. More levels show more: the functions below take `jumps` found through others.
    """
    return _core.target_jumps(_vector(y, "y"), _quantiles(quantiles), _levels(levels))


def _are_counted(ties: str) -> bool:
    if ties not in ("split", "count"):
        raise ValueError(f"ties must be 'split' or 'count', got {ties!r}.")
    return ties == "count"


def _jumps(jumps: Any, y: FloatArray, quantiles: FloatArray, levels: list[float]) -> FloatArray:
    if jumps is None:
        return _core.target_jumps(y, quantiles, levels)
    array = np.ascontiguousarray(jumps, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"jumps should have shape (n, 2), got {array.shape}.")
    return array


def observed_levels(y: Any, quantiles: Any, levels: Any = None, *, ties: str = "split", jumps: Any = None) -> FloatArray:
    """Share of rows below their quantile at each level: what a reliability curve shows. ``ties="count"`` needs no levels."""
    target, array = _vector(y, "y"), _quantiles(quantiles)
    if _are_counted(ties):
        return _core.observed_levels_counted(target, array)
    asked = _levels(levels)
    return _core.observed_levels(target, array, asked, _jumps(jumps, target, array, asked))


def mace(y: Any, quantiles: Any, levels: Any = None, *, ties: str = "split", jumps: Any = None) -> float:
    """Mean absolute calibration error: mean over levels of \\|level - observed level\\|."""
    target, array, asked = _vector(y, "y"), _quantiles(quantiles), _levels(levels)
    if _are_counted(ties):
        return _core.mace_counted(target, array, asked)
    return _core.mace(target, array, asked, _jumps(jumps, target, array, asked))


def mace_floor(rows: int, levels: Any = None) -> float:
    """The mean MACE of a perfect forecaster on this number of rows of a continuous target."""
    return _core.mace_floor(rows, _levels(levels))


def split_mace_floor(y: Any, quantiles: Any, levels: Any = None, *, jumps: Any = None) -> float:
    """The same for targets with ties. It is smaller, because a share varies less than a count. Equal to :func:`mace_floor` without
    ties."""
    target, array, asked = _vector(y, "y"), _quantiles(quantiles), _levels(levels)
    return _core.split_mace_floor(target, array, asked, _jumps(jumps, target, array, asked))


def agce(y: Any, quantiles: Any, levels: Any = None, *, random_state: int = 0, ties: str = "split", jumps: Any = None) -> float:
    """Adversarial group calibration error: the largest MACE of ten random groups of a tenth of the rows."""
    target, array, asked = _vector(y, "y"), _quantiles(quantiles), _levels(levels)
    if _are_counted(ties):
        return _core.agce_counted(target, array, asked, random_state)
    return _core.agce(target, array, asked, random_state, _jumps(jumps, target, array, asked))


def agce_floor(rows: int, levels: Any = None, *, random_state: int = 0) -> float:
    """The mean AGCE of a perfect forecaster on this number of rows of a continuous target."""
    return _core.agce_floor(rows, _levels(levels), random_state)


def split_agce_floor(y: Any, quantiles: Any, levels: Any = None, *, random_state: int = 0, jumps: Any = None) -> float:
    """The same for targets with ties. Equal to :func:`agce_floor` without ties."""
    target, array, asked = _vector(y, "y"), _quantiles(quantiles), _levels(levels)
    return _core.split_agce_floor(target, array, asked, random_state, _jumps(jumps, target, array, asked))


def crps(y: Any, quantiles: Any) -> float:
    """Continuous ranked probability score; quantiles at :func:`crps_levels`."""
    return _core.crps(_vector(y, "y"), _quantiles(quantiles))


def coverage(y: Any, lower: Any, upper: Any) -> float:
    """Share of rows with lower <= y <= upper. By this measure, correct intervals of counts cover more than their level: see
    :func:`split_coverage`."""
    return _core.interval_coverage(_vector(y, "y"), _vector(lower, "lower"), _vector(upper, "upper"))


def split_coverage(y: Any, lower: Any, upper: Any, jumps: Any, *, confidence_level: float = 0.9) -> float:
    """Coverage that is comparable with the level for targets with ties: a target at an end counts by the share of its jump that is
    inside.

    `jumps` come from :func:`target_jumps` with quantiles at many levels. Equal to :func:`coverage` if no target is at an end.
    """
    array = np.ascontiguousarray(jumps, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"jumps should have shape (n, 2), got {array.shape}.")
    return _core.split_coverage(_vector(y, "y"), _vector(lower, "lower"), _vector(upper, "upper"), confidence_level, array)


def interval_length(lower: Any, upper: Any) -> float:
    """Mean of upper - lower."""
    return _core.interval_length(_vector(lower, "lower"), _vector(upper, "upper"))


def interval_score(y: Any, lower: Any, upper: Any, confidence_level: float) -> float:
    """Mean interval (Winkler) score: length plus a penalty for targets outside the interval."""
    return _core.winkler_score(_vector(y, "y"), _vector(lower, "lower"), _vector(upper, "upper"), confidence_level)


def pit_histogram(y: Any, quantiles: Any, levels: Any = None, *, jumps: Any = None) -> FloatArray:
    """Shares of rows between neighbouring quantiles, at equal steps in level or at ascending `levels`: uniform if the distribution
    is correct.

    A row whose target equals quantiles is spread over its jump.
    """
    target, array = _vector(y, "y"), _quantiles(quantiles)
    if levels is None and jumps is None:
        return _core.pit_histogram(target, array)
    asked = list(np.arange(1, array.shape[1] + 1) / (array.shape[1] + 1)) if levels is None else _levels(levels)
    return _core.pit_histogram_at(target, array, asked, _jumps(jumps, target, array, asked))


def scores(estimator: Any, X: Any, y: Any, *, confidence_level: float = 0.9, random_state: int = 0) -> dict[str, float]:
    """Every score of ``tare evaluate`` for a fitted estimator of tare, from the tool's own table; those with `_counted` count ties as below.

    Scores of the interval are at `confidence_level`. Rows without an answer (missing='drop', or no full window) do not count. Only the
    tool has `effective_n_median` and `fallback_rows`.
    """
    levels = metric_levels()
    target = _vector(y, "y")
    # The tool's levels show the jumps; they begin with the metric levels.
    every = _core.scorecard_levels()
    answers = np.asarray(estimator._quantile_array(X, every), dtype=np.float64)
    known = ~np.isnan(answers[:, 0])
    target, answers = np.ascontiguousarray(target[known]), answers[known]
    quantiles = np.ascontiguousarray(answers[:, : len(levels)])
    jumps = target_jumps(target, answers, every)
    low, high = np.asarray(estimator._quantile_array(X, _core.interval_levels(confidence_level)), dtype=np.float64)[known].T
    mean_crps = crps(target, np.asarray(estimator._quantile_array(X, crps_levels()), dtype=np.float64)[known])
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
    return _core.scores(target, quantiles, jumps, low, high, confidence_level, mean_crps, random_state)
