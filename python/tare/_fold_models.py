# SPDX-License-Identifier: BSD-3-Clause
"""Trains a wrapped estimator so that the guarantee of `fit` is proven: the model that ranks a row was not trained on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ._estimator import prediction_of
from ._fit_params import FitParams
from ._folds import Folds
from ._guarantee import Guarantee
from ._input import row_count, take_rows
from ._sklearn import clone
from ._types import FloatArray, IndexArray

_Fit = Callable[[IndexArray], Any]  # a copy of the estimator, trained on these rows


class FoldModels:
    """The models behind guarantee='cross': `models[k]` was trained on the rows outside fold k.

    `predict` gives the mean of all of them.

    Attributes
    ----------
    models : list
        A trained copy of the estimator for each fold.
    folds : int
        Their number.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = list(models)

    @property
    def folds(self) -> int:
        return len(self.models)

    def columns(self, X: Any, rows: int) -> FloatArray:
        """The prediction of each model, shape (rows, folds)."""
        return np.column_stack([prediction_of(model, X, rows) for model in self.models])

    def predict(self, X: Any) -> FloatArray:
        """The mean of the models' predictions."""
        mean: FloatArray = self.columns(X, row_count(X)).mean(axis=1)
        return mean

    def __repr__(self) -> str:
        return f"FoldModels({self.folds} of {self.models[0]!r})" if self.models else "FoldModels([])"


@dataclass
class Trained:
    """A trained estimator and its predictions for the rows that calibrate and the rows that are ranked."""

    model: Any
    given: FloatArray  # (n, 1), or (n, folds) of models for each fold
    rows: IndexArray | None = None  # of X that the core gets; None: all
    held_out: npt.NDArray[np.uint8] | None = None  # of these rows: 1 for one that is only ranked
    fold: npt.NDArray[np.uint32] | None = None


def train(
    estimator: Any,
    X: Any,
    y: npt.NDArray[Any],
    guarantee: Guarantee,
    cv: int | Folds,
    seed: int,
    params: FitParams | None = None,
    strata: npt.NDArray[Any] | None = None,
) -> Trained:
    """Trains the copies of the estimator that the guarantee needs.

    `strata`: numbers of the groups of which a split holds out the same share.
    """
    rng = np.random.default_rng(seed)
    rows = len(y)
    of_fit = params or FitParams({}, rows)

    def fit(at: IndexArray) -> Any:
        return clone(estimator).fit(X if len(at) == rows else take_rows(X, at), y[at], **of_fit.of(at))

    if guarantee.form == "cross":
        return _train_folds(fit, X, _equal_folds(cv, guarantee, rows, rng))
    if guarantee.holds_rows_out:
        return _train_rest(fit, X, guarantee.held_out(rows), cv, rows, rng, strata)
    folds = cv if isinstance(cv, Folds) else _drawn(np.arange(rows), rows, cv, rng)
    predicted, tested = _out_of_fold(fit, X, folds)
    return Trained(fit(np.arange(rows)), predicted[tested, None], rows=None if tested.all() else np.flatnonzero(tested))


def _drawn(at: IndexArray, rows: int, cv: int, rng: np.random.Generator) -> Folds:
    """Random folds of some of the rows."""
    order = rng.permutation(len(at))
    tests = [np.sort(at[order[k :: min(cv, len(at))]]) for k in range(min(cv, len(at)))]
    return Folds(rows, [np.setdiff1d(at, test, assume_unique=True) for test in tests], tests, given=False)


