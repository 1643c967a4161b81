# SPDX-License-Identifier: BSD-3-Clause
"""Calibration rows beyond one machine: time and memory of tare.dask.Calibrator, by rows and workers.

Rows of a known law with four features are drawn on the workers, one partition of 500,000 at a time, so that the client never has them. Each worker is
a process with one thread and a memory limit, beyond which Dask writes to disk.

Processor times are those of the workers after their start, and of the process with the client and the scheduler.

usage: bench/scale_rows.py --rows 1000000 10000000 --workers 2 --limit 1GB --queries 200
       bench/scale_rows.py --runs 1:1000000 2:2000000 1:5000000 2:10000000 --repeats 3 --queries 50     (workers:rows, for bench/scale_model.py)
"""

import argparse
import json
import os
import threading
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
from distributed import Client, LocalCluster

import tare
import tare.dask

PART = 500_000


def part(number, rows, seed):
    rng = np.random.default_rng([seed, number])
    x = rng.uniform(size=(rows, 4))
    frame = pd.DataFrame(x, columns=["a", "b", "c", "d"])
    frame["p"] = np.sin(3 * x[:, 0])
    frame["y"] = frame["p"] + rng.normal(size=rows) * (0.2 + x[:, 1])
    return frame


def frame(rows, seed=0, size=PART):
    sizes = [min(size, rows - first) for first in range(0, rows, size)]
    return dd.from_map(part, range(len(sizes)), sizes, seed=seed, meta=part(0, 1, 0))


def import_tare():
    import tare.dask  # noqa: F401


class Memory:
    """The largest resident memory of each worker, asked every half second."""

    def __init__(self, cluster):
        self.peak = {}
        self.processor = {}  # seconds of each worker, which a busy machine changes little
        self._stop = threading.Event()
        self._cluster = cluster
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._stop.wait(0.5):
            for nanny in list(self._cluster.workers.values()):
                pid = getattr(getattr(nanny, "process", None), "pid", None)
                if pid is None:
                    continue
                try:
                    process = psutil.Process(pid)
                    self.peak[pid] = max(self.peak.get(pid, 0), process.memory_info().rss)
                    self.processor[pid] = sum(process.cpu_times()[:2])
                except psutil.Error:
                    continue

    def stop(self):
        self._stop.set()
        self._thread.join()
        return max(self.peak.values(), default=0)


def measure(rows, workers, options):
    with LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=options.limit, dashboard_address=None,
                      local_directory=options.folder) as cluster, Client(cluster) as client:  # fmt: skip
        client.wait_for_workers(workers)
        client.run(import_tare)
        memory = Memory(cluster)
        time.sleep(0.6)
        at_start, own_at_start = sum(memory.processor.values()), time.process_time()
        started = time.monotonic()
        model = tare.dask.Calibrator(client=client, kernel=options.kernel, bandwidth=options.bandwidth, guarantee="none",
                                     shard_rows=options.shard_rows)  # fmt: skip
        model.calibrate(frame(rows), "y", "p")
        calibrated = time.monotonic()
        time.sleep(0.6)
        processor, own = sum(memory.processor.values()), time.process_time()
        queries = frame(options.queries, seed=1, size=-(-options.queries // workers))
        answer = model.predict_interval(queries, 0.9).compute()
        ended = time.monotonic()
        time.sleep(0.6)
        own_at_end = time.process_time()
        truth = queries.compute()
        covered = ((answer["lower_0.9"] <= truth["y"]) & (truth["y"] <= answer["upper_0.9"])).mean()
        print(json.dumps({
            "rows": rows, "workers": workers, "shards": model.shards_, "kernel": options.kernel, "bandwidth": round(model.bandwidth_, 5),
            "calibrate_s": round(calibrated - started, 1), "queries": options.queries, "predict_s": round(ended - calibrated, 1),
            "peak_worker_mb": round(memory.stop() / 2**20), "calibrate_processor_s": round(processor - at_start, 1),
            "predict_processor_s": round(sum(memory.processor.values()) - processor, 1),
            "client_calibrate_s": round(own - own_at_start, 1), "client_predict_s": round(own_at_end - own, 1), "load": round(os.getloadavg()[0], 1),
            "limit": options.limit, "coverage_90": round(float(covered), 4),
        }), flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--runs", nargs="+", metavar="WORKERS:ROWS", default=[])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--limit", default="1GB")
    parser.add_argument("--kernel", default="naive")
    parser.add_argument("--bandwidth", default="auto", type=lambda text: text if text == "auto" else float(text))
    parser.add_argument("--shard-rows", type=int, default=500_000)
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/tmp"))
    options = parser.parse_args()
    dask.config.set({"distributed.comm.timeouts.connect": "60s", "distributed.worker.memory.terminate": 0.98})
    runs = [tuple(map(int, run.split(":"))) for run in options.runs] or [(workers, rows) for workers in options.workers for rows in options.rows]
    for _ in range(options.repeats):
        for workers, rows in runs:
            measure(rows, workers, options)


if __name__ == "__main__":
    main()
