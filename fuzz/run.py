#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fuzzers of a build: for some minutes of processor time each, or once over what is known.

    fuzz/run.py --build build-address --minutes 30             all targets, as many at a time as there are cores
    fuzz/run.py --build build-address --minutes 5 csv http     these
    fuzz/run.py --build build-address --replay                 seeds and former finds, once
    fuzz/run.py --build build-address --cycle 120              all targets in turns of 120 s, until stopped; one with a find
                                                             is left out
    fuzz/run.py --build build-address --state                  what has been done so far

The corpus of each target grows in BUILD/fuzz/corpus/NAME (or --corpus DIR/NAME), and with it a file NAME.json with
executions, processor time and coverage of all runs so far. A find ends the run with exit code 1, and its input is
in BUILD/fuzz/finds.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
# The longest input of each target: long enough for the format, short enough for many runs.
MOST_BYTES = {"body": 4096, "capi": 1024, "csv": 2048, "gzip": 4096, "http": 4096, "journal": 2048, "model": 131072, "plan": 4096,
              "schema": 4096}
MEMORY_MB = 2048
TURN_SECONDS = 300  # of one target, while others wait


def target_names():
    return sorted(path.stem for path in (HERE / "targets").glob("*.cpp"))


def known_inputs(name):
    """Folders in the repository with inputs of a target."""
    folders = [HERE / "seeds" / name, HERE / "regressions" / name]
    if name == "model":  # model files that every version must read are good seeds, too
        models = HERE.parent / "tests" / "cli" / "old_models"
        folders += [models, *sorted(path for path in models.iterdir() if path.is_dir())]
    return [folder for folder in folders if folder.is_dir()]


class Target:
    def __init__(self, name, build, corpus, timeout):
        self.name = name
        self.timeout = timeout
        self.program = build / "fuzz" / f"fuzz_{name}"
        self.corpus = corpus / name
        self.finds = corpus.parent / "finds"
        self.record = corpus / f"{name}.json"

    def flags(self):
        flags = [f"-max_len={MOST_BYTES.get(self.name, 4096)}", f"-rss_limit_mb={MEMORY_MB}",
                 f"-timeout={self.timeout}", f"-report_slow_units={self.timeout}",
                 f"-artifact_prefix={self.finds}/{self.name}-"]
        dictionary = HERE / "dictionaries" / f"{self.name}.dict"
        return flags + ([f"-dict={dictionary}"] if dictionary.exists() else [])

    def environment(self):
        environment = dict(os.environ)
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1:handle_abort=1")
        environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
        symbolizer = "/usr/bin/llvm-symbolizer-19"
        if os.path.exists(symbolizer):
            environment.setdefault("ASAN_SYMBOLIZER_PATH", symbolizer)
        return environment

    def totals(self):
        if self.record.exists():
            return json.loads(self.record.read_text())
        return {"executions": 0, "cpu_seconds": 0.0, "runs": 0, "finds": 0, "edges": 0, "corpus": 0}

    def fuzz(self, seconds):
        """Runs for some seconds of wall time and adds the outcome to the record. True where nothing was found."""
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.finds.mkdir(parents=True, exist_ok=True)
        command = [str(self.program), *self.flags(), f"-max_total_time={seconds}", "-print_final_stats=1",
                   str(self.corpus), *map(str, known_inputs(self.name))]
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(command, env=self.environment(), stdout=log, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)  # the processor time of this child alone
            process.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            output = log.read().decode(errors="replace")
        totals = self.totals()
        executions = re.findall(r"stat::number_of_executed_units: (\d+)", output)
        edges = re.findall(r"cov: (\d+)", output)
        totals["executions"] += int(executions[-1]) if executions else 0
        totals["cpu_seconds"] += usage.ru_utime + usage.ru_stime
        totals["runs"] += 1
        totals["finds"] += 1 if process.returncode != 0 else 0
        totals["edges"] = max([totals["edges"], *map(int, edges)])
        totals["corpus"] = sum(1 for _ in self.corpus.iterdir())
        self.record.write_text(json.dumps(totals) + "\n")
        if process.returncode != 0:
            log = self.finds / f"{self.name}-{int(time.time())}.log"
            log.write_text(output[-200_000:])
            print(f"{self.name}: FOUND, exit code {process.returncode}; see {log}", flush=True)
            print(output[-3000:], flush=True)
        return process.returncode == 0

    def replay(self):
        self.finds.mkdir(parents=True, exist_ok=True)
        files = [str(path) for folder in known_inputs(self.name) for path in sorted(folder.iterdir())
                 if path.is_file() and path.suffix != ".csv"]
        done = subprocess.run([str(self.program), *self.flags(), *files], env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            print(done.stdout.decode(errors="replace")[-5000:])
        print(f"{self.name}: {len(files)} inputs, {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
        return done.returncode == 0

    def line(self):
        totals = self.totals()
        return (f"{self.name:8} {totals['executions']:>12,} executions {totals['cpu_seconds'] / 60:8.1f} CPU minutes "
                f"{totals['corpus']:>7,} inputs {totals['edges']:>7,} edges {totals['finds']:>3} finds")


def fuzz_all(targets, minutes, jobs):
    """Until each target has had this much processor time in this call, or has found something. The one with the least is next."""
    turn = threading.Condition()
    start = {target.name: target.totals()["cpu_seconds"] for target in targets}
    waiting, found, running = list(targets), [], []

    def spent(target):
        return target.totals()["cpu_seconds"] - start[target.name]

    def work():
        while True:
            with turn:
                while not waiting and running:
                    turn.wait()
                if not waiting:
                    return
                target = min(waiting, key=spent)
                waiting.remove(target)
                running.append(target)
            left = 60 * minutes - spent(target)
            good = target.fuzz(max(5, min(TURN_SECONDS, int(left) + 1)))
            with turn:
                running.remove(target)
                if not good:
                    found.append(target)  # it would find the same again
                elif spent(target) < 60 * minutes - 1:
                    waiting.append(target)
                print(time.strftime("%H:%M:%S"), target.line(), flush=True)
                turn.notify_all()

    workers = [threading.Thread(target=work) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="targets; none: all")
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path, help="instead of BUILD/fuzz/corpus")
    parser.add_argument("--timeout", type=int, default=10, metavar="SECONDS",
                        help="for one input; more where the machine has other work [%(default)s]")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="targets that run at a time, with --minutes [%(default)s]")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--minutes", type=float, help="processor time of each target")
    what.add_argument("--replay", action="store_true")
    what.add_argument("--cycle", type=int, metavar="SECONDS", help="turns of this length, those with the least time first")
    what.add_argument("--state", action="store_true")
    arguments = parser.parse_args()

    unknown = set(arguments.names) - set(target_names())
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are: {', '.join(target_names())}")
    corpus = (arguments.corpus or arguments.build / "fuzz" / "corpus").resolve()
    targets = [Target(name, arguments.build.resolve(), corpus, arguments.timeout)
               for name in arguments.names or target_names()]
    if arguments.state:
        print("\n".join(target.line() for target in targets))
        return 0
    if arguments.cycle:
        while targets:
            target = min(targets, key=lambda one: one.totals()["cpu_seconds"])
            if not target.fuzz(arguments.cycle):
                targets.remove(target)  # it would find the same again
            print(time.strftime("%H:%M:%S"), target.line(), flush=True)
        return 1
    if arguments.minutes:
        return 0 if fuzz_all(targets, arguments.minutes, max(1, arguments.jobs)) else 1
    failed = [target.name for target in targets if not target.replay()]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
