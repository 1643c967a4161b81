# SPDX-License-Identifier: BSD-3-Clause
"""The columns and settings of an estimator that comes from a model file."""

from __future__ import annotations

import re
from typing import Any

from . import _core
from ._columns import name_difference


class LoadedColumns:
    """Finds the columns of a model file in X: by name in a frame, where other columns are ignored, as the tool does; by index in an array."""

    def __init__(self, schema: _core.Schema) -> None:
        self._inputs = [name for name, _ in schema.inputs]
        self._group = schema.group
        needed = self._inputs + ([self._group] if self._group and self._group not in self._inputs else [])
        self._places = [int(name[1:]) for name in needed] if all(re.fullmatch(r"x(0|[1-9]\d*)", name) for name in needed) else None
        self.names = None if self._places is not None else needed
        self.count = len(needed) if self._places is None else 1 + max(self._places, default=0)
        self._is_whole = self._places is None or (sorted(self._places) == list(range(self.count)) and not schema.kernel_only)

    def select(self, count: int, names: list[str] | None) -> list[int] | None:
        if names is not None and self.names is not None:
            if not set(self.names) <= set(names):
                raise ValueError(name_difference(self.names, [name for name in names if name in self.names]))
            return [names.index(name) for name in self._inputs]
        if count < self.count or (count > self.count and self._is_whole):
            raise ValueError(f"X has {count} features, but the model of the file is expecting {self.count} features as input")
        if self._places is not None:
            return self._places[: len(self._inputs)]
        return list(range(len(self._inputs)))


def loaded_settings(core: _core.Model, schema: _core.Schema) -> dict[str, Any]:
    """The parameters of an estimator that would fit such a model, as far as the file knows them."""
    options: dict[str, Any] = dict(core.options)
    columns = LoadedColumns(schema)
    features: Any = schema.kernel_only or None
    if features and columns.names is None:
        features = [int(name[1:]) for name in features]
    if features is None and options.pop("screen", "no") == "yes":
        features = "auto"
    group: Any = schema.group or None
    if group and columns.names is None:
        group = int(group[1:])
    return {
        "method": core.method,
        "features": features,
        "group": group,
        "guarantee": options.pop("guarantee", None),
        "bounds": _bounds(options.pop("bounds", "auto")),
        "bands": {"on": True, "off": False}.get(options.pop("bands", "auto"), "auto"),
        "missing": schema.missing,
        "random_state": core.seed,
        "options": options or None,
    }


def _bounds(text: str) -> Any:
    """'auto', 'none' or a pair."""
    low, comma, high = text.partition(",")
    return tuple(float(end) if end else None for end in (low, high)) if comma else text


def number_or_text(text: str) -> Any:
    """0.3 for '0.3', 'auto' for 'auto'."""
    try:
        return float(text)
    except ValueError:
        return text
