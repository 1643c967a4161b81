# SPDX-License-Identifier: BSD-3-Clause
"""ONNX models, computed by onnxruntime."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from .._types import FloatArray
from ._numbers import Prepare, column_of_predictions, is_frame, named_columns, number_array

# ONNX names of the types of an input, as NumPy has them.
_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(string)": np.object_,
    "tensor(bool)": np.bool_,
}


class OnnxModel:
    """An ONNX model with `predict`; see `onnx_model`."""

    def __init__(self, model: Any, *, output: str | None = None, providers: Any = None, prepare: Prepare = None) -> None:
        self.output = output
        self.providers = providers
        self.prepare = prepare
        self._content: bytes | None = None
        if hasattr(model, "get_inputs"):
            self._session = model
        else:
            self._content = _content_of(model)
            # A path, and not its content: a large model has files beside it.
            self._session = _session(os.fspath(model) if isinstance(model, (str, os.PathLike)) else self._content, providers)
        outputs = [value.name for value in self._session.get_outputs()]
        if output is not None and output not in outputs:
            raise ValueError(f"The ONNX model has no output {output!r}; its outputs are {outputs}.")

    def predict(self, X: Any) -> FloatArray:
        """One prediction for each row."""
        feeds = self._feeds(X)
        rows = len(next(iter(feeds.values())))
        fixed = {first for value in self._session.get_inputs() if isinstance(first := (value.shape or [None])[0], int) and first > 0}
        step = min(fixed) if fixed and rows not in fixed else rows
        answers = []
        for start in range(0, rows, step):
            part = {name: _padded(values[start : start + step], step) for name, values in feeds.items()}
            names = [self.output] if self.output is not None else [self._session.get_outputs()[0].name]
            answers.append(np.asarray(self._session.run(names, part)[0]))
        return column_of_predictions(np.concatenate(answers)[:rows], "The ONNX model")

    def _feeds(self, X: Any) -> dict[str, npt.NDArray[Any]]:
        inputs = self._session.get_inputs()
        if self.prepare is not None:
            prepared = self.prepare(X)
            return prepared if isinstance(prepared, dict) else {inputs[0].name: np.asarray(prepared)}
        if len(inputs) == 1:
            dtype = _type_of(inputs[0])
            return {inputs[0].name: _values(X, dtype) if dtype is np.object_ else number_array(X, "The ONNX model").astype(dtype)}
        return self._columns(X, inputs)

    def _columns(self, X: Any, inputs: list[Any]) -> dict[str, npt.NDArray[Any]]:
        """An input for each column, as a converter writes it for a model of frames."""
        names = [value.name for value in inputs]
        if not is_frame(X):
            raise TypeError(f"The ONNX model has the inputs {names}: X must be a frame with these columns, or pass prepare=.")
        columns = dict(named_columns(X))
        absent = [name for name in names if name not in columns]
        if absent:
            raise ValueError(f"The ONNX model has the input {absent[0]!r}, but X has no such column; its columns are {list(columns)}.")
        feeds = {}
        for value in inputs:
            dtype = _type_of(value)
            cells = columns[value.name].to_numpy()
            try:
                feeds[value.name] = np.asarray(cells).astype(dtype).reshape(-1, 1)
            except (TypeError, ValueError) as error:
                raise TypeError(f"column {value.name!r} is not of the type {value.type} that the ONNX model expects ({error}).") from error
        return feeds

    def __getstate__(self) -> dict[str, Any]:
        if self._content is None:
            raise TypeError("An ONNX session cannot be pickled: give onnx_model the path or the bytes of the model.")
        try:
            _session(self._content, self.providers)
        except Exception as error:
            raise TypeError(f"The ONNX model cannot be pickled: it does not load without the files beside it ({error}).") from error
        return {key: value for key, value in self.__dict__.items() if key != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _session(self._content, self.providers)

    def __repr__(self) -> str:
        return (
            f"onnx_model({[value.name for value in self._session.get_inputs()]} -> {self.output or self._session.get_outputs()[0].name!r})"
        )


def onnx_model(model: Any, *, output: str | None = None, providers: Any = None, prepare: Prepare = None) -> OnnxModel:
    """An ONNX model as a model with `predict`.

    An input of a fixed number of rows is computed in batches of this number. An adapter made from a path or from bytes can be
    pickled; one made from a session cannot.

    Parameters
    ----------
    model : path, bytes, onnx.ModelProto or onnxruntime.InferenceSession
        With one input, X goes into it as a matrix of its type. With several inputs, X is a frame with a column for each.
    output : str or None
        Name of the output with one prediction for each row; None: the first.
    providers : list or None
        Execution providers of onnxruntime; None: the processor. A session keeps its own.
    prepare : callable or None
        A function from X to the input array, or to a dict of arrays by the names of the inputs.
    """
    return OnnxModel(model, output=output, providers=providers, prepare=prepare)


def _content_of(model: Any) -> bytes:
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if hasattr(model, "SerializeToString"):
        return bytes(model.SerializeToString())
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"model must be a path, bytes, an onnx.ModelProto or an onnxruntime.InferenceSession, got {type(model).__name__}.")
    with open(model, "rb") as file:
        return file.read()


def _session(model: Any, providers: Any) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("onnx_model computes with onnxruntime: pip install onnxruntime") from error
    return onnxruntime.InferenceSession(model, providers=providers or ["CPUExecutionProvider"])


def _type_of(value: Any) -> Any:
    if value.type not in _TYPES:
        raise TypeError(f"The input {value.name!r} of the ONNX model has the type {value.type}: pass prepare=, a function from X to it.")
    return _TYPES[value.type]


def _values(X: Any, dtype: Any) -> npt.NDArray[Any]:
    return np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X).astype(dtype)


def _padded(values: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    """The last batch of a model for a fixed number of rows is filled with its last row."""
    short = rows - len(values)
    return values if short <= 0 else np.concatenate([values, np.repeat(values[-1:], short, axis=0)])
