# SPDX-License-Identifier: BSD-3-Clause
"""Coverage of the next rows of a series by `Calibrator.fit`, with random folds and with folds in time order.

usage: python bench/time_order.py bike_sharing.csv cnt

The rows are in time order. Each model is fitted on the first 60, 70, 80 and 90 % of the rows and predicts the next tenth.
"""

from __future__ import annotations

import csv
import sys
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import TimeSeriesSplit

import tare

SETTINGS = {
    "cv=5": {},
    "TimeSeriesSplit(5), 'none'": {"cv": TimeSeriesSplit(5), "guarantee": "none"},
    "TimeSeriesSplit(5), 'split'": {"cv": TimeSeriesSplit(5), "guarantee": "split"},
    "TimeSeriesSplit(5), 'split:0.1'": {"cv": TimeSeriesSplit(5), "guarantee": "split:0.1"},
    "TimeSeriesSplit(5), 'split:0.05'": {"cv": TimeSeriesSplit(5), "guarantee": "split:0.05"},
}


def main(path: str, target: str) -> None:
    warnings.simplefilter("ignore")
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    place = header.index(target)
    X, y = np.delete(table, place, axis=1), table[:, place]
    print("| folds | " + " | ".join(f"after {share:.0%}" for share in (0.6, 0.7, 0.8, 0.9)) + " | mean | width |")
    print("|---" * 7 + "|")
    for name, settings in SETTINGS.items():
        covered, width = [], []
        for share in (0.6, 0.7, 0.8, 0.9):
            first, last = int(share * len(y)), int((share + 0.1) * len(y))
            model = tare.Calibrator(HistGradientBoostingRegressor(max_iter=40), bands=False, n_jobs=1, **settings).fit(X[:first], y[:first])
            low, high = model.predict_interval(X[first:last], 0.9).T
            covered.append(np.mean((low <= y[first:last]) & (y[first:last] <= high)))
            width.append(np.mean(high - low))
        print(f"| {name} | " + " | ".join(f"{100 * share:.1f} %" for share in [*covered, np.mean(covered)]) + f" | {np.mean(width):.0f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
