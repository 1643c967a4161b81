#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits, predicts, saves and loads from several threads at once, on shared models and on their own, and compares every answer with
that of a single thread.

    python3 python/tests/threads_stress.py --seconds 20 --threads 8

It needs NumPy and tare only, so that it runs with an extension that was compiled with -fsanitize=thread:

    LD_PRELOAD=$(gcc -print-file-name=libtsan.so) TSAN_OPTIONS="suppressions=tools/tsan.supp" \
        python3 python/tests/threads_stress.py

Ends with 1 where an answer differs or a thread fails.
"""

from __future__ import annotations

import argparse
import collections
import os
import pickle
import random
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import tare

Array = npt.NDArray[Any]
LEVELS = [0.05, 0.5, 0.95]


def rows(count: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(count, 2))
    return X, np.sin(6 * X[:, 0]) + rng.normal(size=count) * (0.1 + X[:, 1])


def mean(X: Array) -> Array:
    result: Array = np.sin(6 * np.asarray(X)[:, 0])
    return result


# Fits that take a tenth of a second or less, of every kind of engine: SNQ on its own and around trees, networks, XGBoost's trees.
FITS: dict[str, Callable[[int | None], Any]] = {
    "calibrator": lambda jobs: tare.Calibrator(mean, n_jobs=jobs).calibrate(*rows(300, 1)),
    "kernel": lambda jobs: tare.Calibrator(mean, bandwidth=0.3, bands=True, n_jobs=jobs).calibrate(*rows(200, 2)),
    "ridge": lambda jobs: tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, n_jobs=jobs).fit(*rows(300, 3)),
    "boosting": lambda jobs: tare.QuantileRegressor("cqr_boost", options={"rounds": 5}, n_jobs=jobs).fit(*rows(200, 4)),
    "network": lambda jobs: tare.QuantileRegressor("deep_ensemble", options={"epochs": 3}, bands=False, n_jobs=jobs).fit(*rows(150, 5)),
}


class Oracle:
    """A model for each fit, and what it answered before any thread was started."""

    def __init__(self, folder: str) -> None:
        self.X = rows(64, 99)[0]
        self.models: dict[str, Any] = {}
        self.answers: dict[str, dict[str, Array]] = {}
        self.files: dict[str, str] = {}
        for name, fit in FITS.items():
            self.models[name] = fit(1)
            self.answers[name] = self.ask_everything(self.models[name])
            self.files[name] = os.path.join(folder, f"{name}.tare")
            self.models[name].save(self.files[name])

    def ask_everything(self, model: Any) -> dict[str, Array]:
        return {
            "quantiles": model.predict_quantiles(self.X, LEVELS),
            "single": model.predict_quantiles(self.X.astype(np.float32), LEVELS),
            "interval": model.predict_interval(self.X, [0.5, 0.9]),
            "median": model.predict(self.X),
            "diagnostics": model.diagnostics(self.X, LEVELS)["quantiles"],
            "distribution": model.predict_distribution(self.X[:4]).cdf(0.5),
        }

    def check(self, name: str, model: Any) -> None:
        for what, answer in self.ask_everything(model).items():
            if not np.array_equal(answer, self.answers[name][what]):
                raise AssertionError(f"{name}: {what} differ from those of a single thread")


def load(name: str, path: str) -> Any:
    if name in ("calibrator", "kernel"):
        return tare.Calibrator.load(path, mean)
    return tare.QuantileRegressor.load(path)


class Worker(threading.Thread):
    """Does one thing after another, at random, until the time is over."""

    def __init__(self, number: int, oracle: Oracle, folder: str, end: float, shared: str) -> None:
        super().__init__(name=f"worker {number}")
        self.oracle, self.end, self.shared = oracle, end, shared
        self.own = os.path.join(folder, f"own{number}.tare")
        self.random = random.Random(number)
        self.done: collections.Counter[str] = collections.Counter()
        self.fault = ""

    def run(self) -> None:
        actions = [self.predict_shared, self.fit, self.save_shared, self.load_own, self.load_shared, self.copy, self.predictor]
        try:
            while time.monotonic() < self.end:
                action = self.random.choice(actions)
                action(self.random.choice(list(FITS)))
                self.done[action.__name__] += 1
        except BaseException:
            self.fault = traceback.format_exc()

    def predict_shared(self, name: str) -> None:
        self.oracle.check(name, self.oracle.models[name])

    def fit(self, name: str) -> None:
        self.oracle.check(name, FITS[name](self.random.choice([1, 2, None])))

    def load_own(self, name: str) -> None:
        """A file that no other thread writes."""
        self.oracle.models[name].save(self.own, overwrite=True)
        self.oracle.check(name, load(name, self.own))

    def save_shared(self, name: str) -> None:
        """One file that all threads replace: each finds a whole model there, whoever wrote it last."""
        self.oracle.models[name].save(f"{self.shared}.{name}", overwrite=True)

    def load_shared(self, name: str) -> None:
        self.oracle.check(name, load(name, f"{self.shared}.{name}"))

    def copy(self, name: str) -> None:
        self.oracle.check(name, pickle.loads(pickle.dumps(self.oracle.models[name])))

    def predictor(self, name: str) -> None:
        """A predictor of its own on a shared model: named answers and their text."""
        if name in ("calibrator", "kernel"):
            return
        answers = tare.Predictor(self.oracle.models[name], levels=LEVELS).predict(self.oracle.X)
        columns = np.column_stack([answers[f"q{level}"] for level in LEVELS])
        if not np.array_equal(columns, self.oracle.answers[name]["quantiles"]):
            raise AssertionError(f"{name}: the named answers differ from those of a single thread")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore", tare.TareWarning)  # about few rows
    with tempfile.TemporaryDirectory(prefix="tare-threads-") as folder:
        oracle = Oracle(folder)
        shared = os.path.join(folder, "shared")
        for name, model in oracle.models.items():
            model.save(f"{shared}.{name}")
        end = time.monotonic() + options.seconds
        workers = [Worker(k, oracle, folder, end, shared) for k in range(options.threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    faults = [f"{worker.name}: {worker.fault}" for worker in workers if worker.fault]
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    done = sum((worker.done for worker in workers), collections.Counter[str]())
    print(f"{options.threads} threads, {options.seconds:g} s: " + ", ".join(f"{count} {name}" for name, count in sorted(done.items())))
    idle = [worker.name for worker in workers if not worker.done]
    if idle:
        print(f"{', '.join(idle)} did nothing", file=sys.stderr)
    return 1 if faults or idle else 0


if __name__ == "__main__":
    sys.exit(main())
