# SPDX-License-Identifier: BSD-3-Clause
"""An estimator for every method of the table, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from ._estimator import QuantileEstimator, schema_of
from ._input import read_target
from ._options import bands_text, bounds_text
from ._types import Progress, RandomState


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
    guarantee : str or None
        'split', 'split:SHARE', 'cross', 'cross:FOLDS' or 'none', as in `Calibrator`; None: the method's default.
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
    verbose : int
        1 shows a progress bar on stderr.

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
        guarantee: str | None = None,
        bounds: Any = "auto",
        bands: Any = "auto",
        window: int | None = None,
        missing: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.options = options
        self.features = features
        self.guarantee = guarantee
        self.bounds = bounds
        self.bands = bands
        self.window = window
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, shift_to: Any = None, progress: Progress | None = None) -> QuantileRegressor:
        """Trains the method. `progress(stage, share)` is called at intervals; an exception that it raises stops the fit.

        `shift_to`: rows to predict, with the columns of X, if their features are distributed differently: see `Calibrator.calibrate`.
        """
        features = self._read_training(X)
        target = read_target(y, features.rows)
        kept = self._complete_rows(features)
        if kept is not None:
            features, target = features.take(kept), target[kept]
        options = dict(self.options or {})
        if self.guarantee is not None:
            options["guarantee"] = self.guarantee
        if (bounds := bounds_text(self.bounds)) != "auto":
            options["bounds"] = bounds
        options.setdefault("bands", bands_text(self.bands))
        if self.features == "auto":
            options["screen"] = "yes"
        model = self._fit_core(
            features, target, method=self.method, options=options, columns=self.features, shift_to=shift_to, progress=progress
        )
        self._set_fitted(model, features)
        return self

    @classmethod
    def load(cls, path: Any) -> QuantileRegressor:
        """Loads a model file of `save` or ``tare fit``."""
        core = _core.load_model(os.fspath(path))
        if core.given > 0:
            raise ValueError("The model in the file needs given predictions: use Calibrator.load.")
        estimator = cls(core.method, options=core.options, missing=schema_of(core).missing, random_state=core.seed)
        estimator._take_loaded(core)
        return estimator
