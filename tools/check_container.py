#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds packaging/container/Containerfile with buildah and tries what comes out, without a container engine.

    tools/check_container.py BUILD

Where the registry is out of reach, the base image is made from Debian's packages by mmdebstrap. The image then runs as its own configuration
says (user, entry point, arguments), in namespaces of its own with its root mounted read-only: /readyz must answer, a prediction must be that of
the tool, the health check must agree, nothing may be writable, and SIGTERM must end it with 0. Leaves the Debian packages, which the first
stage builds, in BUILD/container/deb. Both stages are built from a copy of the source, so that editing meanwhile does not compile it twice.
Needs root, as buildah mounts file systems. Ends with 77 where no package index is in reach.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
BASE = "docker.io/library/debian:12-slim"
PORT = 8080
NEW_ROWS = b"x\n1\n7\n"


class Builder:
    """buildah with a store of its own."""

    def __init__(self, work: pathlib.Path) -> None:
        self.work = work
        self.store = ["--root", str(work / "store"), "--runroot", str(work / "run")]
        # Overlays cannot be stacked on one, as where this runs inside a container: there layers are copied.
        below = subprocess.run(["stat", "--file-system", "--format=%T", str(work)], check=True, capture_output=True, text=True).stdout
        self.store += ["--storage-driver", "vfs" if below.startswith("overlay") else "overlay"]

    def call(self, *words: str, quiet: bool = False) -> str:
        done = subprocess.run(
            ["buildah", *self.store, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if quiet else None, text=True
        )
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, ["buildah", *words])
        return done.stdout.strip()

    def has(self, image: str) -> bool:
        return subprocess.run(["buildah", *self.store, "inspect", "--type", "image", image], capture_output=True).returncode == 0

    def make_base(self) -> None:
        if self.has(BASE):
            return
        try:
            subprocess.run(["buildah", *self.store, "pull", "--retry", "0", BASE], check=True, capture_output=True, timeout=60)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            print("the registry is out of reach: making the base image from Debian's packages")
        else:
            return
        file = self.work / "base.tar"
        suites = "deb http://deb.debian.org/debian bookworm main\ndeb http://deb.debian.org/debian-security bookworm-security main\n"
        # As in the image of the registry: no pages that nobody reads, and no wait for the disk after each file.
        options = [
            f"--dpkgopt={option}"
            for option in ("force-unsafe-io", "path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*/*.mo")
        ]
        command = ["mmdebstrap", "--quiet", "--variant=minbase", *options, "bookworm", str(file), "-"]
        done = subprocess.run(command, input=suites, text=True)
        if done.returncode != 0:
            print("skipped: neither the registry nor Debian's packages are in reach")
            sys.exit(77)
        name = self.call("from", "scratch")
        self.call("add", "--quiet", name, str(file), "/")
        self.call("commit", "--quiet", "--rm", name, BASE)
        file.unlink()

    def build(self, source: pathlib.Path, tag: str, *more: str) -> None:
        file = source / "packaging" / "container" / "Containerfile"
        command = ["bud", "--isolation", "chroot", "--format", "docker", "--layers", "--pull=never", "-t", tag, "-f", str(file)]
        # What it prints is long: a compiler's and apt's.
        with open(self.work / "build.log", "a", encoding="utf-8") as log:
            done = subprocess.run(["buildah", *self.store, *command, *more, str(source)], stdout=log, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            print((self.work / "build.log").read_text(encoding="utf-8", errors="replace")[-6000:])
            sys.exit(f"the Containerfile does not build: {self.work / 'build.log'}")

    def mounted(self, image: str) -> tuple[str, pathlib.Path]:
        name = self.call("from", "--pull-never", image)
        return name, pathlib.Path(self.call("mount", name))


def copy_source(to: pathlib.Path) -> None:
    """What git tracks or would track, which is what a clone gives to a builder."""
    shutil.rmtree(to, ignore_errors=True)
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)


