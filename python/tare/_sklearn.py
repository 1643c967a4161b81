# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's base classes, or minimal replacements if it is not installed."""

from __future__ import annotations

import inspect
from typing import Any

try:
    from sklearn.base import BaseEstimator, RegressorMixin, clone, is_regressor  # noqa: F401
    from sklearn.exceptions import DataConversionWarning, NotFittedError

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """A method that needs a fitted estimator was called before `fit` or `calibrate`."""

    class DataConversionWarning(UserWarning):  # type: ignore[no-redef]
        """Data was converted to the expected shape."""

    class RegressorMixin:  # type: ignore[no-redef]
        _estimator_type = "regressor"

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name, as the constructor has them."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            parameters = inspect.signature(cls.__init__).parameters
            return sorted(name for name in parameters if name != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            params: dict[str, Any] = {}
            for name in self._get_param_names():
                value = getattr(self, name)
                if deep and hasattr(value, "get_params") and not isinstance(value, type):
                    params.update((f"{name}__{k}", v) for k, v in value.get_params().items())
                params[name] = value
            return params

        def set_params(self, **params: Any) -> "BaseEstimator":
            for name, value in params.items():
                outer, _, inner = name.partition("__")
                if outer not in self._get_param_names():
                    raise ValueError(f"Invalid parameter {outer!r} for {type(self).__name__}.")
                if inner:
                    getattr(self, outer).set_params(**{inner: value})
                else:
                    setattr(self, outer, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            shown = (
                f"{name}={getattr(self, name)!r}"
                for name in self._get_param_names()
                if getattr(self, name) is not defaults[name].default
            )
            return f"{type(self).__name__}({', '.join(shown)})"

    def clone(estimator: Any) -> Any:  # type: ignore[no-redef]
        if hasattr(estimator, "get_params"):
            return type(estimator)(**estimator.get_params(deep=False))
        import copy

        return copy.deepcopy(estimator)


__all__ = ["HAS_SKLEARN", "BaseEstimator", "DataConversionWarning", "NotFittedError", "RegressorMixin", "clone"]
