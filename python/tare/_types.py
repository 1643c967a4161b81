# SPDX-License-Identifier: BSD-3-Clause
"""Types that several modules share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
AnswerArray = npt.NDArray[np.floating[Any]]  # float64; float32 if X was float32
IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

Progress = Callable[[str, float], None]
RandomState = int | np.random.RandomState | np.random.Generator | None
