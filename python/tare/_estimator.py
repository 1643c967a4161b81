# SPDX-License-Identifier: BSD-3-Clause
"""The base class of both estimators: a fitted model of the core and its predictions."""

from __future__ import annotations

import os
import warnings
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core, _series
from ._columns import chosen_columns, column_place, free_name, given_names, kernel_columns, name_difference, table_of
from ._decide import Actions, CostLike, decide_by_function, read_cost
from ._distribution import Distribution
from ._encoding import (
    CoreModel,
    EncodedRows,
    fit_to_schema,
    group_place,
    group_table,
    groups_of,
    no_alpha,
    read_group,
    read_levels,
    schema_of,
)
from ._frames import Select
from ._host import where_it_was
from ._input import Features, read_features, read_prediction, read_target, take_rows
from ._inspect import InspectMixin
from ._loaded import LoadedColumns
from ._options import option_text
from ._output import as_container, short, wanted_container
from ._progress import progress_for
from ._settings import device_of, seed_of, threads_of, warn_without_device
from ._shift import weigh_towards
from ._single_row import encode_row
from ._sklearn import BaseEstimator, NotFittedError, RegressorMixin
from ._types import AnswerArray, FloatArray, IndexArray, Progress, RandomState
from ._warnings import TareWarning, emit, read_warnings
from .adapters import as_model

__all__ = ["CoreModel", "QuantileEstimator", "prediction_of", "schema_of", "seed_of", "threads_of"]

_Self = TypeVar("_Self", bound="QuantileEstimator")

DEFAULT_QUANTILES = (0.05, 0.5, 0.95)
_FITTED_WITHOUT_MISSING = "the model was fitted with missing='error': fit it again with missing='impute' or missing='drop'"
_NO_BANDS = (
    "There are no bands: there are fewer than 100 rows, the method needs more than half of the rows, or many targets share a value that "
    "its quantiles never take (options={'masses': 'yes'})."
)


