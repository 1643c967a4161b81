#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conditional guarantees: tare beside MAPIE's ConditionalSplitConformalRegressor, in one run.

Both are linear in the six features and an intercept, around the same point model, on the same calibration rows of a problem whose law is known
(`pypeers/problem.py`), so that the coverage of each slice is computed exactly. tare calibrates its method on a half of the calibration rows and
ranks the other half; MAPIE ranks all of them. MAPIE answers the first `--queries` test rows, as many as it can bear; tare answers all of them,
and its coverage is reported on the same first rows and on all.

    python3 -m venv VENV && VENV/bin/pip install . scikit-learn 'mapie[conditional]'
    VENV/bin/python bench/conditional_peers.py --rows 2000 20000 --queries 300 --markdown
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from pypeers.problem import FEATURES, LEVEL, Problem, level_of

NAMES = ",".join(f"x{j}" for j in range(FEATURES))


def slices(problem, interval, rows):
    """Exact coverage of the interval: overall, and in the lower and the upper half of each feature."""
    x = problem.x_test[:rows]
    covered = level_of(x, interval[:rows, 1]) - level_of(x, interval[:rows, 0])
    parts = []
    for j in range(FEATURES):
        parts += [covered[x[:, j] < 0.5].mean(), covered[x[:, j] >= 0.5].mean()]
    return covered.mean(), np.array(parts)


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def run_tare(problem, guarantee):
    import tare

    predicted = problem.model.predict(problem.x)
    of_test = problem.model.predict(problem.x_test)
    calibrator = tare.Calibrator(guarantee=guarantee, bands=False, random_state=0, n_jobs=1)
    _, fit = timed(lambda: calibrator.calibrate(problem.x, problem.y, y_pred=predicted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The first answer also fits the two levels.
        calibrator.predict_interval(problem.x_test[:1], confidence_level=LEVEL, y_pred=of_test[:1])
        interval, answer = timed(lambda: calibrator.predict_interval(problem.x_test, confidence_level=LEVEL, y_pred=of_test))
    return np.asarray(interval), fit, answer


def run_mapie(problem, queries):
    from mapie.conditional_conformal_prediction import ConditionalSplitConformalRegressor

    conformal = ConditionalSplitConformalRegressor(
        lambda x: np.column_stack([np.ones(len(x)), x]), problem.model, confidence_level=LEVEL, prefit=True
    )
    _, fit = timed(lambda: conformal.conformalize(problem.x, problem.y))
    (_, interval), answer = timed(lambda: conformal.predict_interval(problem.x_test[:queries]))
    return np.asarray(interval)[:, :, 0], fit, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 20000])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    bar = "|" if options.markdown else ""
    head = ("rows", "peer", "fit s", "answer, us a row", "rows answered", "coverage", "lowest slice", "highest slice", "median width")
    print(bar, f" {bar or ' '} ".join(head), bar)
    if options.markdown:
        print("|" + "---|" * len(head))
    for rows in options.rows:
        problem = Problem(rows, options.seed)
        problem.fit_model()
        few = options.queries
        runs = {
            f"tare conditional:{NAMES},share=0.5": run_tare(problem, f"conditional:{NAMES},share=0.5"),
            "tare split:0.5": run_tare(problem, "split:0.5"),
            "MAPIE conditional": run_mapie(problem, few),
        }
        for name, (interval, fit, answer) in runs.items():
            for count in sorted({few, len(interval)}):
                mean, parts = slices(problem, interval, count)
                width = np.median(interval[:count, 1] - interval[:count, 0])
                cells = [rows, name, f"{fit:.3f}", f"{1e6 * answer / len(interval):.1f}", count, f"{mean:.4f}"]
                cells += [f"{parts.min():.4f}", f"{parts.max():.4f}", f"{width:.3f}"]
                print(bar, f" {bar or ' '} ".join(map(str, cells)), bar, flush=True)


if __name__ == "__main__":
    main()
