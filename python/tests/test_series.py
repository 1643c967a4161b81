# SPDX-License-Identifier: BSD-3-Clause
"""Rows in time order, a window of them at a time: as the tool's --window."""
import pickle
import subprocess

import numpy as np
import pytest

import tare

pandas = pytest.importorskip("pandas")
LEVELS = [0.05, 0.5, 0.9]


def series(rows, seed=0):
    """The target follows the previous value of 'a', and is noisier in the group 'w'."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows).cumsum() * 0.3
    kind = rng.choice(["v", "w"], rows)
    y = np.roll(a, 1) + rng.normal(size=rows) * np.where(kind == "w", 1.0, 0.3)
    return pandas.DataFrame({"a": a, "b": rng.uniform(size=rows), "kind": kind}), y


@pytest.fixture
def frames():
    return series(400), series(60, seed=1)


def of_the_tool(tool, folder, train, y, fresh, fit, more=()):
    train.assign(y=y).to_csv(folder / "train.csv", index=False, float_format="%.17g")
    fresh.to_csv(folder / "new.csv", index=False, float_format="%.17g")
    model = folder / "t.tare"
    subprocess.run([tool, "fit", folder / "train.csv", "--target", "y", "-o", model, "-q", "--bands", "off", *fit], check=True)
    levels = ",".join(map(str, LEVELS))
    out = subprocess.run([tool, "predict", model, folder / "new.csv", "--levels", levels, "-q", *more], check=True, capture_output=True, text=True)
    return model, np.array([[float(cell) for cell in line.split(",")] for line in out.stdout.splitlines()[1:]])


def test_answers_are_those_of_the_tool(frames, tool, tmp_path):
    (X, y), (new, _) = frames
    X.loc[7, "b"] = new.loc[9, "b"] = np.nan
    fit = ["--method", "nrc", "--regressor", "ridge", "--window", "3", "--missing", "impute", "--calibrate-on", "kind", "--guarantee", "split"]
    path, told = of_the_tool(tool, tmp_path, X, y, new, fit)
    settings = {"features": ["kind"], "missing": "impute", "bands": False, "guarantee": "split"}
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, window=3, **settings).fit(X, y)
    with pytest.warns(tare.TareWarning, match="the first 2 rows have no full window of 3: NaN is the answer") as caught:
        answer = model.predict_quantiles(new, LEVELS)
    assert (caught[0].message.code, caught[0].message.rows) == ("left_out_rows", 2)
    assert answer.shape == (60, 3) and np.isnan(answer[:2]).all()
    assert np.array_equal(answer[2:], told)
    loaded = tare.QuantileRegressor.load(path)
    assert loaded.window == 3 and tare.QuantileRegressor("nrc").window is None
    for same in (loaded, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(same._quantile_array(new, LEVELS), answer, equal_nan=True)
    assert model.describe()["window"] == 3 and dict(model.inspect().facts)["window"] == "3 rows, in time order"
    assert np.array_equal(tare.Predictor(model, levels=LEVELS).predict_frame(new), told)


def test_a_given_model_sees_single_rows(frames, tool, tmp_path):
    (X, y), (new, y_new) = frames
    X, new = X.drop(columns="kind"), new.drop(columns="kind")
    known = X.assign(p=np.roll(X["a"], 1)), new.assign(p=np.roll(new["a"], 1))
    fit = ["--method", "nrc", "--window", "4", "--prediction", "p", "--guarantee", "cross:5"]
    path, told = of_the_tool(tool, tmp_path, known[0], y, known[1], fit)
    seen = []

    def previous(rows):
        seen.append(rows.shape)
        return np.roll(rows["a"], 1)

    model = tare.Calibrator(previous, method="nrc", window=4, guarantee="cross:5", bands=False).calibrate(X, y)
    answer = model._quantile_array(new, LEVELS)
    assert seen == [(400, 2), (60, 2)]
    assert np.isnan(answer[:3]).all() and np.array_equal(answer[3:], told)
    assert np.array_equal(model.predict(new), np.roll(new["a"], 1))  # points need no past
    loaded = tare.Calibrator.load(path, estimator=previous)
    assert loaded.window == 4 and np.array_equal(loaded._quantile_array(new, LEVELS), answer, equal_nan=True)
    # Scores and reports leave the first rows out.
    score = tare.metrics.scores(model, new, y_new)
    assert tare.report(model, new, y_new).scores["check_score"] == pytest.approx(score["check_score"], rel=1e-12)
    assert np.isfinite(model.score(new, y_new))
    assert "57 rows" in repr(tare.report(tare.Predictor(path), known[1], y_new))


def test_the_past_helps_and_the_order_of_steps_is_that_of_time():
    draws = np.random.default_rng(0).normal(size=(500, 2))
    y = np.roll(draws[:, 0], 1) + 0.1 * draws[:, 1]
    X, new, y, y_new = draws[:400, :1], draws[400:, :1], y[:400], y[400:]
    plain, two = (tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, window=w, bands=False).fit(X, y) for w in (None, 2))
    assert two.score(new[1:], y_new[1:]) > plain.score(new[1:], y_new[1:]) + 0.15
    whole = two._quantile_array(new, [0.5])
    assert np.array_equal(two._quantile_array(new[10:12], [0.5])[1], whole[11])
    single = two._quantile_array(new.astype(np.float32), [0.5])
    assert single.dtype == np.float32 and np.allclose(single[1:], whole[1:], atol=1e-3)


def test_methods_of_series_have_their_own_window():
    X, y = series(120)
    model = tare.QuantileRegressor("lstm_nrc", options={"epochs": 1, "units": 2}, bands=False).fit(X[["a", "b"]], y)
    window = tare.methods()["lstm_nrc"]["window"]
    assert window > 1 and model.describe()["window"] == window and model.window is None
    side_by_side = np.column_stack([X["a"].shift(k).bfill() for k in range(3)])
    flat = tare.QuantileRegressor("lstm_nrc", options={"epochs": 1, "units": 2, "window": 3}, bands=False).fit(side_by_side, y)
    assert flat.describe()["window"] == 1 and np.isfinite(flat.predict(side_by_side)).all()


def test_missing_rows_and_short_series(frames):
    (X, y), _ = frames
    X = X[["a", "b"]].copy()
    X.loc[5, "a"] = np.nan
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, window=3, missing="drop", bands=False)
    with pytest.warns(UserWarning, match="1 rows with a missing value"):
        model.fit(X, y)
    answer = model._quantile_array(X[:9], [0.5])[:, 0]
    assert np.flatnonzero(np.isnan(answer)).tolist() == [0, 1, 5]  # as the tool: the row is not there
    assert np.isnan(model._quantile_array(X[:2], [0.5])).all()
    for window in (0, 1.5, True, "3", 10_001):
        with pytest.raises(ValueError, match="window must be a whole number from 1 to 10000, or None"):
            tare.QuantileRegressor("nrc", window=window).fit(X.dropna(), y[1:])
    with pytest.raises(ValueError, match="3 rows have 1 full windows of 3 rows: at least 2 are required"):
        tare.QuantileRegressor("nrc", window=3).fit(np.ones((3, 1)), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="fit trains the estimator on folds"):
        tare.Calibrator(type("Model", (), {"fit": None})(), window=2).fit(X.dropna(), y[1:])
