# SPDX-License-Identifier: BSD-3-Clause
"""A regression problem whose law is known, the point model that all peers share, and what intervals are judged by."""

import os
import pickle

import numpy as np
from scipy.special import ndtri

LEVEL = 0.9
QUANTILES = np.round(np.arange(1, 100) / 100, 2)
FEATURES = 6
TRAINING_ROWS = 20_000
TEST_ROWS = 20_000
BINS = 10


def center(x):
    """Friedman's function: five features matter, the sixth does not."""
    return 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


def noise_quantile(x, level):
    """Quantiles of y - center(x): wider with the fourth feature, more skewed with the first."""
    normal = ndtri(level)
    exponential = -np.log1p(-level) - 1.0
    skew = x[:, 0]
    return (0.5 + 2.5 * x[:, 3]) * ((1.0 - skew) * normal + skew * exponential)


def level_of(x, y):
    """P(Y <= y | x), by bisection on the level's logit."""
    low, high = np.full(len(x), -40.0), np.full(len(x), 36.0)
    middle = center(x)
    for _ in range(60):
        logit = 0.5 * (low + high)
        below = middle + noise_quantile(x, 1.0 / (1.0 + np.exp(-logit))) <= y
        low, high = np.where(below, logit, low), np.where(below, high, logit)
    return 1.0 / (1.0 + np.exp(-0.5 * (low + high)))


def draw(rows, rng):
    x = rng.uniform(size=(rows, FEATURES))
    return x, center(x) + noise_quantile(x, rng.uniform(size=rows))


class Problem:
    """Training, calibration and test rows, and the fitted point model."""

    def __init__(self, rows, seed):
        # Streams of their own, so that other numbers of rows leave the model and the test rows as they are.
        training, calibration, test = np.random.default_rng(seed).spawn(3)
        self.x_train, self.y_train = draw(TRAINING_ROWS, training)
        self.x, self.y = draw(rows, calibration)
        self.x_test, self.y_test = draw(TEST_ROWS, test)

    def fit_model(self):
        from sklearn.ensemble import HistGradientBoostingRegressor

        from pypeers.timed_model import TimedModel

        self.model = TimedModel(HistGradientBoostingRegressor(random_state=0).fit(self.x_train, self.y_train))
        return self

    def save(self, folder):
        path = os.path.join(folder, f"problem{len(self.y)}.pickle")
        with open(path, "wb") as file:
            pickle.dump(self, file)
        return path


def slices(problem):
    """Ten bins with equally many test rows of each feature and of the prediction."""
    keys = [*problem.x_test.T, problem.model.predict(problem.x_test)]
    for key in keys:
        yield from np.array_split(np.argsort(key, kind="stable"), BINS)


def worst_slice(covered, parts):
    return max(abs(float(np.mean(covered[rows])) - LEVEL) for rows in parts)


def noise_floor(parts, rows, draws=200):
    """What the worst slice of perfect intervals shows on average, from nothing but the draw of the test targets."""
    rng = np.random.default_rng(0)
    return float(np.mean([worst_slice(rng.uniform(size=rows) < LEVEL, parts) for _ in range(draws)]))


def pinball(y, quantiles):
    error = y[:, None] - quantiles
    return float(np.mean(np.maximum(QUANTILES * error, (QUANTILES - 1.0) * error)))


def law_pinball(problem):
    """The loss of the law itself: nothing is lower on average."""
    middle = center(problem.x_test)
    return pinball(problem.y_test, np.column_stack([middle + noise_quantile(problem.x_test, q) for q in QUANTILES]))


def judge(problem, interval, quantiles):
    """Coverage of an interval by the law and by the drawn targets, over all rows and in the worst slice."""
    low, high = np.asarray(interval, dtype=np.float64).T
    x, y = problem.x_test, problem.y_test
    by_law = np.maximum(level_of(x, high) - level_of(x, low), 0.0)
    drawn = (low <= y) & (y <= high)
    parts = list(slices(problem))
    return {
        "coverage": float(np.mean(by_law)),
        "worst_slice": worst_slice(by_law, parts),
        "worst_slice_drawn": worst_slice(drawn, parts),
        "row_error": float(np.mean(np.abs(by_law - LEVEL))),
        "length": float(np.mean(high - low)),
        "pinball": None if quantiles is None else pinball(y, np.asarray(quantiles, dtype=np.float64)),
    }
