# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries that are on a GPU: a copy on the host, and answers on the same GPU."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# Of DLPack: the processor, and host memory that CUDA or ROCm has pinned.
_HOST_KINDS = (1, 3, 11)


def on_host(values: Any, what: str = "the array") -> Any:
    """An array of PyTorch, CuPy or JAX that is on a device as a NumPy array; everything else as it is.

    NumPy itself refuses most of these arrays, with a message about implicit conversion.
    """
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):  # a PyTorch tensor, which may have a gradient
        values = values.detach().cpu()
        return (values.float() if "bfloat16" in str(getattr(values, "dtype", "")) else values).numpy()  # NumPy has no bfloat16
    if not _is_on_device(values):
        return values
    for method in ("get", "cpu"):  # CuPy's, and that of libraries which follow PyTorch
        copy = getattr(values, method, None)
        if callable(copy):
            return np.asarray(copy())
    try:
        return np.asarray(values)  # JAX copies here
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{what} ({type(values).__name__}) is not in the memory of the host: copy it there first. {error}") from error


def where_it_was(answer: Any, values: Any) -> Any:
    """An answer for `values`: an array of the same library on the same device, if these are on one; as it is otherwise.

    A copy is made on the stream that the library uses at the moment, so that later work on the answer waits for it.
    """
    if isinstance(values, np.ndarray) or not _is_on_device(values):
        return answer
    library: Any = sys.modules.get(type(values).__module__.split(".")[0])
    if hasattr(library, "as_tensor"):  # PyTorch
        return library.as_tensor(answer, device=values.device)
    if hasattr(library, "cuda") and hasattr(library, "asarray"):  # CuPy
        with values.device:
            return library.asarray(answer)
    if hasattr(values, "devices"):  # JAX, whose arrays are of another module
        return sys.modules["jax"].device_put(answer, next(iter(values.devices())))
    return answer


def _is_on_device(values: Any) -> bool:
    ask = getattr(values, "__dlpack_device__", None)
    if not callable(ask):
        return False
    try:
        return int(ask()[0]) not in _HOST_KINDS
    except (BufferError, RuntimeError, TypeError, ValueError):  # JAX refuses for an array in parts on several devices
        return False
