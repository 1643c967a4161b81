# SPDX-License-Identifier: BSD-3-Clause
"""The parameter `guarantee`, and its meaning for a given number of rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from . import _core
from ._folds import Folds
from ._warnings import TareWarning

# With fewer rows 'marginal' gives no guarantee: the proven coverage of a 90 % interval by folds would be below 65 %.
ROWS_FOR_MARGINAL = 100
# From this number on, rows can be held out for the guarantee at little cost. With fewer rows all rows are ranked in folds: this
# needs 15 trainings in `fit` instead of 6 for a split, and Winkler scores are 3 to 7 % smaller (docs/python.md).
ROWS_FOR_SPLIT = 5000
ROWS_FOR_FIVE_FOLDS = 2000  # and not ten, in calibrate()
HELD_OUT_SHARE = 0.2
# With this number of held-out rows a level is accurate to a third of a percent; holding out more rows is not worth the loss of
# training rows.
MOST_HELD_OUT = 10_000
LEAST_FOLDS = 3  # in fit(): with two folds, no row is left for a model that is trained on neither

_FORMS = (
    "guarantee must be 'marginal', 'split', 'split:SHARE' with a share between 0 and 1, 'cross', 'cross:FOLDS' with {least} to {most} "
    "folds, 'local', 'conditional:COLUMNS', 'none' or None; ',strict' may follow, and ',own' or ',near' after 'split'; got {text!r}."
)
# Forms whose ranks differ from row to row. They hold rows out, as a split does; the core reads the rest of their text.
_ROWWISE = ("local", "conditional")


@dataclass(frozen=True)
class Guarantee:
    """The parts of a guarantee in the core's notation, for example 'split:0.2,strict'."""

    form: str
    share: float = HELD_OUT_SHARE
    folds: int = 0
    flags: str = ""  # with the comma before them
    rowwise: str = ""  # the whole text of a form of _ROWWISE

    @property
    def holds_rows_out(self) -> bool:
        return self.form == "split" or bool(self.rowwise)

    def text(self) -> str:
        if self.rowwise:
            return self.rowwise
        detail = {"split": f":{self.share:.6g}", "cross": f":{self.folds}"}.get(self.form, "")
        return self.form + detail + (self.flags if self.form != "none" else "")

    def held_out(self, rows: int) -> int:
        """The number of rows that a split holds out. Raises ValueError if they are too few."""
        count = min(round(self.share * rows), _core.most_held_out, rows - 1)
        if count < _core.rows_for_ninety:
            needed = -(-_core.rows_for_ninety // self.share)
            raise ValueError(
                f"guarantee={self.text()!r} would hold out {count} of {rows} rows, but a finite 90 % interval needs "
                f"{_core.rows_for_ninety}: give at least {needed:.0f} rows, a larger share, or guarantee='none'."
            )
        return count

    def fold_size(self, rows: int) -> int:
        """The number of rows of each fold; folds have equal size. Raises ValueError if they are too few."""
        each = rows // self.folds
        if each * self.folds < _core.rows_for_ninety:
            needed = -(-_core.rows_for_ninety // self.folds) * self.folds
            raise ValueError(
                f"guarantee={self.text()!r} would rank {each * self.folds} of {rows} rows in {self.folds} folds of equal size, but a "
                f"finite 90 % interval needs {_core.rows_for_ninety}: give at least {needed} rows, or guarantee='none'."
            )
        return each


def _parts(text: str | None) -> tuple[str, str, str]:
    """The name, the text after its colon, and the flags with their comma."""
    head, comma, flags = (text or "none").partition(",")
    name, _, detail = head.strip().partition(":")
    return name.lower(), detail, comma + flags


def around_a_model(text: str | None, rows: int) -> str:
    """The core's notation for a guarantee of calibrate(), in which the model does not depend on the rows."""
    name, detail, flags = _parts(text)
    if name != "marginal" or detail:
        return text or "none"
    if rows < ROWS_FOR_MARGINAL:
        _warn_too_few(rows, stacklevel=4)
        return "none"
    if rows >= ROWS_FOR_SPLIT:
        return f"split:{min(HELD_OUT_SHARE, MOST_HELD_OUT / rows):.6g}{flags}"
    return ("cross:5" if rows >= ROWS_FOR_FIVE_FOLDS else "cross:10") + flags


def of_own_models(text: str | None) -> str:
    """The core's notation for a guarantee of models that the core trains."""
    name, detail, flags = _parts(text)
    return "auto" + flags if name == "marginal" and not detail else text or "none"


def in_fit(text: str | None, rows: int, cv: int | Folds, within_groups: bool = False) -> Guarantee:
    """The guarantee of fit() with an estimator; it determines how the estimator is trained. Raises ValueError for an invalid text.

    `within_groups`: it holds within the groups of a column, which the core does not do for a model per fold.
    """
    name, detail, flags = _parts(text)
    if name in _ROWWISE:
        return _rowwise(name, text or "")
    if name == "loose":
        raise ValueError(
            f"guarantee={text!r} is for tare's own models and for calibrate(): around an estimator that fit() trains, use 'cross' or 'split'."
        )
    wrong = ValueError(_FORMS.format(least=LEAST_FOLDS, most=_core.most_folds, text=text))
    folds = cv.count if isinstance(cv, Folds) else max(LEAST_FOLDS, min(cv, _core.most_folds))
    asked = Guarantee(name, folds=folds, flags=flags)
    if detail:
        try:
            asked = replace(asked, share=float(detail)) if name == "split" else replace(asked, folds=int(detail))
        except ValueError:
            raise wrong from None
    is_known = name in ("split", "cross") or (name in ("marginal", "none") and not detail)
    in_range = LEAST_FOLDS <= asked.folds <= _core.most_folds or (isinstance(cv, Folds) and not detail)
    if not is_known or not 0.0 < asked.share < 1.0 or not in_range:
        raise wrong
    obstacle = _no_cross(asked, cv, within_groups)
    if name == "cross" and obstacle:
        raise ValueError(f"guarantee={text!r} {obstacle}: use guarantee='split', or guarantee='none'.")
    if name != "marginal":
        return asked
    if rows < ROWS_FOR_MARGINAL:
        _warn_too_few(rows, stacklevel=5)
        return replace(asked, form="none")
    if rows >= ROWS_FOR_SPLIT:
        return replace(asked, form="split", share=min(HELD_OUT_SHARE, MOST_HELD_OUT / rows))
    return replace(asked, form="split" if obstacle else "cross")


def _rowwise(name: str, text: str) -> Guarantee:
    """A guarantee whose text the core checks; the share of the rows that it holds out is needed before."""
    share = HELD_OUT_SHARE
    for word in text.split(",")[1:]:
        key, _, value = word.strip().partition("=")
        if key != "share":
            continue
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if not 0.0 < share < 1.0:
            raise ValueError(f"The share of guarantee={text!r} must be between 0 and 1.")
    return Guarantee(name, share=share, rowwise=text)


def _no_cross(asked: Guarantee, cv: int | Folds, within_groups: bool) -> str:
    """Why a model per fold cannot rank the rows; empty if it can."""
    if within_groups:
        return "cannot hold within groups, because each fold has a model of its own"
    if not isinstance(cv, Folds):
        return ""
    if not cv.is_partition():
        return "ranks each row in one fold, but cv does not put each row into one test fold and all others into the training of its model"
    if asked.folds != cv.count:
        return f"asks for {asked.folds} folds, but cv has {cv.count}"
    if not LEAST_FOLDS <= cv.count <= _core.most_folds:
        return f"needs {LEAST_FOLDS} to {_core.most_folds} folds, but cv has {cv.count}"
    return ""


def _warn_too_few(rows: int, stacklevel: int) -> None:
    text = (
        f"{rows} rows are too few for guarantee='marginal', which needs {ROWS_FOR_MARGINAL}: no coverage is guaranteed (guarantee_ says "
        "'none'). Give more rows, ask for 'split' or 'cross' by name, or pass guarantee='none' to say that none is needed."
    )
    warnings.warn(TareWarning("no_guarantee", rows, text), stacklevel=stacklevel)


def warn_no_guarantee_of_own(rows: int, method: str) -> None:
    least = _core.loose_from(method)
    text = (
        f"guarantee='marginal' gives method {method!r} a guarantee from {least} rows on (2,000 in time order), but there are {rows}: no coverage "
        "is guaranteed (guarantee_ says 'none'). Ask for 'split' or 'cross' by name, or pass guarantee='none' to say that none is needed."
    )
    warnings.warn(TareWarning("no_guarantee", rows, text), stacklevel=4)
