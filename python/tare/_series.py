# SPDX-License-Identifier: BSD-3-Clause
"""Rows in time order: each row with the rows before it, as the tool's ``--window`` joins them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from ._encoding import EncodedRows
from ._types import AnswerArray

_Rows = TypeVar("_Rows", bound=npt.NDArray[Any])


def window_of(window: Any, method: str, options: dict[str, Any]) -> int:
    """The number of rows that the model sees at a time. None: the method's own, or 1 if its option `window` says that columns are steps."""
    if window is None:
        return 1 if "window" in options else int(_core.method(method)["window"])
    if isinstance(window, (bool, np.bool_)) or not isinstance(window, (int, np.integer)) or not 1 <= window <= _core.largest_window:
        raise ValueError(f"window must be a whole number from 1 to {_core.largest_window}, or None, got {window!r}.")
    return int(window)


def window_argument(core: _core.Model) -> int | None:
    """The argument `window` with which a loaded model would be fitted."""
    window = core.schema.window if core.schema else 1
    return None if window == window_of(None, core.method, core.options) else window


def join_rows(x: AnswerArray, window: int) -> AnswerArray:
    """Each row with the window - 1 rows before it, oldest first, side by side; the first window - 1 rows are left out."""
    if window == 1:
        return x
    if len(x) < window:
        return np.empty((0, x.shape[1] * window), dtype=x.dtype)
    steps = np.lib.stride_tricks.sliding_window_view(x, window, axis=0)  # (rows, columns, steps)
    return np.ascontiguousarray(steps.transpose(0, 2, 1)).reshape(len(steps), -1)


def later_rows(values: _Rows | None, window: int) -> _Rows | None:
    """Without the first rows, which have no full window."""
    return values if values is None or window == 1 else np.ascontiguousarray(values[window - 1 :])  # type: ignore[return-value]


def last_step(columns: list[int], width: int, window: int) -> list[int]:
    """Where columns of a row stand in its window: at the last step."""
    return [(window - 1) * width + column for column in columns]


def check_rows(rows: int, window: int) -> None:
    if rows - window + 1 < 2:
        raise ValueError(f"{rows} rows have {max(0, rows - window + 1)} full windows of {window} rows: at least 2 are required.")


def with_past(core: _core.Model, read: EncodedRows) -> EncodedRows:
    """Rows to predict as the core takes them: each with its past, without the first ones, which have none."""
    window = core.schema.window if core.schema else 1
    if window == 1:
        return read
    indices = np.arange(read.count) if read.rows is None else read.rows
    return EncodedRows(
        join_rows(read.x, window), later_rows(read.given, window), later_rows(read.group, window), indices[window - 1 :], read.count
    )


def notices(core: _core.Model) -> list[tuple[str, int, str]]:
    """About the rows of a call that have no full window."""
    window = core.schema.window if core.schema else 1
    if window == 1:
        return []
    first = "the first row has" if window == 2 else f"the first {window - 1} rows have"
    return [("left_out_rows", window - 1, f"{first} no full window of {window}: NaN is the answer")]
