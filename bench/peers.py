#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times tare against what one would use without it, and prints the figures as tables.

    make bench
    python3 -m venv VENV && VENV/bin/pip install numpy scipy scikit-learn
    VENV/bin/python bench/peers.py build/bench/peers

The C++ program draws the data, times tare and the peers in C++ (nanoflann, a sorted line), and hands data and
answers to the peers in Python through files. Each workload is one process, each ratio comes from one run, on one
thread unless a table says otherwise. Exit code 1 when a peer's answers differ from tare's.

Without NumPy, SciPy and scikit-learn only the workloads whose peer is in C++ run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

# Before NumPy is loaded: its libraries read these once.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

try:
    import numpy
    import scipy.spatial
    import sklearn.neighbors
except ImportError:
    numpy = None

LEAST_QUERIES = 2000
now = time.perf_counter  # or time.process_time, see --cpu-time
GAUSSIAN_TOLERANCE = 1e-12  # of the median absolute difference
GAUSSIAN_UNEQUAL = 1e-3  # share of quantiles that rounding may move to a neighbouring row


class Problem:
    """The data of one workload as the C++ program wrote them, and tare's answers."""

    def __init__(self, folder, line):
        def read(name, *shape):
            return numpy.fromfile(os.path.join(folder, name + ".f64")).reshape(shape)

        rows, dims = line["rows"], line["dims"]
        self.bandwidth = line["bandwidth"]
        self.z = read("z", rows, dims)
        self.u = read("u", rows)
        self.queries = read("queries", line["tare"]["queries"], dims)
        self.levels = read("levels", -1)
        self.answers = read("answers", len(self.queries), len(self.levels))


