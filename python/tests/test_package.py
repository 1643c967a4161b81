# SPDX-License-Identifier: BSD-3-Clause
"""The package as such: examples in docstrings, types, and that numpy is all it needs."""

import doctest
import importlib
import inspect
import pathlib
import subprocess
import sys

import pytest

import tare

WITH_EXAMPLES = [
    "tare", "tare.adapters", "tare.metrics", "tare.plot", "tare._calibrator", "tare._regressor", "tare._table", "tare._distribution",
    "tare._online", "tare._track", "tare._inspect", "tare._report", "tare._compare", "tare.options",
]  # fmt: skip


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings(name):
    if name == "tare.plot":
        pytest.importorskip("matplotlib").use("Agg")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_numpy_is_enough():
    """Without scikit-learn and pandas the estimators still work, with parameters, errors and pickles."""
    code = """
import sys
for name in ("sklearn", "pandas", "polars", "scipy", "joblib", "matplotlib", "pyarrow"):
    sys.modules[name] = None
import numpy as np, pickle, tare
rng = np.random.default_rng(0)
X = rng.uniform(size=(300, 2)); y = X[:, 0] + rng.normal(size=300)
class Mean:
    def __init__(self, shift=0.0): self.shift = shift
    def get_params(self, deep=True): return {"shift": self.shift}
    def fit(self, X, y): self.mean = y.mean(); return self
    def predict(self, X): return np.full(len(X), self.mean + self.shift)
model = tare.Calibrator(Mean())
try:
    model.predict(X)
except tare.NotFittedError as error:
    assert isinstance(error, ValueError)
model.fit(X, y)
assert model.predict_interval(X).shape == (300, 2)
assert model.get_params()["estimator__shift"] == 0.0
assert model.set_params(cv=3).cv == 3
assert "Calibrator(" in repr(model)
assert np.array_equal(pickle.loads(pickle.dumps(tare.QuantileRegressor().fit(X, y))).predict(X), tare.QuantileRegressor().fit(X, y).predict(X))
online = tare.OnlineCalibrator(Mean().fit(X, y)).update(X, y)
assert np.array_equal(pickle.loads(pickle.dumps(online)).predict_interval(X), online.predict_interval(X))
assert online.get_params()["model__shift"] == 0.0 and "OnlineCalibrator(" in repr(online) and 0.8 < online.coverage_ < 1.0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_typed():
    folder = pathlib.Path(tare.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


def test_the_stub_names_all_that_the_core_has():
    folder = pathlib.Path(tare.__file__).parent
    stub = (folder / "_core.pyi").read_text()
    for name, value in vars(tare._core).items():
        if name.startswith("__"):
            continue
        assert f"def {name}(" in stub or f"class {name}" in stub or f"{name}: {type(value).__name__}" in stub, name
        if inspect.isclass(value):
            for member in vars(value):
                assert member.startswith("__") or f"def {member}(" in stub, f"{name}.{member}"


def test_every_public_name_has_a_docstring():
    for name in tare.__all__:
        thing = getattr(tare, name)
        if inspect.isclass(thing):
            for member, function in inspect.getmembers(thing, inspect.isfunction):
                if not member.startswith("_") and function.__module__.startswith("tare"):
                    assert function.__doc__ or member in ("median",), f"{name}.{member}"
        elif callable(thing):
            assert thing.__doc__, name
