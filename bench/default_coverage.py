#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the intervals of a fit cover on average over draws of its rows, beside what is proven, on known laws that chose no setting (fresh_laws.py).

Each draw has new rows for the fit and 500 new rows to answer, whose coverage is computed from the law. Fits run side by side, one thread each.

    python3 -m venv VENV && VENV/bin/pip install . scipy
    VENV/bin/python bench/default_coverage.py --draws 500 --rows 100 300 1000 --laws gamma_4 student_6 mixture_3
"""

import argparse
import os
import time
import warnings
from multiprocessing import Pool

import numpy as np

import tare
from fresh_laws import LAWS

NEW = 500
SHARES = [0.5, 0.8, 0.9, 0.95]


def coverage_of_draw(job):
    """Coverage of each share's interval, then what is proven of the 90 % interval, averaged over the rows."""
    method, guarantee, law, rows, draw = job
    warnings.simplefilter("ignore")
    draw_features, distribution = LAWS[law]
    rng = np.random.default_rng([7, draw, rows, list(LAWS).index(law)])
    x, new = draw_features(rng, rows), draw_features(rng, NEW)
    y = distribution(x).rvs(random_state=rng)
    settings = {"guarantee": guarantee} if guarantee else {}
    model = tare.QuantileRegressor(method, random_state=draw, bands=False, n_jobs=1, **settings).fit(x, y)
    truth = distribution(new)
    covered = []
    for share in SHARES:
        low, high = np.asarray(model.predict_interval(new, confidence_level=share)).T
        covered.append((truth.cdf(high) - truth.cdf(low)).mean())
    kept = np.asarray(model.diagnostics(new[:20], [0.05, 0.95])["delivered"]) if guarantee != "none" else np.zeros((1, 2))
    return [*covered, (kept[:, 1] - kept[:, 0]).mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=["gamma_4", "student_6", "mixture_3"])
    parser.add_argument("--method", default="auto")
    parser.add_argument("--guarantee", help="[the method's default]")
    options = parser.parse_args()
    columns = [f"{100 * share:g} % covers" for share in SHARES]
    print("| rows | law | draws | " + " | ".join(columns) + " | 90 %: standard error | standard deviation | proven | seconds |")
    print("|---:|---|" + "---:|" * (len(SHARES) + 5))
    with Pool(os.cpu_count()) as pool:
        for rows in options.rows:
            for law in options.laws:
                start = time.perf_counter()
                jobs = [(options.method, options.guarantee, law, rows, draw) for draw in range(options.draws)]
                results = np.array(pool.map(coverage_of_draw, jobs, chunksize=1))
                mean, deviation = results.mean(axis=0), results[:, SHARES.index(0.9)].std(ddof=1)
                cells = [f"{rows:,}", law, f"{options.draws}", *(f"{value:.4f}" for value in mean[:-1])]
                cells += [f"{deviation / np.sqrt(options.draws):.4f}", f"{deviation:.3f}", f"{mean[-1]:.3f}"]
                print("| " + " | ".join([*cells, f"{time.perf_counter() - start:.0f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
