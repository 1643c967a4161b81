# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of a model in production, which go on learning from its errors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._encoding import schema_of
from ._estimator import DEFAULT_QUANTILES
from ._input import read_target, row_count
from ._inspect import Inspection
from ._loaded import LoadedColumns
from ._online_base import estimator_of, is_online
from ._online_plain import plain_way
from ._online_rows import STATE, StreamRows
from ._online_state import DEFAULT_INTERVAL, Asked, Drift, drift_of, intervals_within, proven_of_interval, stream_facts
from ._settings import threads_of
from ._types import AnswerArray, FloatArray, RandomState
from .adapters import as_model


class OnlineCalibrator(StreamRows):
    """Intervals around a model in production: each row is answered before its target is known, and every target is learned.

    Rows come in time order. The intervals follow the errors of the model: wider where and when it errs more, and moved after each target so
    that the long-run share of misses is right whatever the targets do (`bound_`). An alarm says when the errors have changed (`drift_`).

    Parameters
    ----------
    model : object with `predict`, callable, path, Calibrator, QuantileRegressor, Predictor or None
        The fitted model whose errors are calibrated; it is not trained. A path is a model file of ``tare fit`` or `save`; of a model of
        tare, the prediction is the median, and `save` writes it, too. None: pass predictions as `y_pred`, or none at all. In that case
        tare has a model of its own, trees on the columns, which is fitted after 100 rows and again whenever a tenth more rows have come.
    interval : float, list of floats or None
        Confidence of the central intervals whose coverage is kept. None: 0.9 if there are no `levels`.
    levels : list of floats or None
        Quantile levels that are kept, each for itself.
    start : int
        Rows to warm up: they are learned, `track` does not answer them, and they do not count in `coverage_`. With a `delay`, at least
        ``delay + 2``, so that two targets are known before the first answer.
    delay : int
        Number of rows that are answered after a row before its target is known. 0: the target of a row is known to the next one. `update`
        and `track` then judge each answer as it was possible at the time, without the targets of the `delay` rows before.
    features : list of str or int, mask or None
        Columns of X that tare reads, for a model of another library or `y_pred`; other columns may then have any type, and X may be sparse.
        None: all.
    known_later : list of str or int, or None
        Columns that, like the target, are known only later: answers use their last known value, and in `predict_*` they may be missing. The
        model must not use them; a model of tare uses all its columns, so it cannot have any.
    period : int, 'auto' or 'none'
        Rows of a season. 'auto' finds it by the autocorrelation of the errors.
    lags : list of int or 'auto'
        Past errors that explain the next one, in rows.
    window : int or None
        Trailing rows that are kept. None: the method's default.
    method : str
        A key of `tare.online_methods()`: 'snq', or a method of the literature ('aci', 'dtaci', 'tracker', 'pid', 'eci', 'enbpi',
        'trailing').
    options : dict or None
        More options of the method, as `tare.online_methods()` lists them.
    drift_rate : float
        Probability of a false alarm of drift, over the whole stream, if errors are exchangeable.
    target : str
        Name of the target in the model file of `save`, for ``tare update``.
    missing : {'error', 'drop', 'impute'}
        What to do with missing values in the columns: rows with one are neither learned nor answered ('drop'), or the value is replaced
        by one of the first rows ('impute').
    random_state : int, RandomState, Generator or None
        None means 0: the same rows give the same answers.
    n_jobs : int or None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Attributes
    ----------
    coverage_ : float or array
        Share of the targets since `start` that were inside the interval; an array for a list of intervals; without intervals, the share
        of targets at or below the answer of each of `levels`. NaN before there is one.
    bound_ : float or array
        What is proven about |coverage_ - interval|, whatever the targets were. 1: nothing.
    drift_ : Drift
        Evidence of drift, the alarm and its causes. It is true in an `if` where there is an alarm.
    n_seen_ : int
        Rows of the stream so far.
    method_ : str
        'online'.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns, if X had names.

    Notes
    -----
    Whether rows come one by one, in blocks or after a pickle, the answers have the same bits, if the model's predictions do. Categories of
    text columns, and the values that replace missing ones, are those of the first `start` rows of the first call; so let that have as many.

    Levels that are not kept are interpolated between those that are; nothing is proven for them.

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 1)); y = X[:, 0] + rng.normal(size=400) * 0.1
    >>> online = tare.OnlineCalibrator(lambda X: X[:, 0], interval=0.8)
    >>> answers = online.track(X, y)                      # each row before its target was learned
    >>> bool(0.7 < online.coverage_ < 0.9), online.n_seen_
    (True, 400)
    >>> low, high = online.predict_interval(np.array([[0.5]]))[0]   # of the next row
    >>> bool(0.2 < low < 0.5 < high < 0.8)
    True
    """

    def __init__(
        self,
        model: Any = None,
        *,
        interval: Any = None,
        levels: Any = None,
        start: int = 100,
        delay: int = 0,
        features: Any = None,
        known_later: Any = None,
        period: Any = "auto",
        lags: Any = "auto",
        window: int | None = None,
        method: str = "snq",
        options: Mapping[str, Any] | None = None,
        drift_rate: float = 0.01,
        target: str = "y",
        missing: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.interval = interval
        self.levels = levels
        self.start = start
        self.delay = delay
        self.features = features
        self.known_later = known_later
        self.period = period
        self.lags = lags
        self.window = window
        self.method = method
        self.options = options
        self.drift_rate = drift_rate
        self.target = target
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- learning ------------------------------------------------------------------------------

    def update(self, X: Any, y: Any, *, y_pred: Any = None, y_std: Any = None) -> OnlineCalibrator:
        """Answers each row and then learns its target, in order.

        Parameters
        ----------
        X : array or frame of shape (n, features)
            The next rows of the stream.
        y : array of n numbers
            Their targets. NaN: the target never comes; the row is passed over.
        y_pred, y_std : array or None
            The model's predictions, if they come from outside; `y_std` only for a `Calibrator` that was calibrated with it.
        """
        own = self.__dict__  # looked up once: a row takes few microseconds
        jobs = own["n_jobs"]
        way = plain_way(self, own) if y_std is None and (jobs is None or type(jobs) is int) else None
        if way:
            model = own["estimator_"]
            learned = way.teach(X, y, getattr(model, "predict", None) or model, y_pred)
            if learned is True:
                return self
            if learned is not None:
                y_pred = learned[0]
        self._teach(X, y, y_pred, y_std, answers=False)
        return self

    def partial_fit(self, X: Any, y: Any, *, y_pred: Any = None, y_std: Any = None) -> OnlineCalibrator:
        """The same as `update`."""
        return self.update(X, y, y_pred=y_pred, y_std=y_std)

    def fit(self, X: Any, y: Any, *, y_pred: Any = None, y_std: Any = None) -> OnlineCalibrator:
        """Forgets all rows, and learns these. The model is not trained."""
        if np.isnan(read_target(y, row_count(X), allow_missing=True)).all():
            raise ValueError("Input y contains NaN in all rows: there is nothing to learn.")
        kept = {name: self.__dict__.pop(name) for name in STATE if name in self.__dict__}
        try:
            return self.update(X, y, y_pred=y_pred, y_std=y_std)
        except BaseException:
            self.__dict__.update(kept)
            raise

    def track(self, X: Any, y: Any, *, y_pred: Any = None, y_std: Any = None) -> AnswerArray:
        """Like `update`, and returns the answer of each row, which was given before its target was learned.

        Rows at the end whose target is NaN are answered only. Columns: those of `levels`, then the two ends of each interval: shape (n, 2) for
        one interval; `set_output` gives them names. NaN for the first `start` rows of the stream, for rows before which fewer than two targets
        are known, and for rows that missing='drop' leaves out.
        """
        return self._teach(X, y, y_pred, y_std, answers=True)

    def restart_drift(self) -> OnlineCalibrator:
        """Starts the watch for drift anew with the next row, after an alarm for example. `drift_rate` then holds for the rows from here on."""
        self._learner().restart_drift()
        return self

    # --- answers -------------------------------------------------------------------------------

    def predict(self, X: Any, *, y_pred: Any = None, y_std: Any = None) -> AnswerArray:
        """Point predictions: the model's own. `predict_quantiles(X, 0.5)` has the median, which follows its errors."""
        self._learner()
        read = self._rows(X, y_pred, y_std)
        point = self._learner().predictions(read.double, read.given, read.group, threads_of(self.n_jobs))
        if read.rows is None:
            return point
        full = np.full(read.count, np.nan)
        full[read.rows] = point
        return full

    def predict_interval(
        self, X: Any, confidence_level: npt.ArrayLike | None = None, *, y_pred: Any = None, y_std: Any = None, alpha: None = None
    ) -> AnswerArray:
        """Central intervals, as in `Calibrator`: each row of X is answered as the next row of the stream. Nothing is learned.

        Raises ValueError while fewer than two targets are known. `confidence_level`: None is `interval`, whose coverage is kept.
        """
        if confidence_level is None:
            own = self.__dict__  # looked up once: a row takes few microseconds
            way = plain_way(self, own) if y_std is None and alpha is None and "_sklearn_output_config" not in own else None
            if way:
                model = own["estimator_"]
                answer = way.answer(X, getattr(model, "predict", None) or model, y_pred)
                if type(answer) is np.ndarray:
                    return answer
                if answer is not None:
                    y_pred = answer[0]
            self._learner()
            intervals = self._asked.intervals or [DEFAULT_INTERVAL]
            confidence_level = intervals if self._asked.several else intervals[0]
        return super().predict_interval(X, confidence_level, y_pred=y_pred, y_std=y_std, alpha=alpha)

    def predict_quantiles(self, X: Any, quantiles: npt.ArrayLike | None = None, *, y_pred: Any = None, y_std: Any = None) -> AnswerArray:
        """Quantiles, as in `Calibrator`: each row of X is answered as the next row of the stream. Nothing is learned.

        `quantiles`: None is `levels`, or 0.05, 0.5 and 0.95 without.
        """
        if quantiles is None:
            self._learner()
            quantiles = self._asked.levels or DEFAULT_QUANTILES
        return super().predict_quantiles(X, quantiles, y_pred=y_pred, y_std=y_std)

    # --- what is known -------------------------------------------------------------------------

    @property
    def coverage_(self) -> float | FloatArray:
        """Share of the targets since `start` inside the interval."""
        counted = self._learner().coverage()
        places, intervals = self._asked.places()
        if not intervals:
            return np.array([counted["share_below"][j] for j in places])
        return self._per_interval([counted["share_between"][low][high] for low, high in intervals])

    @property
    def bound_(self) -> float | FloatArray:
        """What is proven about |coverage_ - interval|."""
        counted = self._learner().coverage()
        places, intervals = self._asked.places()
        if not intervals:
            return np.array([counted["bound"][j] for j in places])
        return self._per_interval([proven_of_interval(counted, low, high) for low, high in intervals])

    @property
    def drift_(self) -> Drift:
        """Evidence of drift, the alarm and its causes."""
        return drift_of(self._learner())

    @property
    def n_seen_(self) -> int:
        """Rows of the stream so far."""
        return int(self._learner().coverage()["time"])

    def inspect(self) -> Inspection:
        """The facts about the stream: rows, coverage of each interval or level and what is proven, drift, columns.

        `print(online.inspect())` shows text; a notebook shows HTML.
        """
        inspection = super().inspect()
        inspection.facts = stream_facts(self, inspection.facts)
        return inspection

    # --- files ---------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: Any, model: Any = None) -> OnlineCalibrator:
        """Loads a model file of `save`, ``tare track --save`` or ``tare update``.

        `model`: the model whose errors are calibrated, if the file does not contain it. None: pass `y_pred`. With a `delay`, a file has what
        was learned and not the rows between: the next `delay` rows are answered as if they were the first ones. A pickle has them.
        """
        core = _core.load_model(os.fspath(path))
        if not is_online(core):
            raise ValueError(f"{os.fspath(path)} has a model that does not follow a stream: OnlineCalibrator(path) starts one with it.")
        return cls._from_core(core, model)

    @classmethod
    def _from_core(cls, core: _core.Model, model: Any) -> OnlineCalibrator:
        learner = _core.Online.of_model(core)
        stated = learner.settings
        schema = schema_of(core)
        base = None if learner.base is None else estimator_of(learner.base, model, "the model")
        columns = base._loaded if base is not None and base._loaded is not None else LoadedColumns(schema)
        late = [name for name, _ in schema.inputs if set(schema.columns_of([name])) <= set(stated["known_later"])]
        levels, intervals = intervals_within(stated["levels"])
        options = dict(stated["options"])
        own = {name: options.pop(name) for name in ("period", "lags") if name in options}
        window = options.pop("window", None)
        loaded = cls(
            base if base is not None else model,
            interval=intervals[0] if len(intervals) == 1 else intervals or None,
            levels=levels or None,
            start=stated["start"],
            delay=stated["delay"],
            features=(schema.kernel_only if columns.names is not None else [int(name[1:]) for name in schema.kernel_only]) or None,
            known_later=(late if columns.names is not None else [int(name[1:]) for name in late]) or None,
            window=None if window is None else int(window),
            method=stated["method"],
            options=options or None,
            drift_rate=stated["drift_rate"],
            target=schema.target,
            missing=schema.missing,
            random_state=stated["seed"],
            **own,
        )
        loaded._take(learner, base, columns.count, columns.names, Asked(levels, intervals, len(intervals) > 1))
        loaded._loaded = columns
        loaded._late = late
        loaded.estimator_ = base.estimator_ if base is not None and hasattr(base, "estimator_") else as_model(model)
        return loaded

    def _per_interval(self, values: list[float]) -> float | FloatArray:
        """A number for one interval, an array for a list."""
        return np.array(values) if self._asked.several else values[0]
