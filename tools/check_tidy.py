#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy (.clang-tidy) over the sources of a build by clang. usage: tools/check_tidy.py BUILD [-j JOBS] [--only TEXT]

The files of a layer are read together where the build compiles them together, which takes a third of the time."""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TIDY = "clang-tidy-19"


def cleaned(entry: dict[str, str]) -> dict[str, str]:
    """The entry without what stands before the compiler (ccache)."""
    words = shlex.split(entry["command"])
    first = next(k for k, word in enumerate(words) if re.search(r"clang\+\+[^/]*$", word))
    return {**entry, "command": shlex.join(words[first:])}


def run(build: pathlib.Path, file: str) -> tuple[str, int, str]:
    done = subprocess.run([TIDY, "--quiet", "-p", str(build), file], capture_output=True, text=True, check=False)
    return file, done.returncode, done.stdout + (done.stderr if done.returncode != 0 and not done.stdout else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--only", default="", help="only files whose path has this text")
    asked = parser.parse_args()

    entries = json.loads((asked.build / "compile_commands.json").read_text())
    entries = [cleaned(e) for e in entries if re.search(r"clang\+\+", e["command"]) and "cmake_pch" not in pathlib.Path(e["file"]).name]
    folder = asked.build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    files = [e["file"] for e in entries if asked.only in e["file"]]
    if not files:
        print(f"no file of {asked.build} has '{asked.only}' in its path", file=sys.stderr)
        return 2

    wrong = 0
    with ThreadPoolExecutor(asked.j) as pool:
        for file, code, text in pool.map(lambda f: run(folder, f), files):
            if code != 0:
                wrong += 1
                print(f"{file}:\n{text}")
    print(f"clang-tidy: {len(files)} files, {wrong} with findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
