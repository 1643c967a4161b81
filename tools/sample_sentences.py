#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a random sample of tare's sentences, each with file:line, to be read aloud.

Sentences come from help texts (string literals of apps/cli), error messages (arguments of fail and refuse),
documentation (README.md, HACKING.md, docs) and header comments (///).

    tools/sample_sentences.py --seed 19 --count 10
"""

from __future__ import annotations

import argparse
import pathlib
import random
import re
from collections.abc import Callable, Iterable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
MESSAGE = re.compile(r"\b(?:fail|refuse)\w*\s*\(")


def split(text: str) -> list[str]:
    """The sentences of a paragraph."""
    text = " ".join(text.split())
    return [s for s in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[])", text) if len(s.split()) >= 5]


def literals(text: str) -> Iterator[tuple[int, str]]:
    """(offset, text) of string literals; adjacent ones are joined, as the compiler does."""
    start: int | None = None
    end, joined = 0, ""
    for found in LITERAL.finditer(text):
        if start is not None and not text[end : found.start()].strip():
            joined += found[1]
        else:
            if start is not None:
                yield start, joined
            start, joined = found.start(), found[1]
        end = found.end()
    if start is not None:
        yield start, joined


def call_end(text: str, at: int) -> int:
    """The end of the call whose parenthesis opens at `at`."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0:
            return k
    return len(text)


def blocks(lines: Iterable[str], take: Callable[[str], str]) -> Iterator[tuple[int, str]]:
    """(number, text) of consecutive lines for which `take` gives text."""
    first = 0
    words: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        text = take(line)
        if text:
            first = first if words else number
            words.append(text)
        elif words:
            yield first, " ".join(words)
            words = []


def prose(line: str) -> str:
    """A line of Markdown that is neither code, table nor heading."""
    return "" if re.match(r"    |\||#|<!--|\s*$", line) else line.strip(" -*")


def without_fences(text: str) -> str:
    """Markdown with empty lines in place of fenced code."""
    return re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)


def comment(line: str) -> str:
    """The text of a header comment."""
    return line.strip()[3:].strip() if line.strip().startswith("///") else ""


def collect() -> Iterator[tuple[str, pathlib.Path, int, str]]:
    for path in sorted([ROOT / "README.md", ROOT / "HACKING.md", *ROOT.glob("docs/**/*.md")]):
        for number, text in blocks(without_fences(path.read_text()).splitlines(), prose):
            yield from (("docs", path, number, s) for s in split(text))
    for folder in ("include", "src", "apps"):
        for path in sorted(ROOT.glob(f"{folder}/**/*.h")):
            for number, text in blocks(path.read_text().splitlines(), comment):
                yield from (("comment", path, number, s) for s in split(text))
        for path in sorted(ROOT.glob(f"{folder}/**/*.cpp")):
            text = path.read_text()
            spans = [(m.end() - 1, call_end(text, m.end() - 1)) for m in MESSAGE.finditer(text)]
            for at, words in literals(text):
                kind = "error" if any(a < at < b for a, b in spans) else "help" if folder == "apps" else None
                if kind:
                    number = text.count("\n", 0, at) + 1
                    yield from ((kind, path, number, s) for s in split(words.replace("\\n", " ")))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    sentences = list(collect())
    for kind, path, number, text in random.Random(options.seed).sample(sentences, options.count):
        print(f"{path.relative_to(ROOT)}:{number} [{kind}]\n    {text}")


if __name__ == "__main__":
    main()
