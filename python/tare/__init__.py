# SPDX-License-Identifier: BSD-3-Clause
"""Individually calibrated quantiles and prediction intervals on top of any regression model.

>>> import numpy as np, tare
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(size=(1000, 1))
>>> y = np.sin(6 * X[:, 0]) + rng.normal(size=1000) * (0.1 + X[:, 0])
>>> model = lambda X: np.sin(6 * X[:, 0])          # anything that predicts
>>> calibrated = tare.Calibrator(model).calibrate(X, y)
>>> low, high = calibrated.predict_interval(X[:5], confidence_level=0.9).T
>>> bool((low < high).all())
True
"""

from . import adapters, metrics, options
from ._calibrator import Calibrator
from ._compare import Comparison, Tuned, compare, tune, tune_grid
from ._core import version as __version__
from ._distribution import Distribution
from ._fold_models import FoldModels
from ._predictor import Predictor
from ._regressor import QuantileRegressor
from ._report import Report, report
from ._serve import Service, serve
from ._sklearn import NotFittedError
from ._table import method_options, methods
from ._warnings import TareWarning

__all__ = [
    "Calibrator",
    "Comparison",
    "Distribution",
    "FoldModels",
    "NotFittedError",
    "Predictor",
    "QuantileRegressor",
    "Report",
    "Service",
    "TareWarning",
    "Tuned",
    "__version__",
    "adapters",
    "compare",
    "method_options",
    "methods",
    "metrics",
    "options",
    "report",
    "serve",
    "tune",
    "tune_grid",
]
