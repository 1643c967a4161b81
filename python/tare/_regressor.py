# SPDX-License-Identifier: BSD-3-Clause
"""An estimator for every method of the table, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from ._estimator import QuantileEstimator, schema_of
from ._input import read_target, read_weight
from ._loaded import loaded_settings
from ._options import bands_text, bounds_text, setting
from ._types import Progress, RandomState

_ROWS_TO_CALIBRATE = 10  # the core refuses fewer


class QuantileRegressor(QuantileEstimator):
    """Conditional quantiles by a method of the table, trained on X and y, without your own model.

    Parameters
    ----------
    method : str
        A key of `tare.methods()`, for example 'auto', 'nrc_rf', 'deep_ensemble', 'cqr', 'dgp'.
    options : dict or None
        Options of the method, as `tare.method_options(method)` lists them. A class of `tare.options` has their names and types:
        ``QuantileRegressor("nrc", options=tare.options.Nrc(kernel="naive"))``.
    features : list of str or int, or None
        Features of the kernel, for methods that have one; None: all.
    group : str, int or None
        Name or index of a column of X within whose values the guarantee holds.
    budget : {'quick', 'default', 'best'} or None
        For method 'auto': how much time it may take. None: 'default', or what ``options={"time": "30s"}`` leaves time for.
    guarantee : str or None
        'split', 'split:SHARE', 'cross', 'cross:FOLDS', 'loose', 'local', 'conditional:COLUMNS' or 'none', as in `Calibrator`; None: the method's
        default.
    bounds : 'auto', 'none' or (low, high)
        Range of possible targets; answers are limited to it, including infinite ones. Either side may be None, as in (0, None).
        'auto' detects 0 for counts and amounts, and 0 and 1 for shares, if many targets lie at the end and none beyond. A target
        outside the bounds is an error.
    bands : 'auto', True or False
        Whether `diagnostics` has `effective_n` and a 90 % band for each quantile. They need 12 more fits on halves of the rows.
        'auto': from 100 to 10,000 rows, unless the method is slow or its budget is quick. There are no bands if many targets share
        a value that the method's quantiles never take; True then warns (`no_bands`).
    window : int or None
        For rows in time order, one step apart: the number of consecutive rows that the model sees, the row itself and those before it. The
        first window - 1 rows of X have no full window: a fit leaves them out, and their answers are NaN. None: the method's own, which is 1
        except for methods of series.
    missing : {'error', 'drop', 'impute'}
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
        The guarantee of the fit, as in `Calibrator`.
    method_ : str
        The method of the core that was fitted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns, if X had names.

    Notes
    -----
    Methods that hold a share of the rows out for their calibration (options['split']) use all rows by cross-fitting, as
    options={'split': 'cross'} does, if fewer than 10 rows would be held out.

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 1))
    >>> y = X[:, 0] + rng.normal(size=400) * 0.1
    >>> model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}).fit(X, y)
    >>> low, middle, high = model.predict_quantiles([[0.5]], [0.1, 0.5, 0.9])[0]
    >>> bool(0.3 < low < middle < high < 0.7)
    True
    """

    def __init__(
        self,
        method: str = "deep_ensemble",
        *,
        options: Mapping[str, Any] | None = None,
        features: Any = None,
        group: Any = None,
        budget: str | None = None,
        guarantee: str | None = None,
        bounds: Any = "auto",
        bands: Any = "auto",
        window: int | None = None,
        missing: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.options = options
        self.features = features
        self.group = group
        self.budget = budget
        self.guarantee = guarantee
        self.bounds = bounds
        self.bands = bands
        self.window = window
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, shift_to: Any = None, progress: Progress | None = None
    ) -> QuantileRegressor:
        """Trains the method, on weighted rows if `sample_weight` is given.

        `shift_to`: rows to predict, with the columns of X, if their features are distributed differently: see `Calibrator.calibrate`.
        `progress(stage, share)` is called at intervals; an exception that it raises stops the fit.
        """
        features = self._read_training(X)
        target = read_target(y, features.rows)
        weight = read_weight(sample_weight, features.rows)
        kept = self._complete_rows(features)
        if kept is not None:
            features, target, weight = features.take(kept), target[kept], None if weight is None else weight[kept]
        options = self._own_options(features.rows)
        model = self._fit_core(
            features,
            target,
            method=self.method,
            options=options,
            columns=self.features,
            weight=weight,
            shift_to=shift_to,
            progress=progress,
        )
        self._set_fitted(model, features)
        return self

    @classmethod
    def load(cls, path: Any) -> QuantileRegressor:
        """Loads a model file of `save` or ``tare fit``."""
        core = _core.load_model(os.fspath(path))
        if core.given > 0:
            raise ValueError("The model in the file needs given predictions: use Calibrator.load.")
        return cls._from_core(core)

    @classmethod
    def _from_core(cls, core: _core.Model) -> QuantileRegressor:
        settings = loaded_settings(core, schema_of(core))
        options = settings["options"] or {}
        settings["budget"] = options.pop("budget", None)
        estimator = cls(**{**settings, "options": options or None})
        estimator._take_loaded(core)
        return estimator

    def _own_options(self, rows: int) -> dict[str, Any]:
        options = dict(self.options or {})
        guarantee = setting("guarantee", self.guarantee, None, self.options)
        if guarantee is not None:
            options["guarantee"] = guarantee
        if self.group is not None and options.get("guarantee", "none") == "none" and self.method != "auto":
            raise ValueError(
                "group names the groups of a guarantee, but there is no guarantee: use guarantee='split' or guarantee='cross'."
            )
        if (bounds := setting("bounds", bounds_text(self.bounds), "auto", self.options)) != "auto":
            options["bounds"] = bounds
        options["bands"] = setting("bands", bands_text(self.bands), "auto", self.options)
        known = _core.method(self.method)["options"]
        if (budget := setting("budget", self.budget, None, self.options)) is not None:
            if "budget" not in known:
                raise ValueError(f"budget={budget!r} is for method 'auto'; method {self.method!r} has no budget.")
            options["budget"] = budget
        if isinstance(self.features, str) and self.features == "auto":
            options["screen"] = "yes"
        if "split" not in options and _holds_out_too_few(known.get("split", {}).get("default", ""), rows):
            options["split"] = "cross"
        return options


def _holds_out_too_few(split: str, rows: int) -> bool:
    """Whether a share of the rows is fewer than the rows that a calibration needs."""
    try:
        return float(split) * rows < _ROWS_TO_CALIBRATE
    except ValueError:  # 'cross', 'time', or a method without this option
        return False
