# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries that are on a GPU: a copy on the host."""

from __future__ import annotations

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


def _is_on_device(values: Any) -> bool:
    ask = getattr(values, "__dlpack_device__", None)
    if not callable(ask):
        return False
    try:
        return int(ask()[0]) not in _HOST_KINDS
    except (BufferError, RuntimeError, TypeError, ValueError):  # JAX refuses for an array in parts on several devices
        return False
