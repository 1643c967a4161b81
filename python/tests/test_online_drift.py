# SPDX-License-Identifier: BSD-3-Clause
"""Alarms of drift from Python: when errors change, seldom when they do not, and what is said about them."""

import math

import numpy as np
from online_streams import mean, steady

import tare


def test_an_alarm_when_errors_change():
    X, y = steady(900, seed=1, change=500, scale=2.5)
    online = tare.OnlineCalibrator(mean).update(X[:500], y[:500])
    assert not online.drift_
    assert online.drift_.alarm_row is None and online.drift_.change_row is None and online.drift_.causes == []
    online.update(X[500:], y[500:])
    drift = online.drift_
    assert drift
    assert drift.log_e >= drift.threshold == math.log(100.0)
    assert 500 <= drift.alarm_row < 650
    assert 450 <= drift.change_row <= drift.alarm_row
    assert 1.5 < drift.scale < 4.0
    online.restart_drift()
    assert not online.drift_ and online.drift_.log_e == 0.0
    online.update(X[600:], y[600:])
    assert not online.drift_


def test_the_row_of_the_alarm_is_the_one_whose_target_raised_it():
    X, y = steady(700, seed=2, change=400, scale=3.0)
    online = tare.OnlineCalibrator(mean)
    for row in range(700):
        online.update(X[row : row + 1], y[row : row + 1])
        if online.drift_:
            break
    assert online.drift_.alarm_row == row
    whole = tare.OnlineCalibrator(mean).update(X, y)
    assert whole.drift_.alarm_row == row


def test_the_cause_is_named():
    """Errors change where the first column is large."""
    X, y = steady(3000, seed=3)
    changed = (np.arange(3000) >= 1500) & (X[:, 0] > 0.75)
    y = np.where(changed, mean(X) + 4 * (y - mean(X)), y)
    online = tare.OnlineCalibrator(mean).update(X, y)
    assert online.drift_
    assert any(cause.startswith("x0 from 0.7") for cause in online.drift_.causes), online.drift_
    assert not any(cause.startswith("x1") for cause in online.drift_.causes), online.drift_


def test_few_false_alarms():
    """Of 60 steady streams at a rate of 5 %: more than 9 have a probability of 0.001 (binomial)."""
    alarms = 0
    for seed in range(60):
        X, y = steady(260, seed=100 + seed)
        alarms += bool(tare.OnlineCalibrator(mean, method="tracker", drift_rate=0.05).update(X, y).drift_)
    assert alarms <= 9
