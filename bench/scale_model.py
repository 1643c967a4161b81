# SPDX-License-Identifier: BSD-3-Clause
"""A cost model of calibration on Dask, fitted to the lines of bench/scale_rows.py, with its error on them and its prediction for more workers.

    workers' processor time = workers * start + row * rows          (shared by the workers)
    scheduler's processor time = once + part * partitions           (one process, whatever the number of workers)
    time = start + row * rows / workers + once + part * partitions

The last line adds the two up, as if nothing ran at the same time. Coefficients are least squares in relative errors, none of them negative. What is
left out: the network between machines, disks that several workers share, and workers that wait for each other.

usage: bench/scale_rows.py --runs ... --repeats 3 > runs.jsonl && bench/scale_model.py runs.jsonl --rows-per-worker 5000000
"""

import argparse
import json

import numpy as np

PART = 500_000  # rows of a partition and of a shard in bench/scale_rows.py


def fit(columns, target):
    """Least squares of relative errors; a coefficient that would be negative is left out. Gives coefficients and relative errors."""
    columns = np.asarray(columns, dtype=float)
    target = np.asarray(target, dtype=float)
    used = list(range(columns.shape[1]))
    while True:
        found = np.zeros(columns.shape[1])
        found[used] = np.linalg.lstsq(columns[:, used] / target[:, None], np.ones(len(target)), rcond=None)[0]
        if (found >= 0).all():
            return found, columns @ found / target - 1
        used.remove(int(np.argmin(found)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--rows-per-worker", type=int, default=5_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 10, 100])
    options = parser.parse_args()
    with open(options.file) as lines:
        runs = [json.loads(line) for line in lines if line.startswith("{")]
    rows, workers = (np.array([run[name] for run in runs], dtype=float) for name in ("rows", "workers"))
    parts = np.ceil(rows / PART)
    (start, row), of_workers = fit(np.column_stack([workers, rows]), [run["calibrate_processor_s"] for run in runs])
    (once, part), of_scheduler = fit(np.column_stack([np.ones(len(runs)), parts]), [run["client_calibrate_s"] for run in runs])
    predicted = start + row * rows / workers + once + part * parts
    wall = predicted / np.array([run["calibrate_s"] for run in runs]) - 1
    print(f"{len(runs)} runs: start {start:.2f} s for each worker, {row * 1e6:.2f} us for each row; "
          f"scheduler {once:.2f} s, {part * 1e3:.0f} ms for each partition")  # fmt: skip
    for name, error in (("workers' processor time", of_workers), ("scheduler's processor time", of_scheduler), ("wall time", wall)):
        print(f"error of {name}: root mean square {np.sqrt(np.mean(error**2)):.1%}, largest {np.abs(error).max():.1%}, mean {error.mean():+.1%}")
    for count in options.workers:
        total = count * options.rows_per_worker
        serial = once + part * np.ceil(total / PART)
        print(f"{count} workers, {total:,} rows: {start + row * options.rows_per_worker:.1f} s of each worker, {serial:.1f} s of the scheduler, "
              f"together {start + row * options.rows_per_worker + serial:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
