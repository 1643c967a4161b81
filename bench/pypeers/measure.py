# SPDX-License-Identifier: BSD-3-Clause
"""One measurement, in a process of its own: `python -m pypeers.measure PEER PROBLEM` prints a line of JSON."""

import contextlib
import json
import os
import pickle
import statistics
import sys
import time
import warnings

MODULES = {"tare": "tare", "mapie": "mapie.regression", "crepes": "crepes.extras", "quantile": "quantile_forest"}


class Clock:
    """Wall and processor seconds of each stage, those of all threads, without what the point model takes to predict; and the peak
    of memory at the end of each."""

    def __init__(self, model):
        self.model, self.wall, self.cpu, self.peak = model, {}, {}, {}
        self.row_us, self.model_seconds = None, 0.0

    @contextlib.contextmanager
    def __call__(self, stage):
        model = self.model
        wall, cpu = time.perf_counter() - model.wall, time.process_time() - model.cpu
        yield
        self.wall[stage] = time.perf_counter() - model.wall - wall
        self.cpu[stage] = time.process_time() - model.cpu - cpu
        self.peak[stage] = status_megabytes("VmHWM")

    def row_alone(self, ask, calls=300):
        """Microseconds that ask(), which predicts the interval of one row, takes beside the point model: the median of some calls."""
        self.model_seconds = self.model.wall  # until here
        times = []
        for _ in range(calls):
            start = time.perf_counter() - self.model.wall
            ask()
            times.append(time.perf_counter() - self.model.wall - start)
        self.row_us = 1e6 * statistics.median(times)


def status_megabytes(field):
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}")


def forget_peak():
    """From here on VmHWM is the peak since now: what imports and data once took does not count."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def fit_and_predict(make_model, x, y, x_test):
    """A fitted model, its quantiles of the test rows, and what both took: processor seconds, and megabytes at the peak."""
    warm = make_model()
    warm.fit(x[:50], y[:50])  # what is loaded on first use is loaded
    warm.quantiles(x_test[:2])
    model = make_model()
    forget_peak()
    before, start = status_megabytes("VmRSS"), time.process_time()
    model.fit(x, y)
    fitted = time.process_time()
    quantiles = model.quantiles(x_test)
    done = time.process_time()
    return model, quantiles, {"fit": fitted - start, "predict": done - fitted, "megabytes": status_megabytes("VmHWM") - before}


def measure(name, path):
    import importlib

    from pypeers.peers import PEERS, THREADS
    from pypeers.problem import judge

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    importlib.import_module(MODULES[name.partition("_")[0]])
    if name == "mapie_conditional":
        importlib.import_module("cvxpy")  # which it loads when it is first used
    with open(path, "rb") as file:
        problem = pickle.load(file)
    problem.model.predict(problem.x_test[:100])  # its libraries are loaded and its threads started before anything is counted
    clock = Clock(problem.model)
    problem.model.wall = problem.model.cpu = 0.0
    forget_peak()
    before = status_megabytes("VmRSS")
    interval, quantiles = PEERS[name].run(problem, clock)
    peak = status_megabytes("VmHWM") - before
    model_seconds = clock.model_seconds
    return {
        "row_us": clock.row_us,
        "batch_us": 1e6 * clock.cpu["interval"] / len(problem.x_test),
        "wall": clock.wall,
        "cpu": clock.cpu,
        "seconds": sum(clock.wall.values()),
        "cpu_seconds": sum(clock.cpu.values()),
        "model_seconds": model_seconds,
        "megabytes": peak,
        "interval_megabytes": clock.peak["interval"] - before,
        **judge(problem, interval, quantiles),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(sys.argv[1], sys.argv[2])))
