# SPDX-License-Identifier: BSD-3-Clause
"""Calibration on rows in partitions: what is learned on a sample, what a partition does, and the model that is taken home. It knows no engine.

The order of events: `sample_part` of every partition, `learn` on one machine, `encode_part` of every partition, shards (`_shards`), and, with a
guarantee, `score` of the held-out rows. A query goes through `start`, the rounds of `_shards.Answering`, and `finish`.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _core
from ._calibrator import Calibrator
from ._input import read_prediction, read_target, read_weight, take_rows
from ._model_tensors import ModelTensors
from ._settings import seed_of
from ._shards import Answering, ShardRows, Spec, join_rows, no_rows
from ._ship import check_version
from ._types import FloatArray, IndexArray

_FARTHEST = 1e300
_MOST = float(np.finfo(np.float64).max)
_COST_LEVELS = [0.01 + 0.98 * j / 99.0 for j in range(100)]  # of the paper's metrics, at which the core measures a guarantee's cost


@dataclass(frozen=True)
class Settings:
    """The parameters of a calibrator on several machines, checked."""

    estimator: Any = None
    kernel: str = "auto"
    bandwidth: Any = "auto"
    features: Any = None
    guarantee: str = "split"
    held_out: int = 1000
    ranks: str = "expected"
    fallback: str = "nearest"
    min_support: int = 20
    missing: str = "error"
    sample_rows: int = 20_000
    shard_rows: int = 1_000_000
    random_state: Any = None

    def __post_init__(self) -> None:
        if self.guarantee not in ("split", "none"):
            raise ValueError(f"guarantee is {self.guarantee!r}; on rows in partitions it is 'split' or 'none'.")
        for name, least in (("held_out", 19), ("sample_rows", 100), ("shard_rows", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}.")

    @property
    def seed(self) -> int:
        return int(seed_of(self.random_state))


@dataclass
class Sample:
    """Some rows of a partition, and how many it has."""

    rows: int
    X: Any
    y: FloatArray
    y_pred: FloatArray | None
    weight: FloatArray | None
    draws: FloatArray  # of `held_out_draws`

    def thin(self, share: float) -> Sample:
        return self._take(_equal_steps(len(self.y), math.floor(self.rows * share)))

    def without_held_out(self, share: float) -> Sample:
        return self._take(np.flatnonzero(self.draws >= share)) if share > 0 else self

    def _take(self, kept: IndexArray) -> Sample:
        return Sample(
            self.rows,
            take_rows(self.X, kept),
            self.y[kept],
            None if self.y_pred is None else self.y_pred[kept],
            None if self.weight is None else self.weight[kept],
            self.draws[kept],
        )


def held_out_draws(seed: int, number: int, rows: int) -> FloatArray:
    """A number in [0, 1) for each row of partition `number`: the rows below the held-out share only rank."""
    return np.random.default_rng([seed, number]).random(rows)


def held_out_share(settings: Settings, rows: int) -> float:
    return min(0.2, settings.held_out / rows) if settings.guarantee == "split" else 0.0


def _equal_steps(rows: int, count: int) -> IndexArray:
    count = min(rows, count)
    return (np.arange(count) * rows + rows // 2) // max(count, 1)


def sample_part(X: Any, y: Any, y_pred: Any, weight: Any, most: int, seed: int, number: int) -> Sample:
    """At most `most` rows of partition `number` at equal steps."""
    rows = len(X)
    kept = _equal_steps(rows, most)
    target = _numbers(y, rows, "y")
    given = None if y_pred is None else _numbers(y_pred, rows, "y_pred")
    weights = None if weight is None else _weights(weight, rows)
    return Sample(
        rows,
        take_rows(X, kept),
        target[kept],
        None if given is None else given[kept],
        None if weights is None else weights[kept],
        held_out_draws(seed, number, rows)[kept],
    )


def _numbers(values: Any, rows: int, name: str) -> FloatArray:
    if rows == 0:
        return np.empty(0)
    return read_target(values, rows) if name == "y" else np.asarray(read_prediction(values, rows), dtype=np.float64).reshape(rows)


def _weights(values: Any, rows: int) -> FloatArray:
    weight = read_weight(values, rows) if rows else None
    return np.empty(0) if weight is None else weight


@dataclass
class Learned:
    """What all partitions need: the encoding of columns, the kernel's features, the bandwidth. It travels once to each worker."""

    settings: Settings
    model: Calibrator  # fitted on the sample
    columns: IndexArray
    center: FloatArray
    scale: FloatArray
    spec: Spec
    held_out_share: float
    sample_rows: int
    rows: int  # of all partitions
    sample_bandwidth: float
    version: str = _core.version
    scores: FloatArray | None = None  # of the held-out rows
    cost: tuple[float, float, int] | None = None

    @property
    def dims(self) -> int:
        return len(self.columns)


