# SPDX-License-Identifier: BSD-3-Clause
"""``tare track`` as a function: the rows of a table in time order, each answered before its target is seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._columns import free_name, table_of
from ._encoding import fit_to_schema
from ._estimator import prediction_of, threads_of
from ._frames import is_frame
from ._input import read_features, row_count
from ._online import OnlineCalibrator
from ._online_base import tare_model
from ._online_state import Drift, count_of, levels_and_intervals, method_settings, rate_of
from ._output import as_container, short
from ._progress import progress_for
from ._settings import seed_of
from ._types import FloatArray, IndexArray, Progress, RandomState
from ._warnings import TareWarning, read_warnings


@dataclass(frozen=True)
class TrackedInterval:
    """How an interval did over the answered rows with a target.

    Attributes
    ----------
    confidence : float
    coverage : float
        Share of the targets inside; NaN if there are none.
    bound : float
        What is proven about |coverage - confidence|, whatever the targets were. 1: nothing.
    mean_width, winkler : float
        Mean width, and mean interval score of Winkler: the width, and 2 / (1 - confidence) times the distance of targets outside.
    worst_stretch : float
        Lowest coverage of 100 consecutive rows; NaN below 100 rows.
    """

    confidence: float
    coverage: float
    bound: float
    mean_width: float
    winkler: float
    worst_stretch: float


class Tracked:
    """What `track` returns: the answers, how they did, alarms of drift, and the online model after the last row.

    Attributes
    ----------
    names : list of str
        Names of the columns of answers: q0.05, lower_0.9, ...
    values : array of shape (n, len(names))
        An answer for each row of `rows`.
    rows, targets, predictions : array
        The answered rows of the data, their targets (NaN: none), and the predictions that were calibrated.
    intervals : list of TrackedInterval
        One for each interval.
    coverage, mean_width, winkler, worst_stretch, bound : float
        Those of the first interval; NaN without one.
    alarms : list of Drift
        The alarm of drift, if there was one; its rows are rows of the data.
    model : OnlineCalibrator
        Goes on from here: `update`, `predict_interval`, `save`.
    notices : list of TareWarning
        Notices about the rows: left out, filled in, of a new category.
    """

    def __init__(self, found: dict[str, Any], model: OnlineCalibrator, like: Any) -> None:
        self.names: list[str] = found["names"]
        self.values: FloatArray = found["values"]
        self.rows: IndexArray = found["rows"].astype(np.intp)
        self.targets: FloatArray = found["targets"]
        self.predictions: FloatArray = found["predictions"]
        self.intervals = [TrackedInterval(**interval) for interval in found["intervals"]]
        self.model = model
        watch = model.drift_
        self.alarms = [
            Drift(watch.log_e, watch.threshold, alarm["row"], alarm["change"], alarm["scale"], alarm["shift"], watch.causes)
            for alarm in found["alarms"]
        ]
        self.notices: list[TareWarning] = read_warnings(found["notices"])
        self._like = like

    @property
    def frame(self) -> Any:
        """The answers as a frame: of polars if the data was one of polars, else of pandas, with the index of the answered rows."""
        if type(self._like).__module__.startswith("polars"):
            return as_container(self.values, self.names, "polars", None)
        frame = as_container(self.values, self.names, "pandas", None)
        index = getattr(self._like, "index", None)
        frame.index = self.rows if index is None or callable(index) else index[self.rows]
        return frame

    def _first(self, name: str) -> float:
        return float(getattr(self.intervals[0], name)) if self.intervals else float("nan")

    @property
    def coverage(self) -> float:
        """Share of the targets inside the first interval."""
        return self._first("coverage")

    @property
    def bound(self) -> float:
        """What is proven about |coverage - confidence| of the first interval."""
        return self._first("bound")

    @property
    def mean_width(self) -> float:
        """Mean width of the first interval."""
        return self._first("mean_width")

    @property
    def winkler(self) -> float:
        """Mean Winkler score of the first interval."""
        return self._first("winkler")

    @property
    def worst_stretch(self) -> float:
        """Lowest coverage of 100 consecutive rows of the first interval."""
        return self._first("worst_stretch")

    def __repr__(self) -> str:
        lines = [f"{len(self.rows)} rows answered"]
        for interval in self.intervals:
            stretch = "" if np.isnan(interval.worst_stretch) else f", lowest coverage of 100 rows {interval.worst_stretch:.2f}"
            proven = f"; proven: within {interval.bound:.3f} of {short(interval.confidence)}" if interval.bound < 1.0 else ""
            lines.append(
                f"{short(interval.confidence)} interval: coverage {interval.coverage:.3f}, mean width {interval.mean_width:.4g}, "
                f"mean Winkler score {interval.winkler:.4g}{stretch}{proven}"
            )
        for alarm in self.alarms:
            causes = "".join(f"; mostly where {cause}" for cause in alarm.causes)
            lines.append(
                f"drift: alarm at row {alarm.alarm_row}, change from about row {alarm.change_row} "
                f"(spread x {alarm.scale:.2g}, shift {alarm.shift:.2g} sd){causes}"
            )
        return "\n".join(lines)


def track(
    data: Any,
    target: str | None = None,
    *,
    prediction: str | None = None,
    model: Any = None,
    interval: Any = None,
    levels: Any = None,
    start: int = 100,
    delay: int = 0,
    known_later: Iterable[str] | None = None,
    period: Any = "auto",
    lags: Any = "auto",
    window: int | None = None,
    features: Iterable[str] | None = None,
    drop: Iterable[str] | None = None,
    categorical: Iterable[str] | None = None,
    missing: str = "error",
    method: str = "snq",
    options: Mapping[str, Any] | None = None,
    drift_rate: float = 0.01,
    diagnostics: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Tracked:
    """Follows the rows of a table in time order, as ``tare track`` does: answers each before its target is seen, and then learns it.

    No answer depends on a later row. Rows at the end without a target are answered only.

    Parameters
    ----------
    data : data frame or path
        Rows in time order; of a path, a CSV or TSV file, plain or .gz.
    target : str or None
        Column to predict. None: that of `model`, if it is a model of tare.
    prediction : str or None
        Column with the predictions whose errors are calibrated.
    model : object with `predict`, callable, path, Calibrator, QuantileRegressor, Predictor or None
        The fitted model whose errors are calibrated, as in `OnlineCalibrator`. Without `prediction` and `model`, tare has a model of its own.
    interval, levels, start, delay, known_later, period, lags, window, missing, method, options, drift_rate, random_state, n_jobs
        As in `OnlineCalibrator`.
    features, drop, categorical : list of str or None
        Columns to use (None: every other column), to leave out, and those whose numbers are category codes.
    diagnostics : bool
        Whether to add columns: prediction, effective_n, coverage_0.9 (so far), drift_log_e.
    verbose : int
        1 shows a progress bar on stderr.
    progress : callable or None
        Called with the stage and the share that is done.

    Returns
    -------
    Tracked

    Examples
    --------
    >>> import numpy as np, pandas, tare
    >>> rng = np.random.default_rng(0)
    >>> data = pandas.DataFrame({"hour": np.arange(600) % 24, "forecast": rng.normal(size=600)})
    >>> data["load"] = data["forecast"] + rng.normal(size=600) * (0.1 + data["hour"] / 24)
    >>> tracked = tare.track(data, "load", prediction="forecast", interval=0.8)
    >>> bool(0.7 < tracked.coverage < 0.9)
    True
    >>> list(tracked.frame.columns)
    ['lower_0.8', 'upper_0.8']
    """
    if prediction is not None and model is not None:
        raise ValueError("prediction and model both say where the predictions come from: leave one of them out.")
    base = tare_model(model)
    if target is None and base is None:
        raise ValueError("target is None: name the column to predict.")
    kept, intervals = levels_and_intervals(levels, interval)
    warm_up = count_of(start, "start")
    named = {
        "features": _names(features, "features"),
        "drop": _names(drop, "drop"),
        "categorical": _names(categorical, "categorical"),
        "known_later": _names(known_later, "known_later"),
    }
    if isinstance(data, (str, os.PathLike)):
        if model is not None and base is None:
            raise TypeError(
                "model has a predict method of Python, but data is a file: read it into a frame, or name the column with prediction=."
            )
        table = _core.read_data_file(os.fspath(data))
    else:
        table, prediction = _table_of(data, target, prediction, model if base is None else None, warm_up, named)
    if base is not None and base._core_model().schema is None:
        raise ValueError("model was fitted on an array, whose columns have no names: fit it on a frame, or use OnlineCalibrator.")
    with progress_for(verbose, progress) as bar:
        found = _core.track(
            table=table,
            target=target or "",
            prediction=prediction or "",
            model=None if base is None else base._core_model(),
            levels=kept,
            intervals=intervals,
            start=warm_up,
            delay=count_of(delay, "delay"),
            missing=missing,
            method=method,
            options=method_settings(options, period=period, lags=lags, window=window),
            drift_rate=rate_of(drift_rate),
            seed=seed_of(random_state),
            diagnostics=bool(diagnostics),
            threads=threads_of(n_jobs),
            progress=bar,
            **named,
        )
    online = OnlineCalibrator._from_core(found["model"], model if base is None else getattr(base, "estimator_", None))
    return Tracked(found, online, None if isinstance(data, (str, os.PathLike)) else data)


def _names(columns: Any, what: str) -> list[str]:
    if columns is None:
        return []
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{what} has {name!r}, where the name of a column is expected.")
    return names


def _table_of(
    data: Any, target: str | None, prediction: str | None, model: Any, start: int, named: dict[str, list[str]]
) -> tuple[_core.Table, str | None]:
    """The columns of a frame that are used, with the predictions of a model of another library."""
    if not is_frame(data):
        raise TypeError(f"data must be a data frame or the path of a file, got {type(data).__name__}; OnlineCalibrator.track takes arrays.")
    if row_count(data) <= start:
        raise ValueError(f"data has {row_count(data)} rows, and the first {start} are for warming up: use a smaller start.")
    names = [str(name) for name in (data.column_names if hasattr(data, "column_names") else data.columns)]
    chosen = [name for name in named["features"] or names if name not in named["drop"] and name not in (target, prediction)]
    needed = chosen + [name for name in (target, prediction) if name is not None]
    for name in [*needed, *named["drop"], *named["categorical"], *named["known_later"]]:
        if name not in names:
            raise ValueError(f"data has no column {name!r}; it has {names}.")
    read = read_features(data, allow_missing=True, select=lambda count, all_names: [names.index(name) for name in needed]).with_columns()
    for column in read.columns or []:
        if column.name in named["categorical"]:
            fit_to_schema(column, column.name, True)
    table = table_of(read, None, [])
    named["features"], named["drop"], named["categorical"] = [], [], []
    if model is not None:
        prediction = free_name("prediction", names)
        table.add_numbers(prediction, prediction_of(model, data[chosen], read.rows))
    return table, prediction
