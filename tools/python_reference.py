#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/python-api.md, the reference of the Python package, from the docstrings in python/tare.

usage: tools/python_reference.py [--check]   (--check: compares, and ends with 1 if the page is out of date)
The sources are read and not imported: neither a build nor the libraries of the adapters are needed."""

from __future__ import annotations

import ast
import inspect
import pathlib
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "tare"
PAGE = ROOT / "docs" / "python-api.md"
# What a reader imports, and what to write above it.
MODULES = {
    "tare": "Estimators, functions and warnings.",
    "tare.metrics": "",
    "tare.options": "",
    "tare.plot": "",
    "tare.adapters": "",
    "tare.skpro": "",
    "tare.mlflow": "",
    "tare.dask": "",
    "tare.spark": "",
}
# Modules with classes that are named as others of `tare` itself, which it imports lazily.
NOT_OF_TARE = ("_no_sklearn.py", "_dask_boost.py", "_dask_calibrator.py")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Sources:
    """The modules of the package, and their classes and functions by name."""

    def __init__(self) -> None:
        self.trees = {
            path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))
        }
        self.defined: dict[str, ast.ClassDef | Function] = {}
        self.constants: dict[str, str] = {}
        for path, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and path not in NOT_OF_TARE:
                    self.defined.setdefault(node.name, node)
                elif (
                    isinstance(node, ast.Assign)
                    and isinstance(node.targets[0], ast.Name)
                    and isinstance(node.value, (ast.Constant, ast.Tuple))
                ):
                    self.constants.setdefault(node.targets[0].id, ast.unparse(node.value))

    def module(self, name: str) -> ast.Module:
        place = name.partition(".")[2].replace(".", "/")
        for path in (f"{place}.py", f"{place}/__init__.py" if place else "__init__.py"):
            if path in self.trees:
                return self.trees[path]
        raise KeyError(name)

    def find(self, tree: ast.Module, name: str) -> ast.ClassDef | Function | None:
        """A class or function of a module: its own, the one it imports, or, where imports are lazy, that of this name."""
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return node
            if (
                isinstance(node, ast.ImportFrom)
                and node.level == 1
                and any(name == alias.name and alias.asname is None for alias in node.names)
            ):
                source = self.trees.get(f"{node.module}.py")
                return self.find(source, name) if source is not None else self.defined.get(name)
        return self.defined.get(name)

    def public(self, tree: ast.Module) -> list[str]:
        for node in tree.body:
            if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
                return [str(name) for name in ast.literal_eval(node.value)]
        return [node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")]

    def methods(self, node: ast.ClassDef) -> dict[str, Function]:
        """Public methods, those of base classes of the package first."""
        found: dict[str, Function] = {}
        for base in node.bases:
            parent = self.defined.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(parent, ast.ClassDef):
                found.update(self.methods(parent))
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and member.name != "get_test_params":
                found[member.name] = member
        return found


def signature(node: Function, constants: dict[str, str], *, skip_first: bool) -> str:
    """The arguments and their defaults, without types; `constants` are the values of names."""
    arguments = node.args
    named = arguments.posonlyargs + arguments.args
    defaults: list[ast.expr | None] = [None] * (len(named) - len(arguments.defaults)) + list(arguments.defaults)
    shown = [_argument(arg.arg, default, constants) for arg, default in zip(named, defaults)][1 if skip_first else 0 :]
    if arguments.vararg is not None:
        shown.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        shown.append("*")
    shown += [_argument(arg.arg, default, constants) for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg is not None:
        shown.append(f"**{arguments.kwarg.arg}")
    return f"({', '.join(shown)})"


def _argument(name: str, default: ast.expr | None, constants: dict[str, str]) -> str:
    if default is None:
        return name
    value = ast.unparse(default)
    return f"{name}={constants.get(value, value)}"


def field_names(node: ast.ClassDef) -> str:
    """The arguments of a dataclass: its fields."""
    fields = [member.target.id for member in node.body if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)]
    return f"({', '.join(fields)})" if fields else ""


def decorated(node: Function, name: str) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == name for mark in node.decorator_list)


def text_of(docstring: str) -> Iterator[str]:
    """A docstring in NumPy's form as Markdown: sections as bold words, entries as lists, examples as blocks."""
    lines = inspect.cleandoc(docstring).splitlines()
    section = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and line and set(lines[at + 1]) == {"-"}:
            section = line
            yield f"**{section}**"
            yield ""
            at += 2
        elif line.startswith(">>>") or (line.startswith("    ") and section not in ("Parameters", "Attributes")):
            block = []
            while at < len(lines) and lines[at].strip():
                block.append(lines[at])
                at += 1
            yield "```pycon" if line.startswith(">>>") else "```text"
            yield from [inner.removeprefix("    ") for inner in block] if line.startswith("    ") else block
            yield "```"
        elif section in ("Parameters", "Attributes") and line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            about = []
            at += 1
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                about.append(lines[at].strip())
                at += 1
            names = ", ".join(f"`{part.strip()}`" for part in name.split(","))
            yield f"- {names}{f' ({kind})' if kind else ''}{': ' if any(about) else ''}{' '.join(part for part in about if part)}"
            if at < len(lines) and not lines[at - 1].strip():
                yield ""
        else:
            yield line
            at += 1


def entry(name: str, node: ast.ClassDef | Function, sources: Sources) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        start = next((member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "__init__"), None)
        yield f"### `{name}{signature(start, sources.constants, skip_first=True) if start is not None else field_names(node)}`"
    else:
        yield f"### `{name}{signature(node, sources.constants, skip_first=False)}`"
    yield ""
    yield from text_of(ast.get_docstring(node) or "")
    yield ""
    for method in sources.methods(node).values() if isinstance(node, ast.ClassDef) else ():
        about = ast.get_docstring(method)
        plain = (
            method.name
            if decorated(method, "property")
            else method.name + signature(method, sources.constants, skip_first=not decorated(method, "staticmethod"))
        )
        kind = " (property)" if decorated(method, "property") else " (class method)" if decorated(method, "classmethod") else ""
        yield f"#### `{plain}`{kind}"
        yield ""
        yield from text_of(about or "")
        yield ""


def reference() -> str:
    sources = Sources()
    lines = [
        "# The Python package: all classes and functions",
        "",
        "Made from the docstrings by `tools/python_reference.py`; a test compares. [tare from Python](python.md) explains how the",
        "parts go together, and the [tutorial](tutorial.md) starts from a frame. Functions that take",
        "`y_pred` and `y_std` in `**outside` take them for a `Calibrator` without an estimator.",
        "",
    ]
    for module, about in MODULES.items():
        tree = sources.module(module)
        lines += [f"## {module}", "", *(text_of(ast.get_docstring(tree) or "") if not about else [about]), ""]
        for name in sources.public(tree):
            node = sources.find(tree, name)
            if node is not None:
                lines += entry(f"{module}.{name}", node, sources)
    # One blank line at most between two lines.
    kept = [line.rstrip() for at, line in enumerate(lines) if line.strip() or (at > 0 and lines[at - 1].strip())]
    return "\n".join(kept).rstrip("\n") + "\n"


def main() -> int:
    page = reference()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text(encoding="utf-8") == page:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is out of date: run tools/python_reference.py")
        return 1
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
