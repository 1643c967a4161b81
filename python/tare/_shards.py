# SPDX-License-Identifier: BSD-3-Clause
"""SNQ on calibration rows in shards: what a partition does, and how its replies become answers. It knows no engine.

Rows are sorted by their residual and cut into ranges, the shards. `Answering` asks all shards the same questions, round by round: distances of
near rows where a window is a number of rows, then the sum of weights of each query (pass one), then the residuals at which cumulative weights
reach the levels (pass two), each from the shard that holds it. Replies are whole numbers, distances and residuals, which are put together
without rounding: the number of shards changes no bit of an answer.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._ship import check_version
from ._types import FloatArray, IndexArray

# Below this share of the largest weight a row is out of reach, as in the core.
_REACH = 1e-140
_FIXED_BITS = 62
_SAMPLE = 4096  # residuals of a partition from which the ranges are computed
_WINDOWS = ("naive", "knn")  # kernels whose rows have equal weights
_DENSE_RANKS = 16
_RANK_STEP = 1.1


@dataclass(frozen=True)
class Spec:
    """The options of SNQ, and what all shards together are."""

    kernel: str
    bandwidth: float
    rows: int
    ranks: str = "expected"
    fallback: str = "nearest"
    min_support: int = 20
    tie_tolerance: float = 1e-9
    weighted: bool = False
    whole: bool = True  # all weights are whole numbers
    largest_weight: float = 1.0
    version: str = _core.version

    @property
    def is_window(self) -> bool:
        """Whether the rows around a query have equal weights, but for their own."""
        return self.kernel in _WINDOWS or math.isinf(self.bandwidth)

    @property
    def only_counts(self) -> bool:
        return self.is_window and not self.weighted

    @property
    def most_rounds(self) -> int:
        """Rounds of `Answering` at most: nearest rows (2), sums, largest weights, nearest rows of the fallback (2), sums, largest weights,
        sums, picks. Whole weights need no finer unit."""
        if self.is_window and self.whole:
            return 4 if self.kernel == "knn" else 5
        return 6 if self.whole else 10

    @property
    def unit(self) -> int:
        """The exponent of the unit of weights that are not whole numbers; never 0, which is for whole ones."""
        exponent = math.frexp(self.largest_weight)[1] - _FIXED_BITS
        return exponent if exponent != 0 else 1


@dataclass
class ShardRows:
    """Some calibration rows: kernel features, residuals, and weights or None. It travels between processes."""

    z: FloatArray
    u: FloatArray
    weight: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.u)

    @property
    def nbytes(self) -> int:
        return self.z.nbytes + self.u.nbytes + (0 if self.weight is None else self.weight.nbytes)

    def __sizeof__(self) -> int:
        """What an engine asks to decide what to write to disk and what to move: the arrays, and not the object that refers to them."""
        return object.__sizeof__(self) + self.nbytes

    def take(self, rows: IndexArray) -> ShardRows:
        return ShardRows(np.ascontiguousarray(self.z[rows]), self.u[rows], None if self.weight is None else self.weight[rows])


def no_rows(dims: int, weighted: bool) -> ShardRows:
    return ShardRows(np.empty((0, dims)), np.empty(0), np.empty(0) if weighted else None)


def join_rows(parts: Sequence[ShardRows], dims: int) -> ShardRows:
    """One shard from the parts that partitions have for it, without rows of no weight, in the order of the residuals."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return ShardRows(np.empty((0, dims)), np.empty(0))
    whole = ShardRows(
        np.concatenate([part.z for part in parts]),
        np.concatenate([part.u for part in parts]),
        None if parts[0].weight is None else np.concatenate([part.weight for part in parts if part.weight is not None]),
    )
    order = np.argsort(whole.u, kind="stable")
    if whole.weight is not None:
        order = order[whole.weight[order] > 0]
    return whole.take(order)


# --- ranges of residuals ---------------------------------------------------------------------------