class QuantileEstimator(InspectMixin, RegressorMixin, BaseEstimator):
    """Base of the estimators. A subclass sets `_model` and `n_features_in_` when it is fitted."""

    missing: str
    n_jobs: int | None
    device: str = "auto"  # also of pickles that are older than the parameter
    verbose: int
    random_state: RandomState
    bands: Any
    window: int | None
    features: Any
    group: Any
    _frames = 0  # between the user's call and this class, in the methods of a subclass; for warnings

    # --- fitting -------------------------------------------------------------------------------

    def _read_training(self, X: Any, *, around: bool = False) -> Features:
        """X for a fit. `around` a model, only the columns that `features` names are read, if it names any."""
        if self.missing not in ("error", "drop", "impute"):
            raise ValueError(f"missing must be 'error', 'drop' or 'impute', got {self.missing!r}.")
        threads_of(self.n_jobs)
        device_of(self.device)

        def select(count: int, names: list[str] | None) -> list[int] | None:
            chosen = chosen_columns(self.features, count, names)
            return chosen if around else None

        features = read_features(X, allow_missing=self.missing != "error", select=select)
        if self.group is not None:
            place = column_place(self.group, features.count, features.names, "group")
            features.group = read_group(X, place)
        if features.rows < 2:
            raise ValueError(f"n_samples={features.rows} is too few: a distribution cannot be learned from a single row.")
        return features

    def _complete_rows(self, features: Features) -> IndexArray | None:
        """The rows that missing='drop' keeps for a fit, with a warning; None: all."""
        kept = features.complete()
        if self.missing != "drop" or len(kept) == features.rows:
            return None
        if len(kept) < 2:
            raise ValueError(f"{len(kept)} of {features.rows} rows have no missing value: at least 2 are required.")
        warnings.warn(f"{features.rows - len(kept)} rows with a missing value were left out.", stacklevel=3)
        return kept

    def _fit_core(
        self,
        features: Features,
        y: FloatArray,
        *,
        method: str,
        options: dict[str, Any],
        columns: Any = None,
        given: FloatArray | None = None,
        form: _core.GivenForm | None = None,
        weight: FloatArray | None = None,
        held_out: npt.NDArray[np.uint8] | None = None,
        fold: npt.NDArray[np.uint32] | None = None,
        rows_depend: bool = False,
        shift_to: Any = None,
        progress: Progress | None = None,
    ) -> CoreModel:
        """Fits the core's method; `columns` are the features of the kernel. If missing is 'drop', no row has a missing value.

        `held_out` marks rows that are only ranked: the encoding of columns is not learned from them either. Does not change the
        estimator.
        """
        form = form or _core.GivenForm()
        schema = None
        x = features.array
        window = _series.window_of(self.window, method, options)
        _series.check_rows(features.rows, window)
        kernel_only = features.places is not None
        if self.missing != "error" or kernel_only or features.group is not None or window > 1:
            features = features.with_columns()
        group = None
        if features.columns is not None:
            taken = [column.name for column in features.columns]
            given_columns = given_names(form, taken) if given is not None else []
            table = table_of(features, given, given_columns)
            target = free_name("y", taken + given_columns)
            learned = table
            if held_out is not None:
                rest = np.flatnonzero(held_out == 0)
                learned = table_of(features.take(rest), None if given is None else given[rest], given_columns)
            schema = _core.Schema.learn(learned, target, form, given_columns, self.missing, taken if kernel_only else [])
            x = schema.encode(table, self.missing)["x"]
            if features.group is not None:
                groups = group_table(features.group, features.rows)
                schema = schema.with_group(groups, features.group.name)
                group = schema.group_codes(groups)
            schema = _core.windowed_schema(schema, window)
        assert x is not None
        kernel = _series.last_step(kernel_columns(columns, features, schema), x.shape[1], window)
        x, given = _series.join_rows(x, window), _series.later_rows(given, window)
        y, weight = np.ascontiguousarray(y[window - 1 :]), _series.later_rows(weight, window)
        with progress_for(self.verbose, progress) as bar:
            seed, threads = seed_of(self.random_state), threads_of(self.n_jobs)
            shift = None
            if shift_to is not None:
                shift = weigh_towards(shift_to, features, schema, self.missing, x, weight, seed=seed, threads=threads, progress=bar)
            core = _core.fit(
                method=method,
                options={str(name): option_text(value) for name, value in options.items()},
                x=np.ascontiguousarray(x, dtype=np.float64),
                y=y,
                weight=weight,
                given=given,
                form=form,
                names=schema.feature_names if schema else [f"x{j}" for j in range(features.count)],
                calibrate_columns=kernel,
                schema=schema,
                held_out=held_out,
                fold=fold,
                seed=seed,
                threads=threads,
                progress=bar,
                shift=shift,
                group=_series.later_rows(group, window),
                rows_depend=rows_depend,
                device=device_of(self.device),
            )
        return CoreModel(core)

    def _set_fitted(self, model: CoreModel, features: Features) -> None:
        self._model = model
        self._loaded: LoadedColumns | None = None
        self._places = features.places
        self.n_features_in_ = features.count
        if features.names is not None:
            self.feature_names_in_ = np.array(features.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.method_ = model.core.method
        self.guarantee_ = model.core.guarantee
        warn_without_device(self.device, stacklevel=3)
        if self.bands in (True, "on") and not model.core.has_bands:
            warnings.warn(TareWarning("no_bands", 0, _NO_BANDS), stacklevel=3)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _core_model(self) -> _core.Model:
        if not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' or 'calibrate' with appropriate "
                "arguments before using this estimator."
            )
        return self._model.core

    # --- what is asked -------------------------------------------------------------------------

    def _given_for(self, X: Any, features: Features, y_pred: Any, y_std: Any) -> FloatArray | None:
        """The given predictions for the rows; None for a method with its own model."""
        if y_pred is not None:
            raise ValueError(f"y_pred was passed, but this {type(self).__name__} has its own model.")
        return None

    def _check_names(self, features: Features) -> None:
        """As scikit-learn does: the same names in the same order, or no names on one side."""
        known = getattr(self, "feature_names_in_", None)
        if known is None and features.names is not None:
            warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without feature names", UserWarning, stacklevel=4)
        elif known is not None and features.names is None:
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                UserWarning,
                stacklevel=4,
            )
        elif known is not None and list(known) != features.names:
            raise ValueError(name_difference(list(known), features.names or []))
        if features.count != self.n_features_in_:
            raise ValueError(
                f"X has {features.count} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )

    def _read_rows(self, X: Any, missing: str, select: Select) -> Features:
        """X to predict."""
        return read_features(X, allow_missing=missing != "error", select=select, remedy=_FITTED_WITHOUT_MISSING)

    def _kept_rows(self, X: Any, *beside: Any) -> tuple[Any, Features, IndexArray | None, int, list[Any]]:
        """The rows of X that can be predicted: all, or with missing='drop' those without missing values.

        Returns these rows of X, the parsed features, their indices (None: all), the number of rows of X, and the same rows of
        `beside`.
        """
        schema = self._core_model().schema
        missing = schema.missing if schema else "error"
        select = self._loaded.select if self._loaded else lambda count, names: self._places
        features = self._read_rows(X, missing, select)
        if self._loaded is None:
            self._check_names(features)
        if schema and schema.group:
            features.group = read_group(X, group_place(schema.group, features, self.group if self._loaded is None else None))
            features.group.name = schema.group
        if missing != "drop":
            return X, features, None, features.rows, list(beside)
        kept = features.complete()
        if len(kept) == features.rows:
            return X, features, None, features.rows, list(beside)
        others = [None if values is None else take_rows(values, kept) for values in beside]
        return take_rows(X, kept), features.take(kept), kept, features.rows, others

    def _encode_rows(self, X: Any, y_pred: Any, y_std: Any, *, warn: bool = False) -> EncodedRows:
        core = self._core_model()
        schema = core.schema
        missing = schema.missing if schema else "error"
        X, features, rows, count, (y_pred, y_std) = self._kept_rows(X, y_pred, y_std)
        if features.rows == 0:  # a wrapped model may not accept an empty X
            no_group = np.empty(0, dtype=np.uint32) if features.group is not None else None
            return EncodedRows(np.empty((0, core.features)), np.empty((0, core.given)) if core.given else None, no_group, rows, count)
        given = self._given_for(X, features, y_pred, y_std)
        group = groups_of(features, schema, warn) if schema and features.group is not None else None
        plain = schema is None or not any(categorical for _, categorical in schema.inputs)
        if features.array is not None and plain:
            return _series.with_past(core, EncodedRows(features.array, given, group, rows, count))
        if schema is None or features.columns is None:
            raise ValueError("X has columns with texts or missing values, but the model was fitted on numbers only.")
        for column, (name, categorical) in zip(features.columns, schema.inputs):
            fit_to_schema(column, name, categorical)
        encoded = schema.encode(table_of(features, given, schema.given_columns), missing)
        if encoded["unseen"]:
            warnings.warn(f"{encoded['unseen']} cells have a category that was not there at fit.", stacklevel=5)
        return _series.with_past(core, EncodedRows(encoded["x"], given, group, rows, count))

    def _quantile_array(self, X: Any, levels: npt.ArrayLike, y_pred: Any = None, y_std: Any = None, *, warn: bool = False) -> AnswerArray:
        """Shape (n, Q), NaN for rows left out because of a missing value. Pass `warn` only if the user calls the caller directly
        (stacklevel)."""
        core = self._core_model()
        asked = read_levels(levels)
        read = encode_row(self, X, y_pred, y_std) or self._encode_rows(X, y_pred, y_std, warn=warn)
        threads, device = threads_of(self.n_jobs), device_of(self.device)
        answer: AnswerArray
        if read.x.dtype == np.float32:
            answer, found = core.predict_single(read.x.astype(np.float32, copy=False), read.given, asked, threads, read.group, device)
        else:
            answer, found = core.predict(read.x.astype(np.float64, copy=False), read.given, asked, threads, read.group, device)
        if device != "auto":
            warn_without_device(device, stacklevel=3 + self._frames)
        if warn:
            emit(_series.notices(core) + found, stacklevel=3 + self._frames)
        if read.rows is None:
            return answer
        full = np.full((read.count, len(asked)), np.nan, dtype=answer.dtype)
        full[read.rows] = answer
        return full

    def predict(self, X: Any) -> AnswerArray:
        """Point predictions: the predicted median."""
        point: AnswerArray = where_it_was(self._quantile_array(X, [0.5], warn=True)[:, 0], X)
        return point

    def predict_quantiles(
        self, X: Any, quantiles: npt.ArrayLike = DEFAULT_QUANTILES, *, y_pred: Any = None, y_std: Any = None
    ) -> AnswerArray:
        """Quantiles at the given levels, in their order: shape (n, Q). After `set_output` they are in a frame.

        Parameters
        ----------
        X : array or frame of shape (n, features)
        quantiles : float or list of floats in (0, 1)
        y_pred, y_std : array or None
            Given predictions and standard deviations, for a `Calibrator` that was calibrated with them.
        """
        levels = read_levels(quantiles)
        answer = self._quantile_array(X, levels, y_pred, y_std, warn=True)
        contained: AnswerArray = as_container(answer, [f"q{short(level)}" for level in levels], wanted_container(self), X)
        return contained

    def predict_interval(
        self, X: Any, confidence_level: npt.ArrayLike = 0.9, *, y_pred: Any = None, y_std: Any = None, alpha: None = None
    ) -> AnswerArray:
        """Central intervals: shape (n, 2), or (n, 2, L) for a list of L levels. After `set_output` they are in a frame.

        Parameters
        ----------
        X : array or frame of shape (n, features)
        confidence_level : float or list of floats in (0, 1)
        y_pred, y_std : array or None
            Given predictions and standard deviations, for a `Calibrator` that was calibrated with them.
        alpha : None
            Other libraries have this argument. Any value is an error that gives the confidence_level.
        """
        if alpha is not None:
            raise TypeError(no_alpha(alpha))
        several = not isinstance(confidence_level, float) and np.ndim(confidence_level) > 0
        wanted = [confidence_level] if isinstance(confidence_level, float) else [float(level) for level in np.atleast_1d(confidence_level)]
        levels = [bound for level in wanted for bound in _core.interval_levels(level)]
        answer = self._quantile_array(X, levels, y_pred, y_std, warn=True)
        container = wanted_container(self)
        if container != "default":
            names = [f"{end}_{short(level)}" for level in wanted for end in ("lower", "upper")]
            contained: AnswerArray = as_container(answer, names, container, X)
            return contained
        answered: AnswerArray = where_it_was(answer.reshape(len(answer), len(wanted), 2).transpose(0, 2, 1) if several else answer, X)
        return answered

    def predict_set(self, X: Any, confidence_level: npt.ArrayLike = 0.9, *, y_pred: Any = None, y_std: Any = None) -> FloatArray:
        """A set of highest density of each row that has this probability under the row's predicted distribution: one interval, or two
        where the distribution has two clear modes. It is shorter than the central interval for skewed rows and for rows with two modes;
        a row about which little is known may have a longer one.

        With a guarantee of the split form a set covers at least its share of new rows that are exchangeable with the held-out ones, on
        average. Otherwise, also with folds, it has the probability under the model's own distribution; a model with a guarantee then warns.

        Parameters
        ----------
        X : array or frame of shape (n, features)
        confidence_level : float or list of floats in (0, 1)
        y_pred, y_std : array or None
            Given predictions and standard deviations, for a `Calibrator` that was calibrated with them.

        Returns
        -------
        array of shape (n, 2, 2), or (n, 2, 2, L) for a list of L levels
            ``[:, 0]`` is the lower part, ``[:, 1]`` the upper one, NaN where there is none; each has its two ends. It is an array also
            after `set_output`.
        """
        several = not isinstance(confidence_level, float) and np.ndim(confidence_level) > 0
        wanted = read_levels(confidence_level)
        read = self._encode_rows(X, y_pred, y_std, warn=True)
        ends, found = self._core_model().sets(
            read.x.astype(np.float64, copy=False), read.given, wanted, threads_of(self.n_jobs), read.group, device_of(self.device)
        )
        emit(found, stacklevel=2 + self._frames)
        sets: FloatArray = np.full((read.count, len(wanted), 2, 2), np.nan)
        sets[slice(None) if read.rows is None else read.rows] = np.asarray(ends).reshape(-1, len(wanted), 2, 2)
        return sets.transpose(0, 2, 3, 1) if several else sets[:, 0]

    def predict_distribution(self, X: Any, *, y_pred: Any = None, y_std: Any = None) -> Distribution:
        """The predicted distribution of each row: `ppf`, `cdf`, `pdf`, `mean`, `std`, `interval`, `sample`, `crps`.

        It has 241 quantiles of each row, and refers neither to X nor to the model.
        """
        return Distribution(self._quantile_array(X, Distribution.levels, y_pred, y_std), self._core_model().bounds)

    def predict_action(self, X: Any, cost: CostLike, *, actions: Any = None, y_pred: Any = None, y_std: Any = None) -> Actions:
        """The action with the least expected cost under each row's predicted distribution.

        For costs by unit it is the quantile at the level under / (over + under). Expected costs are exact integrals over the row's
        distribution: that of `predict_distribution`, with this quantile added; a cost function is taken as a straight line between
        neighbouring quantiles. Beyond the levels 0.000001 and 0.999999 the quantile function is constant, so a loss that is rare and
        ruinous needs another model of the tail.

        Parameters
        ----------
        X : array or frame of shape (n, features)
        cost : dict, table or callable
            {'over': 1, 'under': 4}: for each unit by which the action is more, or less, than the target. Or a frame or dict with the
            columns action, outcome and cost; the cost of an action is the straight line between neighbouring outcomes, and that of
            the nearest outcome beyond them. Or a function cost(action, outcome), which gets actions of shape (n, 1) and outcomes of
            shape (n, k).
        actions : array of shape (A,) or (n, A)
            The candidates, for a cost function. Of several with the same expected cost the first is chosen.
        y_pred, y_std : array or None
            Given predictions and standard deviations, for a `Calibrator` that was calibrated with them.

        Returns
        -------
        Actions
            A named tuple of arrays: `action`, `cost` (expected), `cost_of_mean` (the expected cost of the action that is best if the
            outcome is the mean of the distribution).

        Examples
        --------
        >>> import numpy as np, tare
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(600, 1)); y = X[:, 0] + rng.normal(size=600) * X[:, 0]
        >>> model = tare.Calibrator(lambda X: X[:, 0]).calibrate(X, y)
        >>> best = model.predict_action(X[:5], {"over": 1, "under": 4})
        >>> bool((best.action == model.predict_quantiles(X[:5], 0.8)[:, 0]).all())
        True
        >>> bool((best.cost <= best.cost_of_mean).all())
        True
        """
        if callable(cost):
            law = np.asarray(self._quantile_array(X, Distribution.levels, y_pred, y_std), dtype=np.float64)
            made, notices = decide_by_function(cost, actions, law)
        else:
            if actions is not None:
                raise ValueError("actions= is for a cost function: other costs determine the actions.")
            decider = _core.Decider(read_cost(cost))
            law = np.asarray(self._quantile_array(X, decider.levels, y_pred, y_std), dtype=np.float64)
            values, notices = decider.decide(np.ascontiguousarray(law), threads_of(self.n_jobs))
            made = Actions(values[:, 0], values[:, 1], values[:, 2])
        emit(notices, stacklevel=2 + self._frames)
        return made

    def diagnostics(
        self, X: Any, quantiles: npt.ArrayLike = DEFAULT_QUANTILES, *, y_pred: Any = None, y_std: Any = None
    ) -> dict[str, npt.NDArray[Any]]:
        """The reliability of each answer.

        `effective_n`: the number of independent draws from the row's conditional distribution that would determine its quantiles as
        accurately as this answer; `band_low`, `band_high`: a 90 % band for the true quantile (both only if the model was fitted
        with bands); `nearest`: distance to the nearest calibration row; `outside`: farther from the calibration rows than 99 % of
        these are from each other; `fallback`: no calibration row within the bandwidth; `delivered`: the level that the guarantee's
        ranks keep. Arrays that the model does not have are left out.
        """
        core = self._core_model()
        read = self._encode_rows(X, y_pred, y_std)
        rows, count = read.rows, read.count
        device = device_of(self.device)
        answer = core.reliability(read.double, read.given, read_levels(quantiles), threads_of(self.n_jobs), read.group, device)
        warn_without_device(device, stacklevel=2)
        emit(_series.notices(core) + answer.pop("warnings"), stacklevel=2)
        result = {}
        for name, values in answer.items():
            if values.size == 0:
                continue
            if rows is not None:
                full = np.full((count, *values.shape[1:]), np.nan)
                full[rows] = values
                values = full
            result[name] = values.astype(bool) if name in ("fallback", "outside") and rows is None else values
        return result

    def answer_warnings(
        self,
        X: Any,
        quantiles: npt.ArrayLike = DEFAULT_QUANTILES,
        *,
        diagnostics: bool = False,
        y_pred: Any = None,
        y_std: Any = None,
    ) -> list[TareWarning]:
        """The warnings of `predict_quantiles`, and those about every answer of the model (`no_guarantee`), as a list.

        With `diagnostics` also those about rows with a small effective_n and rows outside the calibration rows.
        """
        core = self._core_model()
        read = self._encode_rows(X, y_pred, y_std)
        levels, threads, device = read_levels(quantiles), threads_of(self.n_jobs), device_of(self.device)
        if diagnostics:
            found = core.reliability(read.double, read.given, levels, threads, read.group, device)["warnings"]
        else:
            found = core.predict(read.double, read.given, levels, threads, read.group, device)[1]
        warn_without_device(device, stacklevel=2)
        return read_warnings(core.warnings) + read_warnings(found)

    def score(self, X: Any, y: Any, *, y_pred: Any = None, y_std: Any = None) -> float:
        """Minus the mean pinball loss over the 100 levels of `tare.metrics.metric_levels()`: larger is better.

        Levels that the guarantee can keep only by an infinite quantile, because few rows are held out, are left out, so that the
        score is finite. Which levels these are depends on the number of rows. Rows that missing='drop' leaves out do not count.
        """
        levels = np.array(_core.metric_levels())
        quantiles = np.asarray(self._quantile_array(X, levels, y_pred, y_std), dtype=np.float64)
        target = read_target(y, len(quantiles))
        known = ~np.isnan(quantiles[:, 0])
        if not known.any():
            raise ValueError("Every row has a missing value and was left out: there is nothing to score.")
        finite = np.isfinite(quantiles[known]).all(axis=0)
        if not finite.any():
            return -np.inf
        quantiles = np.ascontiguousarray(quantiles[np.ix_(known, finite)])
        return -_core.check_score(np.ascontiguousarray(target[known]), quantiles, levels[finite].tolist())

    # --- containers and files ------------------------------------------------------------------

    def set_output(self: _Self, *, transform: str | None = None) -> _Self:
        """Sets the type that `predict_quantiles` and `predict_interval` return: 'default' (NumPy), 'pandas' or 'polars'."""
        if transform is not None:
            if transform not in ("default", "pandas", "polars"):
                raise ValueError(f"transform must be 'default', 'pandas' or 'polars', got {transform!r}.")
            self._sklearn_output_config = {"transform": transform}
        return self

    def describe(self) -> dict[str, Any]:
        """Describes the fitted model: method, options, columns, guarantee, bands, bounds, kernel, bandwidths, and the candidates of
        'auto'.

        The same as the member `description` of `tare inspect --json`.
        """
        return self._core_model().describe()

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Writes the model file, completely or not at all. `tare predict` reads it too. It does not contain the wrapped estimator."""
        self._core_model().save(os.fspath(path), overwrite)

    def _take_loaded(self, core: _core.Model) -> None:
        """Fills a new estimator from a model file."""
        schema = schema_of(core)
        self.window = _series.window_argument(core)
        loaded = LoadedColumns(schema)
        self._set_fitted(CoreModel(core), Features(0, loaded.count, loaded.names, None, None))
        self._loaded = loaded

    # --- scikit-learn --------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # `score` is not R2 but minus the pinball loss
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def prediction_of(estimator: Any, X: Any, rows: int) -> FloatArray:
    """The predictions of a wrapped model, by its `predict` or as a callable."""
    model = as_model(estimator)
    predict = getattr(model, "predict", None) or model
    if not callable(predict):
        raise TypeError(f"estimator {estimator!r} has no predict method and cannot be called.")
    return read_prediction(predict(X), rows)
