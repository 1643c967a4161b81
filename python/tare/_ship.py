# SPDX-License-Identifier: BSD-3-Clause
"""Models on their way to workers: once to each host, into a file that the processes of the host share. It knows no engine.

A `Shipped` is a name that tasks carry: a few bytes. The model itself lies in a file of the host's temporary folder. A process that does not find
the file fetches the bytes, while the others of its host wait, and checks them.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import pickle
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import _core

_lock = threading.Lock()
_open: dict[str, Any] = {}  # the models of this process, by digest
_made: set[str] = set()  # files of this process
_MOST_OPEN = 4
fetched = {"models": 0, "bytes": 0}  # what this process got from elsewhere


@dataclass(frozen=True)
class Shipped:
    """A model by its content."""

    digest: str
    size: int
    is_file: bool  # a model file, or a pickled estimator with a model of its own
    version: str
    name: str


def check_version(version: str) -> None:
    """Refuses to work for a client with another version of tare: its model may mean something else here."""
    if version != _core.version:
        raise RuntimeError(
            f"tare {_core.version} is installed on the worker {socket.gethostname()} (process {os.getpid()}), but the work was sent by tare "
            f"{version}: install the same version on the client and on all workers."
        )


def ship(model: Any) -> tuple[Shipped, bytes]:
    """`model`: a path, the bytes of a model file, or a fitted estimator of this package."""
    is_file, name = True, "model"
    if isinstance(model, (str, os.PathLike)):
        name = os.path.basename(os.fspath(model))
        _core.load_model(os.fspath(model))  # a file that is none is refused here and not on every worker
        with open(model, "rb") as file:
            content = file.read()
    elif isinstance(model, (bytes, bytearray)):
        content = bytes(model)
        _core.load_bytes(content)
    else:
        core = model._core_model()
        is_file = getattr(model, "estimator_", None) is None
        content = core.to_bytes() if is_file else pickle.dumps(model)
        name = type(model).__name__
    shipped = Shipped(hashlib.sha256(content).hexdigest(), len(content), is_file, _core.version, name)
    _keep(shipped, content)
    return shipped, content


def open_model(shipped: Shipped, fetch: Callable[[Shipped], bytes]) -> Any:
    """The model of this process: a core model or an estimator. `fetch` is called if no process of this host has the model."""
    check_version(shipped.version)
    with _lock:
        if shipped.digest not in _open:
            while len(_open) >= _MOST_OPEN:
                _open.pop(next(iter(_open)))
            content = _content(shipped, fetch)
            _open[shipped.digest] = _core.load_bytes(content) if shipped.is_file else pickle.loads(content)
        return _open[shipped.digest]


def _content(shipped: Shipped, fetch: Callable[[Shipped], bytes]) -> bytes:
    path = _path(shipped)
    content = _read(path, shipped)
    if content is not None:
        return content
    with _alone(path):  # of all processes of the host one fetches
        content = _read(path, shipped)
        if content is None:
            content = fetch(shipped)
            if hashlib.sha256(content).hexdigest() != shipped.digest:
                raise RuntimeError(f"the model {shipped.name} arrived with other bytes than were sent")
            fetched["models"] += 1
            fetched["bytes"] += len(content)
            _write(path, content)
    return content


def _keep(shipped: Shipped, content: bytes) -> None:
    path = _path(shipped)
    with _alone(path):
        if _read(path, shipped) is None:
            _write(path, content)


def _folder() -> str:
    folder = os.path.join(tempfile.gettempdir(), f"tare-models-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.stat(folder)
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(f"{folder} belongs to another user or others may write to it; remove it, or set TMPDIR to another folder")
    return folder


def _path(shipped: Shipped) -> str:
    return os.path.join(_folder(), f"{shipped.digest}.model")


def _read(path: str, shipped: Shipped) -> bytes | None:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    return content if hashlib.sha256(content).hexdigest() == shipped.digest else None


def _write(path: str, content: bytes) -> None:
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(partial, path)
    _made.add(path)


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    with open(path + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@atexit.register
def _clean() -> None:
    for path in _made:
        for name in (path, path + ".lock"):
            with contextlib.suppress(OSError):
                os.unlink(name)
