#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long `tare fit` takes without an option: wall and processor seconds and peak memory, on public files and on drawn rows.

    bench/auto_times.py build/tare --data DATA                        # boston.csv and power.csv of the folder DATA
    bench/auto_times.py build/tare --rows 100000 1000000              # ten drawn features; also the loss on new rows
    bench/auto_times.py build/tare --rows 10000 --columns 20 --set budget=quick

Use a quiet machine: tare uses all of its cores.
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

TARGETS = {"boston.csv": "MEDV", "power.csv": "PE"}
NEW_ROWS = 20_000


def draw(path: Path, rows: int, columns: int, seed: int) -> None:
    """Features are uniform; the mean depends on three of them, the standard deviation on three others."""
    rng = random.Random(seed)
    with path.open("w") as file:
        file.write(",".join([f"x{j}" for j in range(columns)] + ["y"]) + "\n")
        for _ in range(rows):
            x = [rng.random() for _ in range(columns)]
            mean = 10 * math.sin(math.pi * x[0] * x[1]) + 5 * x[5]
            spread = 0.2 + x[2] + 0.5 * x[3] * x[4]
            y = mean + spread * rng.gauss(0, 1)
            file.write(",".join([f"{value:.6f}" for value in x] + [f"{y:.6f}"]) + "\n")


def fit(tare: str, file: Path, target: str, model: Path, options: list[str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds, and peak MB of one fit."""
    start = time.monotonic()
    process = subprocess.Popen(
        [tare, "fit", str(file), "--target", target, "-o", str(model), "--force", "--quiet", *options]
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"the fit of {file} failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def loss_on_new_rows(tare: str, model: Path, new_rows: Path) -> str:
    scores = subprocess.run(
        [tare, "evaluate", str(model), str(new_rows), "--json"], check=True, capture_output=True, text=True
    )
    metrics = json.loads(scores.stdout)
    return f"{metrics['check_score']:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tare", help="the program")
    parser.add_argument("--data", type=Path, help="folder with boston.csv and power.csv")
    parser.add_argument("--rows", type=int, nargs="*", default=[], help="numbers of drawn rows")
    parser.add_argument("--columns", type=int, default=10, help="of drawn rows, at least 6")
    parser.add_argument("--set", nargs="*", default=[], help="options of the fit, such as budget=quick")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    of_fit = [word for option in options.set for word in ("--set", option)]
    print("| file | wall, s | processor, s | peak, MB | CheckScore on new rows |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.tare"
        new_rows = Path(folder) / "new.csv"
        if options.rows:
            draw(new_rows, NEW_ROWS, options.columns, 1)
        jobs = [(options.data / name, target) for name, target in TARGETS.items()] if options.data else []
        for rows in options.rows:
            drawn = Path(folder) / f"{rows}_rows_of_{options.columns}_columns.csv"
            draw(drawn, rows, options.columns, 2)
            jobs.append((drawn, "y"))
        for file, target in jobs:
            for _ in range(options.repeats):
                wall, processor, peak = fit(options.tare, file, target, model, of_fit)
                loss = loss_on_new_rows(options.tare, model, new_rows) if file.parent == Path(folder) else ""
                print(f"| {file.name} | {wall:.1f} | {processor:.1f} | {peak:.0f} | {loss} |", flush=True)


if __name__ == "__main__":
    main()
