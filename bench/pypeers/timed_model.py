# SPDX-License-Identifier: BSD-3-Clause
"""The point model, whose own time is kept apart from that of the peers that ask it."""

import time

from sklearn.base import BaseEstimator, RegressorMixin


class TimedModel(RegressorMixin, BaseEstimator):
    """A fitted model that adds up the seconds of its predictions. Some peers ask it more often than others."""

    wall = 0.0
    cpu = 0.0

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, X, y):
        raise NotImplementedError("the point model is fitted already, and no peer may train it again")

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = self.inner.predict(X)
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        return answer
