# SPDX-License-Identifier: BSD-3-Clause
"""Which program tare Python starts, and how it is started."""

import os
import pathlib
import subprocess
import sys

import pytest

import tare
from tare import _command

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "scripts" / "tare"


def program(folder, text="#!/bin/sh\necho this one\n"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tare"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def nothing_inside(monkeypatch, tmp_path):
    monkeypatch.setattr(_command, "INSIDE", str(tmp_path / "none" / "tare"))
    monkeypatch.delenv("TARE_TOOL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


def test_the_program_inside_comes_first(monkeypatch, tmp_path):
    inside = program(tmp_path / "inside")
    monkeypatch.setattr(_command, "INSIDE", inside)
    monkeypatch.setenv("TARE_TOOL", program(tmp_path / "named"))
    monkeypatch.setenv("PATH", str(pathlib.Path(program(tmp_path / "path")).parent))
    assert _command.command() == inside


def test_then_the_variable_then_the_path(nothing_inside, monkeypatch, tmp_path):
    on_path = program(tmp_path / "path")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "empty"), str(tmp_path / "path")]))
    assert _command.command() == on_path
    named = program(tmp_path / "named")
    monkeypatch.setenv("TARE_TOOL", named)
    assert _command.command() == named


def test_a_wrong_variable_is_an_error(nothing_inside, monkeypatch, tmp_path):
    program(tmp_path / "path")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("TARE_TOOL", str(tmp_path / "path"))  # a folder
    with pytest.raises(FileNotFoundError, match=r"TARE_TOOL is '.*path', which is not a file that can be executed"):
        _command.command()


def test_no_program_says_what_to_do(nothing_inside, capsys):
    with pytest.raises(FileNotFoundError, match=r"pip install tare-quantiles.*TARE_TOOL"):
        _command.command()
    assert _command.run([]) == 127
    assert capsys.readouterr().err.startswith("error: the program tare is not inside the package")


def test_the_script_of_the_package_does_not_start_itself(nothing_inside, monkeypatch, tmp_path):
    program(tmp_path / "scripts", SCRIPT.read_text().replace("#!python", f"#!{sys.executable}", 1))
    monkeypatch.setenv("PATH", str(tmp_path / "scripts"))
    with pytest.raises(FileNotFoundError):
        _command.command()
    behind = program(tmp_path / "behind")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "scripts"), str(tmp_path / "behind")]))
    assert _command.command() == behind


@pytest.mark.parametrize("how", ["script", "module"])
def test_arguments_output_and_status_are_those_of_the_program(how, tmp_path, tool):
    if how == "script":
        start = [program(tmp_path, SCRIPT.read_text().replace("#!python", f"#!{sys.executable}", 1))]
    else:
        start = [sys.executable, "-m", "tare"]
    environment = {**os.environ, "TARE_TOOL": tool, "PYTHONPATH": str(pathlib.Path(tare.__file__).parents[1])}
    version = subprocess.run([*start, "--version"], env=environment, capture_output=True, text=True, check=True)
    assert tare.__version__ in version.stdout
    wrong = subprocess.run([*start, "no such command"], env=environment, capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr


def test_the_script_imports_neither_numpy_nor_the_package(tmp_path):
    """It shows what it had loaded when it started the program."""
    shown = "import os, sys\nos.execv = lambda *given: print([name for name in ('numpy', 'tare', 'sklearn') if name in sys.modules])\n"
    start = program(tmp_path / "bin", f"#!{sys.executable}\n{shown}{SCRIPT.read_text()}")
    environment = {**os.environ, "TARE_TOOL": program(tmp_path / "named"), "PYTHONPATH": str(pathlib.Path(tare.__file__).parents[1])}
    result = subprocess.run([start], env=environment, capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
