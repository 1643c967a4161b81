#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reference of C++ and of C, as pages, from the public headers: each declaration as it stands there, with its comment as text.

usage: tools/site/header_reference.py FOLDER   (writes cpp-api.md and c-api.md)
The headers are written to be read, so they are shown and not rendered; private members are left out."""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include"
# What a reader needs first, then in the order of the layers.
LAYERS = ("apply", "calibrate", "decide", "evaluate", "io", "data", "model", "math", "base")
ABOUT = {
    "apply": "Tables in, named answers out",
    "calibrate": "Methods, models and what they say about themselves",
    "decide": "Actions and costs",
    "evaluate": "Scores",
    "io": "Tables",
    "data": "Columns, and problems with a known distribution",
    "model": "Point models",
    "math": "Kernels",
    "base": "Errors, levels, matrices, randomness, threads",
}
_NAME = re.compile(
    r"^(?:TARE_C_API\s+)?(?:template\s*<[^>]*>\s*)?(?:typedef\s+)?(?:(?:class|struct|enum(?:\s+class)?)\s+(?P<type>\w+)"
    r"|using\s+(?P<alias>\w+)|#define\s+(?P<macro>\w+)"
    r"|inline constexpr [\w:<>, ]+?\s(?P<constant>\w+)\s*(?:\[\])?\s*[={]"
    r"|.*?(?P<function>[~\w]+|operator\W+)\s*\()",
    re.S,
)


@dataclass
class Entry:
    """A declaration with the comment above it. Declarations without one belong to the entry before."""

    name: str
    comment: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


@dataclass
class Section:
    title: str
    entries: list[Entry] = field(default_factory=list)


def depth_of(text: str) -> int:
    """How many brackets are open at the end, comments and texts aside."""
    bare = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "", text, flags=re.S)
    return sum(bare.count(mark) for mark in "({[") - sum(bare.count(mark) for mark in ")}]")


def body_of(header: pathlib.Path) -> list[str]:
    """The lines with declarations: without licence, includes, guards and the namespace around them."""
    lines = header.read_text(encoding="utf-8").splitlines()
    kept = []
    skipping = 0
    for line in lines:
        if re.match(r"#\s*if(n?def)?\b", line):
            skipping += not line.endswith("_H")
        elif re.match(r"#\s*endif\b", line):
            skipping -= skipping > 0
        elif skipping or re.match(r"(//|/\*) SPDX|#pragma|#include|#\s*(else|elif)\b|#define \w+_H$|}\s*//\s*namespace|namespace ", line):
            continue
        else:
            kept.append(line)
    return kept


def without_private(code: list[str]) -> list[str]:
    """A class as its users see it."""
    shown = []
    hidden = False
    for line in code:
        if line.strip() in ("private:", "protected:"):
            hidden = True
        elif line.strip() == "public:" or re.match(r"};", line):
            hidden = False
        if not hidden and line.strip() != "private:":
            shown.append(line)
    while len(shown) > 1 and not shown[-2].strip():
        del shown[-2]
    return shown


def text_of_comment(lines: list[str]) -> list[str]:
    """The words of //, /// and /* */ comments."""
    return [re.sub(r"^\s*(///?|/\*+|\*/|\*)\s?", "", line).removesuffix("*/").rstrip() for line in lines]


def sections_of(header: pathlib.Path) -> list[Section]:
    found = [Section("")]
    comment: list[str] = []
    code: list[str] = []
    in_comment = False
    for line in body_of(header):
        if not code and (in_comment or re.match(r"\s*(//|/\*)", line)):
            title = re.match(r"/\* --- (.*?) -*\s*\*/$", line)
            if title is not None:
                found.append(Section(title[1]))
                continue
            comment.append(line)
            in_comment = "/*" in line and "*/" not in line if not in_comment else "*/" not in line
            continue
        if not code and not line.strip():
            # A comment that stands alone is about what follows as a whole.
            if comment and not found[-1].entries:
                found[-1].entries.append(Entry("", text_of_comment(comment)))
            comment = []
            continue
        code.append(line)
        whole = "\n".join(code)
        if whole.startswith("#define") or (depth_of(whole) == 0 and re.search(r"(;|})\s*(//.*|/\*.*\*/)?$", line)):
            add(found[-1], comment, without_private(code))
            comment, code = [], []
    if code:
        raise ValueError(f"{header}: no end of the declaration that begins with '{code[0]}'")
    return found


def add(section: Section, comment: list[str], code: list[str]) -> None:
    whole = "\n".join(code)
    if re.match(r"(struct|class|enum)[^{(]*;$", whole):
        return  # says only that it exists
    named = _NAME.match(whole)
    name = next((part for part in named.groups() if part), "") if named is not None else ""
    if not name:
        raise ValueError(f"no name in the declaration '{whole}'")
    # A typedef of an opaque handle introduces the functions after it.
    previous = section.entries[-1] if section.entries else None
    if previous is not None and previous.name == name and not comment:
        previous.code += code
        return
    section.entries.append(Entry(name, text_of_comment(comment), code))


def lines_of(sections: list[Section], language: str, heading: str) -> Iterator[str]:
    for section in sections:
        if section.title:
            yield from (f"{heading} {section.title}", "")
        level = heading + "#" if section.title else heading
        for entry in section.entries:
            if entry.name:
                yield from (f"{level} `{entry.name}`", "")
            yield from ("\n".join(escaped(line) for line in entry.comment).strip(), "")
            if entry.code:
                yield from (f"```{language}", *entry.code, "```", "")


def escaped(line: str) -> str:
    """Words of a comment as Markdown: names and formulas in it are not HTML and not emphasis."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if at % 2 else re.sub(r"([<>*_\[\]])", r"\\\1", part).replace("\\>", "&gt;") for at, part in enumerate(parts))


def cpp_page() -> str:
    lines = [
        "# C++: all headers",
        "",
        "What `#include <tare/tare.h>` brings, declaration by declaration, as the installed headers have it. [The short path](library.md)",
        "shows how the parts go together.",
        "",
    ]
    folders = {path.parent.name for path in (HEADERS / "tare").rglob("*.h")} - {"tare"}
    if folders != set(LAYERS):
        raise ValueError(f"folders of include/tare that are not on the page: {sorted(folders ^ set(LAYERS))}")
    for layer in LAYERS:
        lines += [f"## {ABOUT[layer]}", ""]
        for header in sorted((HEADERS / "tare" / layer).glob("*.h")):
            if header.name == "export.h":
                continue  # of use to the library alone
            entries = list(lines_of(sections_of(header), "cpp", "####"))
            if entries:
                lines += [f"### {header.relative_to(HEADERS).as_posix()}", "", *entries]
    return "\n".join(lines).rstrip() + "\n"


def c_page() -> str:
    header = HEADERS / "tare" / "c.h"
    lines = [
        "# C: all functions",
        "",
        "What `#include <tare/c.h>` declares. [The short path](library.md#c) shows how the parts go together.",
        "",
    ]
    sections = sections_of(header)
    sections[0].title = "Errors and versions" if not sections[0].title else sections[0].title
    # The comment at the top of the header is about all of it.
    first = sections[0].entries[0]
    if not first.name:
        lines += ["\n".join(escaped(line) for line in first.comment).strip(), ""]
        del sections[0].entries[0]
    return "\n".join([*lines, *lines_of(sections, "c", "##")]).rstrip() + "\n"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    (folder / "cpp-api.md").write_text(cpp_page(), encoding="utf-8")
    (folder / "c-api.md").write_text(c_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
