# SPDX-License-Identifier: BSD-3-Clause
"""X as the array of numbers that networks and ONNX models take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Prepare = Callable[[Any], Any] | None  # from X to the model's input


def is_frame(X: Any) -> bool:
    """Whether X has named columns: pandas, polars, Arrow."""
    return not isinstance(X, np.ndarray) and hasattr(X, "columns") and hasattr(X, "shape")


def named_columns(X: Any) -> list[tuple[str, Any]]:
    """The names and columns of a frame."""
    if hasattr(X, "column_names"):  # Arrow
        return [(name, X.column(j)) for j, name in enumerate(X.column_names)]
    if hasattr(X, "iloc"):  # pandas
        return [(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    return [(name, X[name]) for name in X.columns]


def number_array(X: Any, model: str) -> npt.NDArray[Any]:
    """X as a matrix of floats, NaN for missing values; float32 stays. `model` names the kind of model in errors."""
    if is_frame(X):
        columns = [_numbers(name, values, model) for name, values in named_columns(X)]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))
    array = np.asarray(X)
    if array.dtype in (np.float32, np.float64):
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"X has an entry that is not a number ({error}). {_remedy(model)}") from error


def _numbers(name: str, values: Any, model: str) -> npt.NDArray[Any]:
    kind = str(getattr(values, "dtype", getattr(values, "type", "")))
    if "date" in kind.lower() or "time" in kind.lower():
        raise TypeError(f"column {name!r} has dates or times. {_remedy(model)}")
    try:
        if hasattr(values, "array"):  # pandas: nullable types have a missing value of their own
            array: npt.NDArray[Any] = (
                values.to_numpy() if isinstance(values.dtype, np.dtype) else values.to_numpy(np.float64, na_value=np.nan)
            )
        else:
            array = values.to_numpy()
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"column {name!r} has an entry that is not a number ({error}). {_remedy(model)}") from error


def _remedy(model: str) -> str:
    return f"{model} takes numbers: encode the column, or pass prepare=, a function that turns X into the model's input."


def column_of_predictions(values: Any, model: str) -> npt.NDArray[np.float64]:
    """The outputs of a model: one number for each row, which may come as a column."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{model} gives outputs of shape {array.shape}, where one prediction for each row is expected: shape ({len(array)},) or "
            f"({len(array)}, 1). Wrap the model in a function that selects one."
        )
    return array
