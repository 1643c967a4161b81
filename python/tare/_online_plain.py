# SPDX-License-Identifier: BSD-3-Clause
"""The short way of one row of plain numbers through a stream: the core reads the row, asks the model outside and makes the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._single_row import RowPlan

if TYPE_CHECKING:
    from ._online_rows import StreamRows


def plain_way(stream: StreamRows, own: dict[str, Any]) -> Any:
    """The short way, PlainRows of the core, if the stream has one; otherwise None or False. `own` are the attributes of the stream.

    Whether a row may take it the core says. If not, the outcome is None, or a tuple with the `y_pred` with which the usual way goes on.
    """
    if "_model" not in own:
        return None
    model = own["_model"]
    way = model.plain
    if way is None:
        way = model.plain = _way_of(stream) or False
    return way


def _way_of(stream: StreamRows) -> _core.PlainRows | None:
    """What is known about the rows of a stream before any comes."""
    model = stream._model
    plan = RowPlan(model.core)
    names = hasattr(stream, "feature_names_in_")
    if not plan.serves or plan.by_fold or names or stream._late or plan.features != stream.n_features_in_:
        return None
    asked = stream._asked
    one = len(asked.intervals) == 1 and not asked.several
    # Where the stream has the ends of its interval, if it keeps one.
    interval = model.places_of(list(_core.interval_levels(asked.intervals[0]))) if one else None
    return _core.PlainRows(model.learner, plan.given > 0, interval or [])
