# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's base classes, or minimal replacements if it is not installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._no_sklearn import BaseEstimator, DataConversionWarning, NotFittedError, RegressorMixin, clone
else:
    try:
        from sklearn.base import BaseEstimator, RegressorMixin, clone
        from sklearn.exceptions import DataConversionWarning, NotFittedError
    except ImportError:
        from ._no_sklearn import BaseEstimator, DataConversionWarning, NotFittedError, RegressorMixin, clone


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is switched on."""
    sklearn = sys.modules.get("sklearn")
    return sklearn is not None and bool(sklearn.get_config().get("enable_metadata_routing", False))


def is_classifier(estimator: Any) -> bool:
    """As scikit-learn tells; False without it."""
    sklearn = sys.modules.get("sklearn")
    if sklearn is None or not (hasattr(estimator, "__sklearn_tags__") or hasattr(estimator, "_estimator_type")):
        return False
    from sklearn.base import is_classifier

    try:
        return bool(is_classifier(estimator))
    except AttributeError:  # an estimator of another library, without all of scikit-learn's tags
        return getattr(estimator, "_estimator_type", None) == "classifier"


__all__ = ["BaseEstimator", "DataConversionWarning", "NotFittedError", "RegressorMixin", "clone", "is_classifier", "routing_enabled"]
