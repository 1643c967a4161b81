# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the estimators, as the core's options spell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def option_text(value: Any) -> str:
    """A Python value as an option of the core: 0.5, 'auto', [20, 20]."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(option_text(part) for part in value)
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def bands_text(bands: Any) -> str:
    """'auto', True or False, as the core's option."""
    if isinstance(bands, (bool, np.bool_)):
        return "on" if bands else "off"
    if bands in ("auto", "on", "off"):
        return str(bands)
    raise ValueError(f"bands must be 'auto', True or False, got {bands!r}.")


def bounds_text(bounds: Any) -> str:
    """'auto', 'none' or a pair such as (0, None), as the core's option."""
    if bounds is None:
        return "none"
    if isinstance(bounds, str):
        return bounds
    ends = list(bounds) if isinstance(bounds, (list, tuple, np.ndarray)) else []
    if len(ends) != 2:
        raise ValueError(f"bounds must be 'auto', 'none' or a pair (low, high) of which either may be None, got {bounds!r}.")
    return ",".join("" if end is None else option_text(float(end)) for end in ends)


def setting(name: str, value: Any, default: Any, options: Mapping[str, Any] | None) -> Any:
    """A parameter that `options` may have as well. Raises ValueError if both have a value and these differ."""
    if not options or name not in options:
        return value
    text = option_text(options[name])
    if value != default and option_text(value) != text:
        raise ValueError(f"{name} is {value!r}, but options={{{name!r}: {options[name]!r}}}: give one of them.")
    return text
