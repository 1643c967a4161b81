# SPDX-License-Identifier: BSD-3-Clause
"""Maps the columns of X to those of the core's table, with messages if they do not match."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._input import Features
from ._output import short
from ._types import FloatArray


def free_name(name: str, taken: list[str]) -> str:
    """The name, followed by as many underscores as make it unique."""
    while name in taken:
        name += "_"
    return name


def given_names(form: _core.GivenForm, taken: list[str]) -> list[str]:
    """Names for the columns of given predictions that differ from all feature names."""
    names = ["prediction", "prediction_sd"] if form.kind == "mean_sd" else ["prediction"]
    if form.kind == "quantiles":
        names = [f"q{short(level)}" for level in form.levels]
    if form.kind == "fold_points":
        names = [f"prediction{k}" for k in range(form.folds)]
    return [free_name(name, taken) for name in names]


def table_of(features: Features, given: FloatArray | None, given_names: list[str]) -> _core.Table:
    table = _core.Table(features.rows)
    assert features.columns is not None
    for column in features.columns:
        if column.numbers is not None:
            table.add_numbers(column.name, column.numbers)
        else:
            table.add_texts(column.name, *column.codes())
    if given is not None:
        for j, name in enumerate(given_names):
            table.add_numbers(name, np.ascontiguousarray(given[:, j]))
    return table


def chosen_columns(columns: Any, count: int, names: list[str] | None, what: str = "features") -> list[int] | None:
    """Indices of the columns that a list of names, indices or a mask names; None for 'auto', 'all' and None."""
    if columns is None or (isinstance(columns, str) and columns in ("auto", "all")):
        return None
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        remedy = "" if isinstance(columns, str) and columns not in (names or []) else f"; for one column write {what}=[{columns!r}]"
        raise ValueError(f"{what} must be a list of columns, a mask, 'auto', 'all' or None, got {columns!r}{remedy}.")
    chosen = list(columns)
    if chosen and all(isinstance(column, (bool, np.bool_)) for column in chosen):
        if len(chosen) != count:
            raise ValueError(f"{what} is a mask of {len(chosen)} columns, but X has {count}.")
        chosen = [j for j, taken in enumerate(chosen) if taken]
    if not chosen:
        raise ValueError(f"{what} names no column; None means all columns.")
    places = [column_place(column, count, names, what) for column in chosen]
    return list(dict.fromkeys(places))


def column_place(column: Any, count: int, names: list[str] | None, what: str) -> int:
    """The index of a column that is given by name or by index, from 0 or, negative, from the end."""
    if isinstance(column, str):
        if names is None or column not in names:
            raise ValueError(f"{what} names {column!r}, which is not a column of X: {names or 'it has no names'}.")
        return names.index(column)
    if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)):
        raise ValueError(f"{what} has {column!r}, where the name or the index of a column is expected.")
    place = int(column)
    if not -count <= place < count:
        raise ValueError(f"{what} names column {place}, but X has {count}.")
    return place % count


def kernel_columns(columns: Any, features: Features, schema: _core.Schema | None) -> list[int]:
    """Columns of x for the kernel; empty: all."""
    chosen = chosen_columns(columns, features.count, features.names)
    if chosen is None:
        return []
    read = list(range(features.count)) if features.places is None else features.places
    if features.columns is None or schema is None:
        return [read.index(place) for place in chosen]
    return schema.columns_of([features.columns[read.index(place)].name for place in chosen])


def name_difference(known: list[str], got: list[str]) -> str:
    text = "The feature names should match those that were passed during fit.\n"
    unexpected = sorted(set(got) - set(known))
    missing = sorted(set(known) - set(got))

    def listed(names: list[str]) -> str:
        return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")

    if unexpected:
        text += "Feature names unseen at fit time:\n" + listed(unexpected)
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unexpected and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text
