# SPDX-License-Identifier: BSD-3-Clause
"""Counts, amounts and shares: where answers may be."""

import numpy as np
import pytest

import tare


def counts(rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 2))
    mean = 3 * X[:, 0] ** 2
    return X, rng.poisson(mean).astype(float), mean


@pytest.mark.parametrize(
    "guarantee", [pytest.param("none", marks=pytest.mark.slow), "split", pytest.param("cross", marks=pytest.mark.slow)]
)
def test_counts_are_whole_and_not_negative(guarantee):
    X, y, mean = counts(1500, 0)
    model = tare.Calibrator(guarantee=guarantee).calibrate(X, y, y_pred=mean)
    fresh, _, said = counts(1000, 1)
    quantiles = model.predict_quantiles(fresh, [0.01, 0.05, 0.5, 0.95, 0.99], y_pred=said)
    assert (quantiles >= 0).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()
    if guarantee == "none":
        assert (quantiles == np.round(quantiles)).all()
    law = model.predict_distribution(fresh, y_pred=said)
    assert (law.cdf(-1e-9) == 0).all()
    # 1,500 rows tell the share of zeros to 0.013, and 1,000 that of the new ones to 0.016.
    assert abs(law.cdf(0).mean() - np.exp(-said).mean()) < 0.06


def test_without_masses_and_bounds_it_is_as_it_was():
    X, y, mean = counts(800, 2)
    free = tare.Calibrator(method="nrc_boost", guarantee="none", bounds="none", options={"masses": "no"}).calibrate(X, y, y_pred=mean)
    assert (free.predict_quantiles(X, [0.01], y_pred=mean) < 0).any()


def test_bounds_are_pairs_or_words():
    X, y, mean = counts(300, 3)
    given = tare.Calibrator(bounds=(0, 4.5), guarantee="none")
    with pytest.raises(ValueError, match="outside the bounds"):
        given.calibrate(X, np.where(np.arange(300) == 7, 9.0, 0.0), y_pred=mean)
    kept = given.calibrate(X, np.minimum(y, 4), y_pred=mean)
    answers = kept.predict_quantiles(X, [0.001, 0.999], y_pred=mean)
    assert answers.min() >= 0 and answers.max() <= 4.5
    assert (kept.predict_distribution(X, y_pred=mean).cdf(4.5) == 1).all()
    with pytest.raises(ValueError, match="either may be None"):
        tare.Calibrator(bounds=3).calibrate(X, y, y_pred=mean)
    with pytest.raises(ValueError, match="LOW below HIGH"):
        tare.Calibrator(bounds=(1, 0)).calibrate(X, y, y_pred=mean)


def test_a_regressor_has_bounds_too(tmp_path):
    X, y, _ = counts(300, 4)
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bounds=(0, None)).fit(X, y)
    assert model.predict_quantiles(X, [0.01]).min() >= 0
    model.save(tmp_path / "m.tare")
    again = tare.QuantileRegressor.load(tmp_path / "m.tare")
    np.testing.assert_array_equal(model.predict_quantiles(X), again.predict_quantiles(X))
    assert (again.predict_distribution(X).cdf(-0.001) == 0).all()


def test_cdf_and_ppf_agree_at_a_mass():
    levels = tare.Distribution.levels
    quantiles = np.where(levels <= 0.6, 0.0, np.where(levels <= 0.8, 1.0, 1 + 5 * (levels - 0.8)))[None, :]
    law = tare.Distribution(quantiles, (0.0, None))
    assert law.cdf(-1e-12)[0] == 0.0
    assert law.cdf(0.0)[0] == pytest.approx(0.6, abs=1e-9)
    assert law.cdf(1.0)[0] == pytest.approx(0.8, abs=1e-9)
    assert law.pdf(0.0)[0] == np.inf and law.pdf(-1.0)[0] == 0.0
    for level in (0.1, 0.6, 0.7, 0.8, 0.9):
        assert law.cdf(law.ppf(level))[0] >= level - 1e-9
    draws = law.sample(4000, random_state=0)
    assert np.isin(draws[draws < 1], 0.0).all()  # nothing lies between two masses
