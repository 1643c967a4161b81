#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that all places which name tare's version agree (docs/releasing.md).

    tools/check_version.py            the header, the citation and the changelog
    tools/check_version.py v1.2.3     and the tag, for a release: the changelog's section then has a date

Ends with 1 and a line for each fault.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

TAG = re.compile(r"v(\d+\.\d+\.\d+)")
SECTION = re.compile(r"^## (?P<version>\S+) \((?P<date>[^)]*)\)$", re.MULTILINE)
HEADER = "include/tare/base/version_macros.h"


def header_version(root: pathlib.Path, faults: list[str]) -> str:
    """The version of the header; its text and its three numbers must agree."""
    text = (root / HEADER).read_text(encoding="utf-8")
    numbers = [re.search(rf"^#define TARE_VERSION_{part} (\d+)$", text, re.MULTILINE) for part in ("MAJOR", "MINOR", "PATCH")]
    whole = re.search(r'^#define TARE_VERSION "([^"]*)"$', text, re.MULTILINE)
    found = ".".join(number[1] if number else "?" for number in numbers)
    if whole is None or whole[1] != found:
        faults.append(f"{HEADER}: TARE_VERSION is {whole[1] if whole else 'missing'}, and its numbers are {found}")
    return found


def check(root: pathlib.Path, tag: str | None) -> list[str]:
    faults: list[str] = []
    version = header_version(root, faults)

    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        faults.append(f"CITATION.cff: version is {cited[1] if cited else 'missing'}, and {HEADER} says {version}")

    section = SECTION.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if section is None or section["version"] != version:
        newest = section["version"] if section else "missing"
        faults.append(f"CHANGELOG.md: the newest section is {newest}, and {HEADER} says {version}; write '## {version} (unreleased)'")
    elif section["date"] != "unreleased" and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", section["date"]):
        faults.append(f"CHANGELOG.md: '({section['date']})' is neither a date such as (2026-01-31) nor (unreleased)")

    if tag is None:
        return faults
    named = TAG.fullmatch(tag)
    if named is None:
        faults.append(f"the tag {tag} is not of the form v1.2.3")
    elif named[1] != version:
        faults.append(f"the tag {tag} names another version than {HEADER}, which says {version}")
    if section is not None and section["date"] == "unreleased":
        faults.append(f"CHANGELOG.md: section {section['version']} is '(unreleased)'; a release has its date there")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tag", nargs="?", help="the tag of a release, such as v1.2.3")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    faults = check(options.root, options.tag)
    print("\n".join(faults) if faults else "version: every place names the same")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
