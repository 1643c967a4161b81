# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tare``: the program inside the package, and how it is started.

It imports nothing but the standard library, so that the script ``tare`` can load this file without NumPy.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tare")
_COLUMN_FILES = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_MARK = b"_tare_command"  # in the script that an installer puts on PATH, which would call itself


def command() -> str:
    """The path of the program ``tare``.

    A wheel has the program inside the package. A package without it, such as the sources on ``PYTHONPATH``, takes the file that the environment
    variable ``TARE_TOOL`` names, and without that the first ``tare`` on ``PATH``.

    Raises
    ------
    FileNotFoundError
        There is none, or ``TARE_TOOL`` names a file that cannot be executed.
    """
    if _is_program(INSIDE):
        return INSIDE
    named = os.environ.get("TARE_TOOL")
    if named:
        if _is_program(named):
            return os.path.abspath(named)
        raise FileNotFoundError(
            f"TARE_TOOL is {named!r}, which is not a file that can be executed; set it to the path of the program tare, or unset it"
        )
    for folder in os.get_exec_path():
        found = shutil.which("tare", path=folder)
        if found and not _is_our_script(found):
            return os.path.abspath(found)
    raise FileNotFoundError(
        f"the program tare is not inside the package ({INSIDE}) and not on PATH; install the wheel (pip install tare-quantiles), "
        "or build the program (make build) and set TARE_TOOL to its path"
    )


def run(arguments: Sequence[str]) -> int:
    """Replaces this process by the program, so that signals, input, output and exit status are the program's own.

    Returns where there is no program: 127, as a shell does. Arguments that name Parquet, Feather or Arrow files are read and written here
    (``_arrow_command.py``), with the program at work beside: then this process ends with the program's exit status.
    """
    try:
        program = command()
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 127
    _flush()
    if any(suffix in argument.lower() for argument in arguments for suffix in _COLUMN_FILES):
        formats = _beside("_arrow_command")
        if formats.is_for_us(arguments):
            _exit_at_once(int(formats.run(program, arguments)))
    os.execv(program, ["tare", *arguments])


def _exit_at_once(status: int) -> NoReturn:
    """Ends the process without taking the interpreter down. Threads of Arrow may still be releasing memory of Python's, and one that does so
    while the interpreter ends aborts the process after its work is done (apache/arrow issue 34314)."""
    with contextlib.suppress(BrokenPipeError):
        _flush()
    os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is where the caller has closed it
            stream.flush()


def _beside(name: str) -> Any:
    """A module of this folder, without the package around it, which would load NumPy."""
    spec = importlib.util.spec_from_file_location(f"_tare{name}", os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _is_our_script(path: str) -> bool:
    with open(path, "rb") as file:
        return _MARK in file.read(4096)
