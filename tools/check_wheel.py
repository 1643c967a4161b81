#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what is inside wheels and source distributions of tare: all that is needed, nothing else, a licence for every library.

    tools/check_wheel.py FILE...

Ends with 1 and a line for each fault.
"""

from __future__ import annotations

import email.parser
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGEST = 25_000_000
# Beside the package's own Python files.
IN_A_WHEEL = [
    r"tare/_core\.(abi3|cpython-3\d+-\w+-linux-gnu)\.so",
    r"tare/_core\.pyi",
    r"tare/py\.typed",
    r"tare/bin/tare",
    r"DATA/scripts/tare",
]
MAY_BE = [r"tare_quantiles\.libs/lib[\w+-]+\.so[\d.]*", r"INFO/(METADATA|WHEEL|RECORD|licenses/.*|sboms/.*)", r".*/"]
IN_A_SOURCE = (
    "apps/",
    "cmake/",
    "experiments/",
    "include/",
    "python/CMakeLists.txt",
    "python/licenses/",
    "python/scripts/",
    "python/src/",
    "python/tare/",
    "src/",
)
IN_A_SOURCE_TOO = {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml"}


def tracked() -> list[str]:
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def check_wheel(path: pathlib.Path) -> Iterator[str]:
    if path.stat().st_size > LARGEST:
        yield f"{path.stat().st_size} bytes; the largest is {LARGEST}"
    if "manylinux" not in path.name:
        yield "the platform is not manylinux: repair it with auditwheel"
    with zipfile.ZipFile(path) as archive:
        info = next(name.split("/")[0] for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        names = [name.replace(info, "INFO").replace(info.replace(".dist-info", ".data"), "DATA") for name in archive.namelist()]
        metadata = email.parser.Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        notices = archive.read(f"{info}/licenses/python/licenses/README.md").decode()
        mode = archive.getinfo("tare/bin/tare").external_attr >> 16
    package = [name.removeprefix("python/") for name in tracked() if re.fullmatch(r"python/tare/.*\.py", name)]
    for wanted in IN_A_WHEEL + [re.escape(name) for name in package]:
        if sum(re.fullmatch(wanted, name) is not None for name in names) != 1:
            yield f"it has not exactly one {wanted}"
    for name in names:
        if name not in package and not any(re.fullmatch(pattern, name) for pattern in IN_A_WHEEL + MAY_BE):
            yield f"{name} does not belong there"
    for name in names:
        library = re.match(r"tare_quantiles\.libs/(lib[a-z+]+)", name)
        if library and f"`{library[1]}`" not in notices:
            yield f"{name}: python/licenses/README.md does not name {library[1]}"
    if not mode & 0o111:
        yield "tare/bin/tare is not executable"
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    if [re.split(r"[<>=! ]", line)[0] for line in required] != ["numpy"]:
        yield f"it requires {required}; NumPy is to be the only requirement"
    for named in metadata.get_all("License-File", []):
        if f"INFO/licenses/{named}" not in names:
            yield f"the licence {named} is missing"


def check_source(path: pathlib.Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        names = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
    files = set(tracked())
    for name in sorted(files):
        if (name.startswith(IN_A_SOURCE) or name in IN_A_SOURCE_TOO) and name not in names:
            yield f"{name} is missing"
    for name in sorted(names - files - {"PKG-INFO"}):
        yield f"{name} is not in the repository"


def main() -> int:
    faults = 0
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        for fault in check_wheel(path) if path.suffix == ".whl" else check_source(path):
            print(f"{path.name}: {fault}")
            faults += 1
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    return 1 if faults or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
