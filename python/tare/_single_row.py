# SPDX-License-Identifier: BSD-3-Clause
"""The short way of a single row of plain numbers to the core: the checks of `_input`, without what only tables need."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._encoding import EncodedRows
from ._input import read_prediction

if TYPE_CHECKING:
    from ._estimator import QuantileEstimator


class RowPlan:
    """What is known about a core's rows before any comes. The core never changes, so it is made once for each."""

    def __init__(self, core: _core.Model) -> None:
        schema = core.schema
        plain = schema is None or (
            schema.missing == "error"
            and schema.window == 1
            and not schema.group
            and not any(categorical for _, categorical in schema.inputs)
        )
        self.features = core.features
        self.given = core.given
        kind = core.form.kind
        self.by_fold = kind == "fold_points"
        # Without a given prediction, or with points of the wrapped model or of those of the folds.
        self.serves = plain and (core.given == 0 or kind in ("point", "fold_points"))


def encode_row(estimator: QuantileEstimator, X: Any, y_pred: Any, y_std: Any) -> EncodedRows | None:
    """What `QuantileEstimator._encode_rows` returns for one row of finite float64 numbers; None for everything else, errors included."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) != 1 or not X.flags.c_contiguous:
        return None
    if y_std is not None or hasattr(estimator, "feature_names_in_"):
        return None
    model = getattr(estimator, "_model", None)
    if model is None:
        return None
    plan = model.row_plan
    if plan is None:
        plan = model.row_plan = RowPlan(model.core)
    if not plan.serves or X.shape[1] != plan.features or plan.features != estimator.n_features_in_:
        return None
    if not all(map(math.isfinite, X[0].tolist())):
        return None
    if plan.given == 0:
        return EncodedRows(X, None, None, None, 1) if y_pred is None else None
    wrapped = getattr(estimator, "estimator_", None)
    if plan.by_fold:
        return None if y_pred is not None or wrapped is None else EncodedRows(X, wrapped.columns(X, 1), None, None, 1)
    if y_pred is None:
        predict = getattr(wrapped, "predict", None) or wrapped
        if not callable(predict):
            return None
        y_pred = predict(X)
    # The wrapped model is not asked twice, whatever form its answer has.
    return EncodedRows(X, read_prediction(y_pred, 1)[:, None], None, None, 1)
