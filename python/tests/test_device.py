# SPDX-License-Identifier: BSD-3-Clause
"""device=: where kernel weights are computed, and arrays that are not in the memory of the host."""

import os
import pickle
import subprocess
import sys
import textwrap
import types
import warnings

import numpy as np
import pytest
from conftest import true_mean

import tare


def own_process(code, **environment):
    """Runs code where no GPU was looked for yet: tare does this once in a process."""
    environment = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Without scikit-learn, whose import takes longer than the tests.
SAMPLE = """
    import sys, warnings
    sys.modules["sklearn"] = None
    import numpy as np, tare

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    zeros = np.zeros(300)

    def calibrated(device, **more):
        settings = {"method": "nrc", "kernel": "gaussian", "guarantee": "none", "bands": False, "options": {"ranks": "paper"}, **more}
        return tare.Calibrator(device=device, **settings).calibrate(X, y, y_pred=zeros)
"""


@pytest.fixture
def fake_gpu():
    """The library of tests/device in place of libtare_cuda, and how its counts are read."""
    path = os.path.join(os.path.dirname(os.environ.get("TARE_TOOL", "")), "tests", "device", "libtare_fake_cuda.so")
    if not os.path.exists(path):
        pytest.skip("the library in place of libtare_cuda is not there: TARE_TOOL is not in a build with tests")
    path = os.path.abspath(path)
    counts = f"""
    import ctypes

    class FakeCuda(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int) for name in ("mode", "uploads", "held", "answers", "losses")]

    library = ctypes.CDLL({path!r})
    library.fake_cuda_state.restype = ctypes.POINTER(FakeCuda)
    fake = library.fake_cuda_state().contents
    """
    return path, counts


def test_a_gpu_fits_and_answers(fake_gpu):
    path, counts = fake_gpu
    code = SAMPLE + counts + """
    warnings.simplefilter("error")
    here = calibrated("cpu", bandwidth=0.4)
    expected = here.predict_quantiles(X, y_pred=zeros)
    calibrated("auto").predict(X[:1], y_pred=zeros[:1])  # too small a job
    assert fake.uploads == fake.answers == fake.losses == 0

    there = calibrated("cuda", bandwidth=0.4)
    def used(call):
        before = fake.answers
        answer = call()
        assert fake.answers > before
        return answer

    close = dict(rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(used(lambda: there.predict_quantiles(X, y_pred=zeros)), expected, **close)
    single = used(lambda: there.predict_quantiles(X.astype(np.float32), y_pred=zeros))
    assert single.dtype == np.float32
    used(lambda: there.diagnostics(X, y_pred=zeros))
    used(lambda: there.predict_distribution(X, y_pred=zeros))
    used(lambda: there.score(X, y, y_pred=zeros))
    used(lambda: there.answer_warnings(X, y_pred=zeros))
    before = fake.answers
    there.set_params(device="cpu").predict_quantiles(X, y_pred=zeros)
    here.predict_quantiles(X, y_pred=zeros)
    assert fake.answers == before
    used(lambda: here.set_params(device="cuda:0").predict_quantiles(X, y_pred=zeros))

    calibrated("cpu")
    assert fake.losses == 0
    calibrated("cuda")
    assert fake.losses > 0

    # Ranks that the library leaves to the processor.
    np.testing.assert_array_equal(used(lambda: calibrated("cuda", bandwidth=0.4, options=None).predict_quantiles(X, y_pred=zeros)),
                                  calibrated("cpu", bandwidth=0.4, options=None).predict_quantiles(X, y_pred=zeros))
    own = {"options": {"regressor": "ridge", "ranks": "paper", "kernel": "gaussian"}, "bands": False}
    regressors = [tare.QuantileRegressor("nrc", device=device, **own).fit(X, y) for device in ("cpu", "cuda")]
    np.testing.assert_allclose(used(lambda: regressors[1].predict(X)), regressors[0].predict(X), **close)

    for device in ("cpu", "cuda"):
        predictor = tare.Predictor(regressors[0], interval=0.9, device=device)
        before = fake.answers
        answers = predictor.predict(X), predictor.to_csv(X)
        assert (fake.answers > before) == (device == "cuda")
    print("done")
    """
    assert own_process(code, TARE_CUDA_LIBRARY=path) == "done\n"