def join_samples(settings: Settings, samples: Sequence[Sample]) -> tuple[Any, FloatArray, FloatArray | None, FloatArray | None, int]:
    """X, y, predictions and weights of at most `sample_rows` rows, every partition with the same share and without the rows that only rank;
    and the number of rows of all partitions."""
    rows = sum(sample.rows for sample in samples)
    if rows < 2:
        raise ValueError(f"there are {rows} calibration rows: at least 2 are required.")
    share = min(1.0, settings.sample_rows / rows, *(len(sample.y) / sample.rows for sample in samples if sample.rows))
    parts = [sample.thin(share) for sample in samples if sample.rows] if share < 1 else [sample for sample in samples if sample.rows]
    parts = [part.without_held_out(held_out_share(settings, rows)) for part in parts]
    X = _join_frames([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    y_pred = None if parts[0].y_pred is None else np.concatenate([part.y_pred for part in parts if part.y_pred is not None])
    weight = None if parts[0].weight is None else np.concatenate([part.weight for part in parts if part.weight is not None])
    return X, y, y_pred, weight, rows


def learn(settings: Settings, samples: Sequence[Sample]) -> Learned:
    """Fits the method on a sample of all rows: encoding, scales, columns and bandwidth. The bandwidth is then made narrower, or the number of
    neighbours larger, by the rate at which the best one changes with the number of rows."""
    X, y, y_pred, weight, rows = join_samples(settings, samples)
    features = settings.features
    if features is None and X.shape[1] > 3:  # as on one machine
        features = "auto"
    model = Calibrator(
        settings.estimator,
        method="nrc",
        kernel=settings.kernel,
        bandwidth=settings.bandwidth,
        features=features,
        guarantee="none",
        bounds="none",
        bands=False,
        missing=settings.missing,
        random_state=settings.seed,
        options={"ranks": settings.ranks, "fallback": settings.fallback, "min_support": settings.min_support, "masses": "no"},
    )
    model.calibrate(X, y, y_pred=y_pred, sample_weight=weight)
    file = ModelTensors.read(model._core_model().to_bytes())
    snq = {name[len("model.snq.") :]: value for name, value in file.values.items() if name.startswith("model.snq.")}
    columns = np.asarray(file.tensors["model.features.columns"])
    bandwidth = math.inf if snq["bandwidth"] == "infinite" else float(snq["bandwidth"])
    share = held_out_share(settings, rows)
    calibrating = max(1, round(rows * (1 - share)))
    spec = Spec(
        kernel=str(snq["kernel"]),
        bandwidth=_for_more_rows(settings.bandwidth, str(snq["kernel"]), bandwidth, len(columns), len(y), calibrating),
        rows=calibrating,
        ranks=str(snq.get("ranks", "paper")),
        fallback=str(snq["fallback"]),
        min_support=int(snq["min_support"]),
        tie_tolerance=float(snq.get("tie_tolerance", 0.0)),
        weighted=weight is not None,
    )
    return Learned(
        settings,
        model,
        columns,
        np.asarray(file.tensors["model.features.center"]),
        np.asarray(file.tensors["model.features.scale"]),
        spec,
        share,
        len(y),
        rows,
        bandwidth,
    )


def _for_more_rows(asked: Any, kernel: str, bandwidth: float, dims: int, sampled: int, rows: int) -> float:
    """Bandwidths that were searched shrink as n^(-1/(d+4)), those of the paper's rate as n^(-1/(d+2)); a number that was given stays."""
    if math.isinf(bandwidth) or not isinstance(asked, str) or not (asked == "auto" or asked.startswith("rate")):
        return bandwidth
    growth = rows / sampled
    if kernel == "knn":
        return float(max(1, round(bandwidth * growth ** (4 / (dims + 4) if asked == "auto" else 2 / (dims + 2)))))
    return float(bandwidth * growth ** (-1 / (dims + 4) if asked == "auto" else -1 / (dims + 2)))


def _join_frames(parts: Sequence[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    return np.concatenate([np.asarray(part) for part in parts])


# --- partitions ------------------------------------------------------------------------------------


@dataclass
class HeldOut:
    """Rows that only rank."""

    z: FloatArray
    center: FloatArray
    y: FloatArray


@dataclass
class EncodedPart:
    """A partition as the kernel sees it, and the facts that all partitions together need."""

    rows: ShardRows
    held_out: HeldOut
    whole: bool
    largest_weight: float

    def __sizeof__(self) -> int:
        return (
            object.__sizeof__(self)
            + sys.getsizeof(self.rows)
            + self.held_out.z.nbytes
            + self.held_out.center.nbytes
            + self.held_out.y.nbytes
        )


def kernel_features(learned: Learned, X: Any, y_pred: Any = None) -> tuple[FloatArray, FloatArray, IndexArray | None]:
    """z, the predictions, and the rows that they are about (None: all)."""
    read = learned.model._encode_rows(X, y_pred, None)
    x = np.asarray(read.x, dtype=np.float64)[:, learned.columns]
    with np.errstate(over="ignore"):
        away = x - learned.center
        z = np.where(np.isfinite(away), away / learned.scale, (0.5 * x - 0.5 * learned.center) / learned.scale * 2.0)
    assert read.given is not None
    return np.clip(z, -_FARTHEST, _FARTHEST), np.asarray(read.given[:, 0], dtype=np.float64), read.rows


def encode_part(learned: Learned, X: Any, y: Any, y_pred: Any, weight: Any, number: int) -> EncodedPart:
    """Features and residuals of the rows of partition `number`. Which rows are held out depends on the seed and this number alone."""
    check_version(learned.version)
    count = len(X)
    nothing = HeldOut(np.empty((0, learned.dims)), np.empty(0), np.empty(0))
    if count == 0:
        return EncodedPart(no_rows(learned.dims, learned.spec.weighted), nothing, True, 0.0)
    target = read_target(y, count)
    weights = None if weight is None else read_weight(weight, count)
    z, center, kept = kernel_features(learned, X, y_pred)
    if kept is not None:
        target, weights = target[kept], None if weights is None else weights[kept]
    u = target - center + 0.0  # no -0: equal residuals have equal bits
    if not np.isfinite(u).all():
        row = int(np.flatnonzero(~np.isfinite(u))[0])
        raise ValueError(
            f"partition {number}, row {row}: the residual of the target {target[row]} and the prediction {center[row]} is not finite."
        )
    if learned.held_out_share > 0:
        drawn = held_out_draws(learned.settings.seed, number, count) < learned.held_out_share
        drawn = drawn if kept is None else drawn[kept]
        held, rest = np.flatnonzero(drawn), np.flatnonzero(~drawn)
        nothing = HeldOut(z[held], center[held], target[held])
        z, u = z[rest], u[rest]
        weights = None if weights is None else weights[rest]
    whole = weights is None or bool((weights == np.floor(weights)).all())
    rows = ShardRows(np.ascontiguousarray(z), np.ascontiguousarray(u), None if weights is None else np.ascontiguousarray(weights))
    largest = 1.0 if weights is None else float(weights.max(initial=0.0))
    return EncodedPart(rows, nothing, whole, largest)


@dataclass(frozen=True)
class PartFacts:
    """What the ranges of shards and the sums need of a partition."""

    sample: tuple[FloatArray, int]
    used: int  # rows of positive weight
    whole: bool
    total: float
    largest_weight: float


def facts_of(part: EncodedPart) -> PartFacts:
    from ._shards import residual_sample

    weight = part.rows.weight
    used = len(part.rows) if weight is None else int((weight > 0).sum())
    return PartFacts(residual_sample(part.rows.u), used, part.whole, float(used if weight is None else weight.sum()), part.largest_weight)


def with_facts(learned: Learned, facts: Sequence[PartFacts]) -> Learned:
    rows = sum(fact.used for fact in facts)
    if rows == 0:
        raise ValueError("there is no calibration row with a positive weight.")
    whole = all(fact.whole for fact in facts) and sum(fact.total for fact in facts) < 2.0**53
    spec = replace(learned.spec, rows=rows, whole=whole, largest_weight=max(fact.largest_weight for fact in facts if fact.used))
    return replace(learned, spec=spec)


def shard_count(settings: Settings, rows: int, least: int = 1) -> int:
    return max(1, least, math.ceil(rows / settings.shard_rows))


def shard_frame(rows: ShardRows, numbers: IndexArray) -> Any:
    """Rows and the numbers of their shards as a frame, which an engine can shuffle."""
    import pandas as pd

    frame = pd.DataFrame({f"z{k}": rows.z[:, k] for k in range(rows.z.shape[1])} | {"u": rows.u})
    if rows.weight is not None:
        frame["weight"] = rows.weight
    return frame.assign(shard=numbers.astype(np.int64))


def shard_of_frame(frame: Any, dims: int) -> ShardRows:
    """The rows of one shard, in the order of their residuals."""
    z = np.column_stack([frame[f"z{k}"].to_numpy() for k in range(dims)]) if dims else np.empty((len(frame), 0))
    weight = frame["weight"].to_numpy() if "weight" in frame else None
    return join_rows([ShardRows(z, frame["u"].to_numpy(), weight)], dims)


# --- queries ---------------------------------------------------------------------------------------


@dataclass
class Query:
    """The rows of one partition of queries on their way."""

    answering: Answering
    center: FloatArray
    kept: IndexArray | None
    count: int


def inner_levels(learned: Learned, levels: Sequence[float]) -> list[float]:
    """The levels at which SNQ is asked: those of the guarantee's ranks, if there is one. Ascending."""
    if learned.scores is None:
        return sorted(set(levels))
    return list(_core.SplitCurve(learned.scores, sorted(set(levels))).asked)


def start(learned: Learned, X: Any, y_pred: Any, levels: Sequence[float]) -> Query:
    check_version(learned.version)
    inner = inner_levels(learned, levels)
    if len(X) == 0:
        return Query(Answering(learned.spec, np.empty((0, learned.dims)), inner), np.empty(0), None, 0)
    z, center, kept = kernel_features(learned, X, y_pred)
    return Query(Answering(learned.spec, z, inner), center, kept, len(X))


def finish(learned: Learned, query: Query, levels: Sequence[float]) -> FloatArray:
    """Quantiles of the target at the levels, in their order; NaN for rows that are left out for missing values."""
    if not query.answering.is_done:
        raise RuntimeError("the rounds of a query ended before its answer: please report this")
    own = np.clip(query.answering.quantiles + query.center[:, None], -_MOST, _MOST)
    ascending = sorted(set(levels))
    if learned.scores is not None:
        own = np.asarray(_core.SplitCurve(learned.scores, ascending).answer(np.ascontiguousarray(own)))
    answer = own[:, [ascending.index(level) for level in levels]]
    if query.kept is None:
        return answer
    full = np.full((query.count, len(levels)), np.nan)
    full[query.kept] = answer
    return full


# --- the guarantee ---------------------------------------------------------------------------------


def score_levels() -> list[float]:
    """Levels at which held-out rows are asked: the knots of the guarantee, and those of its cost."""
    return sorted({*_core.guarantee_levels(), *_COST_LEVELS})


def join_held_out(parts: Sequence[HeldOut]) -> HeldOut:
    return HeldOut(np.concatenate([p.z for p in parts]), np.concatenate([p.center for p in parts]), np.concatenate([p.y for p in parts]))


def with_guarantee(learned: Learned, held_out: HeldOut, quantiles: FloatArray) -> Learned:
    """`quantiles` of the residual at score_levels(). Ranks the held-out rows, as the split guarantee of one machine does."""
    if len(held_out.y) < 19:
        raise ValueError(
            f"{len(held_out.y)} rows are held out for the guarantee, of {learned.rows}; a 90 % interval needs 19. Use guarantee='none'."
        )
    own = np.clip(quantiles + held_out.center[:, None], -_MOST, _MOST)
    levels = score_levels()
    at = {level: j for j, level in enumerate(levels)}
    knots = np.ascontiguousarray(own[:, [at[level] for level in _core.guarantee_levels()]])
    scores = np.asarray(_core.score_quantiles(knots, held_out.y, learned.settings.seed, 0))
    kept = [level for level in _COST_LEVELS if 1 <= level * (len(scores) + 1) <= len(scores)]
    curve = _core.SplitCurve(scores, kept)
    asked = np.ascontiguousarray(own[:, [at[level] for level in curve.asked]])
    cost = (_pinball(own[:, [at[level] for level in kept]], held_out.y, kept), _pinball(np.asarray(curve.answer(asked)), held_out.y, kept))
    return replace(learned, scores=scores, cost=(*cost, len(kept)))


def _pinball(quantiles: FloatArray, y: FloatArray, levels: Sequence[float]) -> float:
    short = y[:, None] - quantiles
    tau = np.asarray(levels)
    return float(np.mean(np.maximum(tau * short, (tau - 1) * short)))


# --- taking it home --------------------------------------------------------------------------------


def local_model(learned: Learned, shards: Sequence[ShardRows], prediction: str | None = None) -> Calibrator:
    """An ordinary calibrator with all rows of the shards: the same answers on one machine, and a model file. `prediction`: the name of the column of
    predictions in this file."""
    rows = join_rows(shards, learned.dims)
    file = ModelTensors.read(learned.model._core_model().to_bytes())
    values, tensors = file.values, file.tensors
    for name in ("shift", "stretch", "bend"):
        values.pop(f"model.snq.{name}", None)
    spec = learned.spec
    values["model.snq.rows"] = len(rows)
    values["model.snq.bandwidth"] = "infinite" if math.isinf(spec.bandwidth) else spec.bandwidth
    values["model.snq.index"] = "auto"
    values["rows"] = learned.rows
    if prediction is not None and values.get("schema"):
        values["schema"]["prediction"] = prediction
    tensors["model.snq.columns"] = np.ascontiguousarray(rows.z.T)
    tensors["model.snq.residuals"] = rows.u
    tensors.pop("model.snq.weights", None)
    if rows.weight is not None and (rows.weight != rows.weight[0]).any():
        tensors["model.snq.weights"] = rows.weight
    if learned.scores is not None:
        _add_guarantee(learned, values, tensors)
    model = copy.copy(learned.model)
    model._model = type(learned.model._model)(_core.load_bytes(file.to_bytes()))
    model.guarantee_ = model._model.core.guarantee
    return model


def _add_guarantee(learned: Learned, values: dict[str, Any], tensors: dict[str, Any]) -> None:
    assert learned.scores is not None and learned.cost is not None
    part = "model.guarantee."
    values.update({f"{part}form": "split", f"{part}scores": "curve", f"{part}outer": "own_tail", f"{part}cost_levels": learned.cost[2]})
    values[f"{part}rows"] = len(learned.scores)
    values["params"]["guarantee"] = f"split:{learned.held_out_share:.12g}"
    tensors[f"{part}levels"] = np.asarray(_core.guarantee_levels())
    tensors[f"{part}rows"] = np.array([[len(learned.scores)]], dtype=np.int32)
    tensors[f"{part}largest"] = np.array([[1]], dtype=np.int64)
    tensors[f"{part}group_rows"] = tensors[f"{part}group_ranks"] = np.empty(0, dtype=np.int32)
    tensors[f"{part}cost"] = np.array(learned.cost[:2])
    for side, first in (("upper", 0), ("lower", 2)):
        places, mass = np.unique(learned.scores[:, first : first + 2], axis=0, return_counts=True)
        tensors[f"{part}{side}_at"] = np.ascontiguousarray(places[:, 0])
        tensors[f"{part}{side}_beyond"] = np.ascontiguousarray(places[:, 1])
        tensors[f"{part}{side}_mass"] = mass.astype(np.int64)
        tensors[f"{part}{side}_count"] = np.array([[len(mass)]], dtype=np.int32)
