#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the files for packagers are well formed and agree with the source: r/DESCRIPTION and packaging/.

    tools/check_packaging.py            this repository
    tools/check_packaging.py --root DIR another one

Every version is that of include/tare/base/version_macros.h, every option of CMake exists, the packages that a build needs are those of
tools/setup.sh, and required fields are there. Ends with 1 and a line for each fault. Needs PyYAML.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import yaml

Path = pathlib.Path
DEBIAN_ONLY = {"debhelper-compat", "python3"}  # of debian/control: what packages the build, not what it compiles
SETUP_ONLY = {"g++"}  # of tools/setup.sh: every build of Debian has it


def read(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def version_of(root: Path) -> str:
    found = re.search(r'^#define TARE_VERSION "([^"]*)"$', read(root, "include/tare/base/version_macros.h"), re.MULTILINE)
    if found is None:
        sys.exit("include/tare/base/version_macros.h has no TARE_VERSION")
    return found[1]


def known_options(root: Path) -> set[str]:
    return set(re.findall(r"^(?:option|set)\((TARE_\w+)", read(root, "CMakeLists.txt"), re.MULTILINE))


def wrong_options(root: Path, name: str) -> Iterator[str]:
    """Options that a file sets and CMakeLists.txt does not have."""
    used = set(re.findall(r"-D(TARE_\w+)|^\s+(?:tool|xgboost) (TARE_\w+)", read(root, name), re.MULTILINE))
    for option in sorted({a or b for a, b in used} - known_options(root)):
        yield f"{name}: CMakeLists.txt has no option {option}"


def fields(paragraph: str) -> dict[str, str]:
    """Of a paragraph of DESCRIPTION or debian/control; a line that starts with a blank goes on."""
    found: dict[str, str] = {}
    name = ""
    for line in paragraph.splitlines():
        if line.startswith((" ", "\t")):
            found[name] += "\n" + line.strip()
        elif ":" in line:
            name, _, text = line.partition(":")
            found[name] = text.strip()
    return found


def check_r(root: Path, version: str) -> Iterator[str]:
    have = fields(read(root, "r/DESCRIPTION"))
    for name in ("Package", "Title", "Version", "Authors@R", "Description", "License", "SystemRequirements"):
        if not have.get(name):
            yield f"r/DESCRIPTION: {name} is missing"
    if have.get("Version") != version:
        yield f"r/DESCRIPTION: the version is {have.get('Version')}, and the library's is {version}"


def rendered(text: str) -> str:
    """A recipe's text without Jinja: variables are replaced, and a function becomes its name."""
    values = dict(re.findall(r'\{% set (\w+) = "([^"]*)" %\}', text))
    text = re.sub(r"\{%.*?%\}", "", text)
    text = re.sub(r"\{\{ *(\w+) *\}\}", lambda found: values[found[1]], text)
    return re.sub(r"\{\{ *(\w+)\('([^']*)'[^}]*\}\}", r"\1_\2", text)


def check_conda(root: Path, version: str) -> Iterator[str]:
    name = "packaging/conda/meta.yaml"
    try:
        recipe: Any = yaml.safe_load(rendered(read(root, name)))
    except (yaml.YAMLError, KeyError) as error:
        yield f"{name}: {error}"
        return
    required = {
        "package": ["name", "version"],
        "source": ["path"],
        "build": ["number"],
        "requirements": ["build", "host", "run"],
        "test": ["commands"],
        "about": ["summary", "license", "license_file"],
    }
    for section, keys in required.items():
        for key in keys:
            if not isinstance(recipe, dict) or (recipe.get(section) or {}).get(key) in (None, "", []):
                yield f"{name}: {section}/{key} is missing"
    if isinstance(recipe, dict) and str((recipe.get("package") or {}).get("version")) != version:
        yield f"{name}: the version is {recipe['package'].get('version')}, and the library's is {version}"
    yield from wrong_options(root, "packaging/conda/build.sh")


def check_vcpkg(root: Path, version: str) -> Iterator[str]:
    name = "packaging/vcpkg/tare/vcpkg.json"
    try:
        manifest = json.loads(read(root, name))
    except json.JSONDecodeError as error:
        yield f"{name}: {error}"
        return
    for key in ("name", "version", "description", "license", "dependencies"):
        if not manifest.get(key):
            yield f"{name}: {key} is missing"
    if manifest.get("version") != version:
        yield f"{name}: the version is {manifest.get('version')}, and the library's is {version}"
    depended = [one if isinstance(one, str) else one.get("name", "") for one in manifest.get("dependencies", [])]
    if not all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one) for one in [*depended, manifest.get("name", "")]):
        yield f"{name}: a name has other characters than a-z, 0-9 and -"
    if depended != sorted(depended):
        yield f"{name}: the dependencies are not in the order of their names, as 'vcpkg format-manifest' writes them"
    port = "packaging/vcpkg/tare/portfile.cmake"
    text = read(root, port)
    for call in ("vcpkg_cmake_configure", "vcpkg_cmake_install", "vcpkg_cmake_config_fixup", "vcpkg_install_copyright"):
        if f"{call}(" not in text:
            yield f"{port}: {call} is missing"
    if text.count("(") != text.count(")"):
        yield f"{port}: parentheses do not match"
    for feature in re.findall(r"^    (\w+) TARE_", text, re.MULTILINE):
        if feature not in manifest.get("features", {}):
            yield f"{port}: the feature {feature} is not in vcpkg.json"
    yield from wrong_options(root, port)


