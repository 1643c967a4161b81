#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a single row takes in Python, and how much of it is the core: the median wall time of many calls, in microseconds; and
the processor time of each of 20,000 rows.

    VENV/bin/python bench/python_latency.py --markdown

'Core' is the same call of the compiled module with arrays that are ready: what Python adds is the rest, the point model's own time
included, which is shown as well. Ends with 1 where Python adds more than --most microseconds.
"""

import argparse
import statistics
import sys
import time

import numpy as np

import tare

LEVELS = [0.05, 0.95]


def mean(X):
    return np.sin(6 * X[:, 0]) + X[:, 1]


def median_us(ask, calls):
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        ask()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def measure(model, row, calls):
    """The core, the three questions in Python, and the point model."""
    core = model._model.core
    given = mean(row)[:, None] if core.given else None
    return [
        median_us(lambda: core.predict(row, given, LEVELS, 1), calls),
        median_us(lambda: model.predict_interval(row, 0.9), calls),
        median_us(lambda: model.predict_quantiles(row, LEVELS), calls),
        median_us(lambda: model.predict(row), calls),
        median_us(lambda: mean(row), calls) if core.given else 0.0,
    ]


def batch_us(model, X, rows=20_000):
    """Processor time of each of many rows' intervals, of all threads."""
    many = np.resize(X, (rows, X.shape[1]))
    start = time.process_time()
    model.predict_interval(many, 0.9)
    return 1e6 * (time.process_time() - start) / rows


def models(rows):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(rows, 5))
    y = mean(X) + rng.normal(size=rows) * (0.2 + X[:, 2])
    for guarantee in ("none", "split", "cross:5", "cross:10"):
        yield f"Calibrator, {guarantee}", tare.Calibrator(mean, guarantee=guarantee, bands=False).calibrate(X, y), X
    yield "QuantileRegressor('nrc')", tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, guarantee="none").fit(X, y), X


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000, help="calibration rows")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--most", type=float, default=50.0, help="microseconds that Python may add")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()

    table = [["model", "core", "predict_interval", "predict_quantiles", "predict", "point model", "Python adds at most", "a row of many"]]
    worst = 0.0
    for name, model, X in models(args.rows):
        times = measure(model, X[:1].copy(), args.calls)
        added = max(times[1:4]) - times[0]
        worst = max(worst, added)
        table.append([name, *(f"{value:.3g}" for value in (*times, added, batch_us(model, X)))])
    for i, cells in enumerate(table):
        print("| " + " | ".join(cells) + " |" if args.markdown else "  ".join(cell.ljust(24) for cell in cells).rstrip())
        if i == 0 and args.markdown:
            print("|" + "---|" * len(cells))
    return 0 if worst <= args.most else 1


if __name__ == "__main__":
    sys.exit(main())
