# SPDX-License-Identifier: BSD-3-Clause
"""A method fitted on a sample of rows that lie elsewhere, and what more rows would bring. It knows no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import metrics
from ._input import read_target, take_rows
from ._regressor import QuantileRegressor
from ._types import FloatArray, IndexArray

SHARES = (0.125, 0.25, 0.5, 1.0)
_RATES = (0.25, 1.0)  # exponents of the rows between which an excess loss is taken to fall
_HELD_OUT = 0.2
_LEAST_ROWS = 500


@dataclass(frozen=True)
class LearningCurve:
    """The pinball loss of a method on rows that it was not fitted on, by the number of rows that it was fitted on.

    Attributes
    ----------
    rows : array of int
        Rows of each fit; smaller fits use a part of the rows of larger ones.
    loss, error : arrays of float
        Mean pinball loss over levels 0.01 to 0.99 on the same `tested` rows, and its standard error.
    gain, gain_error : float
        By how much the last doubling of the rows lowered the loss, and the standard error of that, paired by row.
    tested, total_rows : int
        Rows on which the loss was measured, and all rows of which the sample was drawn.
    method, budget : str, str or None
        Of the fits of the curve.
    """

    rows: IndexArray
    loss: FloatArray
    error: FloatArray
    gain: float
    gain_error: float
    tested: int
    total_rows: int
    method: str
    budget: str | None

    def extrapolate(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """The loss with other numbers of rows, from below and from above: an extrapolation and no measurement.

        The loss is taken to be a + b n^-g with b >= 0, fitted to the curve by weighted least squares once with g = 1/4 and once with g = 1. The
        rate is not known; these two are slow and fast ones. Beyond the largest fit the answer is at most its loss. Neither the
        noise of the curve nor a change of the rows is in this range.
        """
        asked = np.asarray(rows, dtype=np.float64)
        found = np.stack([_fitted(self.rows, self.loss, self.error, rate, asked) for rate in _RATES])
        return found.min(axis=0), found.max(axis=0)


def _fitted(rows: IndexArray, loss: FloatArray, error: FloatArray, rate: float, asked: FloatArray) -> FloatArray:
    weight = 1.0 / np.maximum(error, 1e-12 * max(float(np.abs(loss).max()), 1e-300))
    design = np.column_stack([np.ones(len(rows)), np.asarray(rows, dtype=np.float64) ** -rate])
    a, b = np.linalg.lstsq(design * weight[:, None], loss * weight, rcond=None)[0]
    if b < 0:  # the loss did not fall: more rows are taken to change nothing
        a, b = float(np.average(loss, weights=weight**2)), 0.0
    found = np.maximum(a + b * asked**-rate, 0.0)
    return np.asarray(np.where(asked >= rows[-1], np.minimum(found, loss[-1]), found), dtype=np.float64)


@dataclass(frozen=True)
class SampledFit:
    """What `fit_auto` gives.

    Attributes
    ----------
    model : tare.QuantileRegressor
        Fitted on all `sample_rows` rows of the sample: save it, or answer the rows of the cluster with it.
    curve : LearningCurve or None
        Draw it with `tare.plot.learning_curve`.
    sample_rows, total_rows : int
    """

    model: QuantileRegressor
    curve: LearningCurve | None
    sample_rows: int
    total_rows: int


def check_sample_rows(sample_rows: int) -> None:
    if not isinstance(sample_rows, int) or sample_rows < 100:
        raise ValueError(f"sample_rows is {sample_rows!r}; it must be a whole number of at least 100.")


def rows_of_parts(counts: Sequence[int], sample_rows: int, seed: int) -> list[int]:
    """How many rows each partition gives to a sample in which every row of all partitions has the same chance."""
    total = sum(counts)
    if total <= sample_rows:
        return list(counts)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(np.asarray(counts, dtype=np.int64), sample_rows, method="marginals")
    return [int(count) for count in drawn]


def draw_rows(X: Any, count: int, seed: int, number: int) -> Any:
    """That many rows of partition `number`, at random."""
    kept = np.sort(np.random.default_rng([seed, number, 2]).choice(len(X), size=count, replace=False)) if count else np.arange(0)
    return take_rows(X, kept)


def fit_on_sample(
    X: Any, y: Any, total_rows: int, *, budget: str | None, curve_budget: str | None, seed: int, curve: bool, **settings: Any
) -> SampledFit:
    target = read_target(y, len(X))
    found = learning_curve(X, target, total_rows, method="auto", budget=curve_budget, seed=seed) if curve else None
    model = QuantileRegressor("auto", budget=budget, random_state=seed, **settings).fit(X, target)
    return SampledFit(model, found, len(target), total_rows)


def learning_curve(X: Any, y: FloatArray, total_rows: int, *, method: str, budget: str | None, seed: int) -> LearningCurve:
    """A fifth of the rows is tested; the method is fitted on 1/8, 1/4, 1/2 and all of the others."""
    count = len(y)
    if count < _LEAST_ROWS:
        raise ValueError(f"a learning curve needs at least {_LEAST_ROWS} rows, and the sample has {count}: use curve=False.")
    order = np.random.default_rng([seed, 3]).permutation(count)
    tested, others = order[: int(_HELD_OUT * count)], order[int(_HELD_OUT * count) :]
    levels = metrics.metric_levels()
    rows, losses = [], []
    for share in SHARES:
        used = others[: round(share * len(others))]
        model = QuantileRegressor(method, budget=budget, guarantee="none", bands=False, random_state=seed).fit(take_rows(X, used), y[used])
        quantiles = np.asarray(model.predict_quantiles(take_rows(X, tested), levels), dtype=np.float64)
        rows.append(len(used))
        losses.append(row_losses(y[tested], quantiles, levels))
    stacked = np.stack(losses)
    last = stacked[-2] - stacked[-1]
    root = np.sqrt(len(tested))
    return LearningCurve(
        np.array(rows),
        stacked.mean(axis=1),
        stacked.std(axis=1, ddof=1) / root,
        float(last.mean()),
        float(last.std(ddof=1) / root),
        len(tested),
        total_rows,
        method,
        budget,
    )


def row_losses(y: FloatArray, quantiles: FloatArray, levels: FloatArray) -> FloatArray:
    short = y[:, None] - quantiles
    return np.asarray(np.maximum(levels * short, (levels - 1) * short).mean(axis=1), dtype=np.float64)
