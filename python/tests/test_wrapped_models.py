# SPDX-License-Identifier: BSD-3-Clause
"""Any model goes inside: a test for each library people have them from."""

import os

import numpy as np
import pytest
from conftest import true_mean

import tare


def covers(calibrated, fresh, **outside):
    """The 90 % interval's share on fresh rows, and on those with a wide and with a narrow law."""
    low, high = calibrated.predict_interval(fresh.X, 0.9, **outside).T
    inside = (low <= fresh.y) & (fresh.y <= high)
    wide = fresh.X[:, 1] > 0.8
    narrow = fresh.X[:, 1] < 0.2
    return inside.mean(), inside[wide].mean(), inside[narrow].mean()


def check(calibrated, fresh, **outside):
    # 4,000 rows calibrate: an overall level has a standard deviation of 0.005, one near an edge of the data, where the window
    # reaches over a fifth of the range, is off by a few hundredths more.
    overall, wide, narrow = covers(calibrated, fresh, **outside)
    assert 0.88 < overall < 0.93
    assert 0.82 < wide < 0.97
    assert 0.82 < narrow <= 1.0


def test_a_fitted_scikit_learn_model(large, fresh):
    ensemble = pytest.importorskip("sklearn.ensemble")
    model = ensemble.HistGradientBoostingRegressor(random_state=0).fit(large.X[:2000], large.y[:2000])
    calibrated = tare.Calibrator(model).calibrate(large.X[2000:], large.y[2000:])
    check(calibrated, fresh)
    assert np.array_equal(calibrated.predict(fresh.X), model.predict(fresh.X))


@pytest.mark.slow
def test_a_scikit_learn_model_to_be_fitted(large, fresh):
    ensemble = pytest.importorskip("sklearn.ensemble")
    calibrated = tare.Calibrator(ensemble.RandomForestRegressor(30, min_samples_leaf=5, random_state=0)).fit(large.X, large.y)
    check(calibrated, fresh)


def test_xgboost(large, fresh):
    """It brings a library of its own that tare links in another version: both must work in one process."""
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=50, max_depth=4, n_jobs=2).fit(large.X[:2000], large.y[:2000])
    calibrated = tare.Calibrator(model).calibrate(large.X[2000:], large.y[2000:])
    check(calibrated, fresh)
    own = tare.QuantileRegressor("nrc", options={"regressor": "boosting", "rounds": 30}).fit(large.X, large.y)
    check(own, fresh)
    assert np.isfinite(model.fit(large.X, large.y).predict(fresh.X)).all()


def test_lightgbm(large, fresh):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=50, verbose=-1, n_jobs=2).fit(large.X[:2000], large.y[:2000])
    check(tare.Calibrator(model).calibrate(large.X[2000:], large.y[2000:]), fresh)


def test_a_pytorch_callable(large, fresh):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    x = torch.tensor(large.X[:2000], dtype=torch.float32)
    y = torch.tensor(large.y[:2000, None], dtype=torch.float32)
    for _ in range(300):
        optimizer.zero_grad()
        ((network(x) - y) ** 2).mean().backward()
        optimizer.step()
    model = lambda X: network(torch.tensor(np.asarray(X), dtype=torch.float32))  # still on the tape
    check(tare.Calibrator(model).calibrate(large.X[2000:], large.y[2000:]), fresh)


def test_an_onnx_file(large, fresh, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(large.X[:2000], large.y[:2000])
    path = os.fspath(tmp_path / "forest.onnx")
    with open(path, "wb") as file:
        file.write(skl2onnx.to_onnx(model, large.X[:1].astype(np.float32)).SerializeToString())
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    onnx = lambda X: session.run(None, {name: np.asarray(X, dtype=np.float32)})[0]
    check(tare.Calibrator(onnx).calibrate(large.X[2000:], large.y[2000:]), fresh)


def test_predictions_only(large, fresh):
    calibrated = tare.Calibrator().calibrate(large.X, large.y, y_pred=large.mean)
    check(calibrated, fresh, y_pred=fresh.mean)
    with pytest.raises(ValueError, match="pass them as y_pred"):
        calibrated.predict_interval(fresh.X)


def test_a_function(large, fresh):
    check(tare.Calibrator(true_mean).calibrate(large.X, large.y), fresh)


@pytest.mark.slow
def test_a_mean_and_an_sd_keep_their_sharpness(large, fresh):
    """An overconfident normal law: the scale is repaired, and rows with a small sd keep narrow intervals."""
    sd = 0.3 * (0.1 + large.X[:, 1])
    calibrated = tare.Calibrator().calibrate(large.X, large.y, large.mean, y_std=sd)
    fresh_sd = 0.3 * (0.1 + fresh.X[:, 1])
    check(calibrated, fresh, y_pred=fresh.mean, y_std=fresh_sd)
    with pytest.raises(ValueError, match="pass y_std as well"):
        calibrated.predict_interval(fresh.X, y_pred=fresh.mean)


@pytest.mark.slow
def test_quantiles_of_a_model(large, fresh):
    levels = [0.1, 0.5, 0.9]
    given = lambda s: s.mean[:, None] + 0.5 * np.outer(0.1 + s.X[:, 1], [-1.28, 0.0, 1.28])
    calibrated = tare.Calibrator().calibrate(large.X, large.y, given(large), quantiles=levels)
    check(calibrated, fresh, y_pred=given(fresh))


def test_weights_count(large):
    """Rows of weight 0 might as well not be there."""
    weight = (large.X[:, 0] < 0.5).astype(float)
    spoiled = np.where(weight > 0, large.y, 100.0)
    weighted = tare.Calibrator(true_mean, guarantee="none", bandwidth=0.3).calibrate(large.X, spoiled, sample_weight=weight)
    assert np.abs(weighted.predict_quantiles(large.X, [0.01, 0.99])).max() < 10
