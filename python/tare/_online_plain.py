# SPDX-License-Identifier: BSD-3-Clause
"""The short way of one row of plain numbers through a stream, which the core checks and passes to the model outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._single_row import RowPlan
from ._types import FloatArray

if TYPE_CHECKING:
    from ._online_rows import StreamRows


class PlainWay:
    """What is known about the rows of a stream before any comes; made once for each stream."""

    def __init__(self, stream: StreamRows) -> None:
        model = stream._model
        plan = RowPlan(model.core)
        names = hasattr(stream, "feature_names_in_")
        self.serves = plan.serves and not plan.by_fold and not names and not stream._late and plan.features == stream.n_features_in_
        self.asks = plan.given > 0  # the model outside, or the caller, has the prediction
        self.learner: _core.Online = model.learner
        asked = stream._asked
        one = len(asked.intervals) == 1 and not asked.several
        # Where the stream has the ends of its interval, if it keeps one.
        self.interval: list[int] | None = model.places_of(list(_core.interval_levels(asked.intervals[0]))) if one else None


def plain_way(stream: StreamRows, X: Any) -> PlainWay | None:
    """The short way, if the stream has one and X may take it: the core looks at the numbers."""
    if type(X) is not np.ndarray:
        return None
    model = stream.__dict__.get("_model")
    if model is None:
        return None
    if model.plain is None:
        model.plain = PlainWay(stream)
    way: PlainWay = model.plain
    return way if way.serves else None


def answer_plain(stream: StreamRows, way: PlainWay, X: Any, places: list[int], y_pred: Any) -> tuple[FloatArray | None, Any]:
    """The answer of a row; or None, and the `y_pred` with which the usual way goes on, so that the model is not asked twice."""
    source = _source(stream, way, y_pred)
    if source is _UNUSUAL:
        return None, y_pred
    out = np.empty((1, len(places)))
    done = way.learner.answer_plain(X, source, places, out)
    if done is True:
        return out, None
    return None, done[0] if done else y_pred


def teach_plain(stream: StreamRows, way: PlainWay, X: Any, y: Any, y_pred: Any) -> tuple[bool, Any]:
    """Whether a row was learned, and the `y_pred` with which the usual way goes on."""
    source = _source(stream, way, y_pred)
    if source is _UNUSUAL or type(y) is not np.ndarray:
        return False, y_pred
    done = way.learner.teach_plain(X, source, y)
    if done is True:
        return True, None
    return False, done[0] if done else y_pred


_UNUSUAL = object()


def _source(stream: StreamRows, way: PlainWay, y_pred: Any) -> Any:
    """Where the prediction comes from: an array, a callable, or None if the stream has a model of its own."""
    if y_pred is not None:
        return y_pred if way.asks and type(y_pred) is np.ndarray else _UNUSUAL
    if not way.asks:
        return None
    wrapped = stream.__dict__.get("estimator_")
    predict = getattr(wrapped, "predict", None) or wrapped
    return predict if callable(predict) else _UNUSUAL
