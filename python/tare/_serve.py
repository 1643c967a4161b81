# SPDX-License-Identifier: BSD-3-Clause
"""The service of ``tare serve`` as a process beside Python."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from typing import IO, Any

from . import _core
from ._command import command
from ._estimator import QuantileEstimator, threads_of
from ._predictor import Predictor
from ._settings import device_of

_SECONDS_TO_STOP = 30.0
_OPTIONS = ("allow_host", "max_body", "max_buffered", "max_connections", "max_rows", "remember", "timeout", "watch", "watch_window")


class Service:
    """A running service: `tare.serve` makes it. It is a context manager, and ends with Python at the latest.

    Attributes
    ----------
    url : str
        Its address, such as http://127.0.0.1:40123; the page is there, predictions are at /v1/predict.
    port : int
    token : str or None
        What clients must send as ``Authorization: Bearer ...``.
    given_columns : list of str
        Columns of predictions that clients must send beside the features; empty if the model has its own.
    """

    def __init__(
        self, process: subprocess.Popen[str], folder: str, url: str, port: int, token: str | None, given_columns: list[str]
    ) -> None:
        self._process = process
        self.url = url
        self.port = port
        self.token = token
        self.given_columns = given_columns
        self._end = weakref.finalize(self, _end, process, folder)

    @property
    def headers(self) -> dict[str, str]:
        """Headers of a request: the token, where there is one."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Finishes the requests that have begun, and ends the service. A second call does nothing."""
        self._end()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<tare.Service: {self.url}{'' if self.running else ', stopped'}>"


def serve(
    model: Any,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    token: str | bool | None = None,
    send_predictions: bool = False,
    n_jobs: int | None = None,
    device: str = "auto",
    log: Any = None,
    start_timeout: float = 60.0,
    **options: Any,
) -> Service:
    """Starts ``tare serve`` for a model, and returns when it is ready.

    Parameters
    ----------
    model : path, or a fitted Calibrator or QuantileRegressor
        A model file, or a model, which is saved to a temporary file.
    host : str
        Address to listen on; '0.0.0.0' listens on all networks of this machine.
    port : int
        0 selects a free port.
    token : str, True or None
        What clients must send as ``Authorization: Bearer ...``; True makes one. None: whoever reaches the port may ask.
    send_predictions : bool
        The service cannot call a Python estimator. For a Calibrator around one, True states that clients send its predictions, in the columns
        `given_columns`.
    n_jobs : int or None
        Number of threads; None and -1 use all cores.
    device : str
        Where kernel weights are computed, as in `Calibrator`; it is not taken from the model.
    log : path or None
        File to which a line of JSON about each request is appended. None: nothing is kept.
    start_timeout : float
        Seconds to wait until the service is ready.
    **options
        Limits and monitoring: allow_host, max_body (KiB), max_buffered (MiB), max_connections, max_rows, remember, timeout (seconds), watch,
        watch_window. ``tare serve --help`` explains them.

    Returns
    -------
    Service

    Examples
    --------
    >>> import json, urllib.request, numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1)); y = X[:, 0] + rng.normal(size=300) * 0.1
    >>> model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}).fit(X, y)
    >>> with tare.serve(model) as service:
    ...     body = json.dumps({"rows": [{"x0": 0.5}], "interval": 0.9}).encode()
    ...     request = urllib.request.Request(service.url + "/v1/predict", body, {"Content-Type": "application/json"})
    ...     answer = json.load(urllib.request.urlopen(request))
    >>> sorted(answer["rows"][0])
    ['lower_0.9', 'upper_0.9']
    """
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"serve() has no argument {name!r}; it has model, host, port, token, n_jobs, device, log and {', '.join(_OPTIONS)}."
            )
    program = command()
    folder = tempfile.mkdtemp(prefix="tare-serve-")
    try:
        path, given = _model_file(model, send_predictions, folder)
        words = [program, "serve", path, "--host", str(host), "--port", str(port), "--json", "--log", "errors" if log is None else "all"]
        secret = secrets.token_urlsafe(24) if token is True else token or None
        if secret is not None:
            words += ["--token-file", _write_secret(folder, secret)]
        if threads_of(n_jobs) > 0:
            words += ["--threads", str(threads_of(n_jobs))]
        if device_of(device) != "auto":
            words += ["--device", device]
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}", ",".join(value) if isinstance(value, (list, tuple)) else str(value)]
        process, said = _start(words, log, start_timeout)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Service(process, folder, said["url"], said["port"], secret, given)


