# SPDX-License-Identifier: BSD-3-Clause
"""Calibrated quantiles for your own model, or for a model that tare trains."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._estimator import CoreModel, QuantileEstimator, schema_of
from ._fit_params import FitParams, read_fit_params, routing_of
from ._fold_models import FoldModels, train
from ._folds import Folds, read_folds
from ._given import fold_models, read_fold_columns, read_given
from ._guarantee import LEAST_FOLDS, Guarantee, around_a_model, in_fit, of_own_models, warn_no_guarantee_of_own
from ._host import on_host, where_it_was
from ._input import Features, read_target, read_weight, take_rows
from ._loaded import loaded_settings, number_or_text
from ._options import bands_text, bounds_text, setting
from ._settings import seed_of
from ._sklearn import is_classifier
from ._types import AnswerArray, FloatArray, IndexArray, Progress, RandomState

# In more dimensions a window contains few rows, or rows with different residual distributions. With six columns of which two are
# relevant, selecting these halves the coverage error of the worst slice (bench/RESULTS.md).
_COLUMNS_FOR_ALL = 3
# With fewer rows, seconds of training are too long for interactive use.
_ROWS_FOR_BUDGET = 250
# Options that say nothing about the method.
_OF_EVERY_METHOD = {"guarantee", "bounds", "bands"}


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
        'nrc', which is SNQ alone. Without a model: the method 'auto' of the tool, which takes some seconds, with many rows half a
        minute (below 250 rows with budget=quick).
    kernel, bandwidth : str, str or float
        Kernel and bandwidth of SNQ. 'auto': the method's kernel, and the bandwidth with the smallest leave-one-out loss.
    features : list of str or int, mask, 'auto', 'all' or None
        Features of the kernel: names or indices of columns of X, or a list of booleans with one for each column. Around a model, tare
        reads no other column: these may have any type (dates, identifiers, gaps), and X may be sparse. 'auto' selects the columns on
        which the distribution of the residual depends. None: all columns, from which 'nrc_boost' makes its own selection; for a model
        with a spread 'auto' if there are more than three columns.
    guarantee : {'marginal', 'split', 'split:SHARE', 'cross', 'cross:FOLDS', 'loose', 'local', 'conditional:COLUMNS', 'none'} or None
        Coverage on average over new rows that are exchangeable with those of the fit; never for a single row.
        'split': a share of the rows (default: a fifth) is held out before any training and used only for ranks. An interval covers
        at least its level. `fit` trains `cv` + 1 copies of the estimator on the other rows.
        'cross': all rows are ranked, in folds, as in CV+. `fit` trains one copy without each fold, which predicts new rows, and one
        copy without each pair of folds, whose residuals calibrate: `cv` (`cv` + 1) / 2 copies in total, 15 for `cv=5`. An interval
        covers its level if the models of the folds agree. The proven coverage is lower: `guarantee_['proven_90']` has it for this
        number of rows and folds. For a 90 % interval of 500 rows in five folds it is 76.8 %; its limit for many rows is 80 %.
        'marginal': 'cross' from 100 rows on and 'split' (at most 10,000 rows held out) from 5,000 on; `calibrate` uses ten folds
        below 2,000 rows and five from there on. With tare's own models: 'split:0.05,near' from 2,000 rows on and 'loose' below. Below 100
        (60, of method 'auto' 30) rows there is no guarantee, and a `TareWarning` is issued.
        'loose', for tare's own models and in `calibrate`: all rows train the model, and a second one, trained without some rows, ranks
        these. A 90 % interval is proven to cover at least 80 %; `guarantee_['proven_90']` has the figure for this fit. Nothing is proven for
        levels between 12.5 and 87.5 % (20 and 80 % with 250 ranked rows).
        'split,own': the model's own levels as far as the ranks allow: the same proof with less sampling error. 'split,near': the model's
        own levels unless the ranks differ by more than a standard error; the proven coverage is lower by that on each side.
        'local': as 'split', with ranks among held-out rows near the row, in features that a third of the held-out rows choose; the
        average over rows keeps its level, and rows of each region nearly do. Each row has its own random draw, from `random_state` and
        its features. 'local,fixed': without the draw, and without a proof.
        'conditional:COLUMNS' (names separated by commas, 'conditional:groups' for the values of `group`, 'conditional:kernel'): as
        'split', and the level also holds on average under every reweighting of rows by a linear function of these columns that is
        not negative: within each value of a category, for example. `docs/guide.md` says exactly what is proven.
        ',share=SHARE' after both: the share of the rows that is held out.
        ',strict' after any of these: a quantile is infinite if there are too few ranked rows to keep the level.
        None and 'none': quantiles as the method gives them. `fit` trains `cv` + 1 copies.
    bounds : 'auto', 'none' or (low, high)
        Range of possible targets; answers are limited to it, including infinite ones. Either side may be None, as in (0, None).
        'auto' detects 0 for counts and amounts, and 0 and 1 for shares, if many targets lie at the end and none beyond. A target
        outside the bounds is an error.
    bands : 'auto', True or False
        Whether `diagnostics` has `effective_n` and a 90 % band for each quantile. They need 12 more fits on halves of the rows (of
        tare's models, not of the estimator). 'auto': from 100 to 10,000 rows, unless the method is slow or its budget is quick.
        There are no bands if many targets share a value that the method's quantiles never take; True then warns (`no_bands`).
    group : str, int or None
        Name or index of a column of X within whose values the guarantee holds; it must be in X at prediction. `guarantee_['groups']` says
        what is kept. `fit` with an estimator then holds rows out ('split'); 'cross' is possible in `calibrate` and without an estimator.
    cv : int, splitter or iterable of (train, test) rows
        Folds of `fit` with an estimator. A number: random folds (of whole groups if `fit` gets `groups`); 'cross' uses 3 for a smaller
        number and 20 for a larger one. A splitter of scikit-learn (KFold, GroupKFold, TimeSeriesSplit, PredefinedSplit, ...) or pairs of
        row numbers: as they are. Rows in no test fold only train; a row in several gets the mean of its predictions. 'cross' needs folds
        that partition the rows and ranks equally many rows of each fold. 'split' holds out whole groups with `groups`, and the last rows
        if every fold is trained on earlier rows only; 'marginal' uses it where 'cross' is not possible.
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
    device : str
        Where kernel weights are computed, in a fit and in predictions: 'auto', 'cpu', 'cuda' or 'cuda:1'. 'auto': on a GPU if there is one
        that tare can use and the job is large enough to gain from it. A quantile from a GPU is within 1e-5 of its level. With 'cuda' and no
        GPU, the processor does the work, with a RuntimeWarning. Arrays of PyTorch, CuPy and JAX that are on a GPU are copied to the host,
        and the answers back to that GPU. A model file does not store it.
    verbose : int
        1 shows a progress bar on stderr.

    Attributes
    ----------
    guarantee_ : dict
        The guarantee of the fit: 'form' is 'split', 'cross', 'loose', 'local', 'conditional' or 'none'; 'rows' is the number of ranked
        rows; 'folds'; and 'proven_90' is the proven coverage of a 90 % interval, or None without a proof. 'groups' (only with `group`): for
        each value of the column the ranked 'rows', and whether there are enough for 'own_ranks'; nothing is proven for a group without.
    estimator_ : object
        The model that predicts: trained on all rows ('none'), on all except the held-out rows ('split', 'local', 'conditional'), or a `FoldModels`
        ('cross').
    estimators_ : list
        The models that predict: one, or one for each fold.
    method_ : str
        The method of the core that was fitted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns, if X had names.

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
        group: Any = None,
        guarantee: str | None = "marginal",
        bounds: Any = "auto",
        bands: Any = "auto",
        cv: Any = 5,
        window: int | None = None,
        options: Mapping[str, Any] | None = None,
        missing: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.features = features
        self.group = group
        self.guarantee = guarantee
        self.bounds = bounds
        self.bands = bands
        self.cv = cv
        self.window = window
        self.options = options
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        shift_to: Any = None,
        progress: Progress | None = None,
        **fit_params: Any,
    ) -> Calibrator:
        """Trains and calibrates: as many copies of `estimator` as `guarantee` needs, or tare's own models without an estimator.

        Parameters
        ----------
        X, y : features and targets
        groups : array or None
            A group for each row. Rows of a group stay together: in every fold and among the held-out rows. The proofs are for rows that are
            exchangeable one by one, so `guarantee_['proven_90']` is then None.
        sample_weight : array or None
            Goes to the estimator's `fit` if that has the parameter, and weighs the calibration.
        shift_to : array or frame, or None
            Rows to predict, as in `calibrate`. Copies of the estimator are trained without these weights.
        progress : callable or None
            Called with the stage and the share that is done, during tare's part of the fit.
        **fit_params
            Go to the estimator's `fit`; values with an entry for each row are cut to the rows of a fold. For a step of a pipeline write
            `step__name`. With scikit-learn's metadata routing enabled, requests decide instead.
        """
        self._check_estimator()
        if self.estimator is not None and self.window not in (None, 1):
            raise ValueError(
                f"window={self.window!r}: fit trains the estimator on folds, and tare's windows do not go with them. Train it on earlier rows and "
                "use calibrate(X, y) on later ones."
            )
        around = self.estimator is not None
        features = self._read_training(X, around=around)
        target = read_target(y, features.rows)
        weight = read_weight(sample_weight, features.rows)
        if around and not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator {self.estimator!r} has no fit method; use calibrate(X, y), which does not train it.")
        if not around and (fit_params or groups is not None):
            named = ", ".join(["groups"] * (groups is not None) + sorted(fit_params))
            raise TypeError(f"{named}: only an estimator uses fit parameters and groups, but there is no estimator.")
        params, groups = read_fit_params(self, features.rows, groups, sample_weight, fit_params) if around else (None, None)
        kept = self._complete_rows(features)
        if kept is not None:
            X, y, features, target = take_rows(X, kept), take_rows(y, kept), features.take(kept), target[kept]
            weight, groups = (None if values is None else take_rows(values, kept) for values in (weight, groups))
            params = params and params.take(kept)
        if params is None:
            self._fit_own(features, target, weight, progress, shift_to)
            return self
        plan = self._plan(X, y, features.rows, groups, kept)
        model, trained = self._train_and_fit(X, y, features, target, weight, plan, params, progress, shift_to)
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
        self._check_estimator()
        around = y_pred is not None or self.estimator is not None
        features = self._read_training(X, around=around)
        target = read_target(y, features.rows)
        weight = read_weight(sample_weight, features.rows)
        kept = self._complete_rows(features)
        if kept is not None:
            X, features, target = take_rows(X, kept), features.take(kept), target[kept]
            weight, y_pred, y_std = (None if values is None else take_rows(values, kept) for values in (weight, y_pred, y_std))
        if not around:
            if y_std is not None or quantiles is not None:
                raise ValueError("y_std and quantiles describe y_pred, but y_pred was not passed.")
            self._fit_own(features, target, weight, progress, shift_to)
            return self
        given, form = read_given(X, features.rows, y_pred, y_std, quantiles, self.estimator)
        guarantee = around_a_model(self._guarantee(), features.rows)
        model = self._fit_around(features, target, given, form, guarantee, progress, weight=weight, shift_to=shift_to)
        self.estimator_ = self.estimator if form.kind != "quantiles" else None
        self._set_fitted(model, features)
        return self

    def predict(self, X: Any, y_pred: Any = None, *, y_std: Any = None) -> AnswerArray:
        """Point predictions: those of the estimator, or the median of tare's own models and of given distributions.

        After `fit` with guarantee='cross' this is the mean over the models of the folds. It can lie outside an interval if these
        models disagree. NaN for rows that missing='drop' leaves out.
        """
        core = self._core_model()
        if core.given == 0:
            return super().predict(X)
        if core.form.kind not in ("point", "fold_points"):
            median: AnswerArray = where_it_was(self._quantile_array(X, [0.5], y_pred, y_std)[:, 0], X)
            return median
        asked = X
        X, features, rows, count, (y_pred,) = self._kept_rows(X, y_pred)
        answer = np.full(count, np.nan)
        if features.rows > 0:
            given = self._given_for(X, features, y_pred, y_std)
            assert given is not None
            answer[slice(None) if rows is None else rows] = given.mean(axis=1) if given.shape[1] > 1 else given[:, 0]
        point: AnswerArray = where_it_was(answer, asked)
        return point

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
        return cls._from_core(_core.load_model(os.fspath(path)), estimator)

    @classmethod
    def _from_core(cls, core: _core.Model, estimator: Any) -> Calibrator:
        if core.form.kind == "fold_points" and estimator is not None:
            estimator = fold_models(estimator, core.form.folds)
        settings = loaded_settings(core, schema_of(core))
        options = settings["options"] or {}
        settings |= {name: number_or_text(options.pop(name)) for name in ("kernel", "bandwidth") if name in options}
        settings["options"] = options or None
        loaded = cls(estimator, **settings)
        loaded._take_loaded(core)
        loaded.estimator_ = estimator
        return loaded

    def get_metadata_routing(self) -> Any:
        """For scikit-learn: who gets the parameters of `fit`, if metadata routing is enabled."""
        return routing_of(self)

    # --- inside --------------------------------------------------------------------------------

    def _check_estimator(self) -> None:
        """Refuses what cannot be a regression model."""
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise TypeError(f"estimator is the class {name}: pass an instance, such as {name}().")
        if self.estimator is not None and is_classifier(self.estimator):
            raise ValueError(
                f"estimator {self.estimator!r} is a classifier, whose classes have no quantiles. Pass a regressor; to calibrate a predicted "
                "probability as a number, pass a function such as lambda X: classifier.predict_proba(X)[:, 1] to calibrate."
            )

    def _guarantee(self) -> str | None:
        """The guarantee as it is asked for, by its parameter or in `options`."""
        stated: str | None = setting("guarantee", self.guarantee, "marginal", self.options)
        if self.group is not None and (stated or "none") == "none":
            raise ValueError(
                "group names the groups of a guarantee, but there is no guarantee: use guarantee='split' or guarantee='cross'."
            )
        return stated

    def _plan(self, X: Any, y: Any, rows: int, groups: Any, kept: IndexArray | None) -> _Plan:
        """The folds and the guarantee of a fit. `kept`: the rows that remain of those that a list in `cv` counts."""
        flat = np.asarray(on_host(y, "y")).reshape(-1)
        cv = 5 if self.cv is None else self.cv
        if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv >= 2 and groups is None:
            cv = int(cv)
        elif kept is not None and not hasattr(cv, "split") and not isinstance(cv, (int, np.integer)):
            raise ValueError("cv is a list of row numbers, but missing='drop' leaves rows out: leave them out of X, y and cv before fit.")
        else:
            cv = read_folds(cv, X, flat, groups, seed_of(self.random_state), LEAST_FOLDS if groups is not None else 2)
        return _Plan(cv, in_fit(self._guarantee(), rows, cv, within_groups=self.group is not None))

    def _train_and_fit(
        self,
        X: Any,
        y: Any,
        features: Features,
        target: FloatArray,
        weight: FloatArray | None,
        plan: _Plan,
        params: FitParams,
        progress: Progress | None,
        shift_to: Any,
    ) -> tuple[CoreModel, Any]:
        """Trains the copies of the estimator that the guarantee needs, and fits the core's model to their predictions."""
        y = np.asarray(on_host(y, "y"))
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        strata = None if features.group is None else features.group.numbers_of_values()
        trained = train(self.estimator, X, y, plan.guarantee, plan.cv, seed_of(self.random_state), params, strata)
        if trained.rows is not None:
            features, target = features.take(trained.rows), target[trained.rows]
            weight = None if weight is None else weight[trained.rows]
        if features.rows < 2:
            raise ValueError(f"{features.rows} rows are in a test fold of cv, but at least 2 are required.")
        form = _core.GivenForm("fold_points", folds=plan.guarantee.folds) if trained.fold is not None else _core.GivenForm()
        model = self._fit_around(
            features,
            target,
            trained.given,
            form,
            plan.guarantee.text(),
            progress,
            weight=weight,
            held_out=trained.held_out,
            fold=trained.fold,
            rows_depend=isinstance(plan.cv, Folds) and not plan.cv.proves(),
            shift_to=shift_to,
        )
        return model, trained.model

    def _own_options(self, rows: int, columns: int, around: bool, method: str, guarantee: str) -> dict[str, Any]:
        options = dict(self.options or {})
        for name, value in (("kernel", self.kernel), ("bandwidth", self.bandwidth), ("bounds", bounds_text(self.bounds))):
            if (stated := setting(name, value, "auto", self.options)) != "auto":
                options[name] = stated
        found = self.features is None and around and self.method == "auto" and method == "nrc" and columns > _COLUMNS_FOR_ALL
        if (isinstance(self.features, str) and self.features == "auto") or found:
            options.setdefault("screen", "yes")
        options["guarantee"] = guarantee
        options["bands"] = setting("bands", bands_text(self.bands), "auto", self.options)
        if method == "auto" and rows < _ROWS_FOR_BUDGET and "time" not in options:
            options.setdefault("budget", "quick")
        return options

    def _fit_own(
        self, features: Features, target: FloatArray, weight: FloatArray | None, progress: Progress | None, shift_to: Any = None
    ) -> None:
        """Fits tare's own models, if there is no model to calibrate."""
        asked = of_own_models(self._guarantee())
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
        options = set(self.options or {}) - _OF_EVERY_METHOD
        as_it_comes = self.features is None and self.kernel == "auto" and self.bandwidth == "auto" and not options
        return "nrc_boost" if as_it_comes and form is not None and form.kind in ("point", "fold_points") else "nrc"

    def _given_for(self, X: Any, features: Features, y_pred: Any, y_std: Any) -> FloatArray | None:
        core = self._core_model()
        if core.given == 0:
            return super()._given_for(X, features, y_pred, y_std)
        form = core.form
        if form.kind == "fold_points":
            return read_fold_columns(X, features.rows, y_pred, y_std, form.folds, self.estimator_)
        levels = form.levels if form.kind == "quantiles" else None
        given, got = read_given(X, features.rows, y_pred, y_std, levels, self.estimator_)
        if got.kind != form.kind:
            problem = "with y_std: pass y_std as well" if form.kind == "mean_sd" else "without y_std: leave y_std out"
            raise ValueError(f"The model was calibrated {problem}.")
        return given


@dataclass
class _Plan:
    """How `fit` trains the estimator."""

    cv: int | Folds
    guarantee: Guarantee
