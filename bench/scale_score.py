# SPDX-License-Identifier: BSD-3-Clause
"""Rows answered from Parquet to Parquet: the command tare alone, on Dask with two workers, on Spark with two (in one process, or as a standalone
cluster of two workers).

usage: bench/scale_score.py --rows 1000000 --with tool dask      (with spark and standalone: in an environment with the extra 'spark')
The model is nrc on 5,000 rows of four features; the rows lie in files of 250,000.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import tare

FILE_ROWS = 250_000
NAMES = ["a", "b", "c", "d"]


def make(folder, rows):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(5000, 4))
    y = np.sin(3 * x[:, 0]) + rng.normal(size=5000) * (0.2 + x[:, 1])
    model = tare.QuantileRegressor("nrc", random_state=0, options={"regressor": "ridge", "bands": "off"}).fit(pd.DataFrame(x, columns=NAMES), y)
    model.save(folder / "m.tare", overwrite=True)
    (folder / "rows").mkdir()
    whole = pq.ParquetWriter(folder / "rows.parquet", pa.schema([(name, pa.float64()) for name in NAMES]))
    for number, first in enumerate(range(0, rows, FILE_ROWS)):
        table = pa.table(dict(zip(NAMES, rng.uniform(size=(4, min(FILE_ROWS, rows - first))))))
        pq.write_table(table, folder / "rows" / f"part{number:05}.parquet")
        whole.write_table(table)
    whole.close()


def by_tool(folder):
    subprocess.run([sys.executable, "-m", "tare", "predict", folder / "m.tare", folder / "rows.parquet", "--interval", "0.9", "--threads", "2",
                    "-o", folder / "tool.parquet"], check=True)  # fmt: skip
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"processor_s": round(used.ru_utime + used.ru_stime, 1), "peak_mb": round(used.ru_maxrss / 1024)}


def by_dask(folder):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import tare.dask

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        answers = tare.dask.predict_interval(folder / "m.tare", dd.read_parquet(folder / "rows"), 0.9)
        started = time.monotonic()
        answers.to_parquet(folder / "dask")
        seconds = time.monotonic() - started
        peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        processor = sum(client.run(time.process_time).values())
        return {"without_start_s": round(seconds, 1), "processor_s": round(processor, 1), "peak_mb": max(peaks.values()),
                "model": tare.dask.model_traffic(client)}  # fmt: skip


class Peaks(threading.Thread):
    """The largest resident memory, in MB, of a Spark executor, of a Python process of it, and of an executor with its Python processes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.of = {"executor": 0, "python": 0, "both": 0}
        self.processor = {}
        self._done = threading.Event()

    def run(self):
        while not self._done.wait(0.5):
            for process in psutil.Process().children(recursive=True):
                try:
                    self.processor[process.pid] = sum(process.cpu_times()[:2])
                    if "CoarseGrainedExecutorBackend" not in " ".join(process.cmdline()):
                        continue
                    own = process.memory_info().rss >> 20
                    workers = [child.memory_info().rss >> 20 for child in process.children(recursive=True)]
                except psutil.Error:
                    continue
                for name, now in (("executor", own), ("python", max(workers, default=0)), ("both", own + sum(workers))):
                    self.of[name] = max(self.of[name], now)

    def stop(self):
        self._done.set()
        self.join()


def by_standalone(folder):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "spark"))
    from conftest import standalone, start

    (folder / "cluster").mkdir()
    with standalone(str(folder / "cluster")) as master:
        spark = start(master, **{"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.cores.max": "2"})
        peaks = Peaks()
        peaks.start()
        found = scored_by_spark(spark, folder, "standalone")
        peaks.stop()
        executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # without the driver
        spark.stop()
        return {**found, "executors": executors, "peak_mb": peaks.of, "processor_s": round(sum(peaks.processor.values()), 1)}


def by_spark(folder):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    found = scored_by_spark(spark, folder, "spark")
    processor = sum(sum(child.cpu_times()[:4]) for child in psutil.Process().children(recursive=True))  # Java and the Python processes
    spark.stop()
    return {**found, "processor_s": round(processor, 1)}


def scored_by_spark(spark, folder, out):
    from tare.spark import TareModel

    model = TareModel(folder / "m.tare", interval=0.9)
    started = time.monotonic()
    model.transform(spark.read.parquet(str(folder / "rows"))).select("`lower_0.9`", "`upper_0.9`").write.parquet(str(folder / out))
    return {"without_start_s": round(time.monotonic() - started, 1), "model_fetches": model.model_fetches}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--with", dest="ways", nargs="+", choices=["tool", "dask", "spark", "standalone"], default=["tool", "dask"])
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tare-scale-"))
    try:
        make(folder, options.rows)
        for way in options.ways:
            started = time.monotonic()
            found = {"tool": by_tool, "dask": by_dask, "spark": by_spark, "standalone": by_standalone}[way](folder)
            print(json.dumps({"way": way, "rows": options.rows, "seconds": round(time.monotonic() - started, 1), **found}), flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
