# SPDX-License-Identifier: BSD-3-Clause
"""No answer is infinite or NaN, however few the rows, unless ',strict' asks for it."""

import numpy as np
import pytest
from conftest import Sample, true_mean

import tare


def numbers(model, X, y):
    law = model.predict_distribution(X)
    yield law.mean()
    yield law.ppf([1e-6, 0.001, 0.5, 0.999, 1 - 1e-6])
    yield law.sample(3, random_state=0)
    yield law.crps(y)
    yield law.cdf(y)


@pytest.mark.parametrize("rows", [30, 300, 3000])
@pytest.mark.parametrize("guarantee", ["marginal", "split:0.7", "cross", "none"])
def test_a_calibrator_is_finite(rows, guarantee):
    data, fresh = Sample(rows), Sample(40, seed=1)
    try:
        model = tare.Calibrator(true_mean, guarantee=guarantee).calibrate(data.X, data.y)
    except ValueError as error:
        if rows > 30 or "too few" not in str(error):
            raise
        return
    for values in numbers(model, fresh.X, fresh.y):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("method", ["pure_kernel", "cqr_boost", "nrc_boost"])
@pytest.mark.parametrize("guarantee", ["split:0.7", "none"])
def test_a_regressor_is_finite(method, guarantee):
    data, fresh = Sample(300), Sample(40, seed=1)
    model = tare.QuantileRegressor(method=method, guarantee=guarantee).fit(data.X, data.y)
    for values in numbers(model, fresh.X, fresh.y):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("guarantee", ["split,strict", "cross:4,strict"])
def test_strict_is_infinite(guarantee):
    data = Sample(200)
    model = tare.Calibrator(true_mean, guarantee=guarantee).calibrate(data.X, data.y)
    ends = model.predict_quantiles(data.X, [0.001, 0.5, 0.999])
    assert np.isinf(ends[:, [0, 2]]).all() and np.isfinite(ends[:, 1]).all()
