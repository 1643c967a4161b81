# SPDX-License-Identifier: BSD-3-Clause
"""Streams of rows for the tests of online models."""

import copy
import json
import pickle

import numpy as np

import tare


def mean(X):
    """A model whose predictions do not depend on how rows are divided: every operation is one of elements."""
    X = np.asarray(X)
    return np.sin(6 * X[:, 0].astype(float))


class Stream:
    """Errors with a spread that depends on the second column, and that follow each other."""

    def __init__(self, rows, seed=0, change=None, scale=1.0):
        rng = np.random.default_rng(seed)
        self.X = rng.uniform(size=(rows, 2))
        noise = rng.normal(size=rows)
        errors = noise + 0.5 * np.concatenate([[0.0], noise[:-1]])
        if change is not None:
            errors[change:] *= scale
        self.y = mean(self.X) + errors * (0.1 + self.X[:, 1])


def steady(rows, seed, change=None, scale=1.0):
    """Independent errors with one distribution, up to a change: of them, the rate of false alarms is proven."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 2))
    errors = rng.normal(size=rows)
    if change is not None:
        errors[change:] *= scale
    return X, mean(X) + errors


def members(content):
    """What a model file has, by name, but for its columns: the range and the usual value of each are those of the first block."""
    if not content:
        return {}
    size = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:size])
    found = {name: text for name, text in header.pop("__metadata__").items() if name not in ("checksum", "tare.schema")}
    for name, tensor in header.items():
        first, last = tensor["data_offsets"]
        found[name] = (tensor["dtype"], tensor["shape"], content[size + first : size + last])
    return found


def state(online):
    """All that it has learned, to the bit."""
    now, behind, waiting = online._model.learner.state()
    return members(now), members(behind), repr(waiting)  # NaN is not equal to itself


def restarted(online):
    return pickle.loads(pickle.dumps(online))


def copied(online):
    return copy.deepcopy(online)


def saved_and_loaded(folder):
    """By the model file, at a path that is free."""
    count = iter(range(1_000_000))

    def restart(online):
        path = folder / f"online{next(count)}.tare"
        online.save(path)
        return tare.OnlineCalibrator.load(path, online.estimator_)

    return restart
