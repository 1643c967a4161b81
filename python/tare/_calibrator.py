# SPDX-License-Identifier: BSD-3-Clause
"""Calibrated quantiles for your own model, or for a model that tare trains."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._estimator import CoreModel, QuantileEstimator, prediction_of, schema_of, seed_of
from ._fold_models import FoldModels, train
from ._guarantee import around_a_model, in_fit, of_own_models, warn_no_guarantee_of_own
from ._input import Features, read_prediction, read_target, read_weight, take_rows
from ._options import bands_text, bounds_text
from ._types import AnswerArray, FloatArray, Progress, RandomState

# In more dimensions a window contains few rows, or rows with different residual distributions. With six columns of which two are
# relevant, selecting these halves the coverage error of the worst slice (bench/RESULTS.md).
_COLUMNS_FOR_ALL = 3
# With fewer rows, a minute of training is too long for interactive use.
_ROWS_FOR_BUDGET = 250


class Calibrator(QuantileEstimator):
    """Adds calibrated quantiles and intervals to any regression model.

    Parameters
    ----------
    estimator : object with `predict`, callable, or None
        The model. `calibrate` uses it as it is; it must not have been trained on the calibration rows. `fit` trains as many copies
        of it as `guarantee` needs. None: pass predictions as `y_pred` to `calibrate` and `predict_*`. Without predictions, tare
        trains its own models.
    method : str
        'auto', or a key of `tare.methods()`. 'auto' with a model or predictions: 'nrc_boost', in which trees standardise the
        residuals by their center and size before SNQ. If kernel, bandwidth, features, options or a predicted spread are given:
        'nrc', which is SNQ alone. Without a model: the method 'auto' of the tool, which takes up to two minutes (below 250 rows
        with budget=quick).
    kernel, bandwidth : str, str or float
        Kernel and bandwidth of SNQ. 'auto': the method's kernel, and the bandwidth with the smallest leave-one-out loss.
    features : list of str or int, 'auto', 'all' or None
        Features of the kernel. 'auto' selects the columns on which the distribution of the residual depends. None: all columns,
        from which 'nrc_boost' makes its own selection; for a model with a spread 'auto' if there are more than three columns.
    guarantee : {'marginal', 'split', 'split:SHARE', 'cross', 'cross:FOLDS', 'none'} or None
        Coverage on average over new rows that are exchangeable with those of the fit; never for a single row.
        'split': a share of the rows (default: a fifth) is held out before any training and used only for ranks. An interval covers
        at least its level. `fit` trains `cv` + 1 copies of the estimator on the other rows.
        'cross': all rows are ranked, in folds, as in CV+. `fit` trains one copy without each fold, which predicts new rows, and one
        copy without each pair of folds, whose residuals calibrate: `cv` (`cv` + 1) / 2 copies in total, 15 for `cv=5`. An interval
        covers its level if the models of the folds agree. The proven coverage is lower: `guarantee_['proven_90']` has it for this
        number of rows and folds. For a 90 % interval of 500 rows in five folds it is 76.8 %; its limit for many rows is 80 %.
        'marginal': 'cross' from 100 rows on and 'split' (at most 10,000 rows held out) from 5,000 on; `calibrate` uses ten folds
        below 2,000 rows and five from there on. With tare's own models: 'split:0.1' from 2,000 rows on. Below 100 (2,000) rows
        there is no guarantee, and a `TareWarning` is issued.
        ',strict' after 'split' or 'cross': a quantile is infinite if there are too few ranked rows to keep the level.
        None and 'none': quantiles as the method gives them. `fit` trains `cv` + 1 copies.
    bounds : 'auto', 'none' or (low, high)
        Range of possible targets; answers are limited to it, including infinite ones. Either side may be None, as in (0, None).
        'auto' detects 0 for counts and amounts, and 0 and 1 for shares, if many targets lie at the end and none beyond. A target
        outside the bounds is an error.
    bands : 'auto', True or False
        Whether `diagnostics` has `effective_n` and a 90 % band for each quantile. They need 12 more fits on halves of the rows (of
        tare's models, not of the estimator). 'auto': from 100 to 10,000 rows, unless the method is slow or its budget is quick.
        There are no bands if many targets share a value that the method's quantiles never take; True then warns (`no_bands`).
    cv : int
        Folds of `fit` with an estimator; at least 3 are used for 'cross'.
    window : int or None
        For rows in time order, one step apart: the number of consecutive rows that tare sees, the row itself and those before it; the
        estimator still predicts single rows. The first window - 1 rows of X have no full window: they do not calibrate, and their answers
        are NaN. None: the method's own, which is 1 except for methods of series. `fit` with an estimator does not support it, since it
        trains on random folds: train the estimator on earlier rows and `calibrate` on later ones.
    options : dict or None
        More options of the method, as `tare.method_options` lists them.
    missing : {'error', 'drop', 'impute'}
        What to do with missing values in the columns that tare itself reads.
    random_state : int, RandomState, Generator or None
        None means 0: the same call gives the same model.
    n_jobs : int or None
        Number of threads; None and -1 use all cores. The result does not depend on it.
    verbose : int
        1 shows a progress bar on stderr.

    Attributes
    ----------
    guarantee_ : dict
        The guarantee of the fit: 'form' is 'split', 'cross' or 'none'; 'rows' is the number of ranked rows; 'folds'; and
        'proven_90' is the proven coverage of a 90 % interval, or None without a proof.
    estimator_ : object
        The model that predicts: trained on all rows ('none'), on all except the held-out rows ('split'), or a `FoldModels`
        ('cross').

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
        bounds: Any = "auto",
        bands: Any = "auto",
        cv: int = 5,
        window: int | None = None,
        options: Mapping[str, Any] | None = None,
        missing: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.features = features
        self.guarantee = guarantee
        self.bounds = bounds
        self.bands = bands
        self.cv = cv
        self.window = window
        self.options = options
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, shift_to: Any = None, progress: Progress | None = None) -> Calibrator:
        """Trains and calibrates: as many copies of `estimator` as `guarantee` needs, or tare's own models without an estimator.

        `shift_to`: rows to predict, as in `calibrate`. Copies of the estimator are trained without these weights.
        """
        if self.estimator is not None and self.window not in (None, 1):
            raise ValueError(
                f"window={self.window!r}: fit trains the estimator on random folds, which rows in time order do not allow. Train it on earlier "
                "rows and use calibrate(X, y) on later ones."
            )
        features = self._read_training(X)
        target = read_target(y, features.rows)
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator {self.estimator!r} has no fit method; use calibrate(X, y), which does not train it.")
        kept = self._complete_rows(features)
        if kept is not None:
            X, y, features, target = take_rows(X, kept), take_rows(y, kept), features.take(kept), target[kept]
        if self.estimator is None:
            self._fit_own(features, target, None, progress, shift_to)
            return self
        model, trained = self._train_and_fit(X, y, features, target, progress, shift_to)
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
        shift_to: Any = None,
        progress: Progress | None = None,
    ) -> Calibrator:
        """Calibrates a trained model on rows that it was not trained on.

        No row of X may have been used to train or select the model. The residuals of such rows are too small, so the intervals
        would be too narrow and the guarantee would not hold; tare cannot detect this. Use `fit` if you have no separate rows.

        Parameters
        ----------
        X, y : features and targets
        y_pred : array or None
            The model's predictions for X: shape (n,), or (n, Q) with `quantiles`. None: `estimator` predicts. Without an estimator,
            tare trains its own model.
        sample_weight : array or None
        y_std : array or None
            The model's standard deviations, above 0; y_pred is then a mean.
        quantiles : list of floats or None
            Levels of the columns of y_pred, ascending.
        shift_to : array or frame, or None
            Rows to predict, with the columns of X, at least 20, for covariate shift: their features are distributed differently, and the
            distribution of the target given the features is unchanged. The rows of X are weighted to resemble them, and the ranks of the
            guarantee with them. The proof is for known weights; these are estimated. A `TareWarning` (``few_shifted_rows``) says if few rows
            of X resemble them; `describe()["guarantee"]["shift_effective_rows"]` has the effective sample size.
        """
        features = self._read_training(X)
        target = read_target(y, features.rows)
        weight = read_weight(sample_weight, features.rows)
        kept = self._complete_rows(features)
        if kept is not None:
            X, features, target = take_rows(X, kept), features.take(kept), target[kept]
            weight, y_pred, y_std = (None if values is None else take_rows(values, kept) for values in (weight, y_pred, y_std))
        if y_pred is None and self.estimator is None:
            if y_std is not None or quantiles is not None:
                raise ValueError("y_std and quantiles describe y_pred, but y_pred was not passed.")
            self._fit_own(features, target, weight, progress, shift_to)
            return self
        given, form = _read_given(X, features.rows, y_pred, y_std, quantiles, self.estimator)
        guarantee = around_a_model(self.guarantee, features.rows)
        model = self._fit_around(features, target, given, form, guarantee, progress, weight=weight, shift_to=shift_to)
        self.estimator_ = self.estimator if y_pred is None else None
        self._set_fitted(model, features)
        return self

    def predict(self, X: Any, y_pred: Any = None) -> AnswerArray:
        """Point predictions: those of the estimator, or the median of tare's own models.

        After `fit` with guarantee='cross' this is the mean over the models of the folds. It can lie outside an interval if these
        models disagree. NaN for rows that missing='drop' leaves out.
        """
        core = self._core_model()
        if core.given == 0:
            return super().predict(X)
        if core.form.kind not in ("point", "fold_points"):
            return self._quantile_array(X, [0.5], y_pred=y_pred)[:, 0]
        X, features, rows, count, (y_pred,) = self._kept_rows(X, y_pred)
        answer = np.full(count, np.nan)
        if features.rows > 0:
            given = self._given_for(X, features, y_pred, None)
            assert given is not None
            answer[slice(None) if rows is None else rows] = given.mean(axis=1) if given.shape[1] > 1 else given[:, 0]
        return answer

    @property
    def estimators_(self) -> list[Any]:
        """The models that predict: one, or one per fold after `fit` with guarantee='cross'."""
        return self.estimator_.models if isinstance(self.estimator_, FoldModels) else [self.estimator_]

    @classmethod
    def load(cls, path: Any, estimator: Any = None) -> Calibrator:
        """Loads a model file of `save` or ``tare fit``.

        `estimator`: the model that was calibrated, if the file needs predictions: `estimator_` of the saved Calibrator. After `fit`
        with guarantee='cross' it is a `FoldModels`; the list of its `models` in order also works.
        """
        core = _core.load_model(os.fspath(path))
        if core.form.kind == "fold_points" and estimator is not None:
            estimator = _fold_models(estimator, core.form.folds)
        loaded = cls(estimator, method=core.method, options=core.options, missing=schema_of(core).missing, random_state=core.seed)
        loaded._take_loaded(core)
        loaded.estimator_ = estimator
        return loaded

    # --- inside --------------------------------------------------------------------------------

    def _train_and_fit(
        self, X: Any, y: Any, features: Features, target: FloatArray, progress: Progress | None, shift_to: Any
    ) -> tuple[CoreModel, Any]:
        """Trains the copies of the estimator that the guarantee needs, and fits the core's model to their predictions."""
        if not isinstance(self.cv, (int, np.integer)) or self.cv < 2:
            raise ValueError(f"cv must be a number of folds, at least 2, got {self.cv!r}.")
        guarantee = in_fit(self.guarantee, features.rows, int(self.cv))
        y = np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        trained = train(self.estimator, X, y, guarantee, int(self.cv), seed_of(self.random_state))
        if trained.rows is not None:
            features, target = features.take(trained.rows), target[trained.rows]
        form = _core.GivenForm("fold_points", folds=guarantee.folds) if trained.fold is not None else _core.GivenForm()
        model = self._fit_around(
            features,
            target,
            trained.given,
            form,
            guarantee.text(),
            progress,
            held_out=trained.held_out,
            fold=trained.fold,
            shift_to=shift_to,
        )
        return model, trained.model

    def _own_options(self, rows: int, columns: int, around: bool, method: str, guarantee: str) -> dict[str, Any]:
        options = dict(self.options or {})
        if self.kernel != "auto":
            options["kernel"] = self.kernel
        if self.bandwidth != "auto":
            options["bandwidth"] = self.bandwidth
        if isinstance(self.features, str) and self.features not in ("auto", "all"):
            raise ValueError(f"features must be a list of columns, 'auto', 'all' or None, got {self.features!r}.")
        found = self.features is None and around and self.method == "auto" and method == "nrc" and columns > _COLUMNS_FOR_ALL
        if (isinstance(self.features, str) and self.features == "auto") or found:
            options.setdefault("screen", "yes")
        options["guarantee"] = guarantee
        if (bounds := bounds_text(self.bounds)) != "auto":
            options["bounds"] = bounds
        options.setdefault("bands", bands_text(self.bands))
        if method == "auto" and rows < _ROWS_FOR_BUDGET:
            options.setdefault("budget", "quick")
        return options

    def _fit_own(
        self, features: Features, target: FloatArray, weight: FloatArray | None, progress: Progress | None, shift_to: Any = None
    ) -> None:
        """Fits tare's own models, if there is no model to calibrate."""
        asked = of_own_models(self.guarantee)
        model = self._fit_around(features, target, None, None, asked, progress, weight=weight, shift_to=shift_to)
        self.estimator_ = None
        self._set_fitted(model, features)
        if asked.startswith("auto") and self.guarantee_["form"] == "none":
            warn_no_guarantee_of_own(features.rows, self.method_)

    def _fit_around(
        self,
        features: Features,
        target: FloatArray,
        given: FloatArray | None,
        form: _core.GivenForm | None,
        guarantee: str,
        progress: Progress | None,
        **stated: Any,
    ) -> CoreModel:
        """`stated`: weight, held_out and fold of each row, and shift_to, if given."""
        around = given is not None
        method = self._method(around, form)
        return self._fit_core(
            features,
            target,
            method=method,
            options=self._own_options(features.rows, features.count, around, method, guarantee),
            columns=self.features,
            given=given,
            form=form,
            progress=progress,
            **stated,
        )

    def _method(self, around: bool, form: _core.GivenForm | None) -> str:
        """The method of the core. With a model, a faster method than 'auto' is used."""
        if self.method != "auto":
            return self.method
        if not around:
            return "nrc_rf" if self.bandwidth != "auto" else "auto"  # 'auto' always selects its bandwidths
        as_it_comes = self.features is None and self.kernel == "auto" and self.bandwidth == "auto" and not self.options
        return "nrc_boost" if as_it_comes and form is not None and form.kind in ("point", "fold_points") else "nrc"

    def _given_for(self, X: Any, features: Features, y_pred: Any, y_std: Any) -> FloatArray | None:
        core = self._core_model()
        if core.given == 0:
            return super()._given_for(X, features, y_pred, y_std)
        form = core.form
        if form.kind == "fold_points":
            return _read_fold_columns(X, features.rows, y_pred, y_std, form.folds, self.estimator_)
        levels = form.levels if form.kind == "quantiles" else None
        given, got = _read_given(X, features.rows, y_pred, y_std, levels, self.estimator_)
        if got.kind != form.kind:
            raise ValueError(f"The model was calibrated with a given {form.kind}; y_pred and y_std give a {got.kind}.")
        return given


