# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends a long prediction, and leaves the model as it was."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import Sample, true_mean

import tare

ROWS = 1_500_000  # a minute of one core


@pytest.fixture(scope="module")
def model():
    data = Sample(1500)
    return tare.Calibrator(true_mean, method="nrc", guarantee="cross", bands=False).calibrate(data.X, data.y)


@pytest.mark.parametrize(
    "question", ["predict_interval", *(pytest.param(name, marks=pytest.mark.slow) for name in ("predict_quantiles", "single", "diagnostics"))]
)
def test_control_c_stops_a_long_prediction(model, question):
    X = np.tile(Sample(1000, seed=1).X, (ROWS // 1000, 1))
    ask = model.predict_interval if question == "single" else getattr(model, question)
    X = X.astype(np.float32) if question == "single" else X
    expected = model.predict_interval(X[:5])
    threads, sent = threading.active_count(), []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ask(X)
    assert time.monotonic() - sent[0] < 4  # generous for a busy machine; the answers would take far longer
    timer.join()
    assert threading.active_count() == threads
    np.testing.assert_array_equal(model.predict_interval(X[:5]), expected)


def test_an_error_in_many_rows_is_the_same_as_in_few(model):
    """Many rows are computed on a thread of their own; what it throws comes back."""
    for rows in (3, 3000):
        with pytest.raises(ValueError, match="must lie strictly between 0 and 1"):
            model.predict_quantiles(np.zeros((rows, 2)), [0.0])
        with pytest.raises(ValueError, match="features"):
            model._model.core.predict(np.zeros((rows, 5)), np.zeros((rows, 1)), [0.5], 1)
