# SPDX-License-Identifier: BSD-3-Clause
"""Models whose libraries do not have `predict(X)` for arrays and frames, as models that `tare.Calibrator` takes.

An XGBoost `Booster`, a LightGBM model, a PyTorch module, a Keras model and an ONNX session may also be passed to `Calibrator` as they
are: it then uses the function below with its defaults. Call the function yourself to set a device, a batch size, or `prepare`, which turns X
into what the model takes. Every adapter has `predict(X)` and can be pickled if its model can be.

>>> import numpy as np, tare
>>> model = tare.adapters.as_model(lambda X: 2.0 * X[:, 0])    # nothing to adapt: returned as it is
>>> float(model(np.array([[3.0]]))[0])
6.0
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ._boosters import LightgbmModel, XgboostModel, lightgbm_model, xgboost_model
from ._networks import KerasModel, TorchModel, keras_model, torch_model
from ._onnx import OnnxModel, onnx_model

__all__ = [
    "KerasModel",
    "LightgbmModel",
    "OnnxModel",
    "TorchModel",
    "XgboostModel",
    "as_model",
    "keras_model",
    "lightgbm_model",
    "onnx_model",
    "torch_model",
    "xgboost_model",
]

# The package and the name of a class, of which the model is an instance: its library need not be imported to find out.
_ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("keras", "Model"): keras_model,
    ("lightgbm", "Booster"): lightgbm_model,
    ("lightgbm", "LGBMModel"): lightgbm_model,
    ("onnxruntime", "InferenceSession"): onnx_model,
    ("torch", "Module"): torch_model,
    ("xgboost", "Booster"): xgboost_model,
}


@lru_cache(maxsize=256)
def _adapter_of(kind: type) -> Callable[[Any], Any] | None:
    for base in kind.__mro__:
        adapter = _ADAPTERS.get((base.__module__.partition(".")[0], base.__name__))
        if adapter is torch_model and hasattr(kind, "predict"):  # a module with a method of its own for this
            return None
        if adapter is not None:
            return adapter
    return None


def as_model(model: Any) -> Any:
    """The model as `Calibrator` asks it: with its adapter if it needs one, otherwise as it is."""
    kind: type = type(model)
    adapter = _adapter_of(kind)
    return model if adapter is None else adapter(model)
