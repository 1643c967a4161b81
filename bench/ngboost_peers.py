#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares ngboost, tare's natural gradient boosting, with the package NGBoost: time, memory, log score and CheckScore in one run.

    python3 -m venv VENV && VENV/bin/pip install . scikit-learn ngboost
    TARE_DATA=... VENV/bin/python bench/ngboost_peers.py --markdown

Both boost a normal distribution with trees of depth 3, a learning rate of 0.01 and 500 rounds on the same rows, with one thread. NGBoost takes
exact splits, tare the best of 256 bins of each column. NGBoost first doubles a step as long as the score is below the one before the step, and
then halves it; tare halves only, as the paper says. So NGBoost goes further in as many rounds, and 'tare_as_far' is tare with the learning rate
times NGBoost's mean step on the same rows. Cases, processes and times are those of bench/qrf_peers.py. The log score is the mean of
log sd + z^2 / 2 on the test rows, in units in which the training targets have the sd 1. '+-' is the standard error of the mean difference
from tare's CheckScore over the seeds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from pypeers.measure import fit_and_predict
from qrf_peers import LAWS, LEVELS, TABLES, check_score, make_case


class Tare:
    step = 1.0

    def __init__(self, rate):
        self.options = {"learning_rate": rate}

    def fit(self, x, y):
        import tare

        self.model = tare.QuantileRegressor("ngboost", options=self.options, bands=False, n_jobs=1, random_state=1).fit(x, y)

    def quantiles(self, x):
        return self.model.predict_quantiles(x, LEVELS)

    def parameters(self, x):
        low, middle, high = self.model.predict_quantiles(x, [0.25, 0.5, 0.75]).T
        return middle, (high - low) / (2 * 0.6744897501960817)


class NGBoost:
    def __init__(self, rate):
        self.rate = rate

    def fit(self, x, y):
        from ngboost import NGBRegressor

        self.model = NGBRegressor(n_estimators=500, learning_rate=self.rate, verbose=False, random_state=1).fit(x, y)
        self.step = sum(self.model.scalings) / len(self.model.scalings)

    def quantiles(self, x):
        import numpy as np
        from scipy.stats import norm

        mean, sd = self.parameters(x)
        return mean[:, None] + sd[:, None] * norm.ppf(np.array(LEVELS))

    def parameters(self, x):
        distribution = self.model.pred_dist(x)
        return distribution.params["loc"], distribution.params["scale"]


PEERS = {"tare": Tare, "ngboost": NGBoost, "tare_as_far": Tare}


def measure(name, rate, case):
    import numpy as np

    x, y, x_test, y_test = case
    model, quantiles, taken = fit_and_predict(lambda: PEERS[name](rate), x, y, x_test)
    mean, sd = model.parameters(x_test)
    unit = np.std(y)
    return {
        "step": model.step,
        **taken,
        "log_score": float(np.mean(np.log(sd / unit) + ((y_test - mean) / sd) ** 2 / 2)),
        "check_score": check_score(y_test, quantiles),
    }


def measured(peer, case, seed, rate):
    command = [sys.executable, os.path.abspath(__file__), "--measure", peer, case, str(seed), str(rate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{peer} on {case}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = [*TABLES, "law_2000", "law_20000"]
    parser.add_argument("--cases", nargs="+", default=cases, choices=[*TABLES, *LAWS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--measure", nargs=4, metavar=("PEER", "CASE", "SEED", "RATE"), help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.measure:
        peer, case, seed, rate = o.measure
        print(json.dumps(measure(peer, float(rate), make_case(case, int(seed)))))
        return
    header = ["case", "peer", "fit, cpu s", "predict, cpu s", "MB", "log score", "CheckScore", "+-"]
    print(("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|") if o.markdown else "\t".join(header))
    for case in [case for case in o.cases if case in LAWS or "TARE_DATA" in os.environ]:
        own, rates = [], [0.01] * len(o.seeds)
        for peer in PEERS:
            runs = [measured(peer, case, seed, rate) for seed, rate in zip(o.seeds, rates, strict=True)]
            if peer == "ngboost":
                rates = [0.01 * run["step"] for run in runs]
            own = runs if peer == "tare" else own
            line = {key: statistics.median(run[key] for run in runs) for key in ("fit", "predict", "megabytes")}
            scores = {key: statistics.mean(run[key] for run in runs) for key in ("log_score", "check_score")}
            differences = [run["check_score"] - base["check_score"] for run, base in zip(runs, own, strict=True)]
            error = statistics.stdev(differences) / len(runs) ** 0.5 if len(runs) > 1 else float("nan")
            cells = [case, peer, f"{line['fit']:.3g}", f"{line['predict']:.3g}", f"{line['megabytes']:.0f}", f"{scores['log_score']:.4f}"]
            cells += [f"{scores['check_score']:.4f}", "-" if peer == "tare" else f"{error:.4f}"]
            print(("| " + " | ".join(cells) + " |") if o.markdown else "\t".join(cells), flush=True)


if __name__ == "__main__":
    main()
