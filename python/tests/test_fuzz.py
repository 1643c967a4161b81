# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of all kinds: an answer or a clear error, never a crash, never a changed input."""

import numpy as np
import pytest
from conftest import Sample, true_mean

import tare

DTYPES = ["f8", "f4", "f2", "i8", "i4", "u1", "?", ">f8", "O", "c16", "U5", "M8[s]"]
ALLOWED = (ValueError, TypeError)


def random_array(rng, rows, cols):
    """Any shape near the right one, any type, any layout, with or without what is not finite."""
    shape = (rows, cols)
    kind = rng.integers(12)
    if kind == 0:
        shape = (0, cols)
    elif kind == 1:
        shape = (rows, 0)
    elif kind == 2:
        shape = (rows,)
    elif kind == 3:
        shape = (rows, cols, 1)
    elif kind == 4:
        shape = (rows, cols + 1)
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))]) if rng.uniform() < 0.5 else np.dtype("f8")
    values = rng.uniform(size=shape)
    if dtype.kind == "M":
        array = (values * 1e6).astype("i8").astype(dtype)
    elif dtype.kind == "U":
        array = np.char.mod("%.2f", values).astype(dtype) if values.size else np.zeros(shape, dtype)
    else:
        array = values.astype(dtype)
    if array.size and array.dtype.kind == "f" and rng.uniform() < 0.2:
        array[tuple(rng.integers(n) for n in array.shape)] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
    layout = rng.integers(5)
    if layout == 1:
        array = np.asfortranarray(array)
    elif layout == 2 and array.ndim == 2:
        wide = np.zeros((array.shape[0], 2 * array.shape[1]), array.dtype)
        wide[:, ::2] = array
        array = wide[:, ::2]
    elif layout == 3:
        array = array[::-1]
    if rng.uniform() < 0.3:
        array.flags.writeable = False
    return array


def bytes_of(array):
    return array.copy().tobytes() if array.dtype != object else repr(array.tolist()).encode()


@pytest.mark.filterwarnings("ignore")
def test_predict_never_crashes():
    sample = Sample(200)
    models = [
        tare.Calibrator(lambda X: np.zeros(len(X))).calibrate(sample.X, sample.y),
        tare.QuantileRegressor("nrc", options={"regressor": "ridge"}).fit(sample.X, sample.y),
        tare.QuantileRegressor("cqr_boost", options={"rounds": 5}).fit(sample.X, sample.y),
    ]
    rng = np.random.default_rng(0)
    answered = 0
    for _ in range(1500):
        X = random_array(rng, int(rng.integers(1, 6)), 2)
        before = bytes_of(X)
        model = models[rng.integers(len(models))]
        ask = rng.integers(3)
        try:
            if ask == 0:
                answer = model.predict_quantiles(X, rng.uniform(size=3))
            elif ask == 1:
                answer = model.predict_interval(X)
            else:
                answer = model.diagnostics(X)["quantiles"]
            assert len(answer) == len(X) and not np.isnan(answer).any()
            answered += 1
        except ALLOWED:
            pass
        assert bytes_of(X) == before
    assert answered > 500  # otherwise nothing was tested


@pytest.mark.filterwarnings("ignore")
def test_fit_never_crashes():
    rng = np.random.default_rng(1)
    fitted = 0
    for _ in range(400):
        rows = int(rng.integers(1, 60))
        X = random_array(rng, rows, 2)
        y = random_array(rng, rows, 1)
        y = y[:, 0] if y.ndim == 2 and y.shape[1] >= 1 and rng.uniform() < 0.9 else y
        weight = None if rng.uniform() < 0.5 else random_array(rng, rows, 1).ravel()
        arrays = [a for a in (X, y, weight) if a is not None]
        before = [bytes_of(a) for a in arrays]
        try:
            model = tare.Calibrator(true_mean, missing=rng.choice(["error", "drop", "impute"]), bandwidth=0.3)
            model.calibrate(X, y, sample_weight=weight)
            assert model.predict_quantiles(np.full((1, X.shape[1]), 0.5)).shape == (1, 3)
            fitted += 1
        except ALLOWED:
            pass
        assert [bytes_of(a) for a in arrays] == before
    assert fitted > 40


@pytest.mark.filterwarnings("ignore")
def test_metrics_never_crash():
    rng = np.random.default_rng(2)
    for _ in range(500):
        y = random_array(rng, 5, 1)
        q = random_array(rng, 5, 3)
        levels = rng.uniform(-0.1, 1.1, size=rng.integers(5))
        for call in (tare.metrics.mace, tare.metrics.check_score, tare.metrics.agce):
            try:
                value = call(y.ravel(), q, levels)
                assert not np.isnan(value)
            except ALLOWED:
                pass
