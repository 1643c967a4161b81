#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual pages of the tool from its --help texts: tare.1, and tare-COMMAND.1 for each command.

tools/make_man.py build/tare FOLDER
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys

COMMAND = re.compile(r"^  ([a-z][a-z-]*)  +\S", re.MULTILINE)


def help_of(tool: str, *words: str) -> str:
    # As wide as a manual page, whatever the terminal.
    return subprocess.run(
        [tool, *words, "--help"], check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "78"}
    ).stdout.strip("\n")


def commands_of(text: str) -> list[str]:
    """The names under 'Subcommands:' of the tool's help."""
    start = re.search(r"^(Subcommands|Commands|SUBCOMMANDS):$", text, re.MULTILINE)
    if start is None:
        sys.exit("the tool's help lists no commands")
    return COMMAND.findall(text[start.end() :])


def escaped(text: str) -> str:
    """Text as it stands, for a manual page: a backslash, a hyphen and a dot or quote at the start of a line mean something there."""
    lines = []
    for line in text.splitlines():
        line = (
            line.replace("\\", "\\e")
            .replace("-", "\\-")
            .replace("'", "\\(aq")
            .replace("`", "\\(ga")
            .replace("^", "\\(ha")
            .replace("~", "\\(ti")
        )
        lines.append("\\&" + line if line.startswith((".", "\\(aq")) else line)
    return "\n".join(lines)


def page(name: str, summary: str, body: str, version: str, also: list[str]) -> str:
    see = ",\n".join(f".BR {one} (1)" for one in also).replace(",\n", " ,\n")
    return f""".\\" SPDX-License-Identifier: BSD-3-Clause
.TH {name.upper()} 1 "" "tare {version}" "User Commands"
.SH NAME
{name} \\- {escaped(summary)}
.SH DESCRIPTION
.nf
{escaped(body)}
.fi
.SH SEE ALSO
{see}
"""


def first_line(text: str) -> str:
    line = text.splitlines()[0].strip().rstrip(".")
    return line[0].lower() + line[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the tool's manual pages from its --help texts.")
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([options.tool, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    whole = help_of(options.tool)
    commands = commands_of(whole)
    pages = {"tare": page("tare", first_line(whole), whole, version, [f"tare-{name}" for name in commands])}
    for name in commands:
        text = help_of(options.tool, name)
        pages[f"tare-{name}"] = page(f"tare-{name}", first_line(text), text, version, ["tare"])
    for name, text in pages.items():
        (options.folder / f"{name}.1").write_text(text, encoding="utf-8")
    print(f"{len(pages)} manual pages in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
