# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch modules and Keras models."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ._numbers import Prepare, column_of_predictions, number_array

_ROWS_AT_ONCE = 16384


class TorchModel:
    """A PyTorch module with `predict`; see `torch_model`."""

    def __init__(self, module: Any, *, device: Any = None, batch_size: int = _ROWS_AT_ONCE, prepare: Prepare = None) -> None:
        self.module = module
        self.device = device
        self.batch_size = _checked_batch(batch_size)
        self.prepare = prepare

    def predict(self, X: Any) -> FloatArray:
        """One prediction for each row. The module's modes (training or not) are as before afterwards."""
        import torch

        first = next((value for value in self.module.parameters() if value.is_floating_point()), None)
        dtype = torch.get_default_dtype() if first is None else first.dtype
        if self.device is not None:
            self.module.to(self.device)
        device = self.device if self.device is not None else "cpu" if first is None else first.device
        prepared = number_array(X, "A PyTorch module") if self.prepare is None else self.prepare(X)
        parts = prepared if isinstance(prepared, (tuple, list)) else (prepared,)
        modes = [(part, part.training) for part in self.module.modules()]
        answers = []
        try:
            self.module.eval()
            with torch.inference_mode():
                for start in range(0, len(parts[0]), self.batch_size):
                    inputs = (_tensor(part[start : start + self.batch_size], dtype, device) for part in parts)
                    answers.append(self.module(*inputs).to(torch.float64).cpu().numpy())
        finally:
            for part, mode in modes:
                part.training = mode
        return column_of_predictions(np.concatenate(answers), "The PyTorch module")

    def __repr__(self) -> str:
        return f"torch_model({type(self.module).__name__})"


def _tensor(values: Any, dtype: Any, device: Any) -> Any:
    """On the device; numbers with a fraction in the type of the module's parameters, whole numbers (embeddings) as they are."""
    import torch

    tensor = torch.as_tensor(values if isinstance(values, torch.Tensor) else np.require(values, requirements=["C", "W"]))
    return tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else tensor.dtype)


def torch_model(module: Any, *, device: Any = None, batch_size: int = _ROWS_AT_ONCE, prepare: Prepare = None) -> TorchModel:
    """A trained PyTorch module as a model with `predict`: in evaluation mode, without gradients, in batches.

    Parameters
    ----------
    module : torch.nn.Module
        Its output is one number for each row, shape (n,) or (n, 1).
    device : str, torch.device or None
        Where to compute; the module is moved there. None: where its parameters are.
    batch_size : int
        Number of rows that are computed at once.
    prepare : callable or None
        A function from X to the module's input: an array or tensor, or a tuple of them for a module with several inputs. None: the
        numbers of X, in the type of the module's parameters.
    """
    return TorchModel(module, device=device, batch_size=batch_size, prepare=prepare)


class KerasModel:
    """A Keras model with a silent `predict`; see `keras_model`."""

    def __init__(self, model: Any, *, batch_size: int = _ROWS_AT_ONCE, prepare: Prepare = None) -> None:
        self.model = model
        self.batch_size = _checked_batch(batch_size)
        self.prepare = prepare

    def predict(self, X: Any) -> FloatArray:
        """One prediction for each row."""
        inputs = number_array(X, "A Keras model") if self.prepare is None else self.prepare(X)
        return column_of_predictions(self.model.predict(inputs, batch_size=self.batch_size, verbose=0), "The Keras model")

    def __repr__(self) -> str:
        return f"keras_model({type(self.model).__name__})"


def keras_model(model: Any, *, batch_size: int = _ROWS_AT_ONCE, prepare: Prepare = None) -> KerasModel:
    """A trained Keras model as a model with `predict`: in batches and without a progress bar.

    Parameters
    ----------
    model : keras.Model
        Its output is one number for each row, shape (n,) or (n, 1).
    batch_size : int
        Number of rows that are computed at once.
    prepare : callable or None
        A function from X to what `model.predict` takes. None: the numbers of X.
    """
    return KerasModel(model, batch_size=batch_size, prepare=prepare)


def _checked_batch(batch_size: int) -> int:
    if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
        raise ValueError(f"batch_size must be a number of rows, at least 1, got {batch_size!r}.")
    return int(batch_size)
