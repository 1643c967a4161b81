# SPDX-License-Identifier: BSD-3-Clause
"""A user's day: a frame as it comes, a LightGBM model with native categories, calibrated by group, reported, logged with MLflow, loaded,
served, and updated when new rows arrive."""

import inspect
import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
lightgbm = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

import tare

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SHOPS = ["north", "south", "harbour", "station"]


def deliveries(rows, seed, slower=0.0):
    """Delivery times in minutes. The spread depends on the shop and the distance; `slower` shifts all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 300, rows)), unit="D"),
        "shop": pd.Categorical(rng.choice(SHOPS, rows), categories=SHOPS),
        "weather": pd.Categorical(rng.choice(["dry", "rain", "snow"], rows, p=[0.7, 0.25, 0.05])),
        "km": rng.gamma(2.0, 2.0, rows),
        "items": rng.poisson(3.0, rows).astype(float),
        "note": rng.choice(["", "ring twice", "leave at the door", "third floor, no lift", "call before"], rows),
    })  # fmt: skip
    spread = 1.0 + 0.5 * frame["km"] + 4.0 * (frame["shop"] == "harbour")
    mean = 10 + 4 * frame["km"] + frame["items"] + 6.0 * (frame["weather"] == "rain") + 3.0 * (frame["note"].str.contains("floor")) + slower
    minutes = mean + rng.normal(size=rows) * spread
    frame.loc[rng.uniform(size=rows) < 0.05, "items"] = np.nan
    frame.loc[rng.uniform(size=rows) < 0.05, "weather"] = None
    return frame, minutes.to_numpy()


def features(frame):
    """Dates and texts as columns that a model can use; categories and gaps stay as they are."""
    return frame.assign(weekday=frame["day"].dt.dayofweek, words=frame["note"].str.split().str.len()).drop(columns=["day", "note"])


def coverage(model, X, y, rows=slice(None)):
    low, high = np.asarray(model.predict_interval(X, 0.9)).T
    return ((low <= y) & (y <= high))[rows].mean()


@pytest.fixture(scope="module")
def day():
    """The morning: a model of the first rows, calibrated on the next."""
    frame, minutes = deliveries(6000, seed=1)
    X = features(frame)
    model = lightgbm.LGBMRegressor(n_estimators=80, verbose=-1, n_jobs=1).fit(X[:2000], minutes[:2000])  # finds the categories itself
    settings = {"missing": "impute", "guarantee": "split"}
    if "group" in inspect.signature(tare.Calibrator).parameters:
        settings["group"] = "shop"
    calibrated = tare.Calibrator(model, **settings).calibrate(X[2000:], minutes[2000:])
    return calibrated, *deliveries(4000, seed=2)


def test_intervals_of_new_rows(day):
    calibrated, frame, minutes = day
    X = features(frame)
    assert 0.87 < coverage(calibrated, X, minutes) < 0.93
    low, high = calibrated.predict_interval(X, 0.9).T
    width = high - low
    harbour = (frame["shop"] == "harbour").to_numpy()
    assert width[harbour].mean() > 1.5 * width[~harbour].mean()
    for shop in SHOPS:  # 800 held-out rows, 200 of each shop if there is a group: a standard deviation of 0.02
        assert 0.82 < coverage(calibrated, X, minutes, (frame["shop"] == shop).to_numpy()) < 0.97, shop


def test_the_guarantee_holds_in_each_group(day):
    calibrated, _, _ = day
    if not hasattr(calibrated, "group"):
        pytest.skip("Calibrator has no parameter group")
    assert set(calibrated.guarantee_["groups"]) == set(SHOPS)


def test_a_report_in_a_notebook(day):
    calibrated, frame, minutes = day
    if not hasattr(tare, "report"):
        pytest.skip("there is no tare.report")
    page = tare.report(calibrated, features(frame)[:1500], minutes[:1500])
    shown = page._repr_html_()
    assert "<" in shown and "km" in shown


def test_logged_loaded_served_and_updated(day, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("mlflow.pyfunc")
    import tare.mlflow

    calibrated, frame, minutes = day
    X = features(frame)
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    try:
        with mlflow.start_run():
            mlflow.log_metric("coverage", coverage(calibrated, X, minutes))
            info = tare.mlflow.log_model(calibrated, name="minutes", registered_model_name="minutes")
        loaded = tare.mlflow.load_model("models:/minutes/1")
        np.testing.assert_array_equal(loaded.predict_interval(X, 0.9), calibrated.predict_interval(X, 0.9))

        # Over HTTP a row is JSON: its categories are texts.
        served = mlflow.pyfunc.load_model(info.model_uri)
        complete = X[X.notna().all(axis=1)].head(50)
        texts = pd.DataFrame(json.loads(complete.to_json(orient="records")))
        answer = served.predict(texts, params={"confidence_level": [0.9], "point": True})
        np.testing.assert_allclose(answer[["lower_0.9", "upper_0.9"]], calibrated.predict_interval(complete, 0.9))
        np.testing.assert_allclose(answer["prediction"], calibrated.predict(complete))

        # The evening: deliveries have become slower, which shows in the coverage; new rows calibrate again, and a new version is logged.
        later, slow = deliveries(4000, seed=3, slower=6.0)
        assert coverage(loaded, features(later), slow) < 0.8
        loaded.calibrate(features(later)[:2000], slow[:2000])
        assert 0.86 < coverage(loaded, features(later)[2000:], slow[2000:]) < 0.94
        with mlflow.start_run():
            tare.mlflow.log_model(loaded, name="minutes", registered_model_name="minutes")
        second = tare.mlflow.load_model("models:/minutes/2")
        np.testing.assert_array_equal(second.predict_interval(features(later), 0.9), loaded.predict_interval(features(later), 0.9))

        # Or the model itself is trained again, on all rows: `fit` trains copies by cross-fitting.
        every, all_minutes = pd.concat([X, features(later)]), np.concatenate([minutes, slow])
        trained = tare.Calibrator(calibrated.estimator, missing="impute", cv=3, guarantee="split").fit(every, all_minutes)
        assert 0.86 < coverage(trained, *[part[-2000:] for part in (every, all_minutes)]) < 0.96
    finally:
        mlflow.set_tracking_uri(before)


def test_the_file_answers_on_the_command_line(day, tmp_path, tool):
    import subprocess

    calibrated, frame, _ = day
    X = features(frame).head(200)
    calibrated.save(tmp_path / "minutes.tare")
    X.assign(prediction=calibrated.predict(X)).to_csv(tmp_path / "new.csv", index=False)
    command = [tool, "predict", "minutes.tare", "new.csv", "--interval", "0.9"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(np.loadtxt(done.stdout.splitlines(), delimiter=",", skiprows=1), calibrated.predict_interval(X, 0.9), rtol=1e-5)
