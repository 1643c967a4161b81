# SPDX-License-Identifier: BSD-3-Clause
"""The state of an online model, what it says about drift, and which levels it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._options import option_text
from ._output import short

DEFAULT_INTERVAL = 0.9
_MOST_START = 1_000_000_000
_LONGEST_DELAY = 100_000


class OnlineCore:
    """A model of the core that goes on learning. A pickle has its whole state; a deep copy is a model of its own."""

    row_plan: Any = None  # a RowPlan, made by `encode_row`
    plain: Any = None  # PlainRows of the core, or False if there is no short way; made by `plain_way`

    def __init__(self, learner: _core.Online) -> None:
        self.learner = learner
        self._levels: list[float] = learner.settings["levels"]

    def places_of(self, levels: list[float]) -> list[int] | None:
        """Where the stream has these levels; None if it does not keep all of them."""
        kept = self._levels
        return [kept.index(level) for level in levels] if all(level in kept for level in levels) else None

    @property
    def core(self) -> _core.Model:
        return self.learner.model

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.learner.state(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> OnlineCore:
        return _restored(self.learner.state())


def _restored(state: Any) -> OnlineCore:
    return OnlineCore(_core.Online.restore(state))


@dataclass(frozen=True)
class Asked:
    """What a stream keeps since it began, whatever the parameters are set to later."""

    levels: list[float]
    intervals: list[float]
    several: bool  # the intervals came as a list

    def places(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Where the stream has the levels, and the ends of the intervals."""
        places = _core.level_columns(self.levels, self.intervals)[1]
        ends = places[len(self.levels) :]
        return places[: len(self.levels)], list(zip(ends[::2], ends[1::2]))


@dataclass(frozen=True)
class Drift:
    """What the watch for drift has found since the start of a stream, or since `restart_drift`.

    Rows are counted from 0 in the order in which they were learned.

    Attributes
    ----------
    log_e : float
        The logarithm of the e-value, which is the evidence that errors have not been exchangeable. After an alarm it stays as it was.
    threshold : float
        The `log_e` from which on there is an alarm: log(1 / drift_rate).
    alarm_row : int or None
        The row whose target raised the alarm; None: no alarm.
    change_row : int or None
        The row from which on errors were different, as estimated.
    scale, shift : float or None
        The change, roughly: a factor on the spread of errors, and a shift in standard deviations.
    causes : list of str
        Ranges of features in which errors changed otherwise than elsewhere, such as 'load from 0.2 to 0.4'. More may be found as rows come.
    """

    log_e: float
    threshold: float
    alarm_row: int | None
    change_row: int | None
    scale: float | None
    shift: float | None
    causes: list[str]

    def __bool__(self) -> bool:
        """Whether there is an alarm."""
        return self.alarm_row is not None


def drift_of(learner: _core.Online) -> Drift:
    found = learner.drift()
    rate = learner.settings["drift_rate"]
    causes = list(dict.fromkeys(found["causes"]))  # a range may have changed in location and in spread
    return Drift(found["log_e"], float(np.log(1.0 / rate)), found["alarm"], found["change"], found["scale"], found["shift"], causes)


def numbers_of(values: Any, what: str) -> list[float]:
    """A number or a list of numbers in (0, 1); None is an empty list."""
    if values is None:
        return []
    try:
        numbers = [float(value) for value in np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()]
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or a list of numbers strictly between 0 and 1, got {values!r}.") from None
    for number in numbers:
        if not 0.0 < number < 1.0:
            raise ValueError(f"{what} must lie strictly between 0 and 1, got {number}.")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{what} has a number twice: {numbers}.")
    return numbers


def levels_and_intervals(levels: Any, interval: Any) -> tuple[list[float], list[float]]:
    """What a stream keeps: without either, the interval of 0.9."""
    kept, intervals = numbers_of(levels, "levels"), numbers_of(interval, "interval")
    return kept, intervals if kept or intervals else [DEFAULT_INTERVAL]


def count_of(value: Any, what: str) -> int:
    most = _LONGEST_DELAY if what == "delay" else _MOST_START
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 0 <= value <= most:
        raise ValueError(f"{what} must be a whole number from 0 to {most}, got {value!r}.")
    return int(value)


def rate_of(value: Any) -> float:
    try:
        rate = float(value)
    except (TypeError, ValueError):
        rate = 0.0
    if not 0.0 < rate < 1.0:
        raise ValueError(f"drift_rate must be a probability between 0 and 1, got {value!r}.")
    return rate


def method_settings(options: Mapping[str, Any] | None, **stated: Any) -> dict[str, str]:
    """The options of an online method: those with an argument of their own, unless it is None or 'auto', and the others."""
    texts = {str(name): option_text(value) for name, value in (options or {}).items()}
    for name, value in stated.items():
        if value is None or (isinstance(value, str) and value == "auto"):
            continue
        if name in texts and texts[name] != option_text(value):
            raise ValueError(f"{name} is {value!r}, but options={{{name!r}: {(options or {})[name]!r}}}: give one of them.")
        texts[name] = option_text(value)
    return texts


def intervals_within(levels: Iterable[float]) -> tuple[list[float], list[float]]:
    """Levels of a stream as (levels, intervals): every pair that is the two ends of a central interval is one."""
    left = list(levels)
    intervals = []
    for low in [level for level in left if level < 0.5]:
        for high in [level for level in left if level > 0.5]:
            confidence = round(high - low, 12)
            if tuple(_core.interval_levels(confidence)) == (low, high):
                intervals.append(confidence)
                left.remove(low)
                left.remove(high)
                break
    return left, sorted(intervals)


def proven_of_interval(counted: dict[str, Any], low: int, high: int) -> float:
    """The bounds of both ends are about targets at or below an answer, and a target equal to the lower end is inside: their share is added."""
    ends = float(counted["bound"][low] + counted["bound"][high])
    return min(1.0, ends + float(counted["share_between"][low][low])) if ends < 1.0 else 1.0


def stream_facts(online: Any, facts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What `inspect()` says about a stream; `facts` are those of every model."""
    learner = online._learner()
    counted, drift, stated = learner.coverage(), drift_of(learner), learner.settings
    options = " ".join(f"{name}={value}" for name, value in stated["options"].items())
    told = [
        ("method", " ".join(["online,", stated["method"], options]).strip()),
        *(fact for fact in facts if fact[0] in ("made by", "target", "prediction", "features", "missing")),
        ("rows", f"{counted['time']}, of which {counted['answered']} with a target came after the first {stated['start']}"),
    ]
    asked: Asked = online._asked
    places, ends = asked.places()
    for confidence, (low, high) in zip(asked.intervals, ends):
        proven = proven_of_interval(counted, low, high)
        told.append((f"{short(confidence)} interval", _kept_text("covered", counted["share_between"][low][high], proven)))
    for level, place in zip(asked.levels, places):
        told.append((f"level {short(level)}", _kept_text("at or below it", counted["share_below"][place], counted["bound"][place])))
    if drift:
        where = "".join(f"; mostly where {cause}" for cause in drift.causes)
        told.append(("drift", f"alarm at row {drift.alarm_row}, change from about row {drift.change_row}{where}"))
    else:
        told.append(("drift", f"no alarm; evidence {drift.log_e:.2f} of {drift.threshold:.2f}"))
    return told


def _kept_text(what: str, share: float, proven: float) -> str:
    if np.isnan(share):
        return "no target yet"
    return f"{share:.4f} {what}" + (f"; proven: within {proven:.4f}" if proven < 1.0 else "")
