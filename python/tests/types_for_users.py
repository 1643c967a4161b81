# SPDX-License-Identifier: BSD-3-Clause
"""What a type checker says about answers. Nothing runs this file: tools/check_python.sh reads it with mypy --strict."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import tare

X: npt.NDArray[np.float64] = np.zeros((3, 1))
y: npt.NDArray[np.float64] = np.zeros(3)

calibrator = tare.Calibrator(lambda rows: np.zeros(len(rows)), random_state=np.random.default_rng(0))
assert_type(calibrator.calibrate(X, y), tare.Calibrator)
assert_type(calibrator.fit(X, y).set_output(transform="pandas"), tare.Calibrator)
assert_type(calibrator.predict(X), npt.NDArray[np.floating[Any]])
assert_type(calibrator.predict_quantiles(X, [0.1, 0.9]), npt.NDArray[np.floating[Any]])
assert_type(calibrator.predict_interval(X, confidence_level=0.9), npt.NDArray[np.floating[Any]])
assert_type(calibrator.fit(X, y, groups=[1, 2, 3], sample_weight=y, early_stopping=False), tare.Calibrator)
assert_type(calibrator.predict_interval(X, [0.5, 0.9], y_pred=y, y_std=y), npt.NDArray[np.floating[Any]])
assert_type(calibrator.predict_quantiles(X, 0.5, y_pred=y), npt.NDArray[np.floating[Any]])
assert_type(calibrator.guarantee_, dict[str, Any])
assert_type(calibrator.predict_distribution(X).cdf(0.0), npt.NDArray[np.float64])
assert_type(calibrator.diagnostics(X), dict[str, npt.NDArray[Any]])
assert_type(calibrator.score(X, y), float)
assert_type(calibrator.answer_warnings(X)[0].code, str)
assert_type(tare.Calibrator.load("model.tare"), tare.Calibrator)
assert_type(calibrator.set_params(cv=3), tare.Calibrator)
assert_type(calibrator.get_params(), dict[str, Any])

regressor = tare.QuantileRegressor("nrc", options={"regressor": "ridge"})
assert_type(regressor.fit(X, y), tare.QuantileRegressor)
assert_type(tare.Predictor("model.tare", interval=0.9).predict(X), dict[str, npt.NDArray[Any]])
assert_type(tare.methods(), dict[str, dict[str, Any]])
tare.QuantileRegressor("nrc", options=tare.options.Nrc(kernel="naive", bandwidth=0.5, trees=50))
tare.Calibrator(options=tare.options.NrcBoost(rounds=100, guarantee="split"))
tare.options.Nrc(kernal="naive")  # type: ignore[typeddict-unknown-key]
tare.options.Nrc(kernel="naiv")  # type: ignore[typeddict-item]
tare.options.Hnn(hidden=[20, 20], sd_floor="low")  # type: ignore[typeddict-item]
assert_type(tare.compare(X, y, ["nrc", ("cqr", tare.options.Cqr(epochs=10))]), tare.Comparison)
assert_type(tare.tune(X, y, "nrc", grid={"kernel": ["naive"]}, options=tare.options.Nrc(regressor="ridge")).options, dict[str, str])
assert_type(tare.report(calibrator, X, y).scores, dict[str, float])
with tare.serve("model.tare", token=True) as service:
    assert_type(service.url, str)
assert_type(calibrator.inspect().facts, list[tuple[str, str]])
assert_type(tare.metrics.mace(y, X), float)
assert_type(tare.metrics.scores(calibrator, X, y), dict[str, float])

online = tare.OnlineCalibrator(lambda rows: np.zeros(len(rows)), interval=0.9, known_later=["volume"], period=24)
assert_type(online.update(X, y), tare.OnlineCalibrator)
assert_type(online.partial_fit(X, y).set_output(transform="polars"), tare.OnlineCalibrator)
assert_type(online.track(X, y), npt.NDArray[np.floating[Any]])
assert_type(online.predict_interval(X), npt.NDArray[np.floating[Any]])
assert_type(online.predict_quantiles(X, [0.1, 0.9]), npt.NDArray[np.floating[Any]])
assert_type(online.drift_.alarm_row, int | None)
assert_type(online.drift_.causes, list[str])
assert_type(online.n_seen_, int)
assert_type(tare.OnlineCalibrator.load("online.tare"), tare.OnlineCalibrator)
tracked = tare.track("rows.csv", "y", prediction="forecast", interval=[0.5, 0.9])
assert_type(tracked, tare.Tracked)
assert_type(tracked.coverage, float)
assert_type(tracked.intervals[0].worst_stretch, float)
assert_type(tracked.alarms[0].change_row, int | None)
assert_type(tracked.model, tare.OnlineCalibrator)
assert_type(tare.online_methods(), dict[str, dict[str, Any]])
