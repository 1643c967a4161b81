# SPDX-License-Identifier: BSD-3-Clause
"""nrc_boost on rows in partitions: what a partition does around trees that the engine's XGBoost grows. It knows no engine.

The order of events: `learn_columns` on a sample, `number_part` of every partition, trees of the target for every fold, `add_prediction`, trees of
the residual's size for every fold, `standardise`. The standardised residuals are then calibrated as in `_sharded`. A new row gets the mean of the
trees of all folds (`frame_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import _core
from ._calibrator import Calibrator
from ._input import read_target
from ._sharded import Settings, held_out_draws
from ._ship import check_version
from ._types import FloatArray, IndexArray

_LITTLE = 1e-2  # of the median size of a residual: one of 0 is small, not infinitely so
_WATCHED = 0.15  # rows on which a booster's rounds are counted, as on one machine
_MOST_LOG = 600.0
HELD_OUT = -1  # the fold of a row that only ranks


@dataclass(frozen=True)
class Boosting:
    """How trees of the target grow: the options of one machine's regressor 'boosting'."""

    folds: int = 5
    rounds: int = 2000
    learning_rate: float = 0.05
    depth: int | None = None
    patience: int = 50

    def __post_init__(self) -> None:
        for name, least in (("folds", 2), ("rounds", 1), ("patience", 1), ("depth", 1)):
            value = getattr(self, name)
            if not (value is None and name == "depth") and (not isinstance(value, int) or value < least):
                raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}.")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate is {self.learning_rate!r}; it must be above 0 and at most 1.")

    def target_trees(self, columns: int, seed: int) -> dict[str, Any]:
        depth = min(6, columns + 2) if self.depth is None else self.depth
        return {
            "objective": "reg:squarederror",
            "tree_method": "hist",
            "base_score": 0.0,
            "eta": self.learning_rate,
            "max_depth": depth,
            "min_child_weight": 5,
            "lambda": 1,
            "subsample": 0.8,
            "seed": seed,
        }

    @staticmethod
    def size_trees(seed: int) -> dict[str, Any]:
        return {
            "objective": "reg:squarederror",
            "tree_method": "hist",
            "base_score": 0.0,
            "eta": 0.3,
            "max_depth": 2,
            "min_child_weight": 20,
            "lambda": 5,
            "subsample": 0.5,
            "seed": seed,
        }


SIZE_ROUNDS, SIZE_PATIENCE = 200, 6


@dataclass(frozen=True)
class Columns:
    """How columns become numbers, learned on a sample, and the scale of the target. It travels once to each worker."""

    model: Calibrator  # only encodes
    shift: FloatArray  # taken off each column: XGBoost computes in single precision
    center: float
    scale: float
    held_out_share: float
    seed: int
    folds: int
    version: str = _core.version

    @property
    def names(self) -> list[str]:
        return [f"x{k}" for k in range(len(self.shift))]

    def encode(self, X: Any) -> npt.NDArray[np.float32]:
        read = self.model._encode_rows(X, np.zeros(len(X)), None)
        return np.clip(np.asarray(read.x, dtype=np.float64) - self.shift, -1e38, 1e38).astype(np.float32)


def learn_columns(settings: Settings, boosting: Boosting, X: Any, y: FloatArray, share: float) -> Columns:
    model = Calibrator(
        None,
        method="nrc",
        kernel="naive",
        bandwidth=1.0,
        guarantee="none",
        bounds="none",
        bands=False,
        missing=settings.missing,
        random_state=settings.seed,
        options={"masses": "no"},
    )
    model.calibrate(X, y, y_pred=np.zeros(len(y)))
    x = np.asarray(model._encode_rows(X, np.zeros(len(y)), None).x, dtype=np.float64)
    scale = float(np.std(y))
    return Columns(
        model,
        np.median(x, axis=0),
        float(np.mean(y)),
        scale if np.isfinite(scale) and scale > 0 else 1.0,
        share,
        settings.seed,
        boosting.folds,
    )


def number_part(columns: Columns, X: Any, y: Any, number: int) -> Any:
    """A partition as the trees see it: x0, ..., the target in units of its scale, each row's fold, and whether it is watched instead of used.
    Rows that only rank have the fold -1. All draws depend on the seed and the partition's number alone."""
    check_version(columns.version)
    count = len(X)
    if count == 0:
        return no_numbers(columns)
    target = read_target(y, count)
    frame = pd.DataFrame(columns.encode(X), columns=columns.names)
    rng = np.random.default_rng([columns.seed, number, 1])
    fold = rng.integers(columns.folds, size=count)
    fold[held_out_draws(columns.seed, number, count) < columns.held_out_share] = HELD_OUT
    return frame.assign(target=(target - columns.center) / columns.scale, fold=fold, watched=rng.random(count) < _WATCHED)


def no_numbers(columns: Columns) -> Any:
    return pd.DataFrame({name: np.empty(0, dtype=np.float32) for name in columns.names}).assign(
        target=np.empty(0), fold=np.empty(0, dtype=np.int64), watched=np.empty(0, dtype=bool)
    )


