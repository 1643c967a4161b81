#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The leaderboard, from the tables of docs/results.md: each is sorted, with the rank of every method on every set.

usage: tools/site/leaderboard.py FOLDER   (writes leaderboard.md)
No figure is typed here. A table that is measured anew in docs/results.md is the new leaderboard; one whose heading is gone is an error."""

from __future__ import annotations

import pathlib
import re
import statistics
import sys
from dataclasses import dataclass

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results.md"


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: dict[str, list[str]]


@dataclass(frozen=True)
class Part:
    """A part of docs/results.md: its heading, the command that gave the figures, and its tables."""

    command: str
    tables: list[Table]


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables_of(lines: list[str]) -> list[Table]:
    found = []
    at = 0
    while at < len(lines):
        if lines[at].startswith("|") and at + 1 < len(lines) and re.match(r"\|[-:| ]+\|$", lines[at + 1]):
            columns = cells_of(lines[at])[1:]
            rows = {}
            at += 2
            while at < len(lines) and lines[at].startswith("|"):
                name, *cells = cells_of(lines[at])
                rows[name] = cells
                at += 1
            found.append(Table(columns, rows))
        at += 1
    return found


def part(text: str, heading: str, inside: str | None = None) -> Part:
    """The part under '## heading', or '### inside' of it; its command is the first of the '##' part."""
    sections = re.split(r"^## ", text, flags=re.M)
    section = next((section for section in sections if section.startswith(heading + "\n")), None)
    if section is None:
        raise ValueError(f"{RESULTS.name} has no heading '## {heading}'")
    command = next((line.strip() for line in section.splitlines() if line.startswith("    tare ")), "")
    if not command:
        raise ValueError(f"{RESULTS.name}: no command under '## {heading}'")
    if inside is not None:
        below = next((piece for piece in re.split(r"^### ", section, flags=re.M) if piece.startswith(inside + "\n")), None)
        if below is None:
            raise ValueError(f"{RESULTS.name}: no heading '### {inside}' under '## {heading}'")
        section = below
    tables = tables_of(section.splitlines())
    if not tables:
        raise ValueError(f"{RESULTS.name}: no table under '## {heading}'")
    return Part(command.partition("  #")[0].strip(), tables)


def number(cell: str) -> float | None:
    """The figure of a cell, without that of the paper in brackets; None for a dash."""
    found = re.match(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?", cell)
    return float(found[0].replace(",", "")) if found is not None else None


def ranks(values: list[float]) -> list[float]:
    """Rank 1 is the lowest; equal values share the mean of their ranks."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def ranked(table: Table, *, leave_out: tuple[str, ...] = ()) -> list[str]:
    """Methods by their mean rank over the sets, which the units of the sets do not change."""
    names = [name for name in table.rows if name not in leave_out]
    columns = []
    for at, column in enumerate(table.columns):
        values = [number(table.rows[name][at]) for name in names]
        missing = [name for name, value in zip(names, values) if value is None]
        if missing:
            raise ValueError(f"{RESULTS.name}: no figure in column '{column}' for {', '.join(missing)}")
        columns.append(ranks([value for value in values if value is not None]))
    means = {name: statistics.mean(column[at] for column in columns) for at, name in enumerate(names)}
    lines = [f"| | method | mean rank | {' | '.join(table.columns)} |", f"|---:|---|---:|{'---:|' * len(table.columns)}"]
    for place, name in enumerate(sorted(names, key=lambda name: means[name]), 1):
        shown = []
        for at, cell in enumerate(table.rows[name]):
            figure = cell.partition(" (")[0]
            best = columns[at][names.index(name)] == min(columns[at])
            shown.append(f"**{figure}**" if best else figure)
        lines.append(f"| {place} | {name} | {means[name]:.1f} | {' | '.join(shown)} |")
    return lines


def sorted_by(table: Table, column: int) -> list[str]:
    """A table of docs/results.md by one of its columns; rows without a figure come last."""

    def key(name: str) -> float:
        value = number(table.rows[name][column])
        return float("inf") if value is None else value

    lines = [f"| | method | {' | '.join(table.columns)} |", f"|---:|---|{'---:|' * len(table.columns)}"]
    for place, name in enumerate(sorted(table.rows, key=key), 1):
        lines.append(f"| {place} | {name} | {' | '.join(table.rows[name])} |")
    return lines


def turned(table: Table, row: str) -> list[str]:
    """One row of a table against the best other method on the same splits."""
    wanted = (row, "coverage of the 90 % interval", "best other method, same splits", "which", "95 % interval of that, paired")
    lines = [f"| set | {row} | its coverage at 90 % | best other | which | behind by (95 %) |", "|---|---:|---:|---:|---|---:|"]
    for at, column in enumerate(table.columns):
        lines.append(f"| {column} | {' | '.join(table.rows[name][at] for name in wanted)} |")
    return lines


def page(text: str) -> str:
    uci = part(text, "UCI-8, 14 methods", "CheckScore")
    default = part(text, "The default, `auto`, on UCI-8")
    every = part(text, "The default, `auto`, on UCI-8", "Every method on these splits")
    known = part(text, "Known laws: individual calibration, measured")
    lines = [
        "# Leaderboard",
        "",
        "The tables of [the results](results.md), sorted. `tools/site/leaderboard.py` makes this page when the site is built, so that it follows",
        "every table that is measured anew. Lower is better everywhere. Differences of a few per cent are noise: `tare compare` on your own",
        "file says which are not, and the [results](results.md) say what each table can and cannot show.",
        "",
        "## With a known conditional distribution: the error for each row",
        "",
        f"    {known.command}",
        "",
        "ICE is the mean over rows and levels of the distance between the level of a predicted quantile and the true probability below it, at",
        "each x. It can be computed where the distribution is known, and only there. Sorted by the mean over 17 problems at n = 10,000;",
        "[how to read it](results.md#known-laws-individual-calibration-measured).",
        "",
        *sorted_by(known.tables[0], 1),
        "",
        "## On real data: the default against the best other method",
        "",
        f"    {default.command}",
        "",
        "CheckScore, the mean pinball loss over 100 levels, of `auto` and of the best of 25 other methods on the same splits;",
        "[how it was measured](results.md#the-default-auto-on-uci-8).",
        "",
        *turned(default.tables[0], "`auto`, CheckScore"),
        "",
        "All of them with their defaults; **bold** is the lowest of a set. Sorted by the mean rank over the eight sets.",
        "",
        *ranked(every.tables[0]),
        "",
        "## On real data: the methods of the paper",
        "",
        f"    {uci.command}",
        "",
        "CheckScore with tuned options (`qrf`, `ngboost`, `idr`, `kqr` and `kernel_density` with their defaults), five splits,",
        "without `auto`; **bold** is the lowest of a set. Sorted by the mean rank over the eight sets;",
        "[how it was measured, and the paper's own figures](results.md#uci-8-14-methods).",
        "",
        *ranked(uci.tables[0]),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    (pathlib.Path(sys.argv[1]) / "leaderboard.md").write_text(page(RESULTS.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
