#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Streams rows through `tare predict`, and checks the number of answers, their bytes and the memory that it takes.

    python3 tests/edge/long_stream.py build/tare --rows 10_000_000
    python3 tests/edge/long_stream.py build/tare --rows 100_000_000            # nightly
    python3 tests/edge/long_stream.py build/tare --rows 1_000_000 --levels 2200  # more than 2^31 cells

Rows repeat a block of 100,000, so the answers of every block must have the same bytes as those of the first."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

BLOCK = 100_000


def peak_memory(pid):
    """Of the process so far, in bytes; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next((1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--most-memory", type=int, default=600_000_000, help="bytes that the tool may take")
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    block_rows = min(BLOCK if options.levels <= 10 else BLOCK // 10, options.rows)
    if options.rows % block_rows != 0:
        parser.error(f"--rows must be a multiple of {block_rows}")
    rng = random.Random(1)
    block = "".join(f"{rng.random():.4f},{rng.random():.4f}\n" for _ in range(block_rows)).encode()
    levels = ",".join(f"{(k + 0.5) / options.levels:.9g}" for k in range(options.levels))
    with tempfile.TemporaryDirectory(prefix="tare-stream-") as folder:
        with open(os.path.join(folder, "data.csv"), "w", encoding="ascii") as file:
            file.write("a,p,y\n" + "".join(f"{rng.random():.4f},{rng.random():.4f},{rng.gauss(0, 1):.4f}\n" for _ in range(500)))
        subprocess.run([tool, "fit", "data.csv", "--target", "y", "--prediction", "p", "--bandwidth", "0.3", "--kernel", "naive",
                        "--masses", "no", "--bands", "off", "-o", "m.tare", "-q"], cwd=folder, check=True)
        command = [tool, "predict", "m.tare", "-", "--levels", levels, "-q"]
        expected = subprocess.run(command, cwd=folder, input=b"a,p\n" + block, stdout=subprocess.PIPE, check=True).stdout
        expected = expected.partition(b"\n")[2]
        started, cpu = time.time(), os.times()
        running = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def feed():
            try:
                running.stdin.write(b"a,p\n")
                for _ in range(options.rows // block_rows):
                    running.stdin.write(block)
                running.stdin.close()
            except BrokenPipeError:
                pass  # the exit code says why

        threading.Thread(target=feed, daemon=True).start()
        running.stdout.readline()
        blocks, memory = 0, 0
        while answer := running.stdout.read(len(expected)):
            if answer != expected:
                sys.exit(f"block {blocks} of {block_rows} rows has answers that differ from those of the first")
            blocks += 1
            memory = max(memory, peak_memory(running.pid))
        code = running.wait()
        took, used = time.time() - started, os.times()
    if code != 0 or blocks * block_rows != options.rows:
        sys.exit(f"exit code {code}, {blocks * block_rows} of {options.rows} rows")
    if memory > options.most_memory:
        sys.exit(f"{memory / 1e6:.0f} MB of memory, more than {options.most_memory / 1e6:.0f} MB")
    seconds = used.children_user + used.children_system - cpu.children_user - cpu.children_system
    print(f"{options.rows} rows x {options.levels} levels = {options.rows * options.levels} cells in {took:.1f} s, {seconds:.1f} s of CPU, "
          f"at most {memory / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
