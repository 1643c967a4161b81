# SPDX-License-Identifier: BSD-3-Clause
"""Online methods on real series, by `tare track`: tables in Markdown.

    TARE_DATA=FOLDER python3 bench/online_series.py build/tare              # everything; minutes
    TARE_DATA=FOLDER python3 bench/online_series.py build/tare --part series    # elec2 and climate only
    TARE_DATA=FOLDER python3 bench/online_series.py build/tare --part french --hours 0

elec2 and climate: snq with no option, and each reference method with every step that its authors try, absolute and signed scores; the best of each
by its mean Winkler score, which nobody knows beforehand. French spot prices of 2019: a stream for each hour of the day, warmed up
with the rows before 2019, without a forecast, beside the bounds that the authors of ACI on these data published for hour 0.
"""

import argparse
import csv
import gzip
import itertools
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIDENCE = 0.9
STRETCH = 100
STEPS = {
    "aci": ["0.1", "0.05", "0.01", "0.005", "0.0001"],
    "tracker": ["1", "0.5", "0.1", "0.05", "0.01", "0.005"],
    "pid": ["1", "0.5", "0.1", "0.05", "0.01", "0.005", "0"],
    "eci": ["1", "0.5", "0.1", "0.05", "0.01", "0.005"],
}
SCORES = ["absolute", "signed"]
WINDOWS = {"enbpi": ["50", "100", "300"], "trailing": ["50", "100", "300"]}
VARIANTS = ["eci", "cutoff", "integral"]


def reference_settings() -> list[tuple[str, dict[str, str]]]:
    """Every method with every setting that its authors try."""
    settings: list[tuple[str, dict[str, str]]] = []
    for method, steps in STEPS.items():
        variants = VARIANTS if method == "eci" else [""]
        for step, scores, variant in itertools.product(steps, SCORES, variants):
            options = {"step": step, "scores": scores}
            if variant:
                options["variant"] = variant
            settings.append((method, options))
    settings += [("dtaci", {"scores": scores}) for scores in SCORES]
    for method, windows in WINDOWS.items():
        settings += [(method, {"window": window}) for window in windows]
    return settings


class Figures:
    """What is said about the intervals of a stream."""

    def __init__(self, rows: list[tuple[float, float, float]]) -> None:
        inside = [low <= y <= high for low, high, y in rows]
        self.rows = len(rows)
        self.coverage = sum(inside) / len(rows)
        self.width = sum(high - low for low, high, _ in rows) / len(rows)
        penalty = 2 / (1 - CONFIDENCE)
        self.winkler = sum(
            high - low + penalty * (max(low - y, 0) + max(y - high, 0)) for low, high, y in rows
        ) / len(rows)
        stretches = [sum(inside[i : i + STRETCH]) / STRETCH for i in range(len(rows) - STRETCH + 1)]
        self.worst = min(stretches, default=math.nan)

    def cells(self) -> str:
        return f"{self.coverage:.3f} | {self.worst:.2f} | {self.width:.4g} | {self.winkler:.4g}"


def number(text: str) -> float:
    return float(text) if text else math.nan


def track(tool: str, path: Path, start: int, *more: str) -> Figures:
    """The intervals of `tare track` and their targets, for the rows after the start."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.csv"
        command = [tool, "track", str(path), "--target", "y", "--start", str(start), "--interval", str(CONFIDENCE)]
        command += ["--keep", "y", "-q", "-o", str(out), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        with out.open(newline="") as file:
            rows = [
                (number(row["lower_0.9"]), number(row["upper_0.9"]), float(row["y"]))
                for row in csv.DictReader(file)
            ]
    return Figures(rows)


def series(tool: str, data: Path) -> None:
    print("| series, forecaster | method | coverage | worst 100 rows | mean width | mean Winkler | snq / this |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, forecaster in itertools.product(["elec2", "climate"], ["ar", "prophet"]):
        path = data / f"{name}.csv"
        prediction = ["--prediction", f"f_{forecaster}"]
        own = track(tool, path, 300, *prediction)
        label = f"{name}, {forecaster}"
        print(f"| {label} | **snq** | {own.cells()} | 1 |", flush=True)
        best: dict[str, tuple[Figures, str]] = {}
        for method, options in reference_settings():
            sets = [part for key, value in options.items() for part in ("--set", f"{key}={value}")]
            found = track(tool, path, 300, *prediction, "--method", method, *sets)
            if method not in best or found.winkler < best[method][0].winkler:
                best[method] = (found, ", ".join(f"{key} {value}" for key, value in options.items()))
        for method, (found, text) in sorted(best.items(), key=lambda item: item[1][0].winkler):
            ratio = f"{own.winkler / found.winkler:.3f}" if math.isfinite(found.winkler) else ""
            print(f"| {label} | {method}: {text} | {found.cells()} | {ratio} |", flush=True)


def hour_file(rows: list[list[str]], header: list[str], hour: int, folder: Path) -> tuple[Path, int]:
    """A file with the rows of an hour, and the number of those before 2019."""
    hour_at, date_at = header.index("hour"), header.index("Date")
    chosen = [row for row in rows if float(row[hour_at]) == hour]
    path = folder / f"hour{hour}.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(chosen)
    return path, sum(row[date_at] < "2019-01-01" for row in chosen)


def published(data: Path, path: Path, start: int) -> Figures:
    """The bounds of the authors for the rows of 2019, hour 0."""
    with path.open(newline="") as file:
        targets = [float(row["y"]) for row in csv.DictReader(file)][start:]
    with (data / "french_prices_aci_2019_hour0.csv").open(newline="") as file:
        bounds = [(float(row["Y_inf"]), float(row["Y_sup"])) for row in csv.DictReader(file)]
    return Figures([(low, high, y) for (low, high), y in zip(bounds, targets, strict=True)])


def french(tool: str, data: Path, hours: list[int]) -> None:
    with gzip.open(data / "french_prices.csv.gz", "rt", newline="") as file:
        header, *rows = list(csv.reader(file))
    print("| hour of 2019 | method | coverage | worst 100 rows | mean width | mean Winkler |")
    print("|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for hour in hours:
            path, start = hour_file(rows, header, hour, Path(folder))
            print(f"| {hour} | snq | {track(tool, path, start, '--drop', 'Date,hour').cells()} |", flush=True)
            if hour == 0:
                print(f"| 0 | ACI of its authors | {published(data, path, start).cells()} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program tare")
    parser.add_argument("--part", choices=["all", "series", "french"], default="all")
    parser.add_argument("--hours", type=int, nargs="*", default=list(range(24)))
    options = parser.parse_args()
    data = Path(os.environ.get("TARE_DATA", "")) / "online"
    if "TARE_DATA" not in os.environ or not data.is_dir():
        print("skipped: the series are found through TARE_DATA, in its folder 'online'")
        return
    if options.part in ("all", "series"):
        series(options.tool, data)
    if options.part == "all":
        print()
    if options.part in ("all", "french"):
        french(options.tool, data, options.hours)


if __name__ == "__main__":
    main()
