#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the Python package with MAPIE, crepes and quantile-forest on the same point model and the same rows.

    python3 -m venv VENV && VENV/bin/pip install . scikit-learn 'mapie[conditional]' crepes quantile-forest
    VENV/bin/python bench/python_peers.py --markdown

Calibrates on so many rows, then predicts 90 % intervals and 99 quantiles for 20,000 others. Each measurement is a process of its own, so
that its peak of memory is its own (above what imports and data take), and one that does not finish in time is stopped and
said not to; it is not tried with more rows. All peers have two threads. What the point model takes to predict is kept apart, in
'model s': it is the same for all, but for how often it is asked. 'MB to intervals' is the peak before the quantiles, which not every
peer has. 'One row us' is the median wall time of the interval of a single row, and 'us a row' the processor time of each of the
20,000, both without the point model; bench/python_latency.py says what the core itself takes of a row. The law of the data is known
(pypeers/problem.py), so the coverage of an interval is computed, not counted: 'worst slice' is the largest distance from 90 % over
ten bins of each feature and of the prediction, 'drawn' is the same counted on the test targets, where perfect intervals show the
noise floor.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

THREADS = "2"
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = THREADS
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # a thread that waits takes no processor time
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from pypeers.peers import PEERS  # noqa: E402
from pypeers.problem import Problem, law_pinball, noise_floor, slices  # noqa: E402

MODULE_OF = {"tare": "tare", "mapie": "mapie", "crepes": "crepes", "quantile": "quantile_forest"}


def run_peer(name, path, limit):
    """A measurement, or why there is none."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "pypeers.measure", name, path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {limit:g} s"}
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return {"failed": reason}
    return json.loads(done.stdout.splitlines()[-1])


def merged(lines):
    """One line for each peer and number of rows: times and memory are medians over the seeds, the rest are means."""
    groups = {}
    for line in lines:
        groups.setdefault((line["rows"], line["peer"]), []).append(line)
    return [group[0] if "failed" in group[0] else merged_group(group) for group in groups.values()]


def merged_group(group):
    done = [line for line in group if "failed" not in line]
    result = dict(done[0])
    for key in ("seconds", "cpu_seconds", "model_seconds", "megabytes", "interval_megabytes", "row_us", "batch_us"):
        result[key] = statistics.median(line[key] for line in done)
    result["cpu"] = {stage: statistics.median(line["cpu"][stage] for line in done) for stage in done[0]["cpu"]}
    for key in ("coverage", "worst_slice", "worst_slice_drawn", "pinball"):
        result[key] = None if done[0][key] is None else statistics.mean(line[key] for line in done)
    return result


def number(value, digits=3):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.{digits}g}"


def stages(times):
    return " + ".join(number(times[stage], 2) for stage in ("train", "calibrate", "interval", "quantiles") if stage in times)


def cells(line, tare):
    start = [f"{line['rows']:,}", line["peer"], line["kind"]]
    if "failed" in line:
        return start + [line["failed"]] + ["-"] * 12
    ratio = line["cpu_seconds"] / tare["cpu_seconds"] if tare and "failed" not in tare else None
    return [
        *start,
        number(line["seconds"]),
        number(line["cpu_seconds"]),
        number(ratio),
        stages(line["cpu"]),
        number(line["model_seconds"], 2),
        number(line["interval_megabytes"]),
        "-" if line["pinball"] is None else number(line["megabytes"]),
        number(line["row_us"]),
        number(line["batch_us"]),
        f"{line['coverage']:.3f}",
        f"{line['worst_slice']:.3f}",
        f"{line['worst_slice_drawn']:.3f}",
        "-" if line["pinball"] is None else f"{line['pinball']:.4f}",
    ]


HEADER = [
    "rows", "peer", "kind", "wall s", "cpu s", "cpu / tare's", "cpu of stages", "model s", "MB to intervals", "MB", "one row us",
    "us a row", "coverage", "worst slice", "drawn", "pinball",
]


def print_table(lines, markdown):
    tare = {line["rows"]: line for line in lines if line["peer"] == "tare"}
    grid = [HEADER] + [cells(line, tare.get(line["rows"])) for line in lines]
    widths = [max(len(row[j]) for row in grid) for j in range(len(HEADER))]
    for i, row in enumerate(grid):
        if markdown:
            print("| " + " | ".join(row) + " |")
            if i == 0:
                print("|" + "---|" * len(row))
        else:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def installed(names):
    """Those whose library is there; the others are named and left out."""
    import importlib.util

    missing = {n for n in names if importlib.util.find_spec(MODULE_OF[n.partition("_")[0]]) is None}
    for name in sorted(missing):
        print(f"{name}: skipped, as {MODULE_OF[name.partition('_')[0]]} is not installed", file=sys.stderr)
    return [name for name in names if name not in missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000, 200_000], help="numbers of calibration rows")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS), metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a measurement is stopped")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="problems to draw: medians of times, means of the rest")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()

    lines = []
    peers = installed(args.peers)
    given_up = set()
    with tempfile.TemporaryDirectory() as folder:
        for rows in sorted(args.rows):
            for seed in args.seeds:
                problem = Problem(rows, seed).fit_model()
                path = problem.save(folder)
                for name in peers:
                    line = {"rows": rows, "peer": name, "kind": PEERS[name].kind, "seed": seed, "load": os.getloadavg()[0]}
                    line.update({"failed": "not tried"} if name in given_up else run_peer(name, path, args.limit))
                    if "failed" in line:
                        given_up.add(name)  # more rows or another seed would not help
                    print(json.dumps(line), file=sys.stderr, flush=True)
                    lines.append(line)
        floor = noise_floor(list(slices(problem)), len(problem.y_test))
        loss = law_pinball(problem)
    lines = merged(lines)
    print(f"Noise floor of 'drawn': {floor:.3f}. Pinball loss of the law itself: {loss:.4f}. {THREADS} threads each.\n")
    print_table(lines, args.markdown)
    print()
    for name in peers:
        print(f"- `{name}`: {PEERS[name].note}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
