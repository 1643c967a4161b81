# SPDX-License-Identifier: BSD-3-Clause
"""Progress is told, and a fit that is no longer wanted ends at once."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import tare


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 4))
    return X, X[:, 0] + rng.normal(size=3000)


def test_a_callback_hears_stages_and_shares(rows):
    heard = []
    tare.QuantileRegressor("deep_ensemble").fit(*rows, progress=lambda stage, share: heard.append((stage, share)))
    assert heard
    assert all(isinstance(stage, str) and 0 <= share <= 1 for stage, share in heard)


def test_what_a_callback_raises_stops_the_fit(rows):
    class Enough(Exception):
        pass

    def stop(stage, share):
        raise Enough(stage)

    model = tare.QuantileRegressor("auto")
    start = time.monotonic()
    with pytest.raises(Enough):
        model.fit(*rows, progress=stop)
    assert time.monotonic() - start < 10  # the fit takes over a minute
    assert not hasattr(model, "_model")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "maqr"])
def test_control_c_stops_a_long_fit(rows, method):
    """The signal comes while the core computes. The bound is generous for a busy machine; the fit would take far longer."""
    X, y = np.tile(rows[0], (7, 1)), np.tile(rows[1], 7)
    sent = []
    threads = threading.active_count()

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.5, interrupt)
    timer.start()
    model = tare.QuantileRegressor(method)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - sent[0] < 5
    assert not hasattr(model, "_model")
    timer.join()
    assert threading.active_count() == threads  # nothing of the fit runs on behind it
    assert tare.QuantileRegressor("nrc", options={"regressor": "ridge"}).fit(*rows).predict(rows[0]).shape == (3000,)


def test_other_threads_run_during_a_fit(rows):
    """The interpreter's lock is released."""
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(None)
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.monotonic()
    tare.QuantileRegressor("deep_ensemble", n_jobs=1).fit(*rows)
    seconds = time.monotonic() - start
    done.set()
    ticker.join()
    assert len(ticks) > 10 * seconds


def test_predictions_from_several_threads(rows):
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}).fit(*rows)
    expected = model.predict_quantiles(rows[0])
    answers = [None] * 4

    def work(k):
        answers[k] = model.predict_quantiles(rows[0])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(np.array_equal(answer, expected) for answer in answers)


@pytest.mark.slow
def test_verbose_shows_a_bar_and_cleans_up(rows, capfd):
    tare.QuantileRegressor("deep_ensemble", verbose=1).fit(*rows)
    shown = capfd.readouterr()
    assert "tare |" in shown.err and shown.err.endswith("\r")
    assert shown.out == ""
    tare.QuantileRegressor("deep_ensemble").fit(*rows)
    assert capfd.readouterr().err == ""
