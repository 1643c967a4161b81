# SPDX-License-Identifier: BSD-3-Clause
"""Answers do not hang on the last bit of the features.

Features are often decimals, and decimals are not exact in binary: a unit of conversion, a file format or a sum in another
order moves them by a unit in the last place. Rows at equal distance from a query must not enter or leave its window by that.
"""

import csv
import os

import numpy as np
import pytest

import tare

# Names of files in the folder TARE_DATA, and their targets.
SMALL = {"boston": "MEDV", "concrete": "compressive_strength", "energy": "heating_load", "yacht": "residuary_resistance"}
LARGE = {"kin8nm": "y", "naval": "turbine_decay", "power": "PE", "wine_white": "quality"}
# The fast form of the tests has the cheapest model.
MODELS = ["ridge", pytest.param("forest", marks=pytest.mark.slow), pytest.param("lightgbm", marks=pytest.mark.slow)]
needs_time = pytest.mark.skipif(not os.environ.get("TARE_SLOW_TESTS"), reason="takes minutes: set TARE_SLOW_TESTS=1")


def table(name, target):
    path = os.path.join(os.environ.get("TARE_DATA", "data"), f"{name}.csv")
    if not os.path.exists(path):
        pytest.skip(f"{path} is not there: set TARE_DATA to the folder with the datasets")
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    values = np.array(rows, dtype=float)
    column = header.index(target)
    return np.delete(values, column, axis=1), values[:, column]


def wrapped_model(name):
    if name == "lightgbm":
        return pytest.importorskip("lightgbm").LGBMRegressor(verbose=-1, n_jobs=1)
    if name == "forest":
        return pytest.importorskip("sklearn.ensemble").RandomForestRegressor(50, random_state=0)
    return pytest.importorskip("sklearn.linear_model").Ridge()


def largest_move(X, y, model):
    """Of any end of a 90 % interval, as a share of its width, when the features move by a unit in the last place."""
    parts = np.array_split(np.random.default_rng(0).permutation(len(y)), 3)
    (_, X_cal, X_new), (_, y_cal, _) = ([values[part] for part in parts] for values in (X, y))
    model.fit(X[parts[0]], y[parts[0]])
    said_cal, said_new = model.predict(X_cal), model.predict(X_new)

    def calibrated(features):
        return tare.Calibrator(random_state=0).calibrate(features, y_cal, y_pred=said_cal)

    here = calibrated(X_cal)
    interval = here.predict_interval(X_new, 0.9, y_pred=said_new)
    worst = 0.0
    for towards in (-np.inf, np.inf):
        moved = np.nextafter(X_new, towards)
        for calibrator in (here, calibrated(np.nextafter(X_cal, towards))):
            other = calibrator.predict_interval(moved, 0.9, y_pred=said_new)
            width = interval[:, 1] - interval[:, 0]
            worst = max(worst, np.max(np.abs(other - interval).max(axis=1) / width))
    return worst


@pytest.mark.slow
def test_of_decimals_does_not_move_intervals():
    rng = np.random.default_rng(3)
    X = np.round(rng.uniform(0, 6, size=(3000, 3)), 1)
    y = X[:, 0] + rng.normal(size=3000) * np.where(X[:, 1] > 3, 2.0, 0.2) * rng.choice([0.2, 1.0], size=3000, p=[0.7, 0.3])
    assert largest_move(X, y, wrapped_model("ridge")) <= 0.01


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", SMALL)
def test_of_small_tables_does_not_move_intervals(name, model):
    assert largest_move(*table(name, SMALL[name]), wrapped_model(model)) <= 0.01


@needs_time
@pytest.mark.parametrize("model", ["ridge", "forest", "lightgbm"])
@pytest.mark.parametrize("name", LARGE)
def test_of_large_tables_does_not_move_intervals(name, model):
    assert largest_move(*table(name, LARGE[name]), wrapped_model(model)) <= 0.01
