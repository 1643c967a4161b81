# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import signal

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scikit-learn is there: one of its checks is left out otherwise

import numpy as np
import pytest

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell starts background jobs so, and tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Sample:
    """Rows whose spread grows with the second feature; the mean is known."""

    def __init__(self, rows, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.uniform(size=(rows, 2))
        self.mean = np.sin(6 * self.X[:, 0])
        self.y = self.mean + rng.normal(size=rows) * (0.1 + self.X[:, 1])


@pytest.fixture
def small():
    return Sample(300)


@pytest.fixture
def large():
    return Sample(4000)


@pytest.fixture
def fresh():
    return Sample(20000, seed=1)


@pytest.fixture
def tool():
    """The command-line tool, where it was built."""
    path = os.environ.get("TARE_TOOL") or shutil.which("tare")
    if not path or not os.path.exists(path):
        pytest.skip("the tool is not there: set TARE_TOOL to its path")
    return path


def true_mean(X):
    return np.sin(6 * np.asarray(X)[:, 0])