def rows_of_fold(frame: Any, fold: int, watched: bool) -> Any:
    """The rows with which the trees of a fold are grown, or by which their number is chosen: those of all other folds."""
    return frame[(frame["fold"] != fold) & (frame["fold"] != HELD_OUT) & (frame["watched"] == watched)]


# --- trees -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trees:
    """Boosted trees of each fold, as XGBoost's bytes."""

    boosters: tuple[bytes, ...]
    names: tuple[str, ...]

    def of_folds(self, frame: Any, fold: IndexArray) -> FloatArray:
        """For each row the trees of its fold, which were not grown on it; the mean over folds for a row that only ranks."""
        mean, each = self._each(frame)
        own = fold != HELD_OUT
        mean[own] = each[fold[own], np.flatnonzero(own)]
        return mean

    def mean(self, frame: Any) -> FloatArray:
        return self._each(frame)[0]

    def _each(self, frame: Any) -> tuple[FloatArray, FloatArray]:
        import xgboost

        each = np.empty((len(self.boosters), len(frame)))
        if len(frame):
            x = np.ascontiguousarray(frame[list(self.names)].to_numpy(dtype=np.float32))
            for k, raw in enumerate(self.boosters):
                booster = xgboost.Booster(params={"nthread": 1}, model_file=bytearray(raw))
                each[k] = booster.inplace_predict(x, validate_features=False)
        return each.mean(axis=0), each


def add_prediction(trees: Trees, frame: Any) -> Any:
    """Adds the prediction, in units of the target's scale."""
    predicted = trees.of_folds(frame, frame["fold"].to_numpy())
    return frame.assign(prediction=predicted.astype(np.float32), center=predicted)


def sizes_of_part(frame: Any, most: int = 4096) -> FloatArray:
    """Some of the sizes of a partition's residuals, at equal steps of their order."""
    size = np.sort(np.abs(frame["target"] - frame["center"]).to_numpy()[frame["fold"].to_numpy() != HELD_OUT])
    return size if len(size) <= most else size[(np.arange(most) * len(size) + len(size) // 2) // most]


def little_size(sizes: Sequence[FloatArray]) -> float:
    every = np.concatenate(sizes)
    little = _LITTLE * float(np.median(every))
    return little if little > 0 else max(_LITTLE * float(every.max()), 1e-300)


def add_log_size(frame: Any, little: float, middle: float) -> Any:
    return frame.assign(log_size=np.log(np.abs(frame["target"] - frame["center"]) + little) - middle)


# --- standardised rows -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Framing:
    """From columns to the center and size of a row. It travels once to each worker."""

    columns: Columns
    targets: Trees
    sizes: Trees
    middle: float  # of the logarithms of sizes, which the trees are grown around
    least: float = -_MOST_LOG  # sizes of new rows are limited to those of the fit
    most: float = _MOST_LOG

    @property
    def features(self) -> list[str]:
        return [*self.columns.names, "prediction", "size"]

    def limited(self, ranges: Sequence[tuple[float, float]]) -> Framing:
        return replace(self, least=min(low for low, _ in ranges), most=max(high for _, high in ranges))


def add_size(framing: Framing, frame: Any) -> Any:
    """Adds the size that the trees estimate, in logarithms."""
    return frame.assign(size=framing.middle + framing.sizes.of_folds(frame, frame["fold"].to_numpy()))


def size_range(frame: Any) -> tuple[float, float]:
    size = frame["size"].to_numpy()[frame["fold"].to_numpy() != HELD_OUT]
    return (float(size.min()), float(size.max())) if len(size) else (np.inf, -np.inf)


def standardise(framing: Framing, frame: Any) -> Any:
    """Features of the kernel, and the residual as a share of its size."""
    size = np.clip(frame["size"].to_numpy(), framing.least, framing.most)
    frame = frame.assign(size=size, y=(frame["target"] - frame["center"]) / np.exp(size))
    return frame[[*framing.features, "y"]].astype(np.float64)


def frame_rows(framing: Framing, X: Any) -> Any:
    """Features of the kernel for new rows, and what answers are scaled back with."""
    check_version(framing.columns.version)
    columns = framing.columns
    encoded = columns.encode(X) if len(X) else np.empty((0, len(columns.names)), dtype=np.float32)
    frame = pd.DataFrame(encoded, columns=columns.names, index=X.index)
    center = framing.targets.mean(frame)
    frame = frame.assign(prediction=center.astype(np.float32))
    size = np.clip(framing.middle + framing.sizes.mean(frame), framing.least, framing.most)
    return frame.assign(size=size, center=center).astype(np.float64)


def scale_back(framing: Framing, frame: Any, answers: Any) -> Any:
    """Answers for standardised residuals in units of the target."""
    columns = framing.columns
    values = frame[["center"]].to_numpy() + np.exp(frame[["size"]].to_numpy()) * answers.to_numpy()
    most = np.finfo(np.float64).max
    return pd.DataFrame(np.clip(columns.center + columns.scale * values, -most, most), columns=answers.columns, index=answers.index)