def _model_file(model: Any, send_predictions: bool, folder: str) -> tuple[str, list[str]]:
    """The model's file, and the columns of predictions that clients must send."""
    if isinstance(model, (str, os.PathLike)):
        path = os.path.abspath(os.fspath(model))
        core = _core.load_model(path)
        return path, core.schema.given_columns if core.schema else []
    if isinstance(model, Predictor):
        raise TypeError("a Predictor has a model file or a fitted model: pass that to serve.")
    if not isinstance(model, QuantileEstimator):
        raise TypeError(f"model must be the path of a model file, or a fitted Calibrator or QuantileRegressor, got {type(model).__name__}.")
    core = model._core_model()
    path = os.path.join(folder, "model.tare")
    core.save(path, False)
    given = _core.load_model(path).schema
    columns = given.given_columns if given else []
    wrapped = getattr(model, "estimator_", None)
    if columns and wrapped is not None and not send_predictions:
        raise ValueError(
            f"{model._title()} needs the predictions of {wrapped!r}, which the service cannot call: pass send_predictions=True, and "
            f"have clients send its predictions beside the features, in {_named(columns)}."
        )
    return path, columns


def _named(columns: list[str]) -> str:
    if len(columns) == 1:
        return f"the column {columns[0]!r}"
    return (
        f"the columns {columns[0]!r} to {columns[-1]!r} (estimator_.columns(X, len(X)))" if len(columns) > 2 else f"the columns {columns}"
    )


def _write_secret(folder: str, secret: str) -> str:
    if not secret.strip() or secret != secret.strip() or "\n" in secret or "\r" in secret:
        raise ValueError("token must be one line of text without blanks at its ends.")
    path = os.path.join(folder, "token")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(secret + "\n")
    return path


def _start(words: list[str], log: Any, seconds: float) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    with contextlib.ExitStack() as files:
        errors = subprocess.PIPE if log is None else files.enter_context(open(os.fspath(log), "a+", encoding="utf-8"))
        begin = 0 if isinstance(errors, int) else errors.tell()
        # A session of its own: Ctrl-C in Python is not meant for the service.
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        said: list[str] = []
        last: deque[str] = deque(maxlen=20)  # lines of the log
        reader = threading.Thread(target=lambda: said.append(_stream(process.stdout).readline()), daemon=True)
        drain = threading.Thread(target=lambda: last.extend(process.stderr or ()), daemon=True)  # or the service would wait for a reader
        try:
            reader.start()
            drain.start()
            reader.join(seconds)
            if reader.is_alive():
                raise TimeoutError(f"the service was not ready after {seconds:g} seconds (start_timeout).")
            if said and said[0]:
                return process, json.loads(said[0])
            process.wait(_SECONDS_TO_STOP)
            drain.join()
        except BaseException:
            process.kill()
            process.wait()
            raise
        if not isinstance(errors, int):
            errors.seek(begin)
            last.extend(errors)
    text = _in_python_words("".join(last).strip())
    raise RuntimeError(f"the service did not start: {text or f'it ended with status {process.returncode}'}")


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _in_python_words(text: str) -> str:
    """The tool's message, with arguments in place of its options."""
    text = re.sub(r"^error: ", "", text, flags=re.MULTILINE)
    return re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), text)


def _end(process: subprocess.Popen[str], folder: str) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    shutil.rmtree(folder, ignore_errors=True)