def test_a_gpu_that_fails_is_a_warning(fake_gpu):
    path, counts = fake_gpu
    code = SAMPLE + counts + """
    model = calibrated("cuda", bandwidth=0.4)
    expected = calibrated("cpu", bandwidth=0.4).predict_quantiles(X, y_pred=zeros)
    fake.mode = 1  # lost
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        answer = model.predict_quantiles(X, y_pred=zeros)
    np.testing.assert_array_equal(answer, expected)
    assert [warning.category for warning in found] == [RuntimeWarning]
    print(found[0].message)
    """
    message = own_process(code, TARE_CUDA_LIBRARY=path)
    assert message.startswith("device='cuda': the GPU stopped working on it: ")
    assert message.endswith("; the processor did the work\n")


def test_without_a_gpu_the_processor_does_the_work():
    code = SAMPLE + """
    def problems(call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            answer = call()
        for warning in found:
            assert warning.category is RuntimeWarning and warning.filename == "<string>"
        return answer, [str(warning.message) for warning in found]

    fitted, texts = problems(lambda: calibrated("cuda"))
    assert len(texts) == 1 and "cannot be loaded" in texts[0], texts
    plain = calibrated("cpu")
    answer, texts = problems(lambda: fitted.predict_quantiles(X, y_pred=zeros))
    np.testing.assert_array_equal(answer, plain.predict_quantiles(X, y_pred=zeros))
    print(texts[0])
    for call in (lambda: fitted.diagnostics(X, y_pred=zeros), lambda: fitted.predict_interval(X, y_pred=zeros)):
        assert problems(call)[1] == texts
    own = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(X, y)
    predictor = tare.Predictor(own, device="cuda:0")
    for call in (lambda: predictor.predict(X), lambda: predictor.to_csv(X)):
        assert problems(call)[1] == texts
    for device in ("auto", "cpu"):
        assert problems(lambda: calibrated(device).predict_quantiles(X, y_pred=zeros))[1] == []
    """
    message = own_process(code, TARE_CUDA_LIBRARY="/nowhere/libtare_cuda.so")
    assert message.startswith("device='cuda': libtare_cuda.so cannot be loaded: ")
    assert message.endswith("; the processor did the work\n")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:-1", "cuda:1x", "CUDA", "", None, 0])
def test_other_names_are_refused(small, device):
    calls = [
        lambda: tare.Calibrator(true_mean, device=device).calibrate(small.X, small.y),
        lambda: tare.QuantileRegressor("nrc", device=device).fit(small.X, small.y),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"device.*auto.*cpu.*cuda") as error:
            call()
        assert "--" not in str(error.value)


def test_a_wrong_name_at_prediction(small):
    fitted = tare.Calibrator(true_mean, guarantee="none", bands=False).calibrate(small.X, small.y)
    own = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(small.X, small.y)
    for call in (
        lambda: fitted.set_params(device="gpu").predict_quantiles(small.X),
        lambda: fitted.set_params(device="gpu").diagnostics(small.X),
        lambda: tare.Predictor(own, device="gpu"),
        lambda: tare.serve(own, device="gpu"),
    ):
        with pytest.raises(ValueError, match="device must be auto, cpu, cuda or cuda:N, got 'gpu'"):
            call()


def test_a_parameter_as_any_other(small):
    for kind in (tare.Calibrator, tare.QuantileRegressor):
        assert kind().get_params()["device"] == "auto"
        assert kind(device="cuda:1").get_params()["device"] == "cuda:1"
    model = tare.Calibrator(true_mean, guarantee="none", bands=False, device="cpu").calibrate(small.X, small.y)
    again = pickle.loads(pickle.dumps(model))
    assert again.device == "cpu"
    np.testing.assert_array_equal(again.predict_interval(small.X), model.predict_interval(small.X))
    base = pytest.importorskip("sklearn.base")
    assert base.clone(model).device == "cpu"
    assert base.clone(model).set_params(device="cuda").device == "cuda"


