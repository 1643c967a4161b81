# SPDX-License-Identifier: BSD-3-Clause
"""From columns of X to rows of the core: the fitted model, groups, categories and levels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._columns import column_place, table_of
from ._frames import Column, number_text
from ._input import Features, read_features
from ._output import short
from ._types import AnswerArray, FloatArray, IndexArray
from ._warnings import TareWarning

_UNSEEN_GROUP = 2**32 - 1  # as the core numbers a group that was not there at fit


class CoreModel:
    """A fitted model of the core. It is pickled as the bytes of its model file."""

    row_plan: Any = None  # a RowPlan, made by `encode_row`

    def __init__(self, core: _core.Model) -> None:
        self.core = core

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self.core.to_bytes(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> CoreModel:
        return self  # it never changes


def schema_of(core: _core.Model) -> _core.Schema:
    """The schema of a model from a file, which always has one."""
    assert core.schema is not None
    return core.schema


def _from_bytes(content: bytes) -> CoreModel:
    return CoreModel(_core.load_bytes(content))


@dataclass
class EncodedRows:
    """Rows for the core: the columns that it reads, given predictions, groups, and their places in X."""

    x: AnswerArray
    given: FloatArray | None
    group: npt.NDArray[np.uint32] | None
    rows: IndexArray | None  # of X; None: all
    count: int  # rows of X

    @property
    def double(self) -> FloatArray:
        return np.ascontiguousarray(self.x, dtype=np.float64)


def read_group(X: Any, place: int) -> Column:
    """The column of groups, of any readable type."""
    columns = read_features(X, allow_missing=True, select=lambda count, names: [place]).with_columns().columns
    assert columns is not None
    return columns[0]


def group_table(column: Column, rows: int) -> _core.Table:
    return table_of(Features(rows, 1, None, None, [column]), None, [])


def group_place(name: str, features: Features, given: Any) -> int:
    """The index in X of the column of groups; `given`: as the parameter `group` names it."""
    if features.names is not None and name in features.names:
        return features.names.index(name)
    if features.names is None and given is not None and not isinstance(given, str):
        return column_place(given, features.count, None, "group")
    if features.names is None and name[:1] == "x" and name[1:].isdigit() and int(name[1:]) < features.count:
        return int(name[1:])
    raise ValueError(f"X has no column {name!r}, within whose values the guarantee holds.")


def groups_of(features: Features, schema: _core.Schema, warn: bool) -> npt.NDArray[np.uint32]:
    assert features.group is not None
    codes = schema.group_codes(group_table(features.group, features.rows))
    unseen = int((codes == _UNSEEN_GROUP).sum())
    if unseen and warn:
        text = (
            f"{unseen} rows have a value of {schema.group!r} that was not there at fit; they use the ranks of all rows, and nothing is "
            "guaranteed for them."
        )
        warnings.warn(TareWarning("unseen_group", unseen, text), stacklevel=5)
    return codes


def fit_to_schema(column: Column, name: str, categorical: bool) -> None:
    """Gives a column the name and the type that it had at fit."""
    column.name = name
    if categorical and column.numbers is not None and not np.isnan(column.numbers).all():
        column.texts = [None if np.isnan(v) else number_text(v) for v in column.numbers]
        column.numbers = None
    elif categorical:
        column.texts = column.texts if column.texts is not None else [None] * len(column.numbers if column.numbers is not None else [])
        column.numbers = None
    elif column.numbers is None:
        raise ValueError(f"column {name!r} has texts, but it was numeric when the model was fitted.")


def no_alpha(alpha: Any) -> str:
    try:
        instead = f"confidence_level={short(1 - float(alpha))}"
    except (TypeError, ValueError):
        instead = "confidence_level=1 - alpha"
    return f"alpha is not an argument of predict_interval: pass {instead}, which is 1 - alpha."


def read_levels(levels: npt.ArrayLike) -> list[float]:
    values = [float(level) for level in np.atleast_1d(np.asarray(levels, dtype=np.float64)).ravel()]
    if not values:
        raise ValueError("quantiles is empty; give at least one level in (0, 1).")
    for value in values:
        if not 0.0 < value < 1.0:
            raise ValueError(f"quantiles must lie strictly between 0 and 1, got {value}.")
    return values
