# SPDX-License-Identifier: BSD-3-Clause
"""Minimal replacements for scikit-learn's base classes. A type checker reads these in either case: scikit-learn has no types."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

_Estimator = TypeVar("_Estimator", bound="BaseEstimator")


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted estimator was called before `fit` or `calibrate`."""


class DataConversionWarning(UserWarning):
    """Data was converted to the expected shape."""


class RegressorMixin:
    _estimator_type = "regressor"

    if TYPE_CHECKING:  # only scikit-learn calls it

        def __sklearn_tags__(self) -> Any: ...


class BaseEstimator:
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

    def set_params(self: _Estimator, **params: Any) -> _Estimator:
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
        shown = (f"{name}={getattr(self, name)!r}" for name in self._get_param_names() if getattr(self, name) is not defaults[name].default)
        return f"{type(self).__name__}({', '.join(shown)})"


def clone(estimator: Any) -> Any:
    if hasattr(estimator, "get_params"):
        return type(estimator)(**estimator.get_params(deep=False))
    return copy.deepcopy(estimator)
