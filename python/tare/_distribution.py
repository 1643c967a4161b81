# SPDX-License-Identifier: BSD-3-Clause
"""Predicted distributions, one per row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._types import AnswerArray, BoolArray, FloatArray, IndexArray, RandomState

_SAME_LEVEL = 1e-12  # 1 - 0.95 is 0.05
_NUMBERS_AT_ONCE = 2_000_000  # of temporary arrays


def _grid_levels() -> FloatArray:
    """Steps of 0.005, of 0.0025 from 0.05 outwards, of 0.001 from 0.01, and five more on each side down to 0.000001."""
    lower = np.concatenate(
        [
            [1e-6, 1e-5, 1e-4, 2e-4, 5e-4],
            np.arange(1, 10) / 1000,
            np.arange(4, 20) / 400,
            np.arange(10, 100) / 200,
        ]
    )
    return np.concatenate([lower, [0.5], np.round(1.0 - lower[::-1], 6)])


class Distribution:
    """The predicted distributions of some rows: a value of its own, which needs neither the model nor X.

    It has the model's quantiles at the 241 `levels` from 0.000001 to 0.999999, computed once: 1.9 KB a row, or half of that if X was
    float32. It can be pickled, and indexed by a number, a slice, a mask or an array of numbers, which gives the distributions of
    these rows.

    The quantile function is the straight line between neighbouring levels. So `ppf` is `predict_quantiles` exactly at the `levels`,
    and elsewhere lies between those of the neighbouring levels: they are 0.005 apart, and 0.001 below 0.01 and above 0.99. Levels
    beyond the outermost give the outermost quantile. Between two values with a mass each (counts, for example), there is a jump in
    the middle and no line. All other functions are those of this quantile function: `cdf` is accurate to the distance of levels.
    If the model has bounds of the target, probabilities are 0 below the lower bound and 1 from the upper bound on. For rows that
    missing='drop' leaves out, all values are NaN.

    Parameters
    ----------
    quantiles : array of shape (n, 241)
        The quantiles at `Distribution.levels`, ascending in each row. They are not copied.
    bounds : (low, high) or None
        The range of possible values; either side may be None.
    """

    levels: FloatArray = _grid_levels()
    levels.setflags(write=False)

    def __init__(self, quantiles: AnswerArray, bounds: tuple[float | None, float | None] | None = None) -> None:
        values: AnswerArray = np.asarray(quantiles)
        if values.ndim != 2 or values.shape[1] != len(self.levels):
            raise ValueError(
                f"quantiles has shape {values.shape}, where (n, {len(self.levels)}) is expected: a column for each of the levels."
            )
        self._quantiles = values
        self._low, self._high = bounds or (None, None)

    @property
    def quantiles(self) -> AnswerArray:
        """The quantiles at `levels`: shape (n, 241)."""
        return self._quantiles

    def __len__(self) -> int:
        return len(self._quantiles)

    def __repr__(self) -> str:
        return f"<Distribution of {len(self)} row{'' if len(self) == 1 else 's'}>"

    def __getitem__(self, rows: Any) -> Distribution:
        """The distributions of some rows. A single number gives a Distribution of one row."""
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"row {rows} of a Distribution of {len(self)} rows")
            rows = [int(rows)]
        taken = self._quantiles[rows]
        if taken.ndim != 2 or taken.shape[1] != len(self.levels):
            raise IndexError("a Distribution is indexed by rows: a number, a slice, a mask or an array of numbers.")
        return Distribution(taken, (self._low, self._high))

    def __iter__(self) -> Iterator[Distribution]:
        return (self[i] for i in range(len(self)))

    # --- quantiles -----------------------------------------------------------------------------

    def ppf(self, q: npt.ArrayLike) -> AnswerArray:
        """Quantiles: shape (n,) for a level, (n, Q) for a list of levels. Levels lie in [0, 1]."""
        levels = np.asarray(q, dtype=np.float64)
        if levels.ndim > 1:
            raise ValueError(f"q has shape {levels.shape}, where a level or a list of levels is expected.")
        if not ((levels >= 0.0) & (levels <= 1.0)).all():
            raise ValueError(f"levels must lie between 0 and 1, got {levels[~((levels >= 0.0) & (levels <= 1.0))].ravel()[0]}.")
        answer = self._values_at(np.broadcast_to(np.atleast_1d(levels), (len(self), levels.size)))
        return answer[:, 0] if levels.ndim == 0 else answer

    def _values_at(self, levels: FloatArray) -> AnswerArray:
        """The quantiles of each row at levels of its own."""
        grid = self.levels
        last = len(grid) - 1
        left = np.clip(np.searchsorted(grid, levels + _SAME_LEVEL, side="right") - 1, 0, last - 1)
        share = np.clip((levels - grid[left]) / (grid[left + 1] - grid[left]), 0.0, 1.0)
        on_left = np.abs(levels - grid[left]) <= _SAME_LEVEL
        on_right = levels >= grid[left + 1] - _SAME_LEVEL

        def at(columns: IndexArray) -> AnswerArray:
            return np.take_along_axis(self._quantiles, np.clip(columns, 0, last), axis=1)

        low, high = at(left), at(left + 1)
        with np.errstate(invalid="ignore"):
            gap = high - low
            between = low + share * gap
            between = np.where(np.isfinite(gap), np.clip(between, low, high), np.where(np.isfinite(low), low, high))
        jump = (at(left - 1) == low) & (at(left + 2) == high)
        nearer = np.where(share < 0.5, low, high)
        values = np.where(on_left, low, np.where(on_right, high, np.where(jump, nearer, between)))
        answer: AnswerArray = values.astype(self._quantiles.dtype, copy=False)
        return answer

    def median(self) -> AnswerArray:
        return self.ppf(0.5)

    def interval(self, confidence_level: float = 0.9) -> AnswerArray:
        """Central intervals, shape (n, 2): as `predict_interval` gives them, but for levels between those of the grid."""
        return self.ppf(_core.interval_levels(float(confidence_level)))

    def sample(self, size: int = 1, random_state: RandomState = None) -> AnswerArray:
        """Random draws, shape (n, size): quantiles at random levels."""
        rng: Any = random_state
        if not hasattr(rng, "uniform"):
            rng = np.random.default_rng(rng)
        return self._values_at(rng.uniform(size=(len(self), size)))

    # --- probabilities -------------------------------------------------------------------------

    def _columns_of(self, y: npt.ArrayLike) -> tuple[FloatArray, bool]:
        """The values of each row as (n, k), and whether there was one for each row."""
        at = np.asarray(y, dtype=np.float64)
        single = at.ndim < 2
        if at.ndim == 0:
            at = np.broadcast_to(at, (len(self),))
        if at.ndim > 2 or at.shape[0] != len(self):
            raise ValueError(f"y has shape {np.shape(y)}, where {len(self)} rows are expected.")
        return (at[:, None] if single else at), single

    def _quantiles_up_to(self, y: FloatArray) -> IndexArray:
        """How many of each row's quantiles are at most y, by halving in all rows at once."""
        low = np.zeros(y.shape, dtype=np.intp)
        high = np.full(y.shape, len(self.levels), dtype=np.intp)
        for _ in range(int(np.ceil(np.log2(len(self.levels) + 1)))):
            open_ = low < high
            middle = (low + high) // 2
            value = np.take_along_axis(self._quantiles, np.minimum(middle, len(self.levels) - 1), axis=1)
            right = open_ & (value <= y)
            low = np.where(right, middle + 1, low)
            high = np.where(open_ & ~right, middle, high)
        return low

    def _segment(self, y: FloatArray) -> tuple[IndexArray, FloatArray, BoolArray]:
        """The number of quantiles up to y, the distance of the two around y, and whether it is a finite line between them."""
        below = self._quantiles_up_to(y)
        last = len(self.levels) - 1
        low = np.take_along_axis(self._quantiles, np.clip(below - 1, 0, last), axis=1).astype(np.float64)
        high = np.take_along_axis(self._quantiles, np.clip(below, 0, last), axis=1).astype(np.float64)
        with np.errstate(invalid="ignore"):
            gap = high - low
        inside: BoolArray = (below > 0) & (below <= last) & np.isfinite(gap)
        return below, gap, inside

    def _without_answer(self, y: FloatArray) -> BoolArray:
        """Where a row was left out, or y is NaN."""
        empty: Any = np.isnan(self._quantiles)
        missing: BoolArray = np.isnan(y) | empty.any(axis=1)[:, None]
        return missing

    def cdf(self, y: npt.ArrayLike) -> FloatArray:
        """P(Y <= y). y is one number for all rows, one number per row, or several numbers per row, shape (n, k). NaN if y is NaN."""
        at, single = self._columns_of(y)
        below, gap, inside = self._segment(at)
        last = len(self.levels) - 1
        start = np.take_along_axis(self._quantiles, np.clip(below - 1, 0, last), axis=1)
        padded = np.concatenate([[0.0], self.levels, [1.0]])
        result = np.where(below > last, 1.0, padded[below])
        share = np.zeros(at.shape)
        share[inside] = (at[inside] - start[inside]) / gap[inside]
        result = result + np.where(inside, share * (padded[np.clip(below + 1, 0, last + 2)] - padded[below]), 0.0)
        if self._low is not None:
            result[at < self._low] = 0.0
        if self._high is not None:
            result[at >= self._high] = 1.0
        result[self._without_answer(at)] = np.nan
        return result[:, 0] if single else result

    def pdf(self, y: npt.ArrayLike) -> FloatArray:
        """The density: the slope of `cdf`, constant between neighbouring quantiles. y as in `cdf`.

        0 outside all quantiles and the bounds, and infinite at a value that several quantiles share (a mass). It is as rough as a
        histogram with 240 bins. With a guarantee of few ranked rows, levels less than 1 / (rows + 1) apart share a quantile, and the
        density is that of the rest: use `cdf` for probabilities.
        """
        at, single = self._columns_of(y)
        below, gap, inside = self._segment(at)
        last = len(self.levels) - 1
        steps = np.diff(self.levels)[np.clip(below - 1, 0, last - 1)]
        result = np.zeros(at.shape)
        result[inside] = steps[inside] / gap[inside]
        before = np.take_along_axis(self._quantiles, np.clip(below - 2, 0, last), axis=1)
        result[(below > 1) & (before == at)] = np.inf
        outside = np.zeros(at.shape, dtype=bool)
        if self._low is not None:
            outside |= at < self._low
        if self._high is not None:
            outside |= at > self._high
        result[outside] = 0.0
        result[self._without_answer(at)] = np.nan
        return result[:, 0] if single else result

    # --- moments and scores --------------------------------------------------------------------

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Rows and their quantiles at 0, the levels and 1, few enough at once."""
        size = max(1, _NUMBERS_AT_ONCE // len(self.levels))
        for first in range(0, len(self), size):
            part = slice(first, first + size)
            rows = self._quantiles[part].astype(np.float64)
            yield part, np.concatenate([rows[:, :1], rows, rows[:, -1:]], axis=1)

    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Means, and variances around them."""
        widths = np.diff(np.concatenate([[0.0], self.levels, [1.0]]))
        mean = np.empty(len(self))
        var = np.empty(len(self))
        for part, rows in self._blocks():
            with np.errstate(invalid="ignore", over="ignore"):
                middle = rows[:, rows.shape[1] // 2][:, None]
                off = rows - middle  # near 0, so that squares keep their digits
                left, right = off[:, :-1], off[:, 1:]
                shift = (widths * (left + right)).sum(axis=1) / 2.0
                square = (widths * (left * left + left * right + right * right)).sum(axis=1) / 3.0
                mean[part] = middle[:, 0] + shift
                var[part] = np.maximum(square - shift * shift, 0.0)
        return mean, var

    def mean(self) -> FloatArray:
        """The means; infinite if one side is infinite, NaN if both are."""
        return self._moments()[0]

    def var(self) -> FloatArray:
        """The variances; NaN if a quantile is infinite."""
        return self._moments()[1]

    def std(self) -> FloatArray:
        """The standard deviations; NaN if a quantile is infinite."""
        deviation: FloatArray = np.sqrt(self.var())
        return deviation

    def crps(self, y: npt.ArrayLike) -> FloatArray:
        """Continuous ranked probability score of each row: twice the integral of the pinball loss over all levels.

        The integral of this quantile function is exact. Infinite if a quantile is infinite.
        """
        target = np.asarray(y, dtype=np.float64)
        if target.shape != (len(self),):
            raise ValueError(f"y has shape {target.shape}, where ({len(self)},) is expected.")
        levels = np.concatenate([[0.0], self.levels, [1.0]])
        t0, t1 = levels[:-1], levels[1:]
        score = np.empty(len(self))
        for part, rows in self._blocks():
            with np.errstate(invalid="ignore"):
                at = target[part][:, None]
                g0, g1 = at - rows[:, :-1], at - rows[:, 1:]  # never rise along a row
                # The integrals over a step of level * (y - Q) where Q is below y, and of (1 - level) * (Q - y) where it is above.
                under = (t1 - t0) / 6.0 * (g0 * (2.0 * t0 + t1) + g1 * (t0 + 2.0 * t1))
                above = (t1 - t0) / 6.0 * (-g0 * (3.0 - 2.0 * t0 - t1) - g1 * (3.0 - t0 - 2.0 * t1))
                # In the step in which Q meets y, at level m, each has its part.
                crosses = (g0 > 0.0) & (g1 < 0.0)
                m = t0 + (t1 - t0) * np.where(crosses, g0 / np.where(crosses, g0 - g1, 1.0), 0.0)
                both = (m - t0) / 6.0 * g0 * (2.0 * t0 + m) - (t1 - m) / 6.0 * g1 * (3.0 - m - 2.0 * t1)
                total = np.where(crosses, both, np.where(g1 >= 0.0, under, above)).sum(axis=1)
                total[np.isinf(rows).any(axis=1)] = np.inf
                total[np.isnan(rows).any(axis=1)] = np.nan
            score[part] = 2.0 * total
        return score
