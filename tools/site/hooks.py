# SPDX-License-Identifier: BSD-3-Clause
"""What MkDocs does not do by itself: pages that are made, and links from the documents to other files of the repository.

The documents are read in two places: in the repository, where a link to ../bench/RESULTS.md leads to that file, and on the site, which has no
repository behind it. A file outside of docs to which a page links therefore comes into the site as repository/PATH, Markdown as a page. Links
are written anew on the way; MkDocs then checks all of them. Pages under TARE_DOCS_MADE (tools/docs.sh) come from tools/site."""

from __future__ import annotations

import os
import pathlib
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE = "repository/"
# Optional pages have a place in the navigation, and appear there once their file exists.
OPTIONAL = (("Start", "Five minutes with R", "r.md"),)
_LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s]+)(?P<after>\))")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.M | re.S)


def made_folder() -> pathlib.Path:
    folder = os.environ.get("TARE_DOCS_MADE")
    if not folder:
        raise PluginError("TARE_DOCS_MADE is not set: build the site with 'make docs'")
    return pathlib.Path(folder)


def on_config(config: Any) -> Any:
    for section, title, page in OPTIONAL:
        if (ROOT / "docs" / page).exists() and page not in _pages_of(config.nav):
            place = next(entry[section] for entry in config.nav if section in entry)
            place.append({title: page})
    order = (made_folder() / "gallery" / "order.txt").read_text(encoding="utf-8").split()
    for entry in config.nav:
        if "Gallery" in entry:
            entry["Gallery"] = ["gallery/index.md", *(f"gallery/{name}.md" for name in order)]
    return config


def on_files(files: Any, config: Any) -> Any:
    for path in sorted(made_folder().rglob("*")):
        if path.is_file() and path.name != "order.txt":
            uri = path.relative_to(made_folder()).as_posix()
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    _remove_sources_of_notebooks(files)
    for uri in _pages_of(config.nav):
        if uri.startswith(OUTSIDE):
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / uri.removeprefix(OUTSIDE))))
    # A page that comes in may link to further files.
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        page = waiting.pop()
        for name in _files_outside(_repository_path(page.src_uri), page.content_string):
            if files.get_file_from_path(OUTSIDE + name) is None:
                file = File.generated(config, OUTSIDE + name, abs_src_path=str(ROOT / name))
                files.append(file)
                if file.is_documentation_page():
                    waiting.append(file)
    return files


def _pages_of(nav: Any) -> Iterator[str]:
    """The pages of a navigation, at any depth."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, (dict, list)):
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _pages_of(entry)


def _remove_sources_of_notebooks(files: Any) -> None:
    for file in list(files):
        if file.src_uri.startswith("gallery/") and file.src_uri.endswith(".py"):
            files.remove(file)


def _repository_path(uri: str) -> str:
    """Where a page is in the repository, or would be."""
    return uri.removeprefix(OUTSIDE) if uri.startswith(OUTSIDE) else "docs/" + uri


def _links(markdown: str) -> Iterator[re.Match[str]]:
    for at, part in enumerate(_CODE.split(markdown)):
        if at % 2 == 0:
            yield from _LINK.finditer(part)


def _target(page: str, link: str) -> tuple[str, str] | None:
    """The file of the repository to which a link leads, and the place in it; None for the web and for places of the same page."""
    path, _, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)), anchor


def _files_outside(page: str, markdown: str) -> Iterator[str]:
    for link in _links(markdown):
        target = _target(page, link["target"])
        if target is not None and not target[0].startswith("docs/") and (ROOT / target[0]).is_file():
            yield target[0]


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    own = page.file.src_uri
    where = _repository_path(own)

    def written_anew(link: re.Match[str]) -> str:
        target = _target(where, link["target"])
        if target is None:
            return link[0]
        path, anchor = target
        if path == "docs/decisions":
            path = "docs/decisions/index.md"
        uri = path.removeprefix("docs/") if path.startswith("docs/") else OUTSIDE + path
        there = posixpath.relpath(uri, posixpath.dirname(own) or ".")
        return f"{link['before']}{there}{'#' + anchor if anchor else ''}{link['after']}"

    parts = _CODE.split(_with_room_for_lists(markdown))
    return "".join(part if at % 2 else _LINK.sub(written_anew, part) for at, part in enumerate(parts))


def _with_room_for_lists(markdown: str) -> str:
    """A list right below a line of text is a list on GitHub; Python-Markdown needs a blank line before it."""
    lines: list[str] = []
    in_code = in_list = False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_item = re.match(r"([-*]|\d+\.) ", line) is not None
        if not in_code and is_item and not in_list and lines and lines[-1].strip():
            lines.append("")
        in_list = is_item or (in_list and (bool(line.strip()) or in_code))
        lines.append(line)
    return "\n".join(lines)
