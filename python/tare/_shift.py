# SPDX-License-Identifier: BSD-3-Clause
"""Weights for covariate shift: rows of a fit are weighted to resemble the rows to predict."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from . import _core
from ._columns import name_difference, table_of
from ._input import Features, read_features
from ._series import join_rows
from ._types import AnswerArray, FloatArray, Progress
from ._warnings import TareWarning

_FEW = 100.0  # effective rows; as the tool


def weigh_towards(
    shift_to: Any,
    features: Features,
    schema: _core.Schema | None,
    missing: str,
    x: AnswerArray,
    weight: FloatArray | None,
    *,
    seed: int,
    threads: int,
    progress: Progress | None,
) -> _core.ShiftWeights:
    """The weights of the rows of a fit, x, towards the rows `shift_to`, which have the same columns."""
    try:
        fresh = read_features(
            shift_to, allow_missing=missing != "error", select=lambda count, names: features.places if count == features.count else None
        )
    except (TypeError, ValueError) as error:
        raise type(error)(f"shift_to: {error}") from error
    _check_columns(features, fresh)
    if missing == "drop":
        fresh = fresh.take(fresh.complete())
    if schema is None:
        if fresh.array is None:
            raise ValueError("shift_to has columns with texts or missing values, but X has numbers only.")
        rows = fresh.array
    else:
        fresh = fresh.with_columns()
        for column, (name, _) in zip(fresh.columns or [], schema.inputs):
            column.name = name
        rows = join_rows(_core.encode_features(schema, table_of(fresh, None, []), missing), schema.window)
    found = _core.weigh_towards(
        np.ascontiguousarray(x, dtype=np.float64), weight, np.ascontiguousarray(rows, dtype=np.float64), seed, threads, progress
    )
    if found.effective_rows < max(_FEW, 0.1 * len(x)):
        text = (
            f"few rows of the fit resemble those of shift_to (effective sample size {found.effective_rows:.0f} of {len(x)} rows), so the "
            "answers depend on these few rows"
        )
        warnings.warn(TareWarning("few_shifted_rows", int(found.effective_rows), text), stacklevel=_frames_inside() + 1)
    return found


def _frames_inside() -> int:
    """How many callers, counted from the caller of this function, are functions of this package."""
    count, frame = 0, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        count, frame = count + 1, frame.f_back  # type: ignore[assignment]
    return count


def _check_columns(features: Features, fresh: Features) -> None:
    if features.names is not None and fresh.names is not None and features.names != fresh.names:
        raise ValueError("shift_to: " + name_difference(features.names, fresh.names))
    if features.count != fresh.count:
        raise ValueError(f"shift_to has {fresh.count} features, but X has {features.count} features")
