# SPDX-License-Identifier: BSD-3-Clause
"""Maps the columns of X to those of the core's table, with messages if they do not match."""

from __future__ import annotations

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


def kernel_columns(columns: Any, features: Features, schema: _core.Schema | None) -> list[int]:
    """Columns of x for the kernel; empty: all."""
    if columns is None or isinstance(columns, str):
        return []
    chosen: list[str] = []
    numbers: list[int] = []
    for column in columns:
        if isinstance(column, str):
            if features.names is None or column not in features.names:
                raise ValueError(f"features names {column!r}, which is not a column of X: {features.names or 'it has no names'}.")
            chosen.append(column)
        else:
            place = int(column)
            if not -features.count <= place < features.count:
                raise ValueError(f"features names column {place}, but X has {features.count}.")
            numbers.append(place % features.count)
    if features.columns is None or schema is None:
        return numbers
    chosen += [features.columns[place].name for place in numbers]
    return schema.columns_of(chosen)


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