def build_packages(root: Path) -> set[str]:
    """Debian packages of 'tools/setup.sh build'."""
    found = re.search(r'^packages="([^"]*)"$', read(root, "tools/setup.sh"), re.MULTILINE)
    return set(found[1].split()) if found else set()


def check_debian(root: Path, version: str) -> Iterator[str]:
    name = "packaging/debian/control"
    paragraphs = [fields(text) for text in read(root, name).split("\n\n") if text.strip()]
    if not paragraphs or "Source" not in paragraphs[0]:
        yield f"{name}: the first paragraph has no Source"
        return
    for key in ("Maintainer", "Build-Depends", "Standards-Version", "Section", "Priority"):
        if not paragraphs[0].get(key):
            yield f"{name}: {key} is missing"
    depends = {re.split(r"[ :(]", one.strip())[0] for one in paragraphs[0].get("Build-Depends", "").split(",") if one.strip()}
    needed = build_packages(root)
    for one in sorted(needed - SETUP_ONLY - depends):
        yield f"{name}: Build-Depends lacks {one}, which tools/setup.sh installs for a build"
    for one in sorted(depends - DEBIAN_ONLY - needed):
        yield f"{name}: Build-Depends has {one}, which tools/setup.sh does not install for a build"
    wanted = {"tare", f"libtare{'.'.join(version.split('.')[:2])}", "libtare-dev"}
    packages = {one.get("Package", "") for one in paragraphs[1:]}
    if packages != wanted:
        yield f"{name}: the packages are {sorted(packages)}; with this version's soname they are {sorted(wanted)}"
    for one in sorted(wanted):
        if not (root / f"packaging/debian/{one}.install").is_file():
            yield f"packaging/debian/{one}.install is missing"
    yield from wrong_options(root, "packaging/debian/rules")


def check_container(root: Path, _version: str) -> Iterator[str]:
    name = "packaging/container/Containerfile"
    text = re.sub(r"\\\n", " ", read(root, name))
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]
    if len(stages) < 2:
        yield f"{name}: the compiler must stay in a stage of its own"
        return
    last = stages[-1]
    user = re.findall(r"^USER (\S+)", last, re.MULTILINE)
    if not user or user[-1].split(":")[0] in {"0", "root"}:
        yield f"{name}: the service must not run as root; end with USER and a number"
    if "/readyz" not in "".join(re.findall(r"^HEALTHCHECK .*", last, re.MULTILINE)):
        yield f"{name}: the health check must ask for /readyz"
    if not re.search(r'^ENTRYPOINT \["', last, re.MULTILINE):
        yield f"{name}: ENTRYPOINT must be a list, so that the service gets SIGTERM itself"


CHECKS = (check_r, check_conda, check_vcpkg, check_debian, check_container)


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the files for packagers.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    version = version_of(root)
    faults = [fault for check in CHECKS for fault in check(root, version)]
    print("\n".join(faults) if faults else f"packaging: R, conda, vcpkg, Debian and container agree with version {version}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
