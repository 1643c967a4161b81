# SPDX-License-Identifier: BSD-3-Clause
"""How the figures of the site look: one set of colours for a light page, and the same figure in the colours of a dark one."""

from __future__ import annotations

import pathlib
import re
from typing import Any

# On white, and on the dark page's ground. Text has a contrast of 4.5 and more with its ground, lines of 3 and more.
COLOURS = {
    "#ffffff": "#1b2128",  # ground
    "#1b2733": "#e4e9ee",  # text
    "#55606c": "#a9b4bf",  # quiet text, axes
    "#d9dee4": "#3b4651",  # grid
    "#8a8f98": "#8a939d",  # noise, the rows
    "#2a6fb0": "#6cb0ec",  # the answer
    "#b45400": "#f3a25a",  # what it is compared with
    "#2c7a4b": "#74c794",  # the truth
    "#8b3fa0": "#cf97df",  # a third
}
STYLE: dict[str, Any] = {
    "figure.figsize": (6.2, 4.0),
    "figure.facecolor": "#ffffff",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "#ffffff",
    "axes.facecolor": "#ffffff",
    "axes.edgecolor": "#55606c",
    "axes.labelcolor": "#1b2733",
    "axes.titlecolor": "#1b2733",
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9dee4",
    "text.color": "#1b2733",
    "xtick.color": "#55606c",
    "ytick.color": "#55606c",
    "font.size": 12,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "svg.hashsalt": "tare",
    "svg.fonttype": "path",
}
_HEX = re.compile(r"#[0-9a-f]{6}\b")


def dark(svg: str) -> str:
    """The same figure on a dark page. A colour that is not in the table stays, and the caller is told by foreign_colours."""
    return _HEX.sub(lambda found: COLOURS.get(found[0], found[0]), svg)


def foreign_colours(svg: str) -> set[str]:
    """Colours of a figure that have no counterpart on a dark page."""
    return set(_HEX.findall(svg)) - set(COLOURS)


def write(svg: str, folder: pathlib.Path, name: str) -> None:
    """NAME.svg and NAME-dark.svg."""
    if foreign := foreign_colours(svg):
        raise ValueError(
            f"{name}: colours without a counterpart on a dark page: {', '.join(sorted(foreign))}; use those of tools/site/figures.py"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{name}-dark.svg").write_text(dark(svg), encoding="utf-8")


def markdown(path: str, alt: str) -> str:
    """Both figures; the theme shows the one that fits the page."""
    return f"![{alt}]({path}.svg#only-light)\n![{alt}]({path}-dark.svg#only-dark)"
