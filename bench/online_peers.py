#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One row at a time: update and answer with 10,000 trailing rows, by tare.OnlineCalibrator and by MAPIE's TimeSeriesRegressor.

    python3 -m venv VENV && VENV/bin/pip install . scikit-learn mapie
    VENV/bin/python bench/online_peers.py --markdown

The same job for all: a linear model of 4 features, trained on earlier rows, and 10,000 rows whose errors calibrate; then each of
--steps rows is answered with a 90 % interval, its target comes, and it takes the place of the oldest row. The model is a product of
NumPy without checks, so that what is timed is the calibration and not the model; its predictions are part of every step. The spread of
errors depends on a feature, and doubles after half of the steps. Times are processor time of one thread.

MAPIE's forms: 'EnbPI' as its authors define it and MAPIE's time series example has it, 10 models on block bootstraps, ensembled, the
narrowest interval (`optimize_beta`), `update` after each row; 'ACI' with the same, `adapt_conformal_inference` and `update`. Both again
with central intervals, and with `cv="prefit"` and central intervals, which is the least that MAPIE can do. MAPIE takes fewer steps
(--mapie-steps), spread over the same rows. Ends with 1 where tare is not --least times faster than EnbPI and ACI.
"""

import argparse
import sys
import time
import warnings

import numpy as np
from mapie.regression import TimeSeriesRegressor
from mapie.subsample import BlockBootstrap
from sklearn.base import BaseEstimator, RegressorMixin

import tare

TRAILING, FEATURES, TRAIN, CONFIDENCE, GAMMA = 10_000, 4, 2_000, 0.9, 0.005


class Linear(RegressorMixin, BaseEstimator):
    """Least squares, without the checks of scikit-learn's models, which take longer than the product."""

    def fit(self, X, y):
        self.coef_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X @ self.coef_[:-1] + self.coef_[-1]


def rows_of(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(count, FEATURES))
    spread = 0.1 + X[:, 1]
    spread[TRAIN + TRAILING + (count - TRAIN - TRAILING) // 2 :] *= 2.0
    return X, X @ np.arange(1.0, FEATURES + 1.0) + rng.normal(size=count) * spread


def run(answer, learn, X, y):
    """Seconds of each step, and the interval of each."""
    answers = np.empty((len(X), 2))
    times = np.empty(len(X))
    for i in range(len(X)):
        row, target = X[i : i + 1], y[i : i + 1]
        start = time.process_time()
        answers[i] = answer(row)
        learn(row, target)
        times[i] = time.process_time() - start
    return times, answers


def mapie_peer(method, bootstrap, narrowest, model, X, y):
    cv = BlockBootstrap(n_resamplings=10, n_blocks=10, overlapping=False, random_state=0) if bootstrap else "prefit"
    peer = TimeSeriesRegressor(Linear() if bootstrap else model, method=method, cv=cv, agg_function="mean")
    peer.fit(X, y)
    if method == "aci":

        def learn(row, target):
            peer.adapt_conformal_inference(row, target, gamma=GAMMA, confidence_level=CONFIDENCE, ensemble=bootstrap, optimize_beta=narrowest)
            peer.update(row, target, ensemble=bootstrap)
    else:

        def learn(row, target):
            peer.update(row, target, ensemble=bootstrap)

    asked = {"ensemble": bootstrap, "confidence_level": CONFIDENCE, "optimize_beta": narrowest, "allow_infinite_bounds": True}
    return lambda row: peer.predict(row, **asked)[1][0, :, 0], learn


def tare_peer(method, model, X, y):
    options = {"window": TRAILING} if "window" in tare.online_methods()[method]["options"] else {}
    online = tare.OnlineCalibrator(model, interval=CONFIDENCE, method=method, options=options, n_jobs=1).update(X, y)
    return lambda row: online.predict_interval(row)[0], online.update


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--mapie-steps", type=int, default=300)
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # MAPIE warns at every update
    X, y = rows_of(TRAIN + TRAILING + arguments.steps)
    model = Linear().fit(X[:TRAIN], y[:TRAIN])
    past, stream = slice(TRAIN, TRAIN + TRAILING), slice(TRAIN + TRAILING, None)
    point = 1e6 * np.median([_time(model.predict, X[i : i + 1]) for i in range(300)])
    print(f"{TRAILING} trailing rows, {FEATURES} features, {CONFIDENCE:.0%} intervals; the model alone: {point:.0f} us a row\n")
    peers = [("tare, snq", 1, lambda: tare_peer("snq", model, X[past], y[past]))]
    for method in ("aci", "enbpi"):
        peers.append((f"tare, {method}", 1, lambda method=method: tare_peer(method, model, X[past], y[past])))
    thinned = max(1, arguments.steps // arguments.mapie_steps)
    for method, title in (("enbpi", "EnbPI"), ("aci", "ACI")):
        for form, bootstrap, narrowest in (("", True, True), (", central", True, False), (", prefit, central", False, False)):
            peer = lambda m=method, b=bootstrap, n=narrowest: mapie_peer(m, b, n, model, X[past], y[past])
            peers.append((f"MAPIE, {title}{form}", thinned, peer))
    lines, medians = [], {}
    for title, every, make in peers:
        times, answers = run(*make(), X[stream][::every], y[stream][::every])
        low, high = answers.T
        targets = y[stream][::every]
        medians[title] = 1e6 * np.median(times)
        inside = ((low <= targets) & (targets <= high)).mean()
        lines.append((title, len(times), medians[title], 1e6 * times.mean(), inside, (high - low).mean()))
    form = "| {} | {} | {:.0f} | {:.0f} | {:.3f} | {:.3f} |" if arguments.markdown else "{:32} {:6} {:10.0f} {:10.0f} {:8.3f} {:8.3f}"
    head = ("peer", "steps", "median us", "mean us", "coverage", "width")
    if arguments.markdown:
        print("| " + " | ".join(head) + " |\n|---|---:|---:|---:|---:|---:|")
    else:
        print("{:32} {:>6} {:>10} {:>10} {:>8} {:>8}".format(*head))
    for line in lines:
        print(form.format(*line))
    own = medians["tare, snq"]
    for ours in ("snq", "aci", "enbpi"):
        ratios = [f"{title[7:]} {us / medians[f'tare, {ours}']:.0f}" for title, us in medians.items() if title.startswith("MAPIE")]
        print(f"\nratio to tare, {ours}: {'; '.join(ratios)}")
    slowest_allowed = min(medians["MAPIE, EnbPI"], medians["MAPIE, ACI"]) / own
    return 1 if slowest_allowed < arguments.least else 0


def _time(call, *arguments):
    start = time.process_time()
    call(*arguments)
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
