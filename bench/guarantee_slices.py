#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Coverage of each form of guarantee around a bad model, overall and by slices, over many draws of the rows.

The law is y = 2 sin(3 x0) + exp(1.5 x0) e with e standard normal and x0, x1 even on (-1, 1). The model is a ridge regression with the
quantiles of all its residuals, the same at every x. Each draw has new rows for the fit and 500 new rows to answer, whose coverage is computed
from the law.

    python3 -m venv VENV && VENV/bin/pip install . scipy
    VENV/bin/python bench/guarantee_slices.py --draws 500 --rows 2000 --markdown
"""

import argparse
import time
import warnings

import numpy as np
from scipy.special import ndtr

import tare

FORMS = [
    "split:0.5",
    "local,share=0.5",
    "local,strict,share=0.5",
    "local,fixed,share=0.5",
    "conditional:x0,share=0.5",
    "conditional:kernel,share=0.5",
]
NEW = 500
SLICES = 5
OUTERMOST = [
    0.000001,
    0.999999,
]  # 'delivered' there is the largest share of the weight of one row: without ties the most that an end covers too much
METHOD = {"regressor": "ridge", "kernel": "naive", "bandwidth": 1000.0}  # a window that holds all residuals


def draw(rows, rng):
    x = rng.uniform(-1.0, 1.0, (rows, 2))
    return x, 2 * np.sin(3 * x[:, 0]) + np.exp(1.5 * x[:, 0]) * rng.normal(size=rows)


def covered(x, interval):
    """P(lower <= Y <= upper | x) for each row."""
    center, scale = 2 * np.sin(3 * x[:, 0]), np.exp(1.5 * x[:, 0])
    return ndtr((interval[:, 1] - center) / scale) - ndtr((interval[:, 0] - center) / scale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--forms", nargs="+", default=FORMS)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    bar = "|" if options.markdown else ""
    head = (
        "guarantee",
        "coverage of the 90 % interval",
        "standard error",
        "slices of x0",
        "worst slice's error",
        "median width",
        "infinite",
        "proven excess",
        "seconds",
    )
    print(bar, f" {bar or ' '} ".join(head), bar)
    if options.markdown:
        print("|" + "---|" * len(head))
    for form in options.forms:
        start = time.perf_counter()
        means, slices, widths, infinite, excess = [], [], [], 0.0, []
        for d in range(options.draws):
            fitted, fresh = np.random.default_rng(d).spawn(2)
            x, y = draw(options.rows, fitted)
            new, _ = draw(NEW, fresh)
            model = tare.QuantileRegressor("nrc", guarantee=form, bands=False, bounds="none", random_state=d, n_jobs=1, options=METHOD).fit(
                x, y
            )
            interval = np.asarray(model.predict_interval(new, confidence_level=0.9))
            inside = covered(new, interval)
            means.append(inside.mean())
            place = np.clip(((new[:, 0] + 1) / 2 * SLICES).astype(int), 0, SLICES - 1)
            slices.append([inside[place == k].mean() for k in range(SLICES)])
            widths.append(np.median(interval[:, 1] - interval[:, 0]))
            if form.startswith("local,share"):
                known = model.diagnostics(new[:100], OUTERMOST)
                low, high = np.asarray(known["delivered"]).T
                excess.append((low + 1 - high).mean())
            infinite += np.isinf(interval).any(axis=1).mean() / options.draws
        of_slices = np.mean(slices, axis=0)
        cells = [
            f"`{form}`",
            f"{np.mean(means):.4f}",
            f"{np.std(means) / np.sqrt(options.draws):.4f}",
            " ".join(f"{s:.3f}" for s in of_slices),
        ]
        cells += [
            f"{np.abs(of_slices - 0.9).max():.4f}",
            f"{np.median(widths):.2f}",
            f"{infinite:.4f}",
            f"{np.mean(excess):.4f}" if excess else "",
            f"{time.perf_counter() - start:.0f}",
        ]
        print(bar, f" {bar or ' '} ".join(cells), bar, flush=True)


if __name__ == "__main__":
    main()
