# SPDX-License-Identifier: BSD-3-Clause
"""Shortest sets."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import tare


def two_modes(count, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(count, 1))
    return X, rng.choice([-3.0, 3.0], size=count) + rng.normal(size=count) * (0.3 + 0.2 * X[:, 0])


@pytest.fixture(scope="module")
def model():
    return tare.QuantileRegressor("pure_kernel", guarantee="split", bands=False, random_state=1).fit(*two_modes(600, 1))


def holds(sets, y):
    return ((sets[..., 0] <= y[:, None]) & (y[:, None] <= sets[..., 1])).any(axis=1)


def test_two_parts_that_cover(model):
    X, y = two_modes(400, 2)
    sets = model.predict_set(X, 0.9)
    assert sets.shape == (400, 2, 2)
    assert (~np.isnan(sets[:, 1, 0])).mean() > 0.8
    assert holds(sets, y).mean() > 0.82  # 0.9, with 120 held-out rows
    length = np.nansum(sets[..., 1] - sets[..., 0], axis=1).mean()
    low, high = model.predict_interval(X, 0.9).T
    assert length < 0.6 * (high - low).mean()


def test_a_list_of_levels_and_the_columns_of_a_predictor(model):
    X, _ = two_modes(50, 3)
    both = model.predict_set(X, [0.5, 0.9])
    assert both.shape == (50, 2, 2, 2)
    np.testing.assert_array_equal(both[..., 1], model.predict_set(X, 0.9))
    predictor = tare.Predictor(model, interval=0.9, set="shortest")
    assert predictor.names == ["lower_0.9", "upper_0.9", "lower2_0.9", "upper2_0.9"]
    columns = predictor.predict(X)
    np.testing.assert_array_equal(columns["upper2_0.9"], both[:, 1, 1, 1])


def test_wrong_words_and_levels_are_refused(model):
    X, _ = two_modes(5, 4)
    with pytest.raises(ValueError, match="longest"):
        tare.Predictor(model, set="longest")
    with pytest.raises(ValueError, match=r"1\.5"):
        model.predict_set(X, 1.5)


def test_folds_warn(model):
    X, y = two_modes(300, 5)
    folds = tare.QuantileRegressor("pure_kernel", guarantee="cross", bands=False).fit(X, y)
    with pytest.warns(tare.TareWarning, match="guarantee"):
        folds.predict_set(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_set(X)
