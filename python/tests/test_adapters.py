# SPDX-License-Identifier: BSD-3-Clause
"""Models whose libraries have no predict(X) for arrays and frames: each in `Calibrator` as it is, and with the adapter's settings."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import Sample

import tare

os.environ.setdefault("KERAS_BACKEND", "torch")


@pytest.fixture(scope="module")
def towns():
    """A pandas frame with a category and a number that has gaps; the target depends on the category."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    rows = 1500
    town = rng.choice(["Bonn", "Kiel", "Ulm"], rows)
    X = pandas.DataFrame({"size": rng.uniform(size=rows), "town": pandas.Categorical(town, categories=["Ulm", "Kiel", "Bonn"])})
    y = X["size"].to_numpy() + 3.0 * (town == "Kiel") - 2.0 * (town == "Ulm") + 0.2 * rng.normal(size=rows)
    X.loc[::50, "size"] = np.nan
    return X, y


def as_texts(X):
    """As the frame comes back from CSV or JSON: texts, and only the categories that occur."""
    return X.assign(town=X["town"].astype(str))


def calibrated_level(model, X, y):
    """Calibrates on the second third, and gives the share of the last third that the 90 % interval covers."""
    calibrated = tare.Calibrator(model, missing="impute", guarantee="split").calibrate(X[500:1000], y[500:1000])
    low, high = calibrated.predict_interval(X[1000:], 0.9).T
    return calibrated, ((low <= y[1000:]) & (y[1000:] <= high)).mean()


def test_an_xgboost_booster_with_categories(towns):
    xgboost = pytest.importorskip("xgboost", minversion="3.1")
    X, y = towns
    data = xgboost.DMatrix(X[:500], y[:500], enable_categorical=True)
    booster = xgboost.train({"max_depth": 3, "nthread": 1}, data, 40)
    calibrated, level = calibrated_level(booster, X, y)
    expected = booster.predict(xgboost.DMatrix(X[1000:], enable_categorical=True))
    assert np.array_equal(calibrated.predict(X[1000:]), expected.astype(np.float64))
    assert 0.83 < level < 0.97  # 500 rows calibrate, 500 rows test: a standard deviation of 0.025
    kiel = X[1000:][X[1000:]["town"] == "Kiel"]
    np.testing.assert_array_equal(calibrated.predict(as_texts(kiel)), calibrated.predict(kiel))


def test_an_xgboost_booster_stops_where_it_was_best(large):
    xgboost = pytest.importorskip("xgboost")
    train, rest = xgboost.DMatrix(large.X[:1000], large.y[:1000]), xgboost.DMatrix(large.X[1000:2000], large.y[1000:2000])
    booster = xgboost.train({"eta": 0.9, "nthread": 1}, train, 60, evals=[(rest, "rest")], early_stopping_rounds=5, verbose_eval=False)
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    data = xgboost.DMatrix(large.X)
    best = booster.predict(data, iteration_range=(0, booster.best_iteration + 1))
    assert np.array_equal(tare.adapters.xgboost_model(booster).predict(large.X), best)
    two = tare.adapters.xgboost_model(booster, iteration_range=(0, 2))
    assert np.array_equal(two.predict(large.X), booster.predict(data, iteration_range=(0, 2)))
    assert np.array_equal(pickle.loads(pickle.dumps(two)).predict(large.X), two.predict(large.X))


@pytest.mark.parametrize("form", ["booster", "estimator"])
def test_a_lightgbm_model_with_categories(towns, form):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = towns
    if form == "booster":
        model = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(X[:500], y[:500]), 40)
    else:
        model = lightgbm.LGBMRegressor(n_estimators=40, verbose=-1, n_jobs=1).fit(X[:500], y[:500])
    calibrated, level = calibrated_level(model, X, y)
    assert np.array_equal(calibrated.predict(X[1000:]), model.predict(X[1000:]))
    assert 0.83 < level < 0.97
    kiel = X[1000:][X[1000:]["town"] == "Kiel"]
    with pytest.raises(ValueError):
        model.predict(as_texts(kiel))  # LightGBM alone refuses texts, which is why there is an adapter
    np.testing.assert_array_equal(calibrated.predict(as_texts(kiel)), calibrated.predict(kiel))
    with pytest.raises(ValueError, match=r"3 columns of texts or categories.*trained on 1"):
        tare.adapters.lightgbm_model(model).predict(as_texts(kiel).assign(a="a", b="b"))
    few = tare.adapters.lightgbm_model(model, num_iteration=3)
    assert np.array_equal(few.predict(X), model.predict(X, num_iteration=3))


