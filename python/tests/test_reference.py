# SPDX-License-Identifier: BSD-3-Clause
"""docs/python-api.md is what tools/python_reference.py makes of the docstrings now."""

import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

import tare

TOOL = Path(__file__).resolve().parents[2] / "tools" / "python_reference.py"

if not TOOL.exists():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)


@pytest.fixture(scope="module")
def tool():
    found = importlib.util.spec_from_file_location("python_reference", TOOL)
    module = importlib.util.module_from_spec(found)
    sys.modules["python_reference"] = module
    found.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool):
    assert tool.PAGE.read_text(encoding="utf-8") == tool.reference(), "run tools/python_reference.py"


def test_the_page_has_all_public_names(tool):
    page = tool.reference()
    for name in tare.__all__:
        thing = getattr(tare, name)
        if inspect.isclass(thing) and thing.__module__.startswith("tare"):
            assert f"### `tare.{name}(" in page, name
            for method, value in vars(thing).items():
                if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, (property, classmethod))):
                    assert f"#### `{method}" in page, f"{name}.{method}"
        elif inspect.isfunction(thing):
            assert f"### `tare.{name}(" in page, name
        elif inspect.ismodule(thing):
            assert f"## tare.{name}\n" in page, name


def test_sections_entries_and_examples_of_a_docstring(tool):
    text = '''Does it.

    Parameters
    ----------
    a, b : int
        Two numbers,
        on two lines.
    c : str

    Examples
    --------
    >>> 1 + 1
    2
    '''
    assert "\n".join(tool.text_of(text)) == (
        "Does it.\n\n**Parameters**\n\n- `a`, `b` (int): Two numbers, on two lines.\n- `c` (str)\n\n**Examples**\n\n```pycon\n>>> 1 + 1\n2\n```"
    )