def _fold_models(estimator: Any, folds: int) -> FoldModels:
    """The `estimator` argument of `load` for a file with one model per fold."""
    if isinstance(estimator, (list, tuple)):
        estimator = FoldModels(estimator)
    if not isinstance(estimator, FoldModels) or estimator.folds != folds:
        raise TypeError(
            f"The file's guarantee is by {folds} folds with a model for each: pass estimator_ of the Calibrator that was saved, or the "
            f"list of its estimators_; got {estimator!r}."
        )
    return estimator


def _read_fold_columns(X: Any, rows: int, y_pred: Any, y_std: Any, folds: int, models: FoldModels | None) -> FloatArray:
    """The predictions of all fold models, one column per fold."""
    if y_std is not None:
        raise ValueError("The model was calibrated with point predictions; y_std has no meaning for it.")
    if y_pred is None:
        if models is None:
            raise ValueError(
                f"The model takes a prediction for each of {folds} folds: load it with estimator=estimator_ of the Calibrator that was "
                f"saved, or pass estimator_.columns(X, len(X)) as y_pred, shape (n, {folds})."
            )
        return models.columns(X, rows)
    given = np.ascontiguousarray(y_pred, dtype=np.float64)
    if given.shape != (rows, folds) or not np.isfinite(given).all():
        raise ValueError(
            f"y_pred has shape {given.shape}, where finite numbers of shape ({rows}, {folds}) are expected: a column for each fold."
        )
    return given


def _read_given(X: Any, rows: int, y_pred: Any, y_std: Any, quantiles: Any, estimator: Any) -> tuple[FloatArray, _core.GivenForm]:
    """The given predictions for each row, and the form of their columns."""
    if y_pred is None and estimator is None:
        raise ValueError("The model was calibrated with given predictions: pass them as y_pred.")
    if quantiles is not None:
        if y_pred is None:
            raise ValueError("quantiles describes the columns of y_pred, but y_pred was not passed.")
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
        raise ValueError(f"y_std is {spread[row]} in row {row}; standard deviations must be above 0.")
    return np.ascontiguousarray(np.column_stack([point, spread])), _core.GivenForm("mean_sd")
