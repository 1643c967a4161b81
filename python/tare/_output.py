# SPDX-License-Identifier: BSD-3-Clause
"""Answers as arrays, or as the frames that `set_output` selects."""

from __future__ import annotations

from typing import Any

from ._host import where_it_was
from ._types import AnswerArray


def short(value: float) -> str:
    """0.05 and not 0.05000000000000001."""
    return repr(round(float(value), 12))


def wanted_container(estimator: Any) -> str:
    config = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return config if config else "default"


def as_container(values: AnswerArray, names: list[str], container: str, like: Any) -> Any:
    """`values` with a name for each column, as the container, with the index of `like`; by default an array where `like` is."""
    if container == "default":
        return where_it_was(values, like)
    if container == "pandas":
        import pandas

        return pandas.DataFrame(values, columns=names, index=getattr(like, "index", None))
    if container == "polars":
        import polars

        return polars.DataFrame(values, schema=names, orient="row")
    raise ValueError(f"set_output accepts 'default', 'pandas' and 'polars', got {container!r}.")
