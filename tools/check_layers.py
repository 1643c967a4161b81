#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a file includes a layer that its own layer must not know, or when two folders include each other.

Folders are compared at every depth: calibrate/snq with calibrate/nrc, and a folder's own files with those of a folder inside it."""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator

MAY_INCLUDE: dict[str, set[str]] = {
    "base": set(),
    "math": {"base"},
    "io": {"base"},
    "decide": {"io", "math", "base"},
    "data": {"io", "math", "base"},
    "index": {"math", "base"},
    "device": {"base"},
    "model": {"data", "io", "math", "base"},
    "online": {"io", "math", "base"},
    "calibrate": {"online", "device", "index", "model", "data", "io", "math", "base"},
    "apply": {"decide", "calibrate", "online", "data", "io", "math", "base"},
    "capi": {"evaluate", "apply", "calibrate", "model", "io", "base"},
    "evaluate": {"decide", "calibrate", "model", "data", "io", "math", "base"},
    "report": {"decide", "evaluate", "apply", "online", "calibrate", "data", "io", "base"},
    "serve": {"decide", "apply", "online", "calibrate", "index", "model", "data", "io", "math", "base"},
}
INCLUDE = re.compile(r'^\s*#include "([\w/.-]+)"')
MOST_FILES = 30

Path = pathlib.Path
Include = tuple[Path, int, Path]  # a file, a line of it, and the file that it includes


def sources(root: Path) -> Iterator[Path]:
    for top in ("src", "include", "apps"):
        yield from sorted(f for f in (root / top).rglob("*") if f.suffix in {".h", ".cpp"})


def target(root: Path, path: Path, name: str) -> Path | None:
    """The file that an include names, or None for one from outside."""
    for base in (root / "src", root / "include", root / "apps/cli", path.parent):
        if (base / name).is_file():
            return base / name
    return None


def layer_of(root: Path, path: Path) -> str | None:
    """base, math, ...; None for a program and for include/tare/tare.h."""
    parts = path.relative_to(root).parts
    at = {"src": 1, "include": 2}.get(parts[0])
    return parts[at] if at is not None and len(parts) > at + 1 else None


def wrong_layers(root: Path, includes: list[Include]) -> Iterator[str]:
    for path, number, found in includes:
        own, other = layer_of(root, path), layer_of(root, found)
        if own is None or other is None or own == other:
            continue
        if other not in MAY_INCLUDE[own]:
            yield f"{path.relative_to(root)}:{number}: {own} must not include {other}"


def folder_pair(root: Path, path: Path, found: Path) -> tuple[str, str] | None:
    """The two folders, side by side or one inside the other, between which an include goes; None within one folder."""
    own, other = path.parent.relative_to(root).parts, found.parent.relative_to(root).parts
    same = 0
    while same < min(len(own), len(other)) and own[same] == other[same]:
        same += 1
    if own == other:
        return None
    return "/".join(own[: same + 1]), "/".join(other[: same + 1])


def two_way_pairs(root: Path, includes: list[Include]) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for path, number, found in includes:
        pair = folder_pair(root, path, found)
        if pair is not None:
            seen.setdefault(pair, f"{path.relative_to(root)}:{number}")
    for (own, other), place in sorted(seen.items()):
        back = seen.get((other, own))
        if back is not None and own < other:
            yield f"{own} and {other} include each other: {place}, {back}"


def crowded_folders(root: Path) -> Iterator[str]:
    folders: dict[Path, list[Path]] = {}
    for path in sources(root):
        folders.setdefault(path.parent, []).append(path)
    for folder, files in sorted(folders.items()):
        if len(files) > MOST_FILES:
            yield f"{folder.relative_to(root)} has {len(files)} files, and {MOST_FILES} are the most"


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    includes: list[Include] = []
    for path in sources(root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            found = target(root, path, match[1]) if match else None
            if found is not None:
                includes.append((path, number, found))
    wrong = [*wrong_layers(root, includes), *two_way_pairs(root, includes), *crowded_folders(root)]
    print("\n".join(wrong) if wrong else "layers: every include points the right way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