def test_a_pickle_from_before_the_parameter(small):
    model = tare.Calibrator(true_mean, guarantee="none", bands=False).calibrate(small.X, small.y)
    del model.__dict__["device"]
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params()["device"] == "auto"
    np.testing.assert_array_equal(again.predict_interval(small.X), model.predict_interval(small.X))
    assert again.set_params(device="cpu").device == "cpu"


class OnDevice:
    """An array as a library for GPUs has it: NumPy cannot read it."""

    def __init__(self, values, kind=2):
        self.values, self.kind = np.asarray(values), kind
        self.shape, self.dtype, self.ndim = self.values.shape, self.values.dtype, self.values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **arguments):
        raise BufferError("on the device")


class Cupy(OnDevice):
    def get(self):
        return self.values


class Torch(OnDevice):
    def detach(self):
        return self

    def cpu(self):
        return Torch(self.values, kind=1)

    def numpy(self):
        assert self.kind == 1, "can't convert a device tensor to numpy"
        return self.values


class LikeTorch(OnDevice):
    def cpu(self):
        return self.values


class Jax(OnDevice):
    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.mark.parametrize("kind", [Cupy, Torch, LikeTorch, Jax])
def test_arrays_on_a_device_are_copied(small, kind):
    settings = {"guarantee": "none", "bands": False}
    expected = tare.Calibrator(**settings).calibrate(small.X, small.y, y_pred=small.mean, sample_weight=np.ones(300))
    model = tare.Calibrator(**settings)
    model.calibrate(kind(small.X), kind(small.y), y_pred=kind(small.mean), sample_weight=kind(np.ones(300)))
    answer = expected.predict_interval(small.X, y_pred=small.mean)
    np.testing.assert_array_equal(model.predict_interval(kind(small.X), y_pred=kind(small.mean)), answer)
    assert model.score(kind(small.X), kind(small.y), y_pred=kind(small.mean)) == expected.score(small.X, small.y, y_pred=small.mean)
    quantiles = np.sort(np.random.default_rng(0).normal(size=(300, 2)), axis=1)
    tare.Calibrator(**settings).calibrate(small.X, small.y, y_pred=kind(quantiles), quantiles=[0.1, 0.9])
    assert tare.metrics.pinball_loss(kind(small.y), kind(quantiles), [0.1, 0.9]) == tare.metrics.pinball_loss(small.y, quantiles, [0.1, 0.9])
    # A wrapped model gets rows of X as they are, and may answer from the device.
    seen = []
    wrapped = tare.Calibrator(lambda X: seen.append(type(X)) or kind(true_mean(X.values)), **settings).calibrate(kind(small.X), small.y)
    assert wrapped.predict_interval(kind(small.X)).shape == (300, 2)
    assert set(seen) == {kind}


class Place:
    """A device, which CuPy enters while it makes an array."""

    entered = 0

    def __enter__(self):
        Place.entered += 1

    def __exit__(self, *problem):
        pass


def library_of(name, kind, **functions):
    """A stand-in for a library: a module with these functions, and a kind of array of it."""
    module = types.ModuleType(name)
    for function, what in functions.items():
        setattr(module, function, what)
    return module, type("Array", (kind,), {"__module__": f"{name}.arrays", "device": Place(), "devices": lambda self: {"gpu:1"}})


