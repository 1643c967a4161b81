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

from typing import TYPE_CHECKING, Any

from . import adapters, metrics, options
from ._core import version as __version__
from ._distribution import Distribution
from ._table import method_options, methods, online_methods
from ._warnings import TareWarning

if TYPE_CHECKING:
    from ._calibrator import Calibrator
    from ._compare import Comparison, Tuned, compare, tune, tune_grid
    from ._decide import Actions, RiskControl, control_risk
    from ._fold_models import FoldModels
    from ._online import OnlineCalibrator
    from ._online_state import Drift
    from ._predictor import Predictor
    from ._regressor import QuantileRegressor
    from ._report import Report, report
    from ._serve import Service, serve
    from ._sklearn import NotFittedError
    from ._track import Tracked, TrackedInterval, track

# These import scikit-learn, which takes more than a second: at their first use, and not with the package.
_LATER = {
    "Actions": "_decide",
    "Calibrator": "_calibrator",
    "Comparison": "_compare",
    "Drift": "_online_state",
    "FoldModels": "_fold_models",
    "NotFittedError": "_sklearn",
    "OnlineCalibrator": "_online",
    "Predictor": "_predictor",
    "QuantileRegressor": "_regressor",
    "Report": "_report",
    "RiskControl": "_decide",
    "Service": "_serve",
    "Tracked": "_track",
    "TrackedInterval": "_track",
    "Tuned": "_compare",
    "compare": "_compare",
    "control_risk": "_decide",
    "report": "_report",
    "serve": "_serve",
    "track": "_track",
    "tune": "_compare",
    "tune_grid": "_compare",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "Actions",
    "Calibrator",
    "Comparison",
    "Distribution",
    "Drift",
    "FoldModels",
    "NotFittedError",
    "OnlineCalibrator",
    "Predictor",
    "QuantileRegressor",
    "Report",
    "RiskControl",
    "Service",
    "TareWarning",
    "Tracked",
    "TrackedInterval",
    "Tuned",
    "__version__",
    "adapters",
    "compare",
    "control_risk",
    "method_options",
    "methods",
    "metrics",
    "online_methods",
    "options",
    "report",
    "serve",
    "track",
    "tune",
    "tune_grid",
]
