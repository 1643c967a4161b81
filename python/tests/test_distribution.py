# SPDX-License-Identifier: BSD-3-Clause
"""A Distribution is a value: 241 quantiles of each row, and everything else follows from the line through them."""

import contextlib
import pickle

import numpy as np
import pytest
from conftest import Sample, true_mean

import tare

LEVELS = tare.Distribution.levels
NORMAL = pytest.importorskip("scipy.stats").norm


@pytest.fixture(scope="module")
def model():
    data = Sample(1000)
    return tare.Calibrator(true_mean, guarantee="split", bands=False).calibrate(data.X, data.y)


@pytest.fixture
def rows():
    return Sample(60, seed=1)


def normal_law(mean=(0.0, 3.0, -50.0), sd=(1.0, 0.1, 7.0)):
    return tare.Distribution(NORMAL.ppf(LEVELS[None, :], np.array(mean)[:, None], np.array(sd)[:, None]))


def curve(law, count=50_001):
    """The quantile function at the middles of equal steps of the level: an oracle by adding up."""
    levels = (np.arange(count) + 0.5) / count
    return levels, law.ppf(levels)


def test_the_levels():
    assert len(LEVELS) == 241 and (np.diff(LEVELS) > 0).all()
    assert np.diff(LEVELS).max() < 0.00500001
    assert np.diff(LEVELS[LEVELS <= 0.0101]).max() < 0.00100001 and np.diff(LEVELS[LEVELS >= 0.9899]).max() < 0.00100001
    np.testing.assert_allclose(LEVELS + LEVELS[::-1], 1.0, atol=1e-12)
    for level in (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999):
        assert np.abs(LEVELS - level).min() < 1e-12


def test_it_needs_neither_x_nor_the_model(model, rows):
    X = rows.X.copy()
    law = model.predict_distribution(X)
    before = law.cdf(0.3), law.ppf([0.123, 0.9])
    X[:] = 0.5
    np.testing.assert_array_equal(law.cdf(0.3), before[0])
    np.testing.assert_array_equal(law.ppf([0.123, 0.9]), before[1])
    assert len(pickle.dumps(law)) < 2000 * len(law)
    again = pickle.loads(pickle.dumps(law))
    np.testing.assert_array_equal(again.quantiles, law.quantiles)
    np.testing.assert_array_equal(again.crps(rows.y), law.crps(rows.y))


@pytest.mark.parametrize("guarantee", ["none", "split", "cross"])
def test_ppf_is_that_of_the_model(guarantee, rows):
    """Exact at the levels; elsewhere between the model's quantiles at the neighbouring levels."""
    data = Sample(600)
    model = tare.Calibrator(true_mean, guarantee=guarantee, bands=False).calibrate(data.X, data.y)
    law = model.predict_distribution(rows.X)
    at = [0.025, 0.05, 1 - 0.95, 0.5, 0.975, 1e-6, 0.003]
    with pytest.warns() if guarantee != "none" else contextlib.nullcontext():
        expected = model.predict_quantiles(rows.X, np.round(at, 9))
    np.testing.assert_array_equal(law.ppf(at), expected)
    np.testing.assert_array_equal(law.interval(0.9), model.predict_interval(rows.X, 0.9))
    rng = np.random.default_rng(0)
    levels = rng.uniform(0.01, 0.99, size=40)
    exact, guess = model.predict_quantiles(rows.X, levels), law.ppf(levels)
    right = np.searchsorted(LEVELS, levels)
    low, high = law.quantiles[:, right - 1], law.quantiles[:, right]
    assert ((low <= exact) & (exact <= high)).all() and ((low <= guess) & (guess <= high)).all()
    spread = law.ppf(0.95) - law.ppf(0.05)
    assert np.abs(exact - guess).mean() < 0.002 * spread.mean()
    np.testing.assert_array_equal(law.ppf([0.0, 1.0]), law.quantiles[:, [0, -1]])


def test_single_precision_stays():
    data = Sample(300)
    model = tare.Calibrator(true_mean, guarantee="none", bands=False).calibrate(data.X, data.y)
    law = model.predict_distribution(data.X[:7].astype(np.float32))
    assert law.quantiles.dtype == np.float32 and law.ppf(0.3).dtype == np.float32
    assert law.cdf(0.0).dtype == np.float64 and np.isfinite(law.crps(data.y[:7])).all()


def test_indexing(model, rows):
    law = model.predict_distribution(rows.X)
    assert len(law) == 60 and len(law[3]) == 1 and len(law[-1]) == 1 and len(law[5:9]) == 4
    np.testing.assert_array_equal(law[-1].ppf(0.3), law.ppf(0.3)[-1:])
    mask = rows.y > 0
    np.testing.assert_array_equal(law[mask].crps(rows.y[mask]), law.crps(rows.y)[mask])
    np.testing.assert_array_equal(law[[4, 2]].mean(), law.mean()[[4, 2]])
    assert len(list(law)) == 60 and repr(law[:1]) == "<Distribution of 1 row>"
    for wrong in (60, -61):
        with pytest.raises(IndexError, match=f"row {wrong} of a Distribution of 60 rows"):
            law[wrong]
    with pytest.raises(IndexError, match="indexed by rows"):
        law[:, 3]