def test_answers_are_where_the_rows_were(small, monkeypatch):
    def torch_tensor(values, device):
        return "on", device, values

    torch, tensor = library_of("torch_like", Torch, as_tensor=torch_tensor)
    cupy, array = library_of("cupy_like", Cupy, asarray=lambda values: ("made", values), cuda=None)
    jax, jax_array = library_of("jax", Jax, device_put=lambda values, device: (device, values))
    for module in (torch, cupy, jax):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    settings = {"guarantee": "none", "bands": False}
    model = tare.Calibrator(**settings).calibrate(small.X, small.y, y_pred=small.mean)
    asked = {"y_pred": small.mean}
    interval, quantiles, point = model.predict_interval(small.X, **asked), model.predict_quantiles(small.X, [0.5], **asked), small.mean

    where, device, values = model.predict_interval(tensor(small.X), **asked)
    assert (where, device) == ("on", tensor.device)
    np.testing.assert_array_equal(values, interval)
    np.testing.assert_array_equal(model.predict_quantiles(tensor(small.X), [0.5], **asked)[2], quantiles)
    np.testing.assert_array_equal(model.predict(tensor(small.X), **asked)[2], point)
    assert model.predict_interval(tensor(small.X), [0.5, 0.9], **asked)[2].shape == (300, 2, 2)

    where, values = model.predict_interval(array(small.X), **asked)
    assert where == "made" and Place.entered == 1
    np.testing.assert_array_equal(values, interval)

    where, values = model.predict_interval(jax_array(small.X), **asked)
    assert where == "gpu:1"
    np.testing.assert_array_equal(values, interval)
    # Of the host, and of a library that nobody knows: NumPy's.
    assert isinstance(model.predict_interval(tensor(small.X, kind=1), **asked), np.ndarray)
    assert isinstance(model.predict_interval(LikeTorch(small.X), **asked), np.ndarray)
    # A frame that set_output asks for is a frame.
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    assert isinstance(model.set_output(transform="pandas").predict_interval(tensor(small.X), **asked), pandas.DataFrame)


@pytest.mark.parametrize("kind", [Cupy, Torch])
def test_fit_and_missing_rows_on_a_device(small, kind):
    linear = pytest.importorskip("sklearn.linear_model")
    settings = {"guarantee": "none", "bands": False, "cv": 2}
    expected = tare.Calibrator(linear.Ridge(), **settings).fit(small.X, small.y)
    model = tare.Calibrator(_OfRows(linear.Ridge()), **settings).fit(kind(small.X), kind(small.y))
    np.testing.assert_allclose(model.predict_interval(small.X), expected.predict_interval(small.X))
    gaps = small.X.copy()
    gaps[3, 0] = np.nan
    dropped = tare.Calibrator(missing="drop", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropped.calibrate(kind(gaps), kind(small.y), y_pred=kind(small.mean))
        answer = dropped.predict_interval(kind(gaps), y_pred=kind(small.mean))
    assert np.isnan(answer[3]).all() and np.isnan(answer).any(axis=1).sum() == 1


class _OfRows:
    """A model that takes arrays on the device as well."""

    def __init__(self, model):
        self.model = model

    def get_params(self, deep=True):
        return {"model": self.model}

    def fit(self, X, y):
        self.fitted = self.model.fit(getattr(X, "values", X), getattr(y, "values", y))
        return self

    def predict(self, X):
        return self.fitted.predict(getattr(X, "values", X))


def test_an_array_that_cannot_be_copied(small):
    with pytest.raises(TypeError, match=r"X \(OnDevice\) is not in the memory of the host: copy it there first"):
        tare.Calibrator(true_mean).calibrate(OnDevice(small.X), small.y)


def test_a_pytorch_tensor(small):
    torch = pytest.importorskip("torch")
    settings = {"guarantee": "none", "bands": False}
    expected = tare.Calibrator(**settings).calibrate(small.X, small.y, y_pred=small.mean).predict_interval(small.X, y_pred=small.mean)
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        X, y, mean = (torch.tensor(values, device=device) for values in (small.X, small.y, small.mean))
        model = tare.Calibrator(**settings).calibrate(X, y, y_pred=mean.requires_grad_())
        np.testing.assert_array_equal(model.predict_interval(X, y_pred=mean), expected)
        model.predict_interval(X.bfloat16().double(), y_pred=mean.bfloat16())


def test_a_jax_array(small):
    jax = pytest.importorskip("jax")
    settings = {"guarantee": "none", "bands": False}
    X, y, mean = (jax.numpy.asarray(values) for values in (small.X, small.y, small.mean))  # float32
    expected = tare.Calibrator(**settings).calibrate(np.asarray(X), np.asarray(y), y_pred=np.asarray(mean))
    model = tare.Calibrator(**settings).calibrate(X, y, y_pred=mean)
    np.testing.assert_array_equal(model.predict_interval(X, y_pred=mean), expected.predict_interval(np.asarray(X), y_pred=np.asarray(mean)))
