# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's base classes, or minimal replacements if it is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._no_sklearn import BaseEstimator, DataConversionWarning, NotFittedError, RegressorMixin, clone
else:
    try:
        from sklearn.base import BaseEstimator, RegressorMixin, clone
        from sklearn.exceptions import DataConversionWarning, NotFittedError
    except ImportError:
        from ._no_sklearn import BaseEstimator, DataConversionWarning, NotFittedError, RegressorMixin, clone

__all__ = ["BaseEstimator", "DataConversionWarning", "NotFittedError", "RegressorMixin", "clone"]
