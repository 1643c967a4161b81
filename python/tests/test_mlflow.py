# SPDX-License-Identifier: BSD-3-Clause
"""The MLflow flavor: what is logged comes back with the same answers, as tare's estimator and as a pyfunc."""

import json
import warnings

import numpy as np
import pytest

pytest.importorskip("mlflow.pyfunc")
pd = pytest.importorskip("pandas")

import mlflow
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tare
import tare.mlflow

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]  # MLflow alone takes seconds to import


@pytest.fixture
def frame(small):
    return pd.DataFrame(small.X, columns=["a", "b"])


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Runs and models in a database and folders of the test's own."""
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    yield tmp_path
    mlflow.set_tracking_uri(before)


@pytest.mark.parametrize("guarantee", ["split", "cross", "none"])
def test_save_and_load_give_the_same_answers(frame, small, tmp_path, guarantee):
    model = tare.Calibrator(make_pipeline(StandardScaler(), LinearRegression()), guarantee=guarantee, cv=3, bounds=(-50, None))
    model.fit(frame, small.y)
    tare.mlflow.save_model(model, tmp_path / "saved", input_example=frame.head(3))
    again = tare.mlflow.load_model(tmp_path / "saved")
    assert np.array_equal(again.predict_interval(frame), model.predict_interval(frame))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    settings = again.get_params(deep=False)
    assert settings["guarantee"] == guarantee and settings["cv"] == 3 and list(settings["bounds"]) == [-50, None]
    assert isinstance(again.estimator, type(model.estimator))
    again.fit(frame, small.y + 1.0)  # what was loaded can be trained again
    assert abs((again.predict(frame) - model.predict(frame)).mean() - 1.0) < 0.05


def test_a_method_of_tare_needs_no_pickle(frame, small, tmp_path):
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}).fit(frame, small.y)
    tare.mlflow.save_model(model, tmp_path / "saved")
    assert not list((tmp_path / "saved").rglob("*.pkl"))
    again = tare.mlflow.load_model(tmp_path / "saved")
    assert isinstance(again, tare.QuantileRegressor)
    assert np.array_equal(again.predict_quantiles(frame), model.predict_quantiles(frame))


def test_log_then_a_pyfunc_with_parameters(frame, small, store):
    model = tare.Calibrator(LinearRegression(), guarantee="split").fit(frame, small.y)
    with mlflow.start_run():
        info = tare.mlflow.log_model(model, name="errors", input_example=frame.head(3), registered_model_name="errors")
    assert "tare" in info.flavors and info.signature is not None
    assert [spec.name for spec in info.signature.params] == ["quantiles", "confidence_level", "point"]
    assert info.signature.inputs.input_names() == ["a", "b"]
    assert np.array_equal(tare.mlflow.load_model("models:/errors/1").predict(frame), model.predict(frame))
    served = mlflow.pyfunc.load_model(info.model_uri)
    assert list(served.predict(frame).columns) == ["q0.05", "q0.5", "q0.95"]
    answer = served.predict(frame[["b", "a"]], params={"quantiles": [0.25], "confidence_level": [0.9], "point": True})
    assert list(answer.columns) == ["prediction", "q0.25", "lower_0.9", "upper_0.9"]
    # Columns in another order lie elsewhere in memory, where the BLAS behind scikit-learn may round otherwise.
    np.testing.assert_allclose(answer["prediction"], model.predict(frame), rtol=1e-10)
    np.testing.assert_allclose(answer[["lower_0.9", "upper_0.9"]], model.predict_interval(frame, 0.9))
    with pytest.raises(Exception, match="strictly between 0 and 1"):
        served.predict(frame, params={"quantiles": [90.0]})


def test_served_over_http(frame, small, tmp_path):
    """MLflow's own scoring server, in this process."""
    server = pytest.importorskip("mlflow.pyfunc.scoring_server")
    client = pytest.importorskip("fastapi.testclient")
    model = tare.Calibrator(LinearRegression(), guarantee="split").fit(frame, small.y)
    tare.mlflow.save_model(model, tmp_path / "saved", input_example=frame.head(3))
    app = server.init(mlflow.pyfunc.load_model(tmp_path / "saved"))
    body = {"dataframe_split": frame.head(4).to_dict(orient="split"), "params": {"confidence_level": [0.8]}}
    reply = client.TestClient(app).post("/invocations", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert reply.status_code == 200, reply.text
    rows = reply.json()["predictions"]
    np.testing.assert_allclose([[row["lower_0.8"], row["upper_0.8"]] for row in rows], model.predict_interval(frame.head(4), 0.8))


def test_a_model_of_arrays_and_one_of_predictions(small, tmp_path):
    of_arrays = tare.Calibrator(lambda X: X[:, 0], guarantee="split").calibrate(small.X, small.y)
    tare.mlflow.save_model(of_arrays, tmp_path / "arrays", input_example=small.X[:3])
    served = mlflow.pyfunc.load_model(tmp_path / "arrays")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        answer = served.predict(small.X, params={"confidence_level": [0.9]})
    np.testing.assert_allclose(answer, of_arrays.predict_interval(small.X, 0.9))
    frame = pd.DataFrame(small.X, columns=["a", "b"])
    given = tare.Calibrator(guarantee="split").calibrate(frame, small.y, y_pred=small.mean)
    tare.mlflow.save_model(given, tmp_path / "given")
    served = mlflow.pyfunc.load_model(tmp_path / "given")
    answer = served.predict(frame.assign(prediction=small.mean), params={"quantiles": [0.1, 0.9]})
    np.testing.assert_allclose(answer, given.predict_quantiles(frame, [0.1, 0.9], y_pred=small.mean))
    with pytest.raises(ValueError, match="needs a wrapped model"):
        served.predict(frame.assign(prediction=small.mean), params={"point": True})


def test_an_adapted_model(small, tmp_path):
    """A Booster inside, and an ONNX model as its bytes."""
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"max_depth": 3, "nthread": 1}, xgboost.DMatrix(small.X[:150], small.y[:150]), 10)
    model = tare.Calibrator(booster).calibrate(small.X[150:], small.y[150:])
    tare.mlflow.save_model(model, tmp_path / "saved")
    assert np.array_equal(tare.mlflow.load_model(tmp_path / "saved").predict_interval(small.X), model.predict_interval(small.X))


def test_requirements_name_the_libraries_inside(frame, small):
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    model = tare.Calibrator(pipeline, guarantee="split").fit(frame, small.y)
    names = {line.partition("==")[0] for line in tare.mlflow.get_default_pip_requirements(model)}
    assert {"scikit-learn", "pandas", "cloudpickle"} <= names
    assert any(name.startswith("tare") for name in names)
    assert all("==" in line for line in tare.mlflow.get_default_pip_requirements(model))


def test_refusals(frame, small, tmp_path):
    with pytest.raises(tare.NotFittedError):
        tare.mlflow.save_model(tare.Calibrator(LinearRegression()), tmp_path / "saved")
    with pytest.raises(TypeError, match=r"must be a tare\.Calibrator"):
        tare.mlflow.save_model(LinearRegression(), tmp_path / "saved")
    mlflow.pyfunc.save_model(tmp_path / "other", loader_module="json", pip_requirements=["numpy"])
    with pytest.raises(ValueError, match="not a model of tare"):
        tare.mlflow.load_model(tmp_path / "other")
    served = tare.mlflow._Served(tare.Calibrator(LinearRegression(), guarantee="split").fit(frame, small.y))
    with pytest.raises(ValueError, match="no column 'b'"):
        served.predict(frame[["a"]])
