# SPDX-License-Identifier: BSD-3-Clause
"""From X and y to rows of a stream: its columns, which are those of the first rows, and columns that are known later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._columns import chosen_columns, column_place, free_name, given_names, table_of
from ._encoding import EncodedRows, read_levels
from ._estimator import QuantileEstimator, prediction_of
from ._frames import Select
from ._input import Features, read_features, read_prediction, read_target, row_count, take_rows
from ._online_base import schema_for, tare_model
from ._online_plain import plain_way
from ._online_state import Asked, OnlineCore, count_of, levels_and_intervals, method_settings, rate_of
from ._output import as_container, wanted_container
from ._settings import seed_of, threads_of
from ._single_row import encode_row
from ._sklearn import NotFittedError
from ._types import AnswerArray, FloatArray
from .adapters import as_model

# What a stream consists of; the parameters are not among it.
STATE = ("_model", "_asked", "_base", "_late", "_places", "_loaded", "estimator_", "feature_names_in_", "method_", "n_features_in_")


class StreamRows(QuantileEstimator):
    """The part of `OnlineCalibrator` that reads rows and passes them to the core."""

    model: Any
    interval: Any
    levels: Any
    start: int
    delay: int
    known_later: Any
    period: Any
    lags: Any
    method: str
    options: Mapping[str, Any] | None
    drift_rate: float
    target: str
    estimator_: Any
    _model: Any
    _asked: Asked
    _base: QuantileEstimator | None
    _late: list[str]
    _frames = 2
    bands = "auto"
    group = None
    verbose = 0

    def _learner(self) -> _core.Online:
        if not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has seen no rows. Call 'update' or 'track' with some first."
            )
        learner: _core.Online = self._model.learner
        return learner

    def _core_model(self) -> _core.Model:
        return self._learner().model

    def _take(self, learner: _core.Online, base: QuantileEstimator | None, count: int, names: list[str] | None, asked: Asked) -> None:
        self._model = OnlineCore(learner)
        self._asked = asked
        self._base = base
        self._places = None
        self._loaded = None
        self.method_ = "online"
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _begin(self, X: Any, y_pred: Any, y_std: Any) -> None:
        """Makes the stream: the columns are those of the first rows."""
        base = tare_model(self.model)
        if self.missing not in ("error", "drop", "impute"):
            raise ValueError(f"missing must be 'error', 'drop' or 'impute', got {self.missing!r}.")
        start = count_of(self.start, "start")
        levels, intervals = levels_and_intervals(self.levels, self.interval)
        late: list[str] = []
        if base is None:
            features = read_features(
                X,
                allow_missing=self.missing != "error",
                select=lambda count, names: chosen_columns(self.features, count, names),
            )
            first = np.arange(min(features.rows, max(start, 1)))
            given = None
            if y_pred is not None:
                given = read_prediction(y_pred, features.rows)[first]
            elif self.model is not None:
                given = prediction_of(self.model, take_rows(X, first), len(first))
            schema, late = self._columns_of_first_rows(features.with_columns().take(first), given)
        else:
            if self.known_later is not None or self.features is not None:
                named = "known_later" if self.known_later is not None else "features"
                raise ValueError(
                    f"{named}: a model of tare uses all its columns. Leave the argument out; or fit the model without those columns, or pass "
                    "its predictions as y_pred."
                )
            features = base._kept_rows(X)[1]
            schema = schema_for(base, X, y_pred, y_std)
        learner = _core.Online.start(
            base=None if base is None else base._core_model(),
            own=base is None and self.model is None and y_pred is None,
            schema=schema,
            method=self.method,
            options=method_settings(self.options, period=self.period, lags=self.lags, window=self.window),
            levels=levels,
            intervals=intervals,
            start=start,
            delay=count_of(self.delay, "delay"),
            known_later=schema.columns_of(late) if late else [],
            drift_rate=rate_of(self.drift_rate),
            seed=seed_of(self.random_state),
        )
        names = list(base.feature_names_in_) if base is not None and hasattr(base, "feature_names_in_") else features.names
        self._take(learner, base, features.count, names, Asked(levels, intervals, _is_list(self.interval)))
        self._places = features.places
        self._late = late
        self.estimator_ = getattr(base, "estimator_", None) if base is not None else as_model(self.model)

    def _columns_of_first_rows(self, features: Features, given: FloatArray | None) -> tuple[_core.Schema, list[str]]:
        """The schema, which later rows cannot change, and the columns that are known later."""
        assert features.columns is not None
        taken = [column.name for column in features.columns]
        read = list(range(features.count)) if features.places is None else features.places
        late = []
        for column in [self.known_later] if isinstance(self.known_later, (str, int)) else list(self.known_later or []):
            place = column_place(column, features.count, features.names, "known_later")
            if place not in read:
                raise ValueError(f"known_later names {column!r}, which is not among features: add it there.")
            late.append(taken[read.index(place)])
        form = _core.GivenForm()
        names = given_names(form, [*taken, self.target]) if given is not None else []
        table = table_of(features, None if given is None else given[:, None], names)
        only = taken if features.places is not None and given is not None else []  # the model outside has its own columns
        return _core.Schema.learn(table, free_name(self.target, taken), form, names, self.missing, only), late

    def _teach(self, X: Any, y: Any, y_pred: Any, y_std: Any, *, answers: bool) -> AnswerArray:
        target = read_target(y, row_count(X), allow_missing=True)
        started = hasattr(self, "_model")
        try:
            if not started:
                self._begin(X, y_pred, y_std)
            self._check_late(X, target)
            read = self._rows(X, y_pred, y_std)
            learned = target if read.rows is None else np.ascontiguousarray(target[read.rows])
            end = _with_target(learned) if answers else len(learned)
            values, first = self._learner().teach(read.double, read.given, read.group, learned, end, answers, threads_of(self.n_jobs))
        except BaseException:
            if not started and (not hasattr(self, "_model") or self._learner().coverage()["time"] == 0):
                for name in STATE:
                    self.__dict__.pop(name, None)
            raise
        if not answers:
            return values
        names, places = _core.level_columns(self._asked.levels, self._asked.intervals)
        full = np.full((read.count, len(names)), np.nan)
        rows = np.arange(read.count) if read.rows is None else read.rows
        full[rows[first:]] = values[:, places]
        contained: AnswerArray = as_container(full, names, wanted_container(self), X)
        return contained

    def _rows(self, X: Any, y_pred: Any, y_std: Any) -> EncodedRows:
        return encode_row(self, X, y_pred, y_std) or self._encode_rows(X, y_pred, y_std)

    def _quantile_array(self, X: Any, levels: npt.ArrayLike, y_pred: Any = None, y_std: Any = None, *, warn: bool = False) -> AnswerArray:
        way = plain_way(self, self.__dict__) if y_std is None else None
        places = self._model.places_of(read_levels(levels)) if way else None
        if way and places is not None:
            model = self.estimator_
            answer = way.answer_at(places, X, getattr(model, "predict", None) or model, y_pred)
            if type(answer) is np.ndarray:
                return answer
            if answer is not None:
                y_pred = answer[0]
        return super()._quantile_array(X, levels, y_pred, y_std, warn=warn)

    def _check_late(self, X: Any, target: FloatArray) -> None:
        """Columns that are known later must be known where the target is."""
        if not self._late or self.missing != "error":
            return
        features = read_features(X, allow_missing=True, select=lambda count, names: self._places).with_columns()
        for column in features.columns or []:
            gaps = np.flatnonzero(column.missing() & ~np.isnan(target))
            if column.name in self._late and len(gaps):
                raise ValueError(f"Input X contains NaN: column {column.name!r}, row {gaps[0]}; it must be known with the target.")

    def _encode_rows(self, X: Any, y_pred: Any, y_std: Any, *, warn: bool = False) -> EncodedRows:
        if self._base is not None:
            return self._base._encode_rows(X, y_pred, y_std, warn=warn)
        return super()._encode_rows(X, y_pred, y_std, warn=warn)

    def _read_rows(self, X: Any, missing: str, select: Select) -> Features:
        if not self._late:
            return super()._read_rows(X, missing, select)
        features = read_features(X, allow_missing=True, select=select).with_columns()
        for column in features.columns or []:
            gaps = column.missing()
            if column.name in self._late and gaps.any():  # any value will do: nothing reads it
                text = self._category(column.name)
                if text is not None:
                    column.texts, column.numbers = [text] * features.rows, None
                elif column.numbers is not None:
                    column.numbers = np.where(gaps, 0.0, column.numbers)
            elif missing == "error" and gaps.any():
                row = int(np.flatnonzero(gaps)[0])
                raise ValueError(f"Input X contains NaN: column {column.name!r}, row {row} (use missing='drop' or missing='impute').")
        features.array = None
        return features

    def _category(self, name: str) -> str | None:
        """A category of a column of texts; None for numbers."""
        found = next(column for column in self.describe()["inputs"] if column["name"] == name)
        return str(found["categories"][0]) if found["kind"] == "category" else None

    def _given_for(self, X: Any, features: Features, y_pred: Any, y_std: Any) -> FloatArray | None:
        if y_std is not None:
            raise ValueError("y_std has no meaning here: the stream takes point predictions.")
        if self._core_model().given == 0:
            if y_pred is not None:
                raise ValueError("y_pred was passed, but the stream has a model of its own since its first rows.")
            return None
        if y_pred is not None:
            return read_prediction(y_pred, features.rows)[:, None]
        if self.estimator_ is None:
            raise ValueError("The stream follows predictions from outside: pass them as y_pred, or load the file with model=.")
        return prediction_of(self.estimator_, X, features.rows)[:, None]


def _is_list(interval: Any) -> bool:
    return interval is not None and np.ndim(interval) > 0


def _with_target(target: FloatArray) -> int:
    """The number of rows up to the last one with a target."""
    known = np.flatnonzero(~np.isnan(target))
    return 1 + int(known[-1]) if len(known) else 0
