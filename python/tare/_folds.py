# SPDX-License-Identifier: BSD-3-Clause
"""The parameter `cv`: a number of folds, a splitter of scikit-learn, or pairs of training and test rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._host import on_host
from ._types import BoolArray, IndexArray

_FORMS = (
    "cv must be a number of folds, at least 2, a splitter of scikit-learn (KFold, GroupKFold, TimeSeriesSplit, ...) or an iterable of "
    "pairs of training and test rows; got {!r}."
)


@dataclass
class Folds:
    """Pairs of rows that train and rows that are predicted."""

    rows: int
    train: list[IndexArray]
    test: list[IndexArray]
    groups: npt.NDArray[np.intp] | None = None  # a number for each row; rows of a group stay together
    given: bool = True  # by the user; False: drawn at random

    @property
    def count(self) -> int:
        return len(self.test)

    def tested(self) -> BoolArray:
        """Rows that are in a test fold."""
        found = np.zeros(self.rows, dtype=bool)
        for test in self.test:
            found[test] = True
        return found

    def is_partition(self) -> bool:
        """Whether each row is in one test fold, and every other row trains the model of this fold."""
        times = np.zeros(self.rows, dtype=np.intp)
        for test in self.test:
            times[test] += 1
        return bool((times == 1).all()) and all(len(a) + len(b) == self.rows for a, b in zip(self.train, self.test))

    def is_forward(self) -> bool:
        """Whether every model is trained on rows before those that it predicts, as in TimeSeriesSplit."""
        return self.given and all(train.max() < test.min() for train, test in zip(self.train, self.test))

    def proves(self) -> bool:
        """Whether the folds leave the proof of a guarantee as it is: rows are neither in groups nor in time order."""
        return self.groups is None and not self.is_forward()

    def within(self, kept: BoolArray) -> Folds:
        """The folds of the rows that are kept; folds without a training or test row are left out."""
        pairs = [(train[kept[train]], test[kept[test]]) for train, test in zip(self.train, self.test)]
        pairs = [(train, test) for train, test in pairs if len(train) > 0 and len(test) > 0]
        return Folds(self.rows, [a for a, _ in pairs], [b for _, b in pairs], self.groups, self.given)

    def some_rows(self, count: int, rng: np.random.Generator, strata: npt.NDArray[Any] | None = None) -> IndexArray:
        """About `count` rows to hold out: whole groups; the last rows where models are trained on the past; else random rows, of each
        stratum its share."""
        if self.is_forward():
            return np.arange(self.rows - count, self.rows)
        order = rng.permutation(self.rows)
        if self.groups is not None:
            sizes = np.bincount(self.groups)
            shuffled = rng.permutation(len(sizes))
            needed = 1 + int(np.searchsorted(np.cumsum(sizes[shuffled]), count))
            return np.flatnonzero(np.isin(self.groups, shuffled[:needed]))
        if strata is None:
            return np.sort(order[:count])
        # A stable sort by stratum, in which each stratum has its rows in random order, evenly spread over (0, 1).
        by_stratum = order[np.argsort(strata[order], kind="stable")]
        sizes = np.bincount(strata)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        place = (np.arange(self.rows) - first + 0.5) / np.repeat(sizes, sizes)
        return np.sort(by_stratum[np.argsort(place, kind="stable")[:count]])


def read_groups(groups: Any, rows: int) -> npt.NDArray[np.intp] | None:
    """A number from 0 for the group of each row."""
    if groups is None:
        return None
    values = np.asarray(on_host(groups, "groups"))
    if values.ndim != 1 or len(values) != rows:
        raise ValueError(f"groups has shape {values.shape}, where one value for each of {rows} rows is expected.")
    if values.dtype == object:
        values = np.array([str(value) for value in values])
    numbers: npt.NDArray[np.intp] = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.intp)
    if numbers.max(initial=0) == 0:
        raise ValueError("groups has the same value in all rows: at least 2 groups are required.")
    return numbers


def read_folds(cv: Any, X: Any, y: npt.NDArray[Any], groups: Any, seed: int, least: int = 2) -> Folds:
    """The folds that `cv` describes for these rows. A number of folds: at random, and at least `least`."""
    rows = len(y)
    numbers = read_groups(groups, rows)
    if cv is None:
        cv = 5
    if isinstance(cv, (bool, str, bytes, float, type)):
        raise ValueError(_FORMS.format(cv))
    if isinstance(cv, (int, np.integer)):
        if cv < 2:
            raise ValueError(_FORMS.format(cv))
        return _random_folds(max(int(cv), least), rows, numbers, seed)
    if hasattr(cv, "split"):
        pairs = list(cv.split(X, y, groups))
    elif isinstance(cv, Iterable):
        pairs = list(cv)
    else:
        raise ValueError(_FORMS.format(cv))
    if not pairs:
        raise ValueError(f"cv={cv!r} has no folds; a generator can be used only once, so pass a list of its pairs.")
    folds = Folds(rows, [], [], numbers)
    for k, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"cv has {pair!r} as fold {k}, where a pair (training rows, test rows) is expected.")
        train, test = (_read_rows(part, rows, f"the {what} rows of fold {k} of cv") for part, what in zip(pair, ("training", "test")))
        if np.intersect1d(train, test).size > 0:
            raise ValueError(f"row {np.intersect1d(train, test)[0]} is a training row and a test row of fold {k} of cv.")
        folds.train.append(train)
        folds.test.append(test)
    return folds


def _read_rows(values: Any, rows: int, what: str) -> IndexArray:
    found = np.asarray(values)
    if found.dtype == bool and found.shape == (rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or len(found) == 0 or found.dtype.kind not in "iu":
        raise ValueError(f"{what} must be a list of row numbers that is not empty, got {values!r}.")
    if found.min() < 0 or found.max() >= rows:
        raise ValueError(f"{what} have row {found[(found < 0) | (found >= rows)][0]}, but there are {rows} rows.")
    return np.unique(found).astype(np.intp)


def _random_folds(count: int, rows: int, groups: npt.NDArray[np.intp] | None, seed: int) -> Folds:
    """Folds whose sizes differ by one row at most, or whole groups in folds of about the same size."""
    rng = np.random.default_rng(seed)
    fold = np.empty(rows, dtype=np.intp)
    if groups is None:
        count = min(count, rows)
        fold[rng.permutation(rows)] = np.arange(rows) % count
    else:
        sizes = np.bincount(groups)
        if len(sizes) < count:
            raise ValueError(f"groups has {len(sizes)} different values, which is too few for {count} folds: give a smaller cv.")
        of_group = np.empty(len(sizes), dtype=np.intp)
        load = np.zeros(count)
        shuffled = rng.permutation(len(sizes))
        for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:  # the largest first, into the smallest fold
            of_group[group] = int(np.argmin(load))
            load[of_group[group]] += sizes[group]
        fold = of_group[groups]
    tests = [np.flatnonzero(fold == k) for k in range(count)]
    trains = [np.flatnonzero(fold != k) for k in range(count)]
    return Folds(rows, trains, tests, groups, given=groups is not None)
