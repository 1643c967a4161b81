#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all tests of faults and prints one table of their outcomes, in Markdown.

    tests/faults/run.py --tool build/tare --shim build/tests/faults/libtare_fault_shim.so          # the quick form, as in CTest
    tests/faults/run.py --tool build/tare --shim build/tests/faults/libtare_fault_shim.so --full   # every call, or thousands; 1,000 kills
"""
import argparse
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.environ.get("TARE_TOOL", "build/tare"))
    parser.add_argument("--shim", default=os.environ.get("TARE_FAULT_SHIM", "build/tests/faults/libtare_fault_shim.so"))
    parser.add_argument("--c-program", default=os.environ.get("TARE_C_FAULTS", "build/tests/faults/tare_c_faults"))
    parser.add_argument("--full", action="store_true", help="the nightly form")
    parser.add_argument("topics", nargs="*", help="memory, files, ...; all without it")
    options = parser.parse_args()
    environment = {**os.environ, "TARE_TOOL": os.path.abspath(options.tool), "TARE_FAULT_SHIM": os.path.abspath(options.shim),
                   "TARE_C_FAULTS": os.path.abspath(options.c_program), "TARE_FAULTS": "full" if options.full else ""}
    topics = options.topics or sorted(os.path.basename(path)[5:-3] for path in glob.glob(os.path.join(HERE, "test_*.py")))
    failed = []
    print("| fault | command | injections | right | clean error | wrong |\n|---|---|---:|---:|---:|---:|", flush=True)
    for topic in topics:
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, f"test_{topic}.py")], env=environment, check=False,
                              capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("| ") and not line.startswith("| fault |"):
                print(line, flush=True)
        if done.returncode != 0:
            failed.append(topic)
            print(done.stderr, file=sys.stderr)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
