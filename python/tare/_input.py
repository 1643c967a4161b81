# SPDX-License-Identifier: BSD-3-Clause
"""Converts the user's input to arrays or columns. The input is never modified."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ._frames import Column, Select, columns_of, is_frame
from ._host import on_host
from ._types import AnswerArray, BoolArray, FloatArray, IndexArray


@dataclass
class Features:
    """The parsed X: an array of numbers, or columns of which some are texts or have missing values."""

    rows: int
    count: int  # of columns of X, read or not
    names: list[str] | None  # of all columns, where all are texts
    array: AnswerArray | None  # float64 or float32, C order, finite
    columns: list[Column] | None  # where there is no array, and of frames
    places: list[int] | None = None  # of the columns that were read; None: all
    group: Column | None = None  # the groups of the guarantee

    def complete(self) -> IndexArray:
        """Rows without missing values, ascending."""
        gaps = np.zeros(self.rows, dtype=bool)
        if self.array is None:
            for column in self.columns or []:
                gaps |= column.missing()
        return np.flatnonzero(~gaps)

    def take(self, rows: IndexArray) -> Features:
        """Some of the rows."""
        array = None if self.array is None else np.ascontiguousarray(self.array[rows])
        columns = None if self.columns is None else [column.take(rows) for column in self.columns]
        group = None if self.group is None else self.group.take(rows)
        return Features(len(rows), self.count, self.names, array, columns, self.places, group)

    def with_columns(self) -> Features:
        """An array as columns beside it, which is what gaps are filled in."""
        if self.columns is not None:
            return self
        assert self.array is not None
        return replace(self, columns=_array_columns(self.array, self.places))


_USE_MISSING = "use missing='drop' or missing='impute'"


def read_features(X: Any, *, allow_missing: bool = False, select: Select | None = None, remedy: str = _USE_MISSING) -> Features:
    """Reads all columns of X, or those that `select` names. Raises ValueError or TypeError with the shape, row and column.

    `remedy`: what to do about missing values.
    """
    if X is None:
        raise ValueError("X is None, where an array of shape (n_samples, n_features) or a data frame is expected.")
    if type(X).__name__ == "LazyFrame" and hasattr(X, "collect"):
        raise TypeError("X is a polars LazyFrame, which has no rows yet: pass X.collect().")
    if is_frame(X):
        return _read_frame(X, allow_missing, select, remedy)
    places: list[int] | None
    if is_sparse(X):
        X, places, count = _dense_columns(X, select)
    else:
        X = _plain_array(X, "X")
        count = X.shape[1] if X.ndim == 2 else 0
        places = select(count, None) if select and X.ndim == 2 else None
        X = X if places is None else X[:, places]
    array = _to_number_array(X, "X")
    if array.ndim != 2:
        if array.ndim > 2:
            raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required for X.")
        raise ValueError(
            f"Expected 2D array, got {'scalar' if array.ndim == 0 else '1D'} array instead:\narray={array}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
    _check_shape((array.shape[0], count))
    finite = np.isfinite(array)
    if not finite.all():
        if not allow_missing or np.isinf(array).any():
            raise _not_finite("X", array, finite, places, remedy)
        return Features(array.shape[0], count, None, None, _array_columns(array, places), places)
    return Features(array.shape[0], count, None, np.ascontiguousarray(array), None, places)


def _array_columns(array: AnswerArray, places: list[int] | None) -> list[Column]:
    numbers = range(array.shape[1]) if places is None else places
    return [Column(f"x{j}", np.ascontiguousarray(array[:, k], dtype=np.float64), None) for k, j in enumerate(numbers)]


def is_sparse(X: Any) -> bool:
    return hasattr(X, "toarray") or type(X).__module__.startswith("scipy.sparse")


def _dense_columns(X: Any, select: Select | None) -> tuple[AnswerArray, list[int], int]:
    """The columns of a sparse X that `select` names, their indices, and the number of all columns."""
    places = select(X.shape[1], None) if select else None
    if places is None:
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use X.toarray(); or name the few columns that tare reads, with "
            "features=[3, 7], and only the estimator gets the sparse X; or calibrate on the prediction alone: "
            "calibrate(p[:, None], y, y_pred=p) with p = estimator.predict(X)."
        )
    return X.tocsc()[:, places].toarray(), places, X.shape[1]


def _read_frame(X: Any, allow_missing: bool, select: Select | None, remedy: str) -> Features:
    columns, names, count, places = columns_of(X, select)
    rows = row_count(X)
    _check_shape((rows, count))
    for column in columns:
        if column.numbers is not None and np.isinf(column.numbers).any():
            row = int(np.flatnonzero(np.isinf(column.numbers))[0])
            raise ValueError(f"Input X contains infinity or a value too large for dtype('float64'): column {column.name!r}, row {row}.")
        missing = column.missing()
        if missing.any() and not allow_missing:
            raise ValueError(
                f"Input X contains NaN: column {column.name!r}, row {int(np.flatnonzero(missing)[0])}, "
                f"{int(missing.sum())} of {rows} rows ({remedy})."
            )
    if all(column.numbers is not None and not column.missing().any() for column in columns):
        single = all(column.single for column in columns)
        array = np.empty((rows, len(columns)), dtype=np.float32 if single else np.float64)
        for j, column in enumerate(columns):
            array[:, j] = column.numbers
        return Features(rows, count, names, array, columns, places)
    return Features(rows, count, names, None, columns, places)


def _check_shape(shape: tuple[int, ...]) -> None:
    if shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required.")
    if shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={tuple(shape)}) while a minimum of 1 is required.")


def _not_finite(
    what: str, array: AnswerArray, finite: BoolArray, places: list[int] | None = None, remedy: str = _USE_MISSING
) -> ValueError:
    gaps = np.isnan(array)
    place = [int(k) for k in np.argwhere(gaps if gaps.any() else ~finite)[0]]
    column = place[-1] if places is None else places[place[-1]]
    where = f"row {place[0]}" + (f", column {column}" if len(place) > 1 else "")
    if gaps.any():
        return ValueError(f"Input {what} contains NaN: {where}" + (f" ({remedy})." if what == "X" else "."))
    return ValueError(f"Input {what} contains infinity or a value too large for dtype('{array.dtype}'): {where}.")


def _plain_array(values: Any, what: str) -> npt.NDArray[Any]:
    values = on_host(values, what)
    if (
        hasattr(values, "array") and hasattr(values, "to_numpy") and getattr(values.dtype, "kind", "O") in "biuf"
    ):  # pandas' Float64, Int64, ...
        return np.asarray(values.to_numpy() if isinstance(values.dtype, np.dtype) else values.to_numpy(dtype=np.float64, na_value=np.nan))
    if isinstance(values, np.ma.MaskedArray):  # masked values are missing
        values = np.ma.filled(values.astype(np.float64), np.nan)
    return np.asarray(values)


def _to_number_array(values: Any, what: str) -> AnswerArray:
    """float32 and float64 stay; everything else that is a number becomes float64."""
    array = _plain_array(values, what)
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {what} has dtype {array.dtype}.")
    if array.dtype in (np.float64, np.float32) and array.dtype.isnative:
        return array
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except TypeError as error:
            raise TypeError(f"{what} has an entry that is not a number: {error}") from error
        except ValueError as error:
            raise ValueError(
                f"{what} has an entry that is not a number: {error} (columns with categories go in as a data frame)"
            ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} has dtype {array.dtype}, which is not a number.")
    return array.astype(np.float64)


def read_target(y: Any, rows: int, *, what: str = "y", allow_missing: bool = False) -> FloatArray:
    """One finite float64 value per row, or NaN if these are allowed."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    array = _to_number_array(y, what)
    if array.ndim == 2 and array.shape[1] == 1:
        from ._sklearn import DataConversionWarning  # here, because importing scikit-learn takes a second

        warnings.warn(
            f"A column-vector {what} was passed when a 1d array was expected. Please change the shape of {what} to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got an array of shape {array.shape} instead.")
    if array.shape[0] != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {array.shape[0]}]")
    known = np.where(np.isnan(array), 0.0, array) if allow_missing else array
    finite = np.isfinite(known)
    if not finite.all():
        raise _not_finite(what, known, finite)
    return np.ascontiguousarray(array, dtype=np.float64)