def config_of(builder: Builder, image: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(builder.call("inspect", "--type", "image", image))["Docker"]["config"]
    return config


class Running:
    """The image as a process: a read-only root, its own user, no capability, /tmp and /state as empty file systems, /models mounted."""

    def __init__(self, root: pathlib.Path, config: dict[str, Any], models: pathlib.Path) -> None:
        user = config["User"].partition(":")[0]
        script = f"""set -e
mount --bind '{root}' '{root}'
mount --bind '{models}' '{root}/models'
mount -o remount,bind,ro '{root}/models'
mount -t tmpfs -o uid={user},mode=700 state '{root}/state'
mount -t tmpfs -o mode=1777 tmp '{root}/tmp'
mount -o remount,bind,ro '{root}'
exec "$@"
"""
        chroot = ["chroot", f"--userspec={config['User']}", str(root)]
        command = [*config["Entrypoint"], *config["Cmd"]]
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *self.capless(), *chroot, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.root = root
        self.chroot = chroot

    @staticmethod
    def capless() -> list[str]:
        # chroot needs its right once more, and gives it away with the user.
        return ["setpriv", "--no-new-privs", "--bounding-set=-all,+sys_chroot,+setuid,+setgid"]

    def inside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command beside the service: in its namespaces, as its user."""
        enter = ["nsenter", "--mount", "--target", str(self.process.pid), "--", *self.capless(), *self.chroot, *command]
        return subprocess.run(enter, capture_output=True, text=True)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -9


def ask(path: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data=body, headers={"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def wait_for_ready(running: Running) -> tuple[int, str]:
    for _ in range(100):
        if running.process.poll() is not None:
            sys.exit(
                f"the service ended with {running.process.returncode}: {running.process.stderr.read() if running.process.stderr else ''}"
            )
        try:
            return ask("/readyz")
        except OSError:
            time.sleep(0.2)
    sys.exit("the service does not answer /readyz")


def require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)
    print(f"  {what}")


def uid_of(process: int) -> str:
    with open(f"/proc/{process}/status", encoding="utf-8") as file:
        return next(line for line in file if line.startswith("Uid:")).split()[1]


def try_service(running: Running, config: dict[str, Any]) -> None:
    status, answer = wait_for_ready(running)
    require(status == 200, f"/readyz answers 200 ({answer.strip()})")
    uid = uid_of(running.process.pid)
    require(uid == config["User"].split(":")[0] and uid != "0", f"the service runs as user {uid}")
    for place in ("/x", "/usr/bin/x", "/models/x", "/etc/x"):
        refused = running.inside("/bin/sh", "-c", f"echo > {place}")
        require(refused.returncode != 0 and "Read-only file system" in refused.stderr, f"{place} cannot be written: read-only file system")
    wanted = running.inside("/usr/bin/tare", "predict", "/models/model.tare", "/models/new.csv", "--interval", "0.9")
    status, answer = ask("/v1/predict?interval=0.9", NEW_ROWS, "text/csv")
    require(
        status == 200 and len(answer.splitlines()) == 3 and answer == wanted.stdout, "its predictions are the tool's, to the last digit"
    )
    health = config["Healthcheck"]["Test"]
    require(health[0] == "CMD" and running.inside(*health[1:]).returncode == 0, "the health check of the image says healthy")
    broken = [word.replace("/readyz", "/nothing") for word in health[1:]]
    require(running.inside(*broken).returncode != 0, "and unhealthy for a path that answers 404")


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the Containerfile and tries the image.")
    parser.add_argument("build", type=pathlib.Path)
    work = parser.parse_args().build.resolve() / "container"
    work.mkdir(parents=True, exist_ok=True)
    (work / "build.log").unlink(missing_ok=True)
    if os.geteuid() != 0:
        sys.exit("needs root: buildah mounts file systems")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            sys.exit(f"port {PORT} is in use; the image listens there")
    builder = Builder(work)
    builder.make_base()
    source = work / "source"
    copy_source(source)
    builder.build(source, "tare-build", "--target", "build")
    builder.build(source, "tare")
    name, stage = builder.mounted("localhost/tare-build")
    shutil.rmtree(work / "deb", ignore_errors=True)
    shutil.copytree(stage / "deb", work / "deb")
    builder.call("rm", name)
    config = config_of(builder, "localhost/tare")
    name, root = builder.mounted("localhost/tare")
    unpacked = work / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", *map(str, (work / "deb").glob("tare_*.deb")), str(unpacked)], check=True)
    require(filecmp.cmp(root / "usr/bin/tare", unpacked / "usr/bin/tare", shallow=False), "the image has the tool of the Debian package")
    require(not list((root / "tmp").iterdir()), "the package itself is gone from the image")
    models = work / "models"
    shutil.rmtree(models, ignore_errors=True)
    models.mkdir()
    tool = str(work.parent / "tare")
    subprocess.run([tool, "demo", "--write", str(models / "rows.csv"), "--rows", "300"], check=True, capture_output=True)
    fit = [tool, "fit", str(models / "rows.csv"), "--target", "y", "--method", "nrc_boost", "-o", str(models / "model.tare")]
    subprocess.run(fit, check=True, capture_output=True)
    (models / "new.csv").write_bytes(NEW_ROWS)
    print("the image:")
    running = Running(root, config, models)
    try:
        try_service(running, config)
    finally:
        code = running.stop()
        builder.call("rm", name)
    require(code == 0, "SIGTERM ends it with 0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