def ranks(levels, count):
    """The smallest whole number that is at least level * count, for levels that are percents."""
    percents = numpy.rint(100.0 * levels).astype(numpy.int64)
    return numpy.maximum(1, -(-percents * count // 100))


def time_ball(problem, build, search, seconds):
    """Neighbours by `search`, then sort and pick; checks each answer. Returns the peer's figures."""
    start = now()
    tree = build(problem.z)
    build_seconds = now() - start
    spent, done, block = 0.0, 0, 100
    while done < len(problem.queries) and (done < LEAST_QUERIES or spent < seconds):
        queries = problem.queries[done : done + block]
        start = now()
        answers = []
        for rows in search(tree, queries, problem.bandwidth):
            residuals = numpy.sort(problem.u[rows])
            picked = residuals[ranks(problem.levels, len(residuals)) - 1] if len(residuals) else None
            answers.append(picked)
        spent += now() - start
        for i, answer in enumerate(answers, start=done):
            # tare falls back where nothing is in reach; the peer has no answer there.
            if answer is not None and not numpy.array_equal(answer, problem.answers[i]):
                sys.exit(f"query {i}: the peer's quantiles differ from tare's")
        done += len(queries)
    return {"build_seconds": build_seconds, "microseconds": 1e6 * spent / done, "queries": done, "check": "equal"}


def scipy_peer(problem, seconds):
    search = lambda tree, queries, radius: tree.query_ball_point(queries, radius)
    peer = time_ball(problem, scipy.spatial.cKDTree, search, seconds)
    return {"name": f"SciPy {scipy.__version__} cKDTree + sort", **peer}


def sklearn_peer(problem, seconds):
    search = lambda tree, queries, radius: tree.query_radius(queries, radius)
    peer = time_ball(problem, sklearn.neighbors.KDTree, search, seconds)
    return {"name": f"scikit-learn {sklearn.__version__} KDTree + sort", **peer}


def gaussian_weights(problem, z, norms, queries):
    """Distances by the dot product, so that BLAS does the work."""
    squared = norms + numpy.einsum("ij,ij->i", queries, queries)[:, None]
    squared -= 2.0 * (queries @ z.T)
    numpy.maximum(squared, 0.0, out=squared)
    squared *= -0.5 / problem.bandwidth**2
    return numpy.exp(squared, out=squared)


def agreement(answers, expected):
    """How far apart quantiles are that two ways of rounding gave; ends the run where it is too far."""
    difference = numpy.abs(answers - expected)
    median, unequal = float(numpy.median(difference)), float(numpy.mean(difference > 0.0))
    if median > GAUSSIAN_TOLERANCE or unequal > GAUSSIAN_UNEQUAL:
        sys.exit(f"quantiles differ: median {median:g}, {unequal:.2%} not equal")
    return f"median difference {median:g}, {unequal:.4%} not equal"


def numpy_peer(problem, seconds):
    """Cumulative sums over rows sorted by residual, then a bisection for each level."""
    start = now()
    order = numpy.argsort(problem.u, kind="stable")
    z, u = problem.z[order], problem.u[order]
    norms = numpy.einsum("ij,ij->i", z, z)
    build_seconds = now() - start
    block = max(1, 40_000_000 // (8 * len(u)))  # 40 MB of weights at a time
    least = min(len(problem.queries), LEAST_QUERIES)
    spent, done, answers = 0.0, 0, []
    while done < len(problem.queries) and (done < least or spent < seconds):
        start = now()
        weights = gaussian_weights(problem, z, norms, problem.queries[done : done + block])
        numpy.cumsum(weights, axis=1, out=weights)
        for row in weights:
            answers.append(u[numpy.searchsorted(row, problem.levels * row[-1])])
        spent += now() - start
        done = len(answers)
    check = agreement(numpy.array(answers), problem.answers[:done])
    return {
        "name": f"NumPy {numpy.__version__} matrix product + cumsum",
        "build_seconds": build_seconds,
        "microseconds": 1e6 * spent / done,
        "queries": done,
        "check": check,
    }


def triangle_peer(problem, seconds):
    """Cumulative weights as the product of a dense m x n matrix with an n x n triangle of ones."""
    del seconds  # one product answers all queries
    start = now()
    order = numpy.argsort(problem.u, kind="stable")
    z, u = problem.z[order], problem.u[order]
    triangle = numpy.triu(numpy.ones((len(u), len(u))))
    build_seconds = now() - start
    start = now()
    weights = gaussian_weights(problem, z, numpy.einsum("ij,ij->i", z, z), problem.queries)
    cumulative = weights @ triangle
    answers = numpy.empty_like(problem.answers)
    for j, level in enumerate(problem.levels):
        answers[:, j] = u[numpy.argmax(cumulative >= level * cumulative[:, -1:], axis=1)]
    spent = now() - start
    return {
        "name": f"NumPy {numpy.__version__} weights times a triangle of ones",
        "build_seconds": build_seconds,
        "microseconds": 1e6 * spent / len(answers),
        "queries": len(answers),
        "check": agreement(answers, problem.answers),
    }


PYTHON_PEERS = {
    "python_ball_d8_500": (scipy_peer, sklearn_peer),
    "python_gaussian_d30": (numpy_peer,),
    "python_triangle_d8": (triangle_peer,),
}


def run_program(args, workload, folder=None):
    command = [args.program, "--workload", workload, "--peer-seconds", str(args.peer_seconds)]
    for option, value in (("--rows", args.rows), ("--queries", args.queries), ("--dump", folder)):
        if value:
            command += [option, str(value)]
    if args.cpu_time:
        command.append("--cpu-time")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_workload(args, workload):
    """All lines of one workload; one per peer where it is compared with several."""
    if workload not in PYTHON_PEERS:
        return run_program(args, workload)
    if numpy is None:
        print(f"{workload}: skipped, as NumPy, SciPy or scikit-learn is missing", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        (line,) = run_program(args, workload, folder)
        problem = Problem(folder, line)
        return [{**line, "peer": peer(problem, args.peer_seconds)} for peer in PYTHON_PEERS[workload]]


def number(value):
    """Three digits at least, thousands apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def comparison_cells(line):
    tare, peer = line["tare"], line["peer"]
    return [
        line["workload"],
        number(line["rows"]),
        str(line["dims"]),
        number(line["neighbours"]),
        number(tare["microseconds"]),
        number(peer["microseconds"]),
        number(peer["microseconds"] / tare["microseconds"]),
        f"{tare['build_seconds']:.2f}",
        f"{peer['build_seconds']:.2f}",
        f"{tare['queries']:,} / {peer['queries']:,}",
        peer["name"],
        peer["check"],
    ]


def fit_cells(line):
    return [
        number(line["rows"]),
        str(line["dims"]),
        str(line["bandwidths"]),
        number(line["rows_left_out"]),
        number(line["tare_seconds"]),
        number(line["peer_seconds"]),
        number(line["peer_seconds"] / line["tare_seconds"]),
        number(line["peer_rows_timed"]),
        f"{line['tare_loss']:.4f}",
        f"{line['peer_loss']:.4f} ± {line['peer_loss_error']:.4f}",
    ]


def growth_cells(line):
    one, two = line["microseconds_1_thread"], line["microseconds_2_threads"]
    return [
        number(line["rows"]),
        str(line["dims"]),
        number(line["queries"]),
        f"{line['build_seconds']:.2f}",
        number(one),
        number(two),
        f"{one / two:.2f}",
    ]


def whole_cells(line):
    return [
        number(line["rows"]),
        number(line["queries"]),
        str(line["dims"]),
        str(line["threads"]),
        f"{line['build_seconds']:.2f}",
        f"{line['seconds']:.2f}",
        number(line["peak_megabytes"]),
        number(line["megabytes_before"]),
        number(line["answer_megabytes"]),
    ]


COMPARISON = (
    "Microseconds per query, 99 levels (python_triangle_d8: 100), one thread",
    "workload,rows,d,neighbours,tare,peer,ratio,tare build s,peer build s,queries,peer's way,answers",
    comparison_cells,
)
FIT = (
    "Choice of a bandwidth, naive kernel, one thread; the peer sweeps with nanoflann, one bandwidth after the other, is "
    "timed on some rows and scaled to those that tare left out",
    "rows,d,bandwidths,left out,tare s,peer s,ratio,rows timed,tare's loss,peer's loss",
    fit_cells,
)
GROWTH = (
    "Growth: microseconds per query of tare, about 500 neighbours, 99 levels",
    "rows,d,queries,build s,1 thread,2 threads,speedup",
    growth_cells,
)
WHOLE = (
    "A whole job on all cores, about 500 neighbours, 99 levels; the peak includes data and answers",
    "rows,queries,d,threads,build s,total s,peak MB,before MB,answers MB",
    whole_cells,
)
TABLES = {"fit_auto": FIT, "growth_n": GROWTH, "growth_d": GROWTH, "whole": WHOLE}


def print_table(table, lines, markdown):
    title, header, cells = table
    grid = [header.split(",")] + [cells(line) for line in lines]
    widths = [max(len(row[j]) for row in grid) for j in range(len(grid[0]))]
    print(f"\n{title}.\n")
    for i, row in enumerate(grid):
        if markdown:
            print("| " + " | ".join(row) + " |")
        else:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if markdown and i == 0:
            print("|" + "---|" * len(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program `peers`")
    parser.add_argument("--workload", nargs="+", help="only these; `peers --list` names all")
    parser.add_argument("--rows", type=int, help="calibration rows, instead of each workload's own number")
    parser.add_argument("--queries", type=int, help="queries, instead of each workload's own number")
    parser.add_argument("--peer-seconds", type=float, default=3.0)
    parser.add_argument("--cpu-time", action="store_true", help="processor time in comparisons, for a busy machine")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.cpu_time:
        global now
        now = time.process_time

    listed = subprocess.run([args.program, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    results = {}
    for workload in args.workload or listed.stdout.split():
        print(f"{workload} ...", file=sys.stderr)
        lines = run_workload(args, workload)
        results.setdefault(TABLES.get(workload, COMPARISON), []).extend(lines)
    print(f"Comparisons are in {'processor' if args.cpu_time else 'wall'} time, the other tables in wall time.")
    for table, lines in results.items():
        if lines:
            print_table(table, lines, args.markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
