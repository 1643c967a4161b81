#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The default beside other methods of tare on five known laws that chose no setting of it.

The score is the individual calibration error, the mean over rows and 100 levels of |F(Q_tau(x) | x) - tau|, with F from the law. The laws differ
in kind from the problems of `tare reproduce oracle`: their shape depends on the row, features may be correlated, and targets may be bounded.

    python3 -m venv VENV && VENV/bin/pip install . scipy
    VENV/bin/python bench/fresh_laws.py --rows 1000 4000 --repeats 2 --methods auto cqr_boost nrc_boost deep_ensemble
"""

import argparse
import time
import warnings

import numpy as np
from scipy import stats

import tare

LEVELS = 0.01 + 0.98 * np.arange(100) / 99
NEW = 1000


def uniform(columns):
    return lambda rng, rows: rng.uniform(size=(rows, columns))


def correlated(columns):
    """Normal features, each pair with a correlation of one half."""
    return lambda rng, rows: np.sqrt(0.5) * (rng.normal(size=(rows, columns)) + rng.normal(size=(rows, 1)))


def gamma(x):
    return stats.gamma(1 + 4 * x[:, 0], scale=0.5 + x[:, 1] * x[:, 2])


def student(x):
    return stats.t(3 + 7 * stats.norm.cdf(x[:, 0]), loc=x[:, 1] ** 2 - x[:, 2] * x[:, 3], scale=np.exp(0.5 * x[:, 4]))


def beta(x):
    return stats.beta(1 + 6 * x[:, 0], 1 + 6 * x[:, 1] * x[:, 2])


def skew_normal(x):
    center = np.sin(4 * x[:, 0]) + np.abs(x[:, 1] - 0.5) + x[:, 2] * x[:, 3]
    return stats.skewnorm(8 * x[:, 4] - 4, loc=center, scale=0.2 + x[:, 0])


class Mixture:
    """Two normal distributions whose shares depend on the row."""

    def __init__(self, x):
        self.share = 1 / (1 + np.exp(-6 * (x[:, 0] - 0.5)))
        self.first = stats.norm(x[:, 1] - 1, 0.3)
        self.second = stats.norm(1.5, 0.2 + 0.6 * x[:, 2])

    def cdf(self, y):
        return self.share * self.first.cdf(y) + (1 - self.share) * self.second.cdf(y)

    def rvs(self, random_state):
        first = random_state.uniform(size=len(self.share)) < self.share
        return np.where(first, self.first.rvs(random_state=random_state), self.second.rvs(random_state=random_state))


LAWS = {
    "gamma_4": (uniform(4), gamma),
    "student_6": (correlated(6), student),
    "mixture_3": (uniform(3), Mixture),
    "beta_8": (uniform(8), beta),
    "skew_normal_12": (uniform(12), skew_normal),
}


def error_of(method, options, law, rows, repeat):
    """Individual calibration error, coverage of the 90 % interval, and seconds of the fit."""
    draw_features, distribution = LAWS[law]
    rng = np.random.default_rng([repeat, rows, list(LAWS).index(law)])
    x, new = draw_features(rng, rows), draw_features(rng, NEW)
    y = distribution(x).rvs(random_state=rng)
    start = time.perf_counter()
    model = tare.QuantileRegressor(method, random_state=repeat, bands=False, **options).fit(x, y)
    seconds = time.perf_counter() - start
    answers = np.asarray(model.predict_quantiles(new, quantiles=LEVELS))
    truth = distribution(new)
    reached = np.stack([truth.cdf(answers[:, k]) for k in range(len(LEVELS))], axis=1)
    low, high = np.asarray(model.predict_interval(new, confidence_level=0.9)).T
    return np.abs(reached - LEVELS).mean(), (truth.cdf(high) - truth.cdf(low)).mean(), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=list(LAWS))
    parser.add_argument("--methods", nargs="+", default=["auto", "cqr_boost", "nrc_boost", "deep_ensemble"])
    parser.add_argument("--guarantee", help="of every method [its own default]")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    settings = {"guarantee": options.guarantee} if options.guarantee else {}
    print("| rows | method | " + " | ".join(options.laws) + " | mean ICE | 90 % interval covers | seconds a fit |")
    print("|---:|---|" + "---:|" * (len(options.laws) + 3))
    for rows in options.rows:
        for method in options.methods:
            results = np.array(
                [[error_of(method, settings, law, rows, repeat) for repeat in range(options.repeats)] for law in options.laws]
            )
            of_laws = results[:, :, 0].mean(axis=1)
            covered, seconds = results[:, :, 1].mean(), results[:, :, 2].mean()
            cells = [f"{rows:,}", f"`{method}`", *(f"{error:.4f}" for error in of_laws), f"{of_laws.mean():.4f}"]
            print("| " + " | ".join([*cells, f"{covered:.3f}", f"{seconds:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