def test_normal_distributions():
    """The closed forms, to what lines between 241 levels of a normal quantile function can give."""
    law, mean, sd = normal_law(), np.array([0.0, 3.0, -50.0]), np.array([1.0, 0.1, 7.0])
    np.testing.assert_allclose((law.mean() - mean) / sd, 0.0, atol=1e-9)
    np.testing.assert_allclose(law.std() / sd, 1.0, atol=5e-4)
    np.testing.assert_allclose(law.var(), law.std() ** 2)
    y = mean[:, None] + sd[:, None] * np.linspace(-3, 3, 41)
    np.testing.assert_allclose(law.cdf(y), NORMAL.cdf(np.tile(np.linspace(-3, 3, 41), (3, 1))), atol=2e-4)
    np.testing.assert_allclose(law.pdf(y) * sd[:, None], NORMAL.pdf(np.tile(np.linspace(-3, 3, 41), (3, 1))), atol=0.01)
    z = np.array([0.7, -2.0, 4.0])
    exact = sd * (z * (2 * NORMAL.cdf(z) - 1) + 2 * NORMAL.pdf(z) - 1 / np.sqrt(np.pi))
    np.testing.assert_allclose(law.crps(mean + z * sd), exact, rtol=1e-3)


def test_moments_and_crps_by_adding_up(model, rows):
    rows.X, rows.y = rows.X[:8], rows.y[:8]
    law = model.predict_distribution(rows.X)
    levels, values = curve(law)
    np.testing.assert_allclose(law.mean(), values.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(law.std(), values.std(axis=1), rtol=1e-4)
    for y in (rows.y, law.ppf(0.5), law.ppf(0.99) + 1, law.ppf(0.01) - 1):
        gap = y[:, None] - values
        np.testing.assert_allclose(law.crps(y), 2 * np.maximum(levels * gap, (levels - 1) * gap).mean(axis=1), rtol=1e-4, atol=1e-6)


def test_a_large_offset_keeps_the_spread():
    law = normal_law((1e9,), (1e-3,))
    assert law.std()[0] == pytest.approx(1e-3, rel=1e-2)


def test_cdf_and_ppf_are_inverse(model, rows):
    law = model.predict_distribution(rows.X)
    levels = np.linspace(0.002, 0.998, 101)
    # 200 ranked rows: levels that are less than 1/201 apart share a quantile, which has a mass then.
    back = law.cdf(law.ppf(levels)) - levels
    assert back.min() > -1e-9 and back.max() < 0.005 + 1e-9
    np.testing.assert_allclose(normal_law().cdf(normal_law().ppf(levels)), np.tile(levels, (3, 1)), atol=1e-9)
    assert (law.cdf(-1e9) == 0).all() and (law.cdf(1e9) == 1).all() and (law.pdf([-1e9] * 60) == 0).all()
    grid = np.tile(np.linspace(-4, 4, 801), (60, 1))
    assert (np.diff(law.cdf(grid), axis=1) >= 0).all()
    fine = np.linspace(-4, 4, 4001)
    assert normal_law((0.0,), (1.0,)).pdf(fine[None, :]).sum() * 0.002 == pytest.approx(1.0, abs=1e-3)
    assert np.isnan(law.cdf(np.nan)).all() and np.isnan(law.pdf(np.nan)).all()


def test_infinite_quantiles():
    values = NORMAL.ppf(LEVELS)[None, :].repeat(3, axis=0)
    values[0, :5] = -np.inf
    values[1, -5:] = np.inf
    values[2, :] = np.nan
    law = tare.Distribution(values)
    assert law.mean()[0] == -np.inf and law.mean()[1] == np.inf and np.isnan(law.var()).all()
    assert np.isinf(law.crps(np.zeros(3))[:2]).all() and np.isnan(law.crps(np.zeros(3))[2])
    np.testing.assert_allclose(law.cdf(0.0)[:2], 0.5)
    assert law.ppf(3e-5)[0] == -np.inf and np.isnan(law.ppf(0.3)[2]) and np.isnan(law.cdf(0.0)[2])
    assert law.cdf(-10.0)[0] == LEVELS[4] and law.cdf(10.0)[1] == LEVELS[-6]


def test_wrong_arguments():
    law = normal_law()
    for wrong in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            law.ppf([0.5, wrong])
    with pytest.raises(ValueError, match="3 rows are expected"):
        law.cdf([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\(3,\) is expected"):
        law.crps([1.0])
    with pytest.raises(ValueError, match=r"\(n, 241\) is expected"):
        tare.Distribution(np.zeros((3, 999)))
    np.testing.assert_array_equal(law.sample(5, random_state=3), law.sample(5, random_state=3))
