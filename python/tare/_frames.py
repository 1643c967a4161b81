# SPDX-License-Identifier: BSD-3-Clause
"""pandas, polars and Arrow tables as columns of numbers or of texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ._types import BoolArray, FloatArray, IndexArray


@dataclass
class Column:
    """Numbers with NaN for missing values, or texts with None."""

    name: str
    numbers: FloatArray | None
    texts: list[str | None] | None
    single: bool = False  # it came as float32

    def missing(self) -> BoolArray:
        if self.numbers is not None:
            gaps: BoolArray = np.isnan(self.numbers)
            return gaps
        assert self.texts is not None
        return np.array([text is None for text in self.texts], dtype=bool)

    def numbers_of_values(self) -> IndexArray:
        """A number from 0 for each row, the same for equal values."""
        values = self.numbers if self.numbers is not None else np.array(["" if text is None else text for text in self.texts or []])
        numbers: IndexArray = np.unique(values, return_inverse=True)[1].reshape(-1)
        return numbers

    def take(self, rows: IndexArray) -> Column:
        if self.numbers is not None:
            return Column(self.name, np.ascontiguousarray(self.numbers[rows]), None, self.single)
        assert self.texts is not None
        return Column(self.name, None, [self.texts[i] for i in rows], self.single)

    def codes(self) -> tuple[npt.NDArray[np.int32], list[str]]:
        """A code for each text, -1 for missing values, and the texts."""
        assert self.texts is not None
        place: dict[str, int] = {}
        codes = np.array([-1 if t is None else place.setdefault(t, len(place)) for t in self.texts], dtype=np.int32)
        return codes, list(place)


def is_frame(X: Any) -> bool:
    """Whether X has named columns."""
    if isinstance(X, np.ndarray):
        return False
    return hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "shape"))


# From the number of columns of X and their names, if it has any, to the indices of the columns that are read; None: all.
Select = Callable[[int, "list[str] | None"], "list[int] | None"]


def number_text(value: float) -> str:
    """A number as a category, as a file would have it: 3 and not 3.0."""
    return str(int(value)) if float(value).is_integer() else repr(round(float(value), 12))


def columns_of(X: Any, select: Select | None = None) -> tuple[list[Column], list[str] | None, int, list[int] | None]:
    """The columns that are read, the names of all where these are texts, their number, and the indices of those that are read."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    texts = [name for name in names if isinstance(name, str)]
    if texts and len(texts) < len(names):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted({type(name).__name__ for name in names})} as feature name / column name types. If you want feature "
            "names to be stored and validated, you must convert them all to strings, by using "
            "X.columns = X.columns.astype(str) for example."
        )
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"X has two columns named {twice!r}.")
    places = select(len(names), names if texts else None) if select else None
    columns = []
    for j in range(len(names)) if places is None else places:
        name = names[j]
        values = X.iloc[:, j] if hasattr(X, "iloc") else X[name] if not hasattr(X, "column_names") else X.column(j)
        columns.append(_column(name if texts else f"x{j}", values))
    return columns, (names if texts else None), len(names), places


def _column(name: str, values: Any) -> Column:
    numbers = _numbers(values)
    if numbers is not None:
        if np.iscomplexobj(numbers):
            raise ValueError(f"Complex data not supported: column {name!r}.")
        return Column(name, np.ascontiguousarray(numbers, dtype=np.float64), None, numbers.dtype == np.float32)
    if str(getattr(values, "dtype", "")) == "category":  # also where its categories are numbers
        return Column(name, None, [None if _is_gap(cell) else _category_text(cell) for cell in values.to_list()])
    cells = values.to_list() if hasattr(values, "to_list") else values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return _from_cells(name, cells)


def _numbers(values: Any) -> npt.NDArray[Any] | None:
    """Without going through Python objects, where the column has a numeric type."""
    array: npt.NDArray[Any]
    if hasattr(values, "array") and hasattr(values, "to_numpy"):  # pandas
        kind = getattr(values.dtype, "kind", "O")
        if str(values.dtype) == "category" or kind not in "biufc":
            return None
        if isinstance(values.dtype, np.dtype):
            array = values.to_numpy()
        else:
            array = values.to_numpy(dtype=np.float64, na_value=np.nan)  # Int64, boolean, ...
        return array
    if hasattr(values, "dtype") and hasattr(values.dtype, "is_numeric"):  # polars
        if values.dtype.is_numeric():
            array = values.to_numpy()
            return array if array.dtype.kind in "biuf" else array.astype(np.float64)
        if str(values.dtype) != "Boolean":
            return None
        array = values.cast(int).to_numpy()
        return array.astype(np.float64)
    if hasattr(values, "type"):  # Arrow
        import pyarrow.types as types

        if types.is_integer(values.type) or types.is_floating(values.type) or types.is_boolean(values.type):
            array = values.to_numpy()
            if array.dtype == object:  # booleans with gaps
                array = np.array([np.nan if cell is None else cell for cell in array], dtype=np.float64)
            return array
    return None


def _category_text(cell: Any) -> str:
    is_number = isinstance(cell, (int, float, np.number)) and not isinstance(cell, (bool, np.complexfloating))
    return number_text(cell) if is_number else cell.decode() if isinstance(cell, bytes) else str(cell)


def _is_gap(cell: Any) -> bool:
    if cell is None:
        return True
    return (isinstance(cell, (float, Decimal)) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")


def _from_cells(name: str, cells: list[Any]) -> Column:
    """A column without a number is a category; a text among numbers is an error, as in the tool."""
    present = [cell for cell in cells if not _is_gap(cell)]
    numeric = (int, float, np.number, Decimal, Fraction)
    is_number = [isinstance(cell, numeric) and not isinstance(cell, np.complexfloating) for cell in present]
    if present and all(is_number):
        return Column(name, np.array([np.nan if _is_gap(cell) else float(cell) for cell in cells]), None)
    if any(is_number):
        row = next(i for i, cell in enumerate(cells) if not _is_gap(cell) and not isinstance(cell, numeric))
        raise ValueError(f"column {name!r}, row {row}: {cells[row]!r} is not a number, but others in the column are.")
    for row, cell in enumerate(cells):
        if not _is_gap(cell) and not isinstance(cell, (str, bytes)):
            raise TypeError(
                f"column {name!r}, row {row}: argument must be a string or a number, got {type(cell).__name__} "
                "(turn dates into numbers, or leave the column out; if only the estimator needs it, name the columns for tare: features=[...])"
            )
    return Column(name, None, [None if _is_gap(cell) else cell if isinstance(cell, str) else cell.decode() for cell in cells])
