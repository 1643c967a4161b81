#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Uses an installed tare as a new user would: the import, a fit, the command, the service, the same model from Python and from the command.

    python python/tests/wheel_smoke.py

It runs with the Python into which tare is installed, needs nothing but NumPy, and ends with 1 at the first thing that does not work.
"""

from __future__ import annotations

import http.client
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings


def tool(*arguments: str, folder: str) -> str:
    """Runs the command that the installer put beside the interpreter, and gives what it printed."""
    script = os.path.join(sysconfig.get_path("scripts"), "tare")
    result = subprocess.run([script, *arguments], cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"tare {' '.join(arguments)} ended with {result.returncode}: {result.stderr}")
    return result.stdout


def check_import() -> str:
    started = time.perf_counter()
    import tare
    import tare._command

    seconds = time.perf_counter() - started
    inside = pathlib.Path(tare.__file__).parent
    assert tare._command.command() == str(inside / "bin" / "tare"), tare._command.command()
    assert (inside / "py.typed").exists() and (inside / "_core.pyi").exists()
    # A repaired wheel brings libraries of its own, and then none of them is the machine's.
    maps = pathlib.Path("/proc/self/maps")
    if (inside.parent / "tare_quantiles.libs").exists() and maps.exists():
        for name in ("libxgboost", "libdmlc", "libfmt", "libhwy"):
            for line in maps.read_text().splitlines():
                assert f"/{name}" not in line or "tare_quantiles.libs" in line, line
    return f"import {seconds:.2f} s"


def check_fit() -> None:
    """Without a model, with one, and with a forest that XGBoost trains."""
    import numpy as np

    import tare

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 2))
    y = np.sin(6 * X[:, 0]) + rng.normal(size=600) * (0.1 + X[:, 1])
    model = tare.Calibrator(lambda X: np.sin(6 * X[:, 0])).calibrate(X[:400], y[:400])
    low, high = model.predict_interval(X[400:], confidence_level=0.9).T
    covered = float(np.mean((low <= y[400:]) & (y[400:] <= high)))
    assert 0.8 <= covered <= 1.0, covered
    forest = tare.QuantileRegressor("nrc_rf", random_state=0).fit(X, y)
    assert np.isfinite(forest.predict_quantiles(X, [0.1, 0.9])).all()


def check_command(folder: str) -> None:
    """The tool's answers, bit for bit, are those of Python on the tool's model."""
    import numpy as np

    import tare

    assert tare.__version__ in tool("--version", folder=folder)
    shown = subprocess.run([sys.executable, "-m", "tare", "--version"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert tare.__version__ in shown
    assert "NRC (local)" in tool("demo", folder=folder)
    tool("demo", "--write", "rows.csv", "--rows", "400", folder=folder)
    tool("fit", "rows.csv", "--target", "y", "--method", "nrc_rf", "-o", "m.tare", folder=folder)
    answers = tool("predict", "m.tare", "rows.csv", "--levels", "0.1,0.9", folder=folder).splitlines()
    assert answers[0] == "q0.1,q0.9", answers[0]
    printed = np.array([[float(cell) for cell in line.split(",")] for line in answers[1:]])
    loaded = tare.QuantileRegressor.load(os.path.join(folder, "m.tare"))
    with open(os.path.join(folder, "rows.csv")) as file:
        names = file.readline().strip().split(",")
        columns = np.array([[float(cell) for cell in line.split(",")] for line in file])
    X = columns[:, [place for place, name in enumerate(names) if name != "y"]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        answered = loaded.predict_quantiles(X, [0.1, 0.9])
    assert np.array_equal(printed, answered), "the tool and Python do not agree"


def check_service(folder: str) -> None:
    script = os.path.join(sysconfig.get_path("scripts"), "tare")
    service = subprocess.Popen(
        [script, "serve", "m.tare", "--port", "0", "--quiet"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert service.stdout is not None
        address = service.stdout.readline().strip()
        connection = http.client.HTTPConnection("127.0.0.1", int(address.rstrip("/").rsplit(":", 1)[1]), timeout=20)
        for path, found in (("/readyz", b""), ("/", b"<!doctype html"), ("/v1/model", b"nrc_rf")):
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200 and found in body.lower(), f"{path}: {answer.status} {body[:200]!r}"
        service.send_signal(signal.SIGTERM)
        assert service.wait(20) == 0, service.returncode
    finally:
        if service.poll() is None:
            service.kill()


def main() -> int:
    imported = check_import()
    check_fit()
    with tempfile.TemporaryDirectory() as folder:
        check_command(folder)
        check_service(folder)
    print(f"Python {sys.version.split()[0]}: {imported}; fit, command, demo, service: all work")
    return 0


if __name__ == "__main__":
    sys.exit(main())
