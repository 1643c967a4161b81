# SPDX-License-Identifier: BSD-3-Clause
"""Trains a wrapped estimator so that the guarantee of `fit` is proven: the model that ranks a row was not trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ._estimator import prediction_of
from ._guarantee import Guarantee
from ._input import take_rows
from ._sklearn import clone
from ._types import FloatArray, IndexArray


class FoldModels:
    """The models behind guarantee='cross': `models[k]` was trained on the rows outside fold k.

    `predict` gives the mean of all of them.
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
        rows = X.num_rows if hasattr(X, "num_rows") else len(X)
        mean: FloatArray = self.columns(X, rows).mean(axis=1)
        return mean

    def __repr__(self) -> str:
        return f"FoldModels({self.folds} of {self.models[0]!r})" if self.models else "FoldModels([])"


@dataclass
class Trained:
    """A trained estimator and its predictions for the rows that calibrate and the rows that are ranked."""

    model: Any
    given: FloatArray  # (n, 1), or (n, folds) of models for each fold
    rows: IndexArray | None = None  # of X that the core gets; None: all
    held_out: npt.NDArray[np.uint8] | None = None  # 1 for a row that is only ranked
    fold: npt.NDArray[np.uint32] | None = None


def train(estimator: Any, X: Any, y: npt.NDArray[Any], guarantee: Guarantee, cv: int, seed: int) -> Trained:
    """Trains the copies of the estimator that the guarantee needs."""
    rng = np.random.default_rng(seed)
    if guarantee.form == "cross":
        return _train_folds(estimator, X, y, guarantee.folds, guarantee.fold_size(len(y)), rng)
    if guarantee.form == "split":
        return _train_rest(estimator, X, y, guarantee.held_out(len(y)), cv, rng)
    given = _out_of_fold(estimator, X, y, cv, rng)
    return Trained(clone(estimator).fit(X, y), given[:, None])


def _out_of_fold(estimator: Any, X: Any, y: npt.NDArray[Any], cv: int, rng: np.random.Generator) -> FloatArray:
    """Out-of-fold predictions of copies."""
    rows = len(y)
    folds = min(cv, rows)
    order = rng.permutation(rows)
    predicted = np.empty(rows)
    for k in range(folds):
        test = np.sort(order[k::folds])
        rest = np.setdiff1d(np.arange(rows), test, assume_unique=True)
        copy = clone(estimator).fit(take_rows(X, rest), y[rest])
        predicted[test] = prediction_of(copy, take_rows(X, test), len(test))
    return predicted


def _train_rest(estimator: Any, X: Any, y: npt.NDArray[Any], count: int, cv: int, rng: np.random.Generator) -> Trained:
    """Split: no copy is trained on held-out rows; the model of all other rows predicts them, as it predicts new rows."""
    held_out = np.zeros(len(y), dtype=np.uint8)
    held_out[rng.permutation(len(y))[:count]] = 1
    ranked, rest = np.flatnonzero(held_out), np.flatnonzero(held_out == 0)
    X_rest = take_rows(X, rest)
    given = np.empty((len(y), 1))
    given[rest, 0] = _out_of_fold(estimator, X_rest, y[rest], cv, rng)
    model = clone(estimator).fit(X_rest, y[rest])
    given[ranked, 0] = prediction_of(model, take_rows(X, ranked), len(ranked))
    return Trained(model, given, held_out=held_out)


def _train_folds(estimator: Any, X: Any, y: npt.NDArray[Any], folds: int, each: int, rng: np.random.Generator) -> Trained:
    """Cross: neither model k nor its calibration uses rows of fold k.

    Column k has, for a row of fold k, the prediction of model k, trained on the rows outside fold k; rows to come get the same. For a
    row of another fold j it has that of a model trained without folds j and k, so that the residuals that calibrate model k are out
    of fold among the rows outside fold k. These models of pairs are not kept. Folds have equal size; the few remaining rows train
    every model and are not ranked.
    """
    fold = np.full(len(y), folds)
    fold[rng.permutation(len(y))[: each * folds]] = np.repeat(np.arange(folds), each)
    given = np.empty((len(y), folds))

    def train_without(*left_out: int) -> Any:
        rest = np.flatnonzero(~np.isin(fold, left_out))
        return clone(estimator).fit(take_rows(X, rest), y[rest])

    def fill(model: Any, of_fold: int, column: int) -> None:
        unseen = np.flatnonzero(fold == of_fold)
        given[unseen, column] = prediction_of(model, take_rows(X, unseen), len(unseen))

    for j, k in combinations(range(folds), 2):
        model = train_without(j, k)
        fill(model, j, k)
        fill(model, k, j)
    models = [train_without(k) for k in range(folds)]
    for k, model in enumerate(models):
        fill(model, k, k)
    rows = np.flatnonzero(fold < folds)
    return Trained(FoldModels(models), given[rows], rows=rows, fold=fold[rows].astype(np.uint32))
