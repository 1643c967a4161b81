# SPDX-License-Identifier: BSD-3-Clause
"""The table of methods."""

from __future__ import annotations

from typing import Any

from . import _core


def methods() -> dict[str, dict[str, Any]]:
    """All methods by name, as ``tare methods`` lists them.

    >>> import tare
    >>> tare.methods()["cqr"]["paper"]
    'CQR'
    """
    return {row["name"]: row for row in _core.methods()}


def method_options(name: str) -> dict[str, dict[str, str]]:
    """Options of a method and of its default point model: their defaults and meaning.

    >>> import tare
    >>> tare.method_options("nrc")["bandwidth"]["default"]
    'auto'
    """
    row = _core.method(name)
    options = dict(row["options"])
    defaults = _core.method_defaults(name)
    for option, text in _core.regressors().get(defaults.get("regressor", ""), {}).items():
        options.setdefault(option, text)
    for option, value in defaults.items():
        options[option] = {**options.get(option, {"help": ""}), "default": value}
    return options


def online_methods() -> dict[str, dict[str, Any]]:
    """The methods of `OnlineCalibrator` and `track` by name: what each does, what is proven, and its options.

    >>> import tare
    >>> sorted(tare.online_methods()["snq"]["options"])
    ['lags', 'period', 'window']
    """
    return dict(_core.online_methods())
