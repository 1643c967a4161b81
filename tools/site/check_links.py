#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a built site: every link, picture, script and style of every page leads to a file of the site and every #place to an element, and
no page fetches anything from the network.

usage: tools/site/check_links.py SITE
Links to other sites are listed by --outside and not followed: a test does not depend on somebody else's server."""

from __future__ import annotations

import html.parser
import pathlib
import re
import sys
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field

# What a browser loads by itself, as opposed to what a reader follows.
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src"), ("object", "data"), ("image", "href")}
FOLLOWED = {("a", "href"), ("area", "href"), ("form", "action")}
_OUTSIDE = re.compile(r"(?i)(https?:)?//")
_IN_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)")


@dataclass
class Page(html.parser.HTMLParser):
    """The ids of a page and what it refers to, each with its line."""

    ids: set[str] = field(default_factory=set)
    twice: set[str] = field(default_factory=set)
    references: list[tuple[str, str, str, int]] = field(default_factory=list)  # tag, attribute, address, line

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name in ("id", "name") if tag == "a" else ("id",):
            if name in given:
                if name == "id" and given["id"] in self.ids:
                    self.twice.add(given["id"])
                self.ids.add(given[name])
        for name, value in given.items():
            if (tag, name) in LOADED | FOLLOWED and not (tag == "link" and given.get("rel") in ("canonical", "prev", "next")):
                self.references.append((tag, name, value, self.getpos()[0]))


def read(path: pathlib.Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def faults_of(site: pathlib.Path) -> Iterator[str]:
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site}: no page"
    for path, page in pages.items():
        name = path.relative_to(site)
        for twice in sorted(page.twice):
            yield f"{name}: two elements have the id '{twice}'"
        for tag, attribute, address, line in page.references:
            where = f"{name}:{line}: <{tag} {attribute}='{address}'>"
            loaded = (tag, attribute) in LOADED
            if _OUTSIDE.match(address):
                if loaded:
                    yield f"{where} is fetched from the network"
                continue
            if re.match(r"(data|mailto|javascript):", address):
                continue
            parts = urllib.parse.urlsplit(address)
            if path.name == "404.html" and parts.path.startswith("/"):
                parts = parts._replace(path=parts.path[1:])  # a server shows it at any address, so its own are from the top
            elif parts.path.startswith("/"):
                yield f"{where} does not work in a folder"
                continue
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                yield f"{where}: there is no such file"
            elif parts.fragment and there.suffix == ".html" and not loaded:
                target = pages.get(there)
                if target is not None and urllib.parse.unquote(parts.fragment) not in target.ids | {"__top"}:
                    yield f"{where}: there is no such place on the page"
    for path in sorted(site.rglob("*.css")):
        for address in _IN_STYLE.findall(path.read_text(encoding="utf-8")):
            if _OUTSIDE.match(address):
                yield f"{path.relative_to(site)}: {address} is fetched from the network"


def outside(site: pathlib.Path) -> list[str]:
    found = {
        address for path in site.rglob("*.html") for tag, _, address, _ in read(path).references if tag == "a" and _OUTSIDE.match(address)
    }
    return sorted(found)


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--outside"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    site = pathlib.Path(arguments[0]).resolve()
    if "--outside" in sys.argv[1:]:
        print("\n".join(outside(site)))
        return 0
    faults = list(faults_of(site))
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
