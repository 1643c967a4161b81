#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times tare's CSV reader against pandas.read_csv, in one run, on one thread, on the same file.

The file is made from a seed: half of its columns have 17 significant digits, the others are short
decimals and integers. Both readers start with the file in the page cache and take turns.

    cmake --build BUILD --target csv_read && python3 bench/csv_vs_pandas.py BUILD/bench/csv_read

Exit code 1 when tare is less than --at-least times as fast as pandas.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import pandas


def make_file(path, rows, columns, seed):
    rng = numpy.random.default_rng(seed)
    block = 50_000
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(f"x{j}" for j in range(columns)) + "\n")
        for first in range(0, rows, block):
            count = min(block, rows - first)
            cells = []
            for j in range(columns):
                if j % 2 == 0:
                    cells.append([f"{v:.17g}" for v in rng.normal(size=count)])
                elif j % 4 == 1:
                    cells.append([f"{v:.2f}" for v in 1000.0 * rng.random(count)])
                else:
                    cells.append([str(v) for v in rng.integers(0, 100_000, count)])
            out.writelines(",".join(row) + "\n" for row in zip(*cells))


def time_pandas(path):
    start = time.perf_counter()
    frame = pandas.read_csv(path)
    seconds = time.perf_counter() - start
    return seconds, float(frame.to_numpy().sum()), frame.shape


def time_tare(program, path):
    done = subprocess.run([program, path], check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return answer["seconds"], answer["sum"], (answer["rows"], answer["columns"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the csv_read program")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--at-least", type=float, default=3.0)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "numbers.csv")
        make_file(path, args.rows, args.columns, args.seed)
        megabytes = os.path.getsize(path) / 1e6
        time_tare(args.program, path)  # brings the file into the page cache
        pandas_seconds, tare_seconds = [], []
        for _ in range(args.repeats):
            seconds, pandas_sum, pandas_shape = time_pandas(path)
            pandas_seconds.append(seconds)
            seconds, tare_sum, tare_shape = time_tare(args.program, path)
            tare_seconds.append(seconds)
            # pandas rounds the last digit of some cells otherwise, hence not exactly equal.
            if tare_shape != tuple(pandas_shape) or not math.isclose(
                tare_sum, pandas_sum, rel_tol=1e-9
            ):
                sys.exit(f"the readers disagree: {tare_sum} here, {pandas_sum} in pandas")

    pandas_median = statistics.median(pandas_seconds)
    tare_median = statistics.median(tare_seconds)
    ratio = pandas_median / tare_median
    print(f"file    {args.rows} rows, {args.columns} columns, {megabytes:.1f} MB, seed {args.seed}")
    for name, median, all_seconds in (
        (f"pandas {pandas.__version__}", pandas_median, pandas_seconds),
        ("tare", tare_median, tare_seconds),
    ):
        spread = f"{min(all_seconds):.3f} to {max(all_seconds):.3f}"
        print(f"{name:13} median {median:.3f} s ({spread}), {megabytes / median:.0f} MB/s")
    print(f"ratio   {ratio:.2f} (at least {args.at_least:g} is asked for)")
    return 0 if ratio >= args.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
