# SPDX-License-Identifier: BSD-3-Clause
"""Predicted distributions, one per row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._types import AnswerArray, FloatArray, RandomState


class Distribution:
    """The predicted distributions of some rows.

    Quantiles are those of the model, at any level. Probabilities come from its quantiles at the 999 levels 0.001, ..., 0.999,
    interpolated linearly, so they are accurate to about 0.001 and lie between 0.0005 and 0.9995. At a value that several of these
    quantiles share (a mass) the probability jumps, and `cdf` includes the mass. If the model has bounds of the target,
    probabilities are 0 below the lower bound and 1 from the upper bound on. For rows that missing='drop' leaves out, all values are
    NaN.
    """

    _LEVELS = np.round(np.arange(1, 1000) / 1000, 3)

    def __init__(self, quantiles: Callable[[list[float]], AnswerArray], bounds: tuple[float | None, float | None] | None = None) -> None:
        self._quantiles = quantiles
        self._low, self._high = bounds or (None, None)
        self._cached: FloatArray | None = None

    def _grid(self) -> FloatArray:
        if self._cached is None:
            self._cached = np.asarray(self._quantiles(self._LEVELS.tolist()), dtype=np.float64)
        return self._cached

    def __len__(self) -> int:
        return len(self._grid())

    def ppf(self, q: npt.ArrayLike) -> AnswerArray:
        """Quantiles: shape (n,) for a level, (n, Q) for a list of them."""
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        answer = self._quantiles(levels.tolist())
        return answer[:, 0] if np.ndim(q) == 0 else answer

    def median(self) -> AnswerArray:
        return self.ppf(0.5)

    def cdf(self, y: npt.ArrayLike) -> FloatArray:
        """P(Y <= y). y is one number for all rows, one number per row, or several numbers per row, shape (n, k). NaN if y is NaN."""
        grid = self._grid()
        at = np.asarray(y, dtype=np.float64)
        at = np.broadcast_to(at, (len(grid),)) if at.ndim < 2 else at
        columns = at[:, None] if at.ndim == 1 else at
        if columns.shape[0] != len(grid):
            raise ValueError(f"y has shape {np.shape(y)}, where {len(grid)} rows are expected.")
        result = np.empty(columns.shape)
        for i, row in enumerate(grid):
            result[i] = self._row_cdf(row, columns[i])
        if self._low is not None:
            result[columns < self._low] = 0.0
        if self._high is not None:
            result[columns >= self._high] = 1.0
        return result[:, 0] if at.ndim == 1 else result

    def _row_cdf(self, quantiles: FloatArray, y: FloatArray) -> FloatArray:
        if np.isnan(quantiles).any():
            return np.full(len(y), np.nan)
        below = np.searchsorted(quantiles, y, side="right")
        inside = (below > 0) & (below < len(quantiles))
        share = np.zeros(len(y))
        left = quantiles[np.clip(below - 1, 0, None)]
        right = quantiles[np.clip(below, None, len(quantiles) - 1)]
        gap = right - left
        usable = inside & np.isfinite(gap) & (gap > 0)
        share[usable] = (y[usable] - left[usable]) / gap[usable]
        result = np.where(below == 0, 0.0005, np.where(below == len(quantiles), 0.9995, (below + share) / 1000))
        return np.where(np.isnan(y), np.nan, result)

    def sample(self, size: int = 1, random_state: RandomState = None) -> FloatArray:
        """Random draws, shape (n, size): quantiles at random levels."""
        rng: Any = random_state
        if not hasattr(rng, "uniform"):
            rng = np.random.default_rng(rng)
        grid = self._grid()
        places = (rng.uniform(size=(len(grid), size)) * len(self._LEVELS)).astype(np.intp)
        return np.take_along_axis(grid, places, axis=1)

    def mean(self) -> FloatArray:
        """Mean of the quantiles at 0.001, ..., 0.999; infinite if one side is infinite, NaN if both are."""
        with np.errstate(invalid="ignore"):
            mean: FloatArray = self._grid().mean(axis=1)
        return mean

    def crps(self, y: npt.ArrayLike) -> FloatArray:
        """Continuous ranked probability score of each row: twice the mean pinball loss over levels."""
        levels = np.array(_core.crps_levels())
        quantiles = np.asarray(self._quantiles(levels.tolist()), dtype=np.float64)
        target = np.asarray(y, dtype=np.float64)
        if target.shape != (len(quantiles),):
            raise ValueError(f"y has shape {target.shape}, where ({len(quantiles)},) is expected.")
        gap = target[:, None] - quantiles
        score: FloatArray = 2.0 * np.maximum(levels * gap, (levels - 1.0) * gap).mean(axis=1)
        return score
