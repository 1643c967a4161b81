# SPDX-License-Identifier: BSD-3-Clause
"""Calibration rows in shards: the same bits for any number of shards, against a plain slow oracle and against the core on one machine."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import tare
from tare import _shards
from tare._model_tensors import ModelTensors
from tare._shards import ShardRows, Spec

KERNELS = ["naive", "epanechnikov", "triangular", "tricube", "gaussian", "laplace", "knn"]
LEVELS = [0.001, 0.05, 0.3, 0.5, 0.77, 0.95, 0.9999]


class Rows:
    """Features with duplicates and a lattice's ties, residuals of which half may be equal, weights of several kinds."""

    def __init__(self, seed, count, dims=2, *, lattice=False, skew=False, weights=None):
        rng = np.random.default_rng(seed)
        self.z = np.floor(rng.normal(size=(count, dims)) * 3) if lattice else rng.normal(size=(count, dims))
        self.z[count // 2 : count // 2 + count // 20] = self.z[: count // 20]
        self.u = rng.normal(size=count) * (1 + np.abs(self.z[:, 0]))
        if lattice:
            self.u = np.floor(self.u * 4) / 4
        if skew:
            self.u[rng.permutation(count)[: count // 2]] = 0.25
        self.weight = None
        if weights == "whole":
            self.weight = rng.integers(0, 4, size=count).astype(float)
        if weights == "real":
            self.weight = rng.exponential(size=count) ** 3
        if weights == "wide":  # some rows count 1e-30 of others
            self.weight = np.where(rng.uniform(size=count) < 0.5, 1.0, 1e-30) * rng.exponential(size=count)
        near = self.z[:20] + 0.1 * rng.normal(size=(20, dims))
        self.queries = np.concatenate([near, self.z[20:30], [[30.0] * dims, [1e3] * dims, [-1e160] * dims]])

    def spec(self, kernel, bandwidth, **options):
        weight = self.weight if self.weight is not None else np.ones(len(self.u))
        whole = bool((weight == np.floor(weight)).all())
        return Spec(kernel, bandwidth, int((weight > 0).sum()), weighted=self.weight is not None, whole=whole,
                    largest_weight=float(weight.max()), **options)

    def shards(self, count, partitions=3):
        rows = ShardRows(self.z, self.u, self.weight)
        parts = [rows.take(np.arange(first, len(self.u), partitions)) for first in range(partitions)]
        cuts = _shards.cuts_between([_shards.residual_sample(part.u) for part in parts], count)
        assert len(cuts) == count - 1
        numbers = [_shards.shard_numbers(part.u, cuts) for part in parts]
        return [_shards.join_rows([part.take(np.flatnonzero(number == s)) for part, number in zip(parts, numbers)], self.z.shape[1])
                for s in range(count)]


def bandwidth_of(kernel):
    return 25.0 if kernel == "knn" else 0.7


def on_one_machine(rows, kernel, bandwidth, queries, ranks, fallback="nearest"):
    """The core's nrc with brute force on the same rows, without its map of levels: a model file whose map is taken out."""
    options = {"index": "brute", "ranks": ranks, "scale": "none", "fallback": fallback}
    model = tare.Calibrator(method="nrc", kernel=kernel, bandwidth=bandwidth, guarantee="none", bands=False, bounds="none",
                            options={**options, "masses": "no"})
    model.calibrate(rows.z, rows.u, y_pred=np.zeros(len(rows.u)), sample_weight=rows.weight)
    file = ModelTensors.read(model._core_model().to_bytes())
    for name in ("shift", "stretch", "bend"):
        file.values.pop(f"model.snq.{name}", None)
    core = tare._core.load_bytes(file.to_bytes())
    return np.asarray(core.predict(queries, np.zeros((len(queries), 1)), LEVELS, 1)[0])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weights", [None, "wide", pytest.param("whole", marks=pytest.mark.slow), pytest.param("real", marks=pytest.mark.slow)])
def test_the_number_of_shards_changes_no_bit(kernel, weights):
    for lattice, skew, fallback in [(False, False, "nearest"), (True, True, "marginal")]:
        for ranks in ("expected", "paper"):
            rows = Rows(1, 400, lattice=lattice, skew=skew, weights=weights)
            spec = rows.spec(kernel, bandwidth_of(kernel), ranks=ranks, fallback=fallback)
            alone = _shards.answer(spec, rows.shards(1), rows.queries, LEVELS)
            for count in (2, 7, 16):
                several = _shards.answer(spec, rows.shards(count), rows.queries, LEVELS)
                assert several.quantiles.tobytes() == alone.quantiles.tobytes()
                assert (several.fallback == alone.fallback).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_answers_are_those_of_one_machine(kernel):
    """To the bit here; where a sum of real weights is within rounding of a level, the core's floating-point sums may decide otherwise."""
    for weights in (None, "whole", "real"):
        for ranks, lattice, fallback in [("expected", False, "nearest"), ("paper", True, "marginal")]:
            rows = Rows(3, 400, lattice=lattice, skew=lattice, weights=weights)
            bandwidth = bandwidth_of(kernel)
            spec = rows.spec(kernel, bandwidth, ranks=ranks, fallback=fallback)
            answer = _shards.answer(spec, rows.shards(5), rows.queries, LEVELS).quantiles
            assert (answer == on_one_machine(rows, kernel, bandwidth, rows.queries, ranks, fallback)).all()


def kernel_weight(kernel, bandwidth, distance):
    s = distance / bandwidth
    inside = {"epanechnikov": 1 - s * s, "triangular": 1 - s, "tricube": (1 - min(s, 1.0) ** 3) ** 3}
    if kernel in inside:
        return max(0.0, inside[kernel]) if s < 1 else 0.0
    return np.exp(-0.5 * s * s) if kernel == "gaussian" else np.exp(-s)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weights", [None, pytest.param("whole", marks=pytest.mark.slow), pytest.param("real", marks=pytest.mark.slow)])
def test_the_definition_of_the_quantile(kernel, weights):
    """The smallest residual whose cumulative weight reaches the level: in fractions for windows, within 1e-9 of the level for smooth kernels."""
    rows = Rows(5, 300, weights=weights)
    bandwidth = bandwidth_of(kernel)
    queries = rows.queries[:30]
    answer = _shards.answer(rows.spec(kernel, bandwidth, ranks="paper"), rows.shards(4), queries, LEVELS).quantiles
    own = np.ones(len(rows.u)) if rows.weight is None else rows.weight
    slack = Fraction(1, 10**9) if kernel not in ("naive", "knn") or weights == "real" else Fraction(0)
    for query, quantiles in zip(queries, answer):
        distance = np.sqrt(((rows.z - query) ** 2).sum(axis=1))
        if kernel == "knn":
            weight = own * (distance <= np.sort(distance[own > 0])[int(bandwidth) - 1] * (1 + 1e-12))
        elif kernel == "naive":
            weight = own * (distance <= bandwidth)
        else:
            weight = own * np.array([kernel_weight(kernel, bandwidth, d) for d in distance])
        if weight.sum() == 0:
            continue
        exact = [Fraction(w) for w in weight]
        total = sum(exact)
        for level, quantile in zip(LEVELS, quantiles):
            share = Fraction(str(level)) * total
            assert sum(w for w, u in zip(exact, rows.u) if u < quantile) < share + slack * total
            assert sum(w for w, u in zip(exact, rows.u) if u <= quantile) >= share - slack * total


def test_equal_residuals_are_dealt_out_among_shards():
    rows = Rows(2, 8000, skew=True)
    sizes = [len(shard) for shard in rows.shards(16)]
    assert sum(sizes) == 8000 and max(sizes) < 2 * 8000 / 16
    ends = [(shard.u[0], shard.u[-1]) for shard in rows.shards(16)]
    assert all(last <= first for (_, last), (first, _) in itertools.pairwise(ends))


def test_empty_shards_and_no_queries():
    rows = Rows(2, 50)
    shards = [*rows.shards(2), ShardRows(np.empty((0, 2)), np.empty(0))]
    for kernel in KERNELS:
        spec = rows.spec(kernel, bandwidth_of(kernel))
        answer = _shards.answer(spec, shards, rows.queries, LEVELS).quantiles
        assert (answer == _shards.answer(spec, rows.shards(1), rows.queries, LEVELS).quantiles).all()
        assert _shards.answer(spec, shards, rows.queries[:0], LEVELS).quantiles.shape == (0, len(LEVELS))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_fifty_thousand_rows_in_1_to_16_shards(kernel):
    for weights, skew in [(None, True), ("real", False)]:
        rows = Rows(7, 50_000, dims=4, skew=skew, weights=weights)
        bandwidth = 400.0 if kernel == "knn" else 0.6
        spec = rows.spec(kernel, bandwidth)
        alone = _shards.answer(spec, rows.shards(1), rows.queries, LEVELS).quantiles
        assert (alone == on_one_machine(rows, kernel, bandwidth, rows.queries, "expected")).all()
        for count in range(2, 17):
            assert _shards.answer(spec, rows.shards(count, 5), rows.queries, LEVELS).quantiles.tobytes() == alone.tobytes()
