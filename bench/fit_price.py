# SPDX-License-Identifier: BSD-3-Clause
"""What a guarantee of Calibrator.fit costs, and MAPIE's CV+ beside it: the table of docs/python.md.

python bench/fit_price.py concrete:700:330:5 power:4000:3000:3

Each argument is FILE:TRAINING ROWS:TEST ROWS:DRAWS, with FILE.csv in the folder of TARE_DATA and its target as the last column. Set
OMP_NUM_THREADS=1: times are CPU seconds of one thread. The pinball loss is over the levels 0.05, 0.1, ..., 0.95.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import lightgbm
import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tare

LEVELS = np.round(np.arange(1, 20) * 0.05, 2)
ESTIMATORS = {
    "LightGBM": lightgbm.LGBMRegressor(n_estimators=100, n_jobs=1, verbose=-1),
    "ridge": make_pipeline(StandardScaler(), Ridge()),
}


def by_tare(guarantee):
    def fit(estimator, X, y):
        model = tare.Calibrator(estimator, guarantee=guarantee, n_jobs=1).fit(X, y)
        return model.predict_interval, lambda X: model.predict_quantiles(X, LEVELS)

    return fit


def by_mapie(estimator, X, y):
    model = CrossConformalRegressor(clone(estimator), confidence_level=0.9, cv=5, random_state=0).fit_conformalize(X, y)
    return lambda X: model.predict_interval(X)[1][:, :, 0], None


CONTENDERS = {"cross": by_tare("cross"), "split": by_tare("split"), "none": by_tare("none"), "MAPIE CV+": by_mapie}


def measure(fit, estimator, data, rows, test, seed):
    """CPU seconds of the fit, coverage, mean width and Winkler score of 90 % intervals, pinball loss."""
    order = np.random.default_rng(seed).permutation(len(data))
    train, fresh = data[order[:rows]], data[order[rows : rows + test]]
    start = time.process_time()
    interval, quantiles = fit(estimator, train[:, :-1], train[:, -1])
    seconds = time.process_time() - start
    X, y = fresh[:, :-1], fresh[:, -1]
    low, high = np.asarray(interval(X)).T
    winkler = (high - low) + 20 * np.maximum(low - y, 0) + 20 * np.maximum(y - high, 0)
    pinball = np.nan
    if quantiles is not None:
        gap = y[:, None] - quantiles(X)
        pinball = np.maximum(LEVELS * gap, (LEVELS - 1) * gap).mean()
    return seconds, np.mean((low <= y) & (y <= high)), np.mean(high - low), winkler.mean(), pinball


def main():
    warnings.simplefilter("ignore")
    for name, rows, test, draws in (argument.split(":") for argument in sys.argv[1:]):
        data = np.loadtxt(Path(os.environ["TARE_DATA"]) / f"{name}.csv", delimiter=",", skiprows=1)
        for model, estimator in ESTIMATORS.items():
            for label, fit in CONTENDERS.items():
                found = [measure(fit, estimator, data, int(rows), int(test), seed) for seed in range(int(draws))]
                seconds, covered, width, winkler, pinball = np.mean(found, axis=0)
                print(
                    f"{name} {rows} {model:8} {label:9} {seconds:5.2f} s, {covered:.1%}, width {width:.4g}, Winkler {winkler:.4g}, "
                    f"pinball {pinball:.4g}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
