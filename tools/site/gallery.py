#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the notebooks of docs/gallery and writes their pages, figures and .ipynb files.

usage: tools/site/gallery.py FOLDER [NAME...]   (writes gallery/; NAME: only these notebooks)
A notebook is a Python file in the percent format of Jupytext: '# %% [markdown]' begins text, '# %%' code, and '# %% alt="..."' code whose
figure has this description. It runs in a folder of its own. One that reads TARE_DATA is shown without its output where that is not set."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import figures
import jupytext
import nbclient
import nbformat

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "gallery"
LIMIT = 600  # seconds that a cell, or the start of a notebook, may take on a busy machine
PROCESSES = 2
# Before the first cell of a notebook, and not shown.
PREPARE = f"""
import matplotlib, matplotlib_inline.backend_inline as inline
inline.set_matplotlib_formats("svg", metadata={{"Date": None}})
import matplotlib.pyplot
matplotlib.rcParams.update({figures.STYLE!r})
import warnings
warnings.filterwarnings("error", message=".*findfont.*")
"""
MISSING = (
    '!!! warning "This notebook was not run"\n'
    "    The page was built on a machine without the datasets (`TARE_DATA` is not set), so its output and its figure are missing.\n"
)


@dataclass(frozen=True)
class Made:
    name: str
    title: str
    summary: str
    alt: str  # of its first figure; empty where it was not run
    seconds: float


def page_name(source: pathlib.Path) -> str:
    """01_house_prices.py is the page house-prices: the number is for the order."""
    return source.stem.partition("_")[2].replace("_", "-")


def title_and_summary(notebook: Any, source: pathlib.Path) -> tuple[str, str]:
    first = notebook.cells[0]
    found = re.match(r"# (?P<title>[^\n]+)\n\n(?P<summary>.+?)(\n\n|$)", first.source, re.S) if first.cell_type == "markdown" else None
    if found is None:
        raise ValueError(f"{source.name}: the first cell must be text: a title and a paragraph that sums up")
    return found["title"], found["summary"].replace("\n", " ")


def run(source: pathlib.Path, folder: pathlib.Path) -> Made:
    name = page_name(source)
    notebook = jupytext.read(source)
    if "SPDX-License-Identifier" in notebook.cells[0].source and notebook.cells[0].source.count("\n") == 0:
        del notebook.cells[0]
    title, summary = title_and_summary(notebook, source)
    needs_data = "TARE_DATA" in source.read_text(encoding="utf-8")
    executed = bool(os.environ.get("TARE_DATA")) or not needs_data
    begun = time.monotonic()
    work = folder / "files" / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if executed:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(PREPARE))
        client = nbclient.NotebookClient(
            notebook, timeout=LIMIT, startup_timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": str(work)}}
        )
        try:
            client.execute(stderr=subprocess.DEVNULL)  # of the kernel itself; what a cell writes there comes with its output
        except nbclient.exceptions.CellExecutionError as error:
            raise RuntimeError(f"docs/gallery/{source.name}: {error}") from None
        del notebook.cells[0]
    text, alt = page_of(notebook, name, folder, source)
    if not executed:
        text = text.replace("\n\n", "\n\n" + MISSING + "\n", 1)
        text = re.sub(r"\[([^\]]+)\]\(files/[^)]*\)", r"\1", text)  # it has written no file
        print(f"docs/gallery/{source.name}: not run, TARE_DATA is not set")
    elif not alt:
        raise ValueError(f"docs/gallery/{source.name}: no figure")
    # What a notebook writes is kept where its page links to it.
    for path in sorted(work.iterdir()):
        if f"files/{name}/{path.name}" not in text:
            path.unlink() if path.is_file() else shutil.rmtree(path)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / f"{name}.ipynb")
    text += f"\n[This notebook with its output]({name}.ipynb), for Jupyter.\n"
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return Made(name, title, summary, alt, time.monotonic() - begun)


def page_of(notebook: Any, name: str, folder: pathlib.Path, source: pathlib.Path) -> tuple[str, str]:
    """The Markdown of a page, and the description of its first figure."""
    parts: list[str] = []
    first = ""
    drawn = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                alt = cell.metadata.get("alt", "")
                if not alt:
                    raise ValueError(f"docs/gallery/{source.name}: a figure without a description: begin its cell with '# %% alt=\"...\"'")
                drawn += 1
                place = name if drawn == 1 else f"{name}-{drawn}"
                figures.write("".join(data["image/svg+xml"]), folder / "figures", place)
                first = first or alt
                parts.append(figures.markdown(f"figures/{place}", alt))
            elif output.output_type == "stream" and output.name == "stdout":
                parts.append(f'```text title="Output"\n{output.text.rstrip()}\n```')
            elif output.output_type == "stream":
                raise ValueError(f"docs/gallery/{source.name}: something on standard error: {output.text}")
            elif "text/plain" in data and not data["text/plain"].startswith("<"):
                parts.append(f'```text title="Output"\n{data["text/plain"]}\n```')
    return "\n\n".join(parts) + "\n", first


def index(made: list[Made]) -> str:
    lines = [
        "# Gallery",
        "",
        "Notebooks that ran when this page was built, each with one picture that tells its story. The data are real where that can be had",
        "without a network; where rows are drawn from a stated process, the notebook says so.",
        "",
        '<div class="cards" markdown>',
        "",
    ]
    for entry in made:
        picture = figures.markdown(f"figures/{entry.name}", "") if entry.alt else ""
        lines += [
            '<section class="card" markdown>',
            "",
            picture,
            "",
            f"## [{entry.title}]({entry.name}.md)",
            "",
            entry.summary,
            "",
            "</section>",
            "",
        ]
    return "\n".join([*lines, "</div>", ""])


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]) / "gallery"
    wanted = set(sys.argv[2:])
    sources = [path for path in sorted(SOURCES.glob("[0-9]*_*.py")) if not wanted or path.stem in wanted or page_name(path) in wanted]
    if not sources:
        sys.exit(f"no notebook in {SOURCES}")
    if not wanted:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ProcessPoolExecutor(PROCESSES) as pool:
        made = list(pool.map(run, sources, [folder] * len(sources)))
    if not wanted:
        (folder / "index.md").write_text(index(made), encoding="utf-8")
        (folder / "order.txt").write_text("".join(f"{entry.name}\n" for entry in made), encoding="utf-8")
    for entry in made:
        print(f"gallery: {entry.name}, {entry.seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
