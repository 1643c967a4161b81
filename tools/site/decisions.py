#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The list of decisions, from the headings of docs/decisions.

usage: tools/site/decisions.py FOLDER   (writes decisions/index.md)"""

from __future__ import annotations

import pathlib
import sys

DECISIONS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "decisions"


def page() -> str:
    lines = [
        "# Decisions",
        "",
        "Choices that would surprise a newcomer, each with its context, the alternatives that were measured, and what follows from it.",
        "",
    ]
    for path in sorted(DECISIONS.glob("[0-9]*.md")):
        heading = path.read_text(encoding="utf-8").splitlines()[0]
        number, _, title = heading.removeprefix("# ").partition(". ")
        if not heading.startswith("# ") or not number.isdigit():
            raise ValueError(f"{path}: the first line must be '# NUMBER. TITLE', and is '{heading}'")
        lines.append(f"- [{number}. {title}]({path.name})")
    return "\n".join(lines) + "\n"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]) / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
