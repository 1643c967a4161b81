#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python code of a page of the documentation, at the lines where the page has it, so that errors point to the page.

usage: tools/doc_blocks.py PAGE.md >page.py
A comment `<!-- mark -->` on the line before a block is its mark."""

from __future__ import annotations

import pathlib
import re
import sys
from dataclasses import dataclass

_BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```python\n(?P<code>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    mark: str | None
    line: int  # of its first line of code, from 1
    code: str


def blocks_of(page: pathlib.Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = [Block(m["mark"], text[: m.start("code")].count("\n") + 1, m["code"]) for m in _BLOCK.finditer(text)]
    if len(found) != text.count("```python"):
        raise ValueError(f"{page}: {text.count('```python')} blocks of Python begin, but {len(found)} were read")
    return found


def program(page: pathlib.Path) -> str:
    """All blocks, one after the other, on their lines of the page."""
    lines: list[str] = []
    for block in blocks_of(page):
        lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(program(pathlib.Path(sys.argv[1])), end="")