def read_weight(weight: Any, rows: int) -> FloatArray | None:
    if weight is None:
        return None
    array = _to_number_array(weight, "sample_weight")
    if array.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar" if array.ndim else "sample_weight must have one entry per row")
    if array.shape[0] != rows:
        raise ValueError(f"sample_weight.shape == {array.shape}, expected {(rows,)}!")
    if not np.isfinite(array).all() or (array < 0).any():
        place = int(np.flatnonzero(~(np.isfinite(array) & (array >= 0)))[0])
        raise ValueError(f"sample_weight is {array[place]} in row {place}; weights must be finite and not negative.")
    if not (array > 0).any():
        raise ValueError("sample_weight is zero in all rows: at least one weight must be positive.")
    return np.ascontiguousarray(array, dtype=np.float64)


def read_prediction(values: Any, rows: int) -> FloatArray:
    """Point predictions of a model, which may come as a column."""
    array = _to_number_array(values, "y_pred")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.shape[0] != rows:
        raise ValueError(f"y_pred has shape {array.shape}, where one prediction for each of {rows} rows is expected.")
    finite = np.isfinite(array)
    if not finite.all():
        raise _not_finite("y_pred", array, finite)
    return np.ascontiguousarray(array, dtype=np.float64)


def row_count(values: Any) -> int:
    """The number of rows of an array, a frame or a sparse matrix."""
    if hasattr(values, "num_rows"):
        return int(values.num_rows)
    if hasattr(values, "shape"):
        return int(values.shape[0])
    return len(values if hasattr(values, "__len__") else np.asarray(values))


def take_rows(values: Any, rows: IndexArray) -> Any:
    """Some rows of an array, a frame or a sparse matrix, as the same type."""
    if is_sparse(values):
        return values.tocsr()[rows]
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "take") and hasattr(values, "num_rows"):
        return values.take(rows)
    if is_frame(values):
        return values[rows.tolist()]
    return np.asarray(on_host(values))[rows]
