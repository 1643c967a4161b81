#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The code of a page of the documentation, at the lines where the page has it, so that errors point to the page.

usage: tools/doc_blocks.py PAGE.md >page.py   (its Python)
A comment `<!-- mark -->` on the line before a block is its mark."""

from __future__ import annotations

import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

_BLOCK = re.compile(
    r"^(?P<margin> *)(?:<!-- (?P<mark>[^\n]*) -->\n\s*)?```(?P<language>python|sh)\n(?P<code>.*?)^(?P=margin)```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    mark: str | None
    line: int  # of its first line of code, from 1
    code: str
    language: str = "python"  # or sh


def all_blocks_of(page: pathlib.Path) -> list[Block]:
    """Python and shell, in the order of the page."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(m["mark"], text[: m.start("code")].count("\n") + 1, textwrap.dedent(m["code"]), m["language"]) for m in _BLOCK.finditer(text)
    ]
    begun = len(re.findall(r"```(?:python|sh)\n", text))
    if len(found) != begun:
        raise ValueError(f"{page}: {begun} blocks of Python and shell begin, but {len(found)} were read")
    return found


def blocks_of(page: pathlib.Path) -> list[Block]:
    return [block for block in all_blocks_of(page) if block.language == "python"]


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
