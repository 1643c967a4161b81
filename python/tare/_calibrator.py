# SPDX-License-Identifier: BSD-3-Clause
"""Calibrated quantiles around a model that exists, or around one that tare trains."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from . import _core
from ._estimator import QuantileEstimator, prediction_of, seed_of
from ._input import Features, read_prediction, read_target, read_weight, take_rows
from ._sklearn import clone

# From here on some rows can be held out for the ranks of a guarantee and hardly be missed; below, all rows are ranked through
# folds, which costs little where nothing has to be trained, and answers are the sharper for it (bench/RESULTS.md).
_ROWS_FOR_SPLIT = 5000
_ROWS_FOR_TEN_FOLDS = (100, 2000)
# With so many rows held out a level is kept to a third of a percent; more are not worth their loss.
_MOST_HELD_OUT = 10_000
# A window in more dimensions holds few rows, or rows whose errors differ: with six columns of which two matter, finding these
# halves the coverage error of the worst slice (bench/RESULTS.md).
_COLUMNS_FOR_ALL = 3
# Below, a minute of training is not what anybody waits for at a prompt.
_ROWS_FOR_BUDGET = 250


class Calibrator(QuantileEstimator):
    """Puts calibrated quantiles and intervals on top of any regression model.

    Parameters
    ----------
    estimator : object with `predict`, callable, or None
        The model. `calibrate` takes it as it is; `fit` trains copies of it on folds, calibrates on the rows each has not seen, and
        trains one on all rows. None: predictions are passed to `calibrate` and `predict_*` as `y_pred`, or, where there are
        none, tare trains models of its own.
    method : str
        'auto': around a model or predictions, trees that bring residuals to one center and size and SNQ on what is left
        ('nrc_boost'); SNQ alone ('nrc') where kernel, bandwidth, features or options are given, or a spread with the predictions;
        without a model, the tool's default 'auto', which takes up to two minutes (below 250 rows with its quick budget). Or a key
        of `tare.methods()`.
    kernel, bandwidth : str, str or float
        Of SNQ. 'auto': the method's kernel, and the bandwidth that loses least on rows left out.
    features : list of str or int, 'auto', 'all' or None
        Columns against which to calibrate; 'auto' finds those on which the residual's law depends. None: all, and 'nrc_boost' finds
        out what matters; around a model with a spread 'auto' where there are more than three columns.
    guarantee : {'marginal', 'split', 'cross', 'none'} or None
        'marginal': intervals also cover on average in finite samples, by rows held out ('split': a fifth, at most 10,000) from
        5,000 rows on and by folds ('cross') below; with method 'auto' and its own models, by a tenth from 2,000 rows on and
        nothing below. Of 90 % intervals by folds 80 % is proven, and 90 % is what they hold where the folds' models agree.
        None and 'none': as the method gives them.
    cv : int
        Folds of `fit` with an estimator.
    options : dict or None
        More options of the method, as `tare.method_options` lists them.
    missing : {'error', 'drop', 'impute'}
        Gaps in the columns that tare itself reads.
    random_state : int, RandomState, Generator or None
        None is 0: the same call gives the same model.
    n_jobs : int or None
        Threads; None and -1 are all cores. Never changes a result.
    verbose : int
        1 shows a progress bar on stderr.

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 1)); y = rng.normal(size=500) * X[:, 0]
    >>> around_zero = tare.Calibrator(guarantee="none").calibrate(X, y, y_pred=np.zeros(500))
    >>> narrow, wide = np.diff(around_zero.predict_interval([[0.1], [0.9]], y_pred=[0.0, 0.0])).ravel()
    >>> bool(narrow < wide)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "auto",
        kernel: str = "auto",
        bandwidth: Any = "auto",
        features: Any = None,
        guarantee: str | None = "marginal",
        cv: int = 5,
        options: dict[str, Any] | None = None,
        missing: str = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.features = features
        self.guarantee = guarantee
        self.cv = cv
        self.options = options
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, progress: Callable[[str, float], None] | None = None) -> "Calibrator":
        """Trains and calibrates: copies of `estimator` on folds, or tare's own models where there is none."""
        features = self._read_training(X)
        target = read_target(y, features.rows)
        if self.estimator is None:
            self._fit_own(features, target, None, progress)
            return self
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator {self.estimator!r} has no fit method; use calibrate(X, y), which takes it as it is.")
        predicted, trained = self._cross_fit(X, y, features.rows)
        model = self._fit_around(features, target, predicted[:, None], _core.GivenForm(), None, progress)
        self.estimator_ = trained
        self._set_fitted(model, features)
        return self

    def calibrate(
        self,
        X: Any,
        y: Any,
        y_pred: Any = None,
        sample_weight: Any = None,
        *,
        y_std: Any = None,
        quantiles: Any = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> "Calibrator":
        """Calibrates a model that exists, on rows it was not trained on.

        Parameters
        ----------
        X, y : features and targets
        y_pred : array or None
            Its predictions for X: shape (n,), or (n, Q) with `quantiles`. None: `estimator` is asked; where there is no estimator
            either, tare trains a model of its own.
        sample_weight : array or None
        y_std : array or None
            Its standard deviations, above 0; y_pred is then a mean.
        quantiles : list of floats or None
            Levels of the columns of y_pred, ascending.
        """
        features = self._read_training(X)
        target = read_target(y, features.rows)
        weight = read_weight(sample_weight, features.rows)
        if y_pred is None and self.estimator is None:
            if y_std is not None or quantiles is not None:
                raise ValueError("y_std and quantiles say what y_pred means, and there is no y_pred.")
            self._fit_own(features, target, weight, progress)
            return self
        given, form = _read_given(X, features.rows, y_pred, y_std, quantiles, self.estimator)
        model = self._fit_around(features, target, given, form, weight, progress)
        self.estimator_ = self.estimator if y_pred is None else None
        self._set_fitted(model, features)
        return self

    def predict(self, X: Any, y_pred: Any = None) -> np.ndarray:
        """Point predictions: those of the model inside, or the median where tare's own models are."""
        core = self._core_model()
        if core.given == 0:
            return super().predict(X)
        features = self._read_rows(X)
        self._check_names(features)
        if core.form.kind == "point":
            given = self._given_for(X, features, y_pred, None)
            assert given is not None
            return given[:, 0]
        return self._quantile_array(X, [0.5], y_pred=y_pred)[:, 0]

    @classmethod
    def load(cls, path: Any, estimator: Any = None) -> "Calibrator":
        """A model file of `save` or of ``tare fit``. `estimator`: the model it was calibrated for, where it takes predictions."""
        core = _core.load_model(os.fspath(path))
        loaded = cls(estimator, method=core.method, options=core.options, missing=core.schema.missing, random_state=core.seed)
        loaded._take_loaded(core)
        loaded.estimator_ = estimator
        return loaded

    # --- inside --------------------------------------------------------------------------------

    def _read_rows(self, X: Any) -> Features:
        from ._input import read_features

        return read_features(X, allow_missing=self._core_model().schema is not None)

    def _own_options(self, rows: int, columns: int, around: bool, method: str) -> dict[str, Any]:
        options = dict(self.options or {})
        if self.kernel != "auto":
            options["kernel"] = self.kernel
        if self.bandwidth != "auto":
            options["bandwidth"] = self.bandwidth
        if isinstance(self.features, str) and self.features not in ("auto", "all"):
            raise ValueError(f"features is a list of columns, 'auto', 'all' or None, got {self.features!r}.")
        found = self.features is None and around and self.method == "auto" and method == "nrc" and columns > _COLUMNS_FOR_ALL
        if isinstance(self.features, str) and self.features == "auto" or found:
            options.setdefault("screen", "yes")
        guarantee = self.guarantee
        options["guarantee"] = (_marginal(rows) if around else "auto") if guarantee == "marginal" else guarantee or "none"
        if method == "auto" and rows < _ROWS_FOR_BUDGET:
            options.setdefault("budget", "quick")
        return options

    def _fit_own(self, features: Features, target: np.ndarray, weight: Any, progress: Any) -> None:
        """tare's own models, where there is nothing to calibrate."""
        model = self._fit_around(features, target, None, None, weight, progress)
        self.estimator_ = None
        self._set_fitted(model, features)

    def _fit_around(self, features: Features, target: np.ndarray, given: np.ndarray | None, form: Any, weight: Any, progress: Any) -> Any:
        around = given is not None
        method = self._method(around, form)
        return self._fit_core(
            features,
            target,
            method=method,
            options=self._own_options(features.rows, features.count, around, method),
            columns=self.features,
            given=given,
            form=form,
            weight=weight,
            progress=progress,
        )

    def _method(self, around: bool, form: Any) -> str:
        """'auto' trains for a minute; around a model moments are enough."""
        if self.method != "auto":
            return self.method
        if not around:
            return "nrc_rf" if self.bandwidth != "auto" else "auto"  # whose bandwidths are always found
        as_it_comes = self.features is None and self.kernel == "auto" and self.bandwidth == "auto" and not self.options
        return "nrc_boost" if as_it_comes and form.kind == "point" else "nrc"

    def _cross_fit(self, X: Any, y: Any, rows: int) -> tuple[np.ndarray, Any]:
        """Predictions of copies that have not seen the row, and one trained on all rows."""
        folds = min(int(self.cv), rows)
        if folds < 2:
            raise ValueError(f"cv is at least 2 and at most the number of rows, got {self.cv} for {rows} rows.")
        order = np.random.default_rng(seed_of(self.random_state)).permutation(rows)
        y = np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        predicted = np.empty(rows)
        for k in range(folds):
            test = np.sort(order[k::folds])
            train = np.setdiff1d(np.arange(rows), test, assume_unique=True)
            copy = clone(self.estimator).fit(take_rows(X, train), y[train])
            predicted[test] = prediction_of(copy, take_rows(X, test), len(test))
        return predicted, clone(self.estimator).fit(X, y)

    def _given_for(self, X: Any, features: Features, y_pred: Any, y_std: Any) -> np.ndarray | None:
        core = self._core_model()
        if core.given == 0:
            return super()._given_for(X, features, y_pred, y_std)
        form = core.form
        levels = form.levels if form.kind == "quantiles" else None
        given, got = _read_given(X, features.rows, y_pred, y_std, levels, self.estimator_)
        if got.kind != form.kind:
            raise ValueError(f"The model was calibrated with a given {form.kind}; y_pred and y_std give a {got.kind}.")
        return given


def _marginal(rows: int) -> str:
    """The guarantee around a model, as the core names it."""
    first, last = _ROWS_FOR_TEN_FOLDS
    if rows >= _ROWS_FOR_SPLIT:
        return f"split:{min(0.2, _MOST_HELD_OUT / rows):.6g}"
    return "cross:5" if rows >= last else "cross:10" if rows >= first else "none"


def _read_given(X: Any, rows: int, y_pred: Any, y_std: Any, quantiles: Any, estimator: Any) -> tuple[np.ndarray, Any]:
    """What a model says about each row, and what its columns mean."""
    if y_pred is None and estimator is None:
        raise ValueError("The model was calibrated with predictions from outside: pass them as y_pred.")
    if quantiles is not None:
        if y_pred is None:
            raise ValueError("quantiles say what the columns of y_pred mean, and there is no y_pred.")
        given = np.ascontiguousarray(y_pred, dtype=np.float64)
        levels = [float(level) for level in quantiles]
        if given.shape != (rows, len(levels)):
            raise ValueError(f"y_pred has shape {given.shape}, where ({rows}, {len(levels)}) is expected: a column for each level.")
        return given, _core.GivenForm("quantiles", levels)
    point = prediction_of(estimator, X, rows) if y_pred is None else read_prediction(y_pred, rows)
    if y_std is None:
        return point[:, None], _core.GivenForm()
    spread = read_target(y_std, rows, what="y_std")
    if (spread <= 0).any():
        row = int(np.flatnonzero(spread <= 0)[0])
        raise ValueError(f"y_std is {spread[row]} in row {row}; standard deviations are above 0.")
    return np.ascontiguousarray(np.column_stack([point, spread])), _core.GivenForm("mean_sd")
