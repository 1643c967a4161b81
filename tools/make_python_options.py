# SPDX-License-Identifier: BSD-3-Clause
"""Writes python/tare/options.py, the types of the methods' options, from the table of the compiled core.

usage: PYTHONPATH=python python tools/make_python_options.py > python/tare/options.py
"""

from __future__ import annotations

import importlib
import re
import textwrap
from typing import Any

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
# Written by tools/make_python_options.py from the table of methods; do not edit.
"""The options of each method, as types: an editor completes their names, and a type checker finds wrong ones.

Each class makes a plain dict, so that ``Nrc(kernel="naive")`` is ``{"kernel": "naive"}``. The core checks names and values at fit.

>>> import tare
>>> tare.options.Nrc(regressor="ridge", bandwidth=0.5)
{'regressor': 'ridge', 'bandwidth': 0.5}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

'''
# A number, or auto, infinite, time, ...
NUMBER_OR_WORD = ("bandwidth", "cells", "depth", "folds", "kernel_width", "most_rows", "penalty", "steps", "time", "window", "split")
# A number where the default is one, else also auto.
NUMBER_OR_AUTO = ("rounds",)
LISTED = re.compile(r": ((?:[a-z_]+, )+[a-z_]+)$")
Option = dict[str, str]


def class_name(method: str) -> str:
    return "".join(part.capitalize() for part in method.split("_"))


def is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9.]+", text) is not None


def type_of(name: str, variants: list[Option]) -> str:
    """From the default and the help: a choice of words, a number, a list of numbers, or text."""
    choices = {LISTED.search(option["help"]) for option in variants}
    if None not in choices and len(variants) > 0:
        words = [word for choice in choices if choice for word in choice[1].split(", ")]
        literal = ", ".join(f'"{word}"' for word in dict.fromkeys(words))
        return f"bool | Literal[{literal}]" if "yes" in words else f"Literal[{literal}]"
    defaults = [option["default"] for option in variants]
    if any("," in default for default in defaults):
        return "float | Sequence[float] | str"
    if name in NUMBER_OR_WORD or (name in NUMBER_OR_AUTO and "auto" in defaults):
        return "float | str"
    if all(is_number(default) for default in defaults):
        return "float"
    return "bool | str" if "yes, no" in variants[0]["help"] else "str"


def members(options: dict[str, list[Option]]) -> str:
    lines = []
    for name, variants in options.items():
        help_text = variants[0]["help"]
        lines += textwrap.wrap(f"{help_text} [{variants[0]['default']}]", 130, initial_indent="    # ", subsequent_indent="    # ")
        lines.append(f"    {name}: {type_of(name, variants)}")
    return "\n".join(lines)


def class_text(name: str, bases: list[str], doc: str, options: dict[str, list[Option]]) -> str:
    body = members(options)
    listed = ", ".join(bases or ["TypedDict"])
    text = "\n".join(textwrap.wrap(f'"""{doc}"""', 136, initial_indent="    ", subsequent_indent="    "))
    return f"class {name}({listed}, total=False):\n{text}\n" + (f"\n{body}\n" if body else "")


def methods_of_networks(methods: list[dict[str, Any]]) -> set[str]:
    """Options that all methods with a network of layers share."""
    return set.intersection(*(set(method["options"]) for method in methods if "hidden" in method["options"]))


def module_text(methods: list[dict[str, Any]], regressors: dict[str, dict[str, Option]]) -> str:
    common = set.intersection(*(set(method["options"]) for method in methods))
    of_network = {name: [option] for name, option in regressors["mlp"].items() if name in methods_of_networks(methods)}
    of_points: dict[str, list[Option]] = {}
    for options in regressors.values():
        for name, option in options.items():
            if name not in of_network:
                of_points.setdefault(name, []).append(option)
    first = methods[0]["options"]
    parts = [
        class_text("Common", [], "Options that every method has.", {name: [first[name]] for name in first if name in common}),
        class_text("Network", [], "Options of the training of a network.", of_network),
        class_text("PointModel", ["Network"], "Options of the point models that `regressor` names.", of_points),
    ]
    written: dict[tuple[str, ...], str] = {}
    for method in methods:
        title = class_name(method["name"])
        trains = set(of_network) <= set(method["options"])
        own = {name: [text] for name, text in method["options"].items() if name not in common and not (trains and name in of_network)}
        doc = f"Options of '{method['name']}': {method['summary']}."
        key = tuple(sorted(method["options"]))
        if key in written:
            parts.append(class_text(title, [written[key]], doc, {}))
            continue
        written[key] = title
        parts.append(class_text(title, [*(["PointModel"] if "regressor" in own else ["Network"] if trains else []), "Common"], doc, own))
    names = ["BY_METHOD", *(class_name(method["name"]) for method in methods)]
    listed = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names, key=lambda name: (name != "BY_METHOD", name))) + "]\n"
    rows = "".join(f'    "{method["name"]}": {class_name(method["name"])},\n' for method in methods)
    table = f"BY_METHOD: dict[str, type] = {{\n{rows}}}\n"
    return HEAD + listed + "\n\n" + "\n\n".join(parts) + "\n\n" + table


def main() -> None:
    core = importlib.import_module("tare._core")
    print(module_text(core.methods(), core.regressors()), end="")


if __name__ == "__main__":
    main()
