# SPDX-License-Identifier: BSD-3-Clause
"""Warnings about answers: the same codes and counts as those of the tool and the service."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class TareWarning(UserWarning):
    """A warning about answers or about the model.

    Attributes
    ----------
    code : str
        A stable name: ``infinite_answer``, ``beyond_kept_levels``, ``fallback``; with diagnostics also ``few_effective_rows`` and
        ``outside``; of actions ``infinite_tail`` and ``outside_cost_table``;
        of a series ``left_out_rows``; about the model ``no_guarantee``, ``no_bands`` and ``few_shifted_rows``.
    rows : int
        Number of rows concerned; 0 for a warning about the model.
    """

    def __init__(self, code: str, rows: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.rows = rows

    def __reduce__(self) -> tuple[type[TareWarning], tuple[str, int, str]]:
        return type(self), (self.code, self.rows, str(self))


def read_warnings(found: Iterable[tuple[str, int, str]]) -> list[TareWarning]:
    return [TareWarning(code, rows, text) for code, rows, text in found]


def emit(found: Iterable[tuple[str, int, str]], stacklevel: int) -> None:
    """One warning for each, as from the caller's caller and so on."""
    for warning in read_warnings(found):
        warnings.warn(warning, stacklevel=stacklevel + 1)