def residual_sample(u: FloatArray) -> tuple[FloatArray, int]:
    """At most 4,096 of the residuals of a partition, at equal steps of their order, and the number of its rows."""
    ordered = np.sort(u)
    return (ordered if len(u) <= _SAMPLE else ordered[(np.arange(_SAMPLE) * len(u) + len(u) // 2) // _SAMPLE]), len(u)


def cuts_between(samples: Sequence[tuple[FloatArray, int]], shards: int) -> FloatArray:
    """The residuals between `shards` ranges with about equally many rows. Without equal residuals a shard has at most 1/2,048 of all rows
    more than its share; one that holds the end of a run of equal ones has less than twice its share."""
    values = np.concatenate([sample for sample, _ in samples]) if samples else np.empty(0)
    if len(values) == 0:
        return np.empty(0)
    mass = np.concatenate([np.full(len(sample), rows / len(sample)) for sample, rows in samples if len(sample)])
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(mass[order])
    places = np.searchsorted(reached, reached[-1] * np.arange(1, shards) / shards)
    cuts: FloatArray = values[order][np.minimum(places, len(values) - 1)]
    return cuts


def shard_numbers(u: FloatArray, cuts: FloatArray) -> IndexArray:
    """The shard of each row. Rows whose residual is a cut may be in either shard beside it, and are dealt out in turn: many equal residuals
    do not make one large shard."""
    first = np.searchsorted(cuts, u, side="left")
    choices = np.searchsorted(cuts, u, side="right") - first + 1
    numbers: IndexArray = first + np.arange(len(u)) % choices
    return numbers


# --- questions to a shard --------------------------------------------------------------------------


@dataclass
class Request:
    """A question about some queries to every shard; `of_shard` has what differs between shards."""

    kind: str
    z: FloatArray
    values: dict[str, Any] = field(default_factory=dict)
    of_shard: dict[int, dict[str, Any]] = field(default_factory=dict)


def serve(rows: ShardRows, spec: Spec, request: Request | None, number: int, threads: int = 1) -> Any:
    """The reply of shard `number`."""
    if request is None or (request.of_shard and number not in request.of_shard):
        return None
    check_version(spec.version)
    shard = _core.Shard(rows.z, rows.u, rows.weight, spec.kernel, spec.bandwidth)
    z, values = request.z, request.values
    if request.kind == "distances":
        ranks = np.minimum(values["ranks"], shard.rows)
        if shard.rows == 0:
            return ranks, np.full((len(z), len(ranks)), np.inf)
        return ranks, shard.distances(z, [int(rank) for rank in ranks], threads)
    if request.kind == "between":
        return shard.between(z, values["low"], values["high"], threads)
    if request.kind == "largest":
        return shard.largest_weights(z, values["reach2"], values["exponent"], threads)
    if request.kind == "sums":
        return shard.sums(z, values["reach2"], values["exponent"], spec.only_counts, threads)
    own = request.of_shard[number]
    return shard.pick(own["z"], own["reach2"], own["exponent"], own["query"], own["target"], threads)


# --- from replies to answers -----------------------------------------------------------------------


class Answering:
    """The quantiles of residuals at some queries, in rounds: while `request()` is not None, every shard serves it, and `receive` gets the
    replies in the order of the shards. It is small and travels between processes."""

    def __init__(self, spec: Spec, z: FloatArray, levels: Sequence[float]) -> None:
        self.spec = spec
        # A query that is not finite is as far from every row as can be, as in the core.
        self.z = np.ascontiguousarray(np.where(np.isfinite(z), z, 1e200))
        self.levels = [float(level) for level in levels]
        count = len(z)
        self.fallback = np.zeros(count, dtype=bool)
        self.quantiles: FloatArray = np.empty((count, len(self.levels)))
        self._reach2 = np.full(count, np.nan)
        self._exponent = np.full(count, 0 if spec.is_window and spec.whole else spec.unit, dtype=np.int32)
        self._sums: Any = None
        self._is_finer = np.zeros(count, dtype=bool)  # whose unit comes from the largest weight of its own window
        self._asked = self._alone = np.arange(0)
        self._plan: Any = None
        if count == 0 or not self.levels:
            self._stage, self._active = "done", np.arange(0)
            return
        self._active = np.arange(count)
        if math.isinf(spec.bandwidth):
            self._reach2[:] = np.inf
        elif spec.kernel == "naive":
            self._reach2[:] = spec.bandwidth * spec.bandwidth
        if spec.kernel == "knn" and not math.isinf(spec.bandwidth):
            self._find_nearest(self._active, int(spec.bandwidth))
        else:
            self._stage = "sums"

    @property
    def is_done(self) -> bool:
        return self._stage == "done"

    def request(self) -> Request | None:
        at = self._asked if self._stage in ("distances", "between", "largest") else self._active
        if self._stage == "done":
            return None
        if self._stage == "distances":
            return Request("distances", self.z[at], {"ranks": _probe_ranks(self._nearest)})
        if self._stage == "between":
            return Request("between", self.z[at], {"low": self._low, "high": self._high})
        if self._stage in ("largest", "sums"):
            return Request(self._stage, self.z[at], {"reach2": self._reach2[at], "exponent": self._exponent[at]})
        return Request("pick", self.z[:0], {}, self._picks_of_shards())

    def receive(self, replies: Sequence[Any]) -> None:
        take = {
            "distances": self._take_distances,
            "between": self._take_between,
            "largest": self._take_largest,
            "sums": self._take_sums,
            "pick": self._take_picks,
        }
        take[self._stage](replies)

    def received(self, replies: Sequence[Any]) -> Answering:
        """The same on a copy: an engine may give one object to several tasks, or run a task twice."""
        other = copy.deepcopy(self)
        other.receive(replies)
        return other

    def _find_nearest(self, queries: IndexArray, count: int) -> None:
        self._asked, self._nearest, self._stage = queries, max(1, min(count, self.spec.rows)), "distances"

    def _take_distances(self, replies: Sequence[Any]) -> None:
        """Two squared distances for each query: fewer than `_nearest` rows are within the lower one, at least as many within the higher."""
        wanted = self._nearest
        distance = np.concatenate([squared for _, squared in replies], axis=1)
        surely, at_most = [], []
        for ranks, _ in replies:
            surely.append(np.diff(ranks, prepend=0))
            ends = np.diff(ranks, append=ranks[-1] + 1 if ranks[-1] < wanted else ranks[-1] + wanted)
            at_most.append(ends)
        order = np.argsort(distance, axis=1, kind="stable")
        ordered = np.take_along_axis(distance, order, axis=1)
        high_at = (np.cumsum(np.concatenate(surely)[order], axis=1) >= wanted).argmax(axis=1)
        below = np.cumsum(np.concatenate(at_most)[order], axis=1) < wanted
        self._high = ordered[np.arange(len(ordered)), high_at]
        self._low = np.full(len(ordered), -1.0)
        for i in range(len(ordered)):
            last = int(below[i].sum()) - 1
            if last < 0:
                continue
            if last + 1 < ordered.shape[1] and ordered[i, last + 1] == ordered[i, last]:  # not all rows at this distance are counted
                last = int(np.searchsorted(ordered[i], ordered[i, last])) - 1
            if last >= 0:
                self._low[i] = min(ordered[i, last], np.nextafter(self._high[i], -np.inf))
        self._stage = "between"

    def _take_between(self, replies: Sequence[Any]) -> None:
        starts = [np.concatenate([[0], np.cumsum(count)]).astype(np.int64) for _, count, _ in replies]
        for i, query in enumerate(self._asked):
            below = sum(int(reply[0][i]) for reply in replies)
            found = np.concatenate([reply[2][start[i] : start[i + 1]] for reply, start in zip(replies, starts)])
            place = self._nearest - below - 1
            self._reach2[query] = np.partition(found, place)[place] * (1.0 + self.spec.tie_tolerance)
        self._stage = "sums"

    def _take_sums(self, replies: Sequence[Any]) -> None:
        words = np.stack(replies)  # shard, query, word
        if self._sums is None:
            self._sums = words
        else:
            self._sums[:, self._active] = words
        at = self._active
        total = words[:, :, 0].astype(np.float64).sum(axis=0)
        if words.shape[2] > 1:
            total += words[:, :, 1].astype(np.float64).sum(axis=0) * 2.0**64
        # Less than one row of the largest weight: in a finer unit the sum has more digits.
        coarse = (self._exponent[at] != 0) & (total < 2.0 ** (_FIXED_BITS - 1)) & ~self._is_finer[at]
        none = (total == 0) & ~coarse & ~self.fallback[at]
        if not (coarse | none).any():
            self._make_plan()
            return
        self._active, self._alone, self._asked = at[coarse | none], at[none], at[coarse]
        if coarse.any():
            self._stage = "largest"
        else:
            self._fall_back(self._alone)

    def _take_largest(self, replies: Sequence[Any]) -> None:
        largest = np.max(np.stack(replies), axis=0)
        out_of_reach = (largest <= _REACH * self.spec.largest_weight) & ~self.fallback[self._asked]
        units = np.frexp(np.where(largest > 0, largest, 1.0))[1] - _FIXED_BITS
        self._exponent[self._asked] = np.where(units == 0, 1, units)
        self._is_finer[self._asked] = True
        self._stage = "sums"
        alone = np.concatenate([self._alone, self._asked[out_of_reach]])
        if len(alone):
            self._fall_back(alone)

    def _fall_back(self, queries: IndexArray) -> None:
        self.fallback[queries] = True
        self._exponent[queries] = 0 if self.spec.whole else self.spec.unit
        self._is_finer[queries] = False
        if self.spec.fallback == "marginal":
            self._reach2[queries] = np.inf
            self._stage = "sums"
        else:
            self._find_nearest(queries, self.spec.min_support)

    def _make_plan(self) -> None:
        first, shard, target = _core.plan_picks(self._sums, self._exponent, self.levels, self.spec.ranks)
        self._plan = np.asarray(first).astype(np.int64), np.asarray(shard), np.asarray(target)
        self._sums = _add_shards(self._sums)
        self._stage = "pick"

    def _picks_of_shards(self) -> dict[int, dict[str, Any]]:
        """Each shard gets only the queries that have a level in it."""
        first, shard, target = self._plan
        query = np.repeat(np.arange(len(self.z)), np.diff(first))
        requests = {}
        for number in np.unique(shard):
            picks = shard == number
            queries, places = np.unique(query[picks], return_inverse=True)
            requests[int(number)] = {
                "z": self.z[queries],
                "reach2": self._reach2[queries],
                "exponent": self._exponent[queries],
                "query": places.astype(np.uint32),
                "target": np.ascontiguousarray(target[picks]),
            }
        return requests

    def _take_picks(self, replies: Sequence[Any]) -> None:
        _, shard, _ = self._plan
        values = np.empty(len(shard))
        for number, reply in enumerate(replies):
            if reply is not None:
                values[shard == number] = reply
        self.quantiles = np.asarray(_core.finish_picks(self._sums, self._exponent, self.levels, self.spec.ranks, values))
        self._sums = self._plan = None
        self._stage = "done"


def answer(spec: Spec, shards: Sequence[ShardRows], z: FloatArray, levels: Sequence[float], threads: int = 0) -> Answering:
    """The answers on this machine, one shard after the other: what every engine must give."""
    return drive(
        Answering(spec, z, levels), lambda request: [serve(rows, spec, request, number, threads) for number, rows in enumerate(shards)]
    )


def drive(answering: Answering, ask: Callable[[Request], Sequence[Any]]) -> Answering:
    """Goes through the rounds with `ask`, which has every shard serve a request."""
    while (request := answering.request()) is not None:
        answering.receive(ask(request))
    return answering


def _probe_ranks(count: int) -> npt.NDArray[np.int64]:
    """1, 2, ..., 16, then steps of a tenth, up to `count`."""
    ranks = list(range(1, min(count, _DENSE_RANKS) + 1))
    while ranks[-1] < count:
        ranks.append(min(count, math.ceil(ranks[-1] * _RANK_STEP)))
    return np.array(ranks, dtype=np.int64)


def _add_shards(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The sums over all shards, as if they were one."""
    total: npt.NDArray[np.uint64]
    if words.shape[2] == 1:
        total = words.sum(axis=0, keepdims=True)
        return total
    half = np.uint64(32)
    total = np.empty((1, *words.shape[1:]), dtype=np.uint64)
    for low in (0, 2):
        lower = (words[:, :, low] & np.uint64(0xFFFFFFFF)).sum(axis=0)
        upper = (words[:, :, low] >> half).sum(axis=0) + (lower >> half)
        total[0, :, low] = (lower & np.uint64(0xFFFFFFFF)) | (upper << half)
        total[0, :, low + 1] = words[:, :, low + 1].sum(axis=0) + (upper >> half)
    return total