def test_a_lightgbm_estimator_is_trained_by_fit(towns):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = towns
    model = tare.Calibrator(lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1), cv=3, missing="impute").fit(X[:1000], y[:1000])
    low, high = model.predict_interval(as_texts(X[1000:]), 0.9).T
    assert 0.83 < ((low <= y[1000:]) & (y[1000:] <= high)).mean() <= 0.99


def test_a_catboost_model_with_texts(towns):
    catboost = pytest.importorskip("catboost")
    X, y = towns
    X = as_texts(X)
    data = catboost.Pool(X[:500], y[:500], cat_features=["town"])
    model = catboost.CatBoost({"iterations": 40, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False}).fit(data)
    calibrated, level = calibrated_level(model, X, y)
    assert np.array_equal(calibrated.predict(X[1000:]), model.predict(X[1000:]))
    assert 0.83 < level < 0.97


def linear_module(torch, **kind):
    """An untrained network: what matters here is that its own numbers come out."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 8, **kind), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(8, 1, **kind))


@pytest.mark.slow
def test_a_torch_module_as_it_is(small):
    torch = pytest.importorskip("torch")
    module = linear_module(torch, dtype=torch.float64).train()
    module[0].eval()  # a frozen layer stays frozen
    calibrated = tare.Calibrator(module).calibrate(small.X, small.y)
    with torch.no_grad():
        expected = module[3](torch.tanh(module[0](torch.tensor(small.X))))[:, 0].numpy()  # without dropout
    np.testing.assert_allclose(calibrated.predict(small.X), expected, rtol=1e-12)
    assert [part.training for part in module] == [False, True, True, True]
    assert all(value.grad is None for value in module.parameters())


def test_a_torch_module_in_batches_on_a_device(small):
    torch = pytest.importorskip("torch")
    module = linear_module(torch)
    seen = []
    module.register_forward_pre_hook(lambda _, inputs: seen.append((len(inputs[0]), inputs[0].dtype, torch.is_inference_mode_enabled())))
    adapted = tare.adapters.torch_model(module, batch_size=128, device="cpu")
    answers = adapted.predict(small.X)
    assert seen == [(128, torch.float32, True), (128, torch.float32, True), (44, torch.float32, True)]
    np.testing.assert_allclose(tare.adapters.torch_model(module).predict(small.X), answers, rtol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tare.adapters.torch_model(linear_module(torch)))).predict(small.X), answers)


def test_a_torch_module_with_an_embedding(towns):
    torch = pytest.importorskip("torch")
    X, y = towns
    X = X.fillna({"size": 0.5})

    class Summed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(3, 1)
            self.line = torch.nn.Linear(1, 1)

        def forward(self, place, size):
            return self.table(place)[:, 0] + self.line(size)[:, 0]

    module = Summed()
    prepare = lambda X: (X["town"].cat.codes.to_numpy(np.int64), X[["size"]].to_numpy())
    calibrated = tare.Calibrator(tare.adapters.torch_model(module, prepare=prepare)).calibrate(X[:300], y[:300])
    codes, size = prepare(X[300:])
    with torch.no_grad():
        expected = module(torch.tensor(codes), torch.tensor(size, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(calibrated.predict(X[300:]), expected, rtol=1e-6)
    with pytest.raises(TypeError, match=r"column 'town'.*prepare="):
        tare.Calibrator(module).calibrate(X, y)


@pytest.mark.slow
def test_a_keras_model(small, capsys):
    pytest.importorskip("torch")
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, "tanh"), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
    expected = model.predict(small.X, verbose=0)[:, 0]
    calibrated = tare.Calibrator(model).calibrate(small.X, small.y)
    np.testing.assert_allclose(calibrated.predict(small.X), expected, rtol=1e-5, atol=1e-6)
    batches = tare.adapters.keras_model(model, batch_size=7)
    np.testing.assert_allclose(batches.predict(small.X), expected, rtol=1e-5, atol=1e-6)
    assert capsys.readouterr().out == ""


def test_other_frames_and_what_is_no_number(small):
    torch = pytest.importorskip("torch")
    module = linear_module(torch)
    expected = tare.adapters.torch_model(module).predict(small.X)
    for library, frame in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        make = getattr(pytest.importorskip(library), frame)
        X = make({"a": small.X[:, 0], "b": small.X[:, 1]})
        np.testing.assert_array_equal(tare.adapters.torch_model(module).predict(X), expected)
    pandas = pytest.importorskip("pandas")
    dates = pandas.DataFrame({"a": [0.5], "when": pandas.to_datetime(["2026-01-01"])})
    with pytest.raises(TypeError, match="column 'when' has dates"):
        tare.adapters.torch_model(module).predict(dates)
    with pytest.raises(ValueError, match="outputs of shape"):
        tare.adapters.torch_model(module[0]).predict(small.X)
    for wrong in (0, 1.5, True):
        with pytest.raises(ValueError, match="batch_size must be"):
            tare.adapters.torch_model(module, batch_size=wrong)


@pytest.fixture(scope="module")
def onnx_file(tmp_path_factory):
    pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.linear_model import LinearRegression

    sample = Sample(300)
    model = LinearRegression().fit(sample.X, sample.y)
    path = tmp_path_factory.mktemp("onnx") / "line.onnx"
    path.write_bytes(skl2onnx.to_onnx(model, sample.X[:1].astype(np.float32)).SerializeToString())
    return path, model


def test_an_onnx_model_in_every_form(onnx_file, small):
    onnxruntime = pytest.importorskip("onnxruntime")
    path, model = onnx_file
    expected = model.predict(small.X)
    session = onnxruntime.InferenceSession(os.fspath(path), providers=["CPUExecutionProvider"])
    for form in (path, os.fspath(path), path.read_bytes(), session):
        np.testing.assert_allclose(tare.adapters.onnx_model(form).predict(small.X), expected, rtol=1e-5, atol=1e-6)
    calibrated = tare.Calibrator(session).calibrate(small.X, small.y)
    np.testing.assert_allclose(calibrated.predict(small.X), expected, rtol=1e-5, atol=1e-6)
    from_path = tare.adapters.onnx_model(path)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(from_path)).predict(small.X), from_path.predict(small.X))
    with pytest.raises(TypeError, match="path or the bytes"):
        pickle.dumps(tare.adapters.onnx_model(session))
    with pytest.raises(ValueError, match="no output 'speed'"):
        tare.adapters.onnx_model(path, output="speed")
    with pytest.raises(TypeError, match="must be a path"):
        tare.adapters.onnx_model(3)


def test_an_onnx_model_for_a_fixed_number_of_rows(onnx_file, small):
    onnx = pytest.importorskip("onnx")
    path, model = onnx_file
    proto = onnx.load(os.fspath(path))
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 7
    np.testing.assert_allclose(tare.adapters.onnx_model(proto).predict(small.X), model.predict(small.X), rtol=1e-5, atol=1e-6)


def test_an_onnx_model_with_an_input_for_each_column(towns):
    pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    X, y = as_texts(towns[0].fillna({"size": 0.5})), towns[1]
    pipeline = make_pipeline(make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough"), LinearRegression()).fit(X, y)
    types = [("size", skl2onnx.common.data_types.FloatTensorType([None, 1])), ("town", skl2onnx.common.data_types.StringTensorType([None, 1]))]
    model = tare.adapters.onnx_model(skl2onnx.to_onnx(pipeline, initial_types=types))
    calibrated = tare.Calibrator(model).calibrate(X[:300], y[:300])
    np.testing.assert_allclose(calibrated.predict(X), pipeline.predict(X), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match=r"input 'town'.*no such column"):
        model.predict(X[["size"]])
    with pytest.raises(TypeError, match="must be a frame"):
        model.predict(X.to_numpy())


def test_what_needs_no_adapter_stays_as_it_is():
    class Plain:
        def predict(self, X):
            return X[:, 0]

    plain = Plain()
    assert tare.adapters.as_model(plain) is plain
    torch = pytest.importorskip("torch")

    class WithPredict(torch.nn.Module):
        def predict(self, X):
            return X[:, 0]

    module = WithPredict()
    assert tare.adapters.as_model(module) is module


def test_no_library_is_imported_before_it_is_needed():
    others = ("catboost", "keras", "lightgbm", "mlflow", "onnxruntime", "skpro", "sktime", "torch", "xgboost")
    code = f"import sys, tare; found = [name for name in {others} if name in sys.modules]; assert not found, found"
    subprocess.run([sys.executable, "-c", code], check=True)
