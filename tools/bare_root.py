#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a folder to chroot into that has a Python, the libraries that the interpreter needs, those that every manylinux system has (the C and
C++ run-time libraries, zlib), and nothing else: no compiler, no shell, no library of tare's.

    tools/bare_root.py FOLDER --python PATH            a copy of an interpreter of this machine
    tools/bare_root.py FOLDER --debian sid python3.14  from Debian's packages, for versions that this machine lacks

Prints the path of the interpreter inside.
"""

from __future__ import annotations

import argparse
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

MIRROR = "http://deb.debian.org/debian"
PROMISED = ["libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"]
LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "config-3*", "__pycache__"
)
FACTS = "import sys, sysconfig; print(sys.executable, sys.base_prefix, sysconfig.get_path('stdlib'), sep='\\n')"


def needed(files: list[str]) -> Iterator[str]:
    """The shared libraries that these files load, and the loader itself."""
    for file in files:
        listed = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
        yield from re.findall(r"(/\S+) \(0x", listed)


def promised_libraries() -> Iterator[str]:
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True, env={"PATH": "/sbin:/usr/sbin"}).stdout
    here = {"x86_64": "x86-64", "aarch64": "AArch64"}.get(os.uname().machine, "")
    for name in PROMISED:
        found = re.search(rf"^\s*{re.escape(name)} \([^)]*{here}[^)]*\) => (\S+)", known, re.MULTILINE)
        if found:
            yield found[1]


def copy_interpreter(root: pathlib.Path, python: str) -> str:
    facts = subprocess.run([python, "-I", "-c", FACTS], capture_output=True, text=True, check=True).stdout
    executable, prefix, library = facts.splitlines()
    # That of a virtual environment leads to the one that it was made with.
    real = os.path.realpath(executable)
    inside = os.path.join(prefix, "bin", os.path.basename(real))
    shutil.copytree(library, root / library[1:], ignore=LEFT_OUT, symlinks=True)
    (root / inside[1:]).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(real, root / inside[1:])
    modules = [str(path) for path in pathlib.Path(library, "lib-dynload").glob("*.so") if "tkinter" not in path.name]
    for file in {*needed([real, *modules]), *promised_libraries()}:
        target = root / file[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)
    (root / library[1:] / "site-packages").mkdir(exist_ok=True)
    return inside


def debian_packages(suite: str) -> dict[str, dict[str, str]]:
    machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    with urllib.request.urlopen(f"{MIRROR}/dists/{suite}/main/binary-{machine}/Packages.xz") as answer:
        text = lzma.decompress(answer.read()).decode()
    packages = {}
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", paragraph, re.MULTILINE))
        if fields:
            packages[fields["Package"]] = fields
    return packages


def from_debian(root: pathlib.Path, suite: str, name: str) -> str:
    """Unpacks the interpreter and all that it depends on; nothing is configured, as nothing in it has to be."""
    packages = debian_packages(suite)
    wanted = [f"{name}-minimal", f"lib{name}-stdlib", "libstdc++6", "zlib1g"]
    done: set[str] = set()
    # Debian's top-level folders are links into /usr, which the package base-files would make.
    for folder in ("bin", "lib", "lib64", "sbin"):
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    while wanted:
        package = wanted.pop()
        if package in done or package not in packages:
            continue
        done.add(package)
        fields = packages[package]
        file = root / "package.deb"
        urllib.request.urlretrieve(f"{MIRROR}/{fields['Filename']}", file)
        subprocess.run(f"dpkg-deb --fsys-tarfile {file} | tar -x --keep-directory-symlink -C {root}", shell=True, check=True)
        file.unlink()
        depended = ",".join(fields.get(kind, "") for kind in ("Depends", "Pre-Depends"))
        wanted += [re.split(r"[ :(|]", one.strip())[0] for one in depended.split(",") if one.strip()]
    (root / "usr" / "local" / "lib" / name / "dist-packages").mkdir(parents=True)
    return f"/usr/bin/{name}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes a folder to chroot into with nothing but a Python.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--python")
    parser.add_argument("--debian", nargs=2, metavar=("SUITE", "NAME"))
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    for folder in ("tmp", "dev", "proc"):
        (options.folder / folder).mkdir(parents=True)
    root = options.folder.resolve()
    # Programs write what nobody reads to /dev/null. Without the right to make a device a plain file takes it.
    if subprocess.run(["mknod", "-m", "666", str(root / "dev" / "null"), "c", "1", "3"], capture_output=True).returncode != 0:
        (root / "dev" / "null").touch()
    print(from_debian(root, *options.debian) if options.debian else copy_interpreter(root, options.python or sys.executable))
    return 0


if __name__ == "__main__":
    sys.exit(main())
