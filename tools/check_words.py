#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a text of the library uses words that belong to one front end.

The library names an option as data (`Remedy`, `ErrorDetails`), and the tool, the service and the Python package spell it."""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator

NEUTRAL_LAYERS = ("base", "math", "io", "data", "index", "model", "calibrate", "apply", "evaluate")
FLAG = re.compile(r"--[a-z]")
# A comment, a raw string, a string or a character, whichever starts first.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


def literals(source: str) -> Iterator[tuple[int, str]]:
    """The string literals of C++ source, each with its line."""
    for token in TOKEN.finditer(source):
        text = token["text"] if token["text"] is not None else token["raw"]
        if text is not None:
            yield source.count("\n", 0, token.start()) + 1, text


def flags_of_the_tool(root: pathlib.Path) -> Iterator[str]:
    for layer in NEUTRAL_LAYERS:
        for path in sorted((root / "src" / layer).rglob("*")):
            if path.suffix not in {".h", ".cpp"}:
                continue
            for line, text in literals(path.read_text(encoding="utf-8")):
                if FLAG.search(text):
                    yield f'{path.relative_to(root)}:{line}: "{text}" names a flag of the tool; use Remedy or ErrorDetails::option'


CHECKS = (flags_of_the_tool,)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    faults = [fault for check in CHECKS for fault in check(root)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
