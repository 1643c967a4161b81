# SPDX-License-Identifier: BSD-3-Clause
"""The answers of a model for one partition of rows. It knows no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._columns import table_of
from ._encoding import read_levels
from ._input import read_features
from ._output import short
from ._settings import threads_of
from ._types import FloatArray, IndexArray


@dataclass(frozen=True)
class Asked:
    """What is asked of every row: quantiles at levels, then central intervals, then diagnostics."""

    levels: tuple[float, ...] = ()
    intervals: tuple[float, ...] = ()
    diagnostics: bool = False

    @classmethod
    def of(cls, quantiles: npt.ArrayLike = (), interval: npt.ArrayLike = (), diagnostics: bool = False) -> Asked:
        intervals = tuple(float(level) for level in np.atleast_1d(interval))
        for level in intervals:
            _core.interval_levels(level)  # refuses one outside (0, 1)
        levels = tuple(read_levels(quantiles)) if np.size(quantiles) else ()
        if not levels and not intervals:
            raise ValueError("nothing is asked: pass quantiles or an interval.")
        return cls(levels, intervals, diagnostics)

    @property
    def all_levels(self) -> list[float]:
        return [*self.levels, *(bound for level in self.intervals for bound in _core.interval_levels(level))]

    @property
    def level_names(self) -> list[str]:
        return [f"q{short(level)}" for level in self.levels] + [
            f"{end}_{short(level)}" for level in self.intervals for end in ("lower", "upper")
        ]

    def names(self, model: Any) -> list[str]:
        """Names of the columns of an answer; those of diagnostics depend on the model."""
        if not self.diagnostics:
            return self.level_names
        if not isinstance(model, _core.Model):
            raise ValueError("diagnostics need a model file; pass the path of one, or use Calibrator.diagnostics on one machine.")
        return list(_predictor(model, self).names)


def check_model(model: Any) -> None:
    """Refuses a model whose answers depend on other rows: partitions have no order."""
    core = model if isinstance(model, _core.Model) else model._core_model()
    if core.method == "online":
        raise ValueError("the model learns from rows in order (tare track); partitions have none. Use `tare predict` on one machine.")
    if core.schema is not None and core.schema.window > 1:
        raise ValueError(
            f"the model reads windows of {core.schema.window} rows in time order; partitions have no order. Use `tare predict` on one machine."
        )


def answers(model: Any, asked: Asked, frame: Any, threads: int | None = 1) -> tuple[FloatArray, IndexArray]:
    """The columns of `asked.names` for the rows of a frame, and these rows: all but those that the model leaves out for missing values."""
    if len(frame) == 0:
        return np.empty((0, len(asked.names(model)))), np.empty(0, dtype=np.intp)
    if isinstance(model, _core.Model):
        features = read_features(frame, allow_missing=True).with_columns()
        values, rows = _predictor(model, asked).answer(table_of(features, None, []), threads_of(threads))
        return np.asarray(values), np.asarray(rows)
    values = np.asarray(model.predict_quantiles(frame, asked.all_levels), dtype=np.float64)
    return values, np.arange(len(values))


def _predictor(model: _core.Model, asked: Asked) -> _core.Predictor:
    return _core.Predictor(model, list(asked.levels), list(asked.intervals), asked.diagnostics, [], None)


def input_columns(model: Any) -> Sequence[str] | None:
    """Columns of a frame that the model reads; None: all."""
    core = model if isinstance(model, _core.Model) else None
    if core is None or core.schema is None:
        return None
    schema = core.schema
    names = [name for name, _ in schema.inputs] + list(schema.given_columns)
    if schema.group and schema.group not in names:
        names.append(schema.group)
    return names
