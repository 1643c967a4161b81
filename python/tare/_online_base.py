# SPDX-License-Identifier: BSD-3-Clause
"""The model inside an online model: a model of tare as an estimator, or a model of another library."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._calibrator import Calibrator
from ._columns import free_name, given_names, table_of
from ._estimator import QuantileEstimator
from ._input import Features
from ._predictor import Predictor
from ._regressor import QuantileRegressor
from ._sklearn import is_classifier

_ONLINE = "online"


def tare_model(model: Any) -> QuantileEstimator | None:
    """The model as an estimator of this package, which goes into the model file; None: it has another library's `predict`, or is None."""
    if isinstance(model, (str, os.PathLike)):
        return estimator_of(_core.load_model(os.fspath(model)), None, os.fspath(model))
    if isinstance(model, Predictor):
        return estimator_of(model._model, None, "the Predictor's model")
    if isinstance(model, QuantileEstimator):
        _refuse(model._core_model(), type(model).__name__)
        return model
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}: pass a fitted instance.")
    if model is not None and is_classifier(model):
        raise ValueError(f"model {model!r} is a classifier, whose classes have no quantiles. Pass a regressor.")
    return None


def estimator_of(core: _core.Model, wrapped: Any, name: str) -> QuantileEstimator:
    """A model of a file as an estimator; `wrapped` is the model that it calibrates, if it calibrates one."""
    _refuse(core, name)
    if core.schema is None:  # fitted on plain numbers: its file has names for them
        core = _core.load_bytes(core.to_bytes())
    if core.given > 0:
        return Calibrator._from_core(core, wrapped)
    return QuantileRegressor._from_core(core)


def _refuse(core: _core.Model, name: str) -> None:
    if core.method == _ONLINE:
        raise ValueError(f"model: {name} already follows a stream. OnlineCalibrator.load(path) goes on with it.")
    window = core.schema.window if core.schema else 1
    if window > 1:
        raise ValueError(
            f"model: {name} reads {window} rows at a time (window={window}), but a stream gives it one: fit it without a window."
        )


def schema_for(base: QuantileEstimator, X: Any, y_pred: Any, y_std: Any) -> _core.Schema:
    """The columns of the model, or, of one that was fitted on plain numbers, x0, x1, ... and y."""
    core = base._core_model()
    if core.schema is not None:
        return core.schema
    read = base._encode_rows(X, y_pred, y_std)
    features = Features(len(read.x), read.x.shape[1], None, read.x, None).with_columns()
    taken = [column.name for column in features.columns or []]
    given = given_names(core.form, taken) if core.given else []
    table = table_of(features, read.given, given)
    return _core.Schema.learn(table, free_name("y", taken + given), core.form, given, "error")


def is_online(core: _core.Model) -> bool:
    return core.method == _ONLINE
