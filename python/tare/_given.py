# SPDX-License-Identifier: BSD-3-Clause
"""Predictions that the core is given: of the wrapped estimator, of one model per fold, or from outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._estimator import prediction_of
from ._fold_models import FoldModels
from ._host import on_host
from ._input import read_prediction, read_target
from ._types import FloatArray


def fold_models(estimator: Any, folds: int) -> FoldModels:
    """The `estimator` argument of `load` for a file with one model per fold."""
    if isinstance(estimator, (list, tuple)):
        estimator = FoldModels(estimator)
    if not isinstance(estimator, FoldModels) or estimator.folds != folds:
        raise TypeError(
            f"The file's guarantee is by {folds} folds with a model for each: pass estimator_ of the Calibrator that was saved, or the "
            f"list of its estimators_; got {estimator!r}."
        )
    return estimator


def read_fold_columns(X: Any, rows: int, y_pred: Any, y_std: Any, folds: int, models: FoldModels | None) -> FloatArray:
    """The predictions of all fold models, one column per fold."""
    if y_std is not None:
        raise ValueError("The model was calibrated with point predictions; y_std has no meaning for it.")
    if y_pred is None:
        if models is None:
            raise ValueError(
                f"The model takes a prediction for each of {folds} folds: load it with estimator=estimator_ of the Calibrator that was "
                f"saved, or pass estimator_.columns(X, len(X)) as y_pred, shape (n, {folds})."
            )
        return models.columns(X, rows)
    given = np.ascontiguousarray(on_host(y_pred, "y_pred"), dtype=np.float64)
    if given.shape != (rows, folds) or not np.isfinite(given).all():
        raise ValueError(
            f"y_pred has shape {given.shape}, where finite numbers of shape ({rows}, {folds}) are expected: a column for each fold."
        )
    return given


def read_given(X: Any, rows: int, y_pred: Any, y_std: Any, quantiles: Any, estimator: Any) -> tuple[FloatArray, _core.GivenForm]:
    """The given predictions for each row, and the form of their columns."""
    if y_pred is None and estimator is None:
        also = " (and their standard deviations as y_std, if it was calibrated with them)" if y_std is None and quantiles is None else ""
        raise ValueError(f"The model was calibrated with given predictions: pass them as y_pred{also}.")
    if quantiles is not None:
        if y_pred is None:
            raise ValueError("quantiles describes the columns of y_pred, but y_pred was not passed.")
        given = np.ascontiguousarray(on_host(y_pred, "y_pred"), dtype=np.float64)
        levels = [float(level) for level in quantiles]
        if given.shape != (rows, len(levels)):
            raise ValueError(f"y_pred has shape {given.shape}, where ({rows}, {len(levels)}) is expected: a column for each level.")
        return given, _core.GivenForm("quantiles", levels)
    point = prediction_of(estimator, X, rows) if y_pred is None else read_prediction(y_pred, rows)
    if y_std is None:
        return point[:, None], _core.GivenForm()
    spread = read_target(y_std, rows, what="y_std")
    if (spread <= 0).any():
        row = int(np.flatnonzero(spread <= 0)[0])
        raise ValueError(f"y_std is {spread[row]} in row {row}; standard deviations must be above 0.")
    return np.ascontiguousarray(np.column_stack([point, spread])), _core.GivenForm("mean_sd")
