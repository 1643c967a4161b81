# SPDX-License-Identifier: BSD-3-Clause
"""Settings that both estimators have: the seed, the number of threads and the device."""

from __future__ import annotations

import os
import warnings

import numpy as np

from . import _core
from ._types import RandomState


def seed_of(random_state: RandomState) -> int:
    """None means 0: the same call gives the same model."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be a whole number from 0 to 2**64 - 1, got {random_state}.")
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"{random_state!r} cannot be used as random_state.")


def threads_of(n_jobs: int | None) -> int:
    """None and -1 mean all cores."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)):
        raise ValueError(f"n_jobs must be a whole number, or None for all cores, got {n_jobs!r}.")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    return max(1, int(n_jobs))


def device_of(device: str) -> str:
    """The name of a device, checked."""
    if not isinstance(device, str):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:N', got {device!r}.")
    return device if device == "auto" else _core.device_name(device)


def warn_without_device(device: str, stacklevel: int) -> None:
    """Says that the processor did what a GPU was asked for. `stacklevel` as in `warnings.warn`, counted from the caller."""
    if device in ("auto", "cpu"):
        return
    problem = _core.take_device_problem()
    if problem:
        warnings.warn(f"device={device!r}: {problem}; the processor did the work", RuntimeWarning, stacklevel=stacklevel + 1)