def _out_of_fold(fit: _Fit, X: Any, folds: Folds) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Out-of-fold predictions of copies, and the rows that have one; the mean where a row is in several test folds."""
    total = np.zeros(folds.rows)
    times = np.zeros(folds.rows)
    for train_rows, test in zip(folds.train, folds.test):
        total[test] += prediction_of(fit(train_rows), take_rows(X, test), len(test))
        times[test] += 1
    tested = times > 0
    total[tested] /= times[tested]
    return total, tested


def _train_rest(
    fit: _Fit, X: Any, count: int, cv: int | Folds, rows: int, rng: np.random.Generator, strata: npt.NDArray[Any] | None
) -> Trained:
    """Split: no copy is trained on held-out rows; the model of all other rows predicts them, as it predicts new rows."""
    if isinstance(cv, Folds):
        ranked = cv.some_rows(count, rng, strata)
    elif strata is not None:
        ranked = Folds(rows, [], [], given=False).some_rows(count, rng, strata)
    else:
        ranked = rng.permutation(rows)[:count]
    kept = np.ones(rows, dtype=bool)
    kept[ranked] = False
    ranked, rest = np.flatnonzero(~kept), np.flatnonzero(kept)
    folds = cv.within(kept) if isinstance(cv, Folds) else _drawn(rest, rows, cv, rng)
    if folds.count == 0:
        raise ValueError("No fold of cv has a training row and a test row among the rows that are not held out: give more folds.")
    predicted, tested = _out_of_fold(fit, X, folds)
    model = fit(rest)
    predicted[ranked] = prediction_of(model, take_rows(X, ranked), len(ranked))
    used = tested | ~kept
    return Trained(model, predicted[used, None], rows=None if used.all() else np.flatnonzero(used), held_out=(~kept[used]).astype(np.uint8))


@dataclass
class _RankedFolds:
    folds: Folds
    ranked: list[IndexArray]  # rows of each fold, equally many


def _equal_folds(cv: int | Folds, guarantee: Guarantee, rows: int, rng: np.random.Generator) -> _RankedFolds:
    """Folds of which equally many rows are ranked.

    Drawn ones have equal size, and the few remaining rows train every model. Of given ones as many rows are ranked as the smallest
    has; the others of a fold stay in it: they do not train its model.
    """
    count = guarantee.folds
    if not isinstance(cv, Folds):
        each = guarantee.fold_size(rows)
        fold = np.full(rows, count)
        fold[rng.permutation(rows)[: each * count]] = np.repeat(np.arange(count), each)
        tests = [np.flatnonzero(fold == k) for k in range(count)]
        return _RankedFolds(Folds(rows, [np.flatnonzero(fold != k) for k in range(count)], tests, given=False), tests)
    each = guarantee.fold_size(count * min(len(test) for test in cv.test))
    return _RankedFolds(cv, [np.sort(rng.permutation(test)[:each]) for test in cv.test])


def _train_folds(fit: _Fit, X: Any, plan: _RankedFolds) -> Trained:
    """Cross: neither model k nor its calibration uses rows of fold k.

    Column k has, for a row of fold k, the prediction of model k, trained on the rows outside fold k; rows to come get the same. For a
    row of another fold j it has that of a model trained without folds j and k, so that the residuals that calibrate model k are out
    of fold among the rows outside fold k. These models of pairs are not kept.
    """
    folds, ranked = plan.folds, plan.ranked
    given = np.empty((folds.rows, folds.count))

    def train_without(*left_out: int) -> Any:
        return fit(reduce(np.intersect1d, [folds.train[k] for k in left_out]))

    def fill(model: Any, of_fold: int, column: int) -> None:
        unseen = ranked[of_fold]
        given[unseen, column] = prediction_of(model, take_rows(X, unseen), len(unseen))

    for j, k in combinations(range(folds.count), 2):
        model = train_without(j, k)
        fill(model, j, k)
        fill(model, k, j)
    models = [train_without(k) for k in range(folds.count)]
    for k, model in enumerate(models):
        fill(model, k, k)
    fold = np.full(folds.rows, folds.count)
    for k, rows_of_fold in enumerate(ranked):
        fold[rows_of_fold] = k
    rows = np.flatnonzero(fold < folds.count)
    return Trained(FoldModels(models), given[rows], rows=rows, fold=fold[rows].astype(np.uint32))
