#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether two builds of the tool, or two vector widths of one, give the same models and answers.

    python3 tests/edge/same_answers.py build/tare build-clang/tare
    python3 tests/edge/same_answers.py build/tare build/tare --vectors sse2

Every method is fitted on seeded rows with a fixed seed by either tool. Then model files are compared byte by byte, the
answers of both models by their own tool, and the answers of either tool to the first model: the first says whether training
is the same, the last whether prediction is. Methods without a network must agree to the last byte. Where g++ makes clones for
vector widths (src/math/vector_targets.h), products of networks and of Gaussian processes are fused multiply-adds on processors
that have them, and clang's are not: their answers may then differ by TOLERANCE. Methods that choose among trees and candidates
after training networks may choose differently for such a difference: their trainings may differ by CHOICES, their answers to one
model by TOLERANCE. With --exact nothing may, for builds without clones (clang, the sanitizers)."""
import argparse
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import variants

# Of the short trainings here, in units of the answers' range: training repeats what rounding began.
TOLERANCE = 1e-4
# Seen: 0.014. Enough to tell a choice that turned from a training that went wrong.
CHOICES = {"auto": 0.05}
NETWORKS = {"auto", "nrc", "nrc_rp", "nrc_cov", "nrc_embed", "lstm_nrc", "hnn", "mc_dropout", "deep_ensemble", "mmd", "isr", "lstm_hnn", "cqr",
            "oqr", "maqr", "ccl", "dgp", "paic", "distribution_calibration", "nrc, gp"}
LEVELS = "0.01,0.05,0.25,0.5,0.75,0.95,0.99"


def rows(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        a, b, c = rng.random(), rng.gauss(0, 1), rng.choice("uvw")
        yield f"{a!r},{b!r},{c},{a + 0.3 * b + (0.2 + a) * rng.gauss(0, 1)!r}\n"


class Tool:
    def __init__(self, path, vectors, folder, name):
        self.path, self.folder, self.name = os.path.abspath(path), folder, name
        self.environment = {**os.environ, **({"TARE_VECTOR_TARGETS": vectors} if vectors else {})}

    def run(self, *args):
        done = subprocess.run([self.path, *args], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.path} {' '.join(args)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def fit(self, flags):
        model = f"{self.name}.tare"
        self.run("fit", "data.csv", "--target", "y", "-o", model, "--force", "-q", "--seed", "5", "--threads", "1", *flags)
        return model

    def answers(self, model):
        return self.run("predict", model, "new.csv", "--levels", LEVELS, "--diagnostics", "-q")


def largest_difference(one, other):
    """Of two CSV texts, in units of the range of the numbers of the first; infinite where their form differs."""
    tables = [list(csv.reader(io.StringIO(text.decode()))) for text in (one, other)]
    if [len(row) for row in tables[0]] != [len(row) for row in tables[1]] or tables[0][0] != tables[1][0]:
        return float("inf")
    quantiles = [j for j, name in enumerate(tables[0][0]) if name.startswith("q") and "_" not in name]
    numbers = [[float(row[j]) for row in table[1:] for j in quantiles] for table in tables]
    extent = max(numbers[0]) - min(numbers[0]) or 1.0
    return max(abs(a - b) for a, b in zip(*numbers)) / extent


def word(same, difference):
    return "same bytes" if same else f"{difference:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", help="a build of the tool")
    parser.add_argument("second", help="another, or the same with --vectors")
    parser.add_argument("--vectors", help="widest vectors of the second: sse2, ssse3, sse4, avx2, avx3")
    parser.add_argument("--exact", action="store_true", help="networks, too, must agree to the last byte")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--methods", help="labels, separated by semicolons [all]")
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory(prefix="tare-same-") as folder:
        for name, count, seed in (("data.csv", options.rows, 1), ("new.csv", 100, 2)):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("a,b,c,y\n" + "".join(rows(count, seed)))
        first = Tool(options.first, None, folder, "first")
        second = Tool(options.second, options.vectors, folder, "second")
        every = variants(json.loads(first.run("methods", "--json"))["methods"])
        asked = [label.strip() for label in options.methods.split(";")] if options.methods else [label for label, _ in every]
        unknown = set(asked) - {label for label, _ in every}
        if unknown:
            parser.error(f"no method has the label {', '.join(sorted(unknown))}")
        print(f"{'method':40} {'model file':12} {'answers':12} answers to one model")
        for label, flags in every:
            if label not in asked:
                continue
            models = [tool.fit(flags) for tool in (first, second)]
            files = []
            for model in models:
                with open(os.path.join(folder, model), "rb") as file:
                    files.append(file.read())
            own = first.answers(models[0])
            theirs = second.answers(models[1])
            crossed = second.answers(models[0])
            differences = [largest_difference(own, other) for other in (theirs, crossed)]
            if label in NETWORKS and not (options.exact or options.vectors):
                good = differences[0] <= CHOICES.get(label, TOLERANCE) and differences[1] <= TOLERANCE
            else:
                good = files[0] == files[1] and own == theirs == crossed
            print(f"{label:40} {'same bytes' if files[0] == files[1] else 'differs':12} {word(own == theirs, differences[0]):12} "
                  f"{word(own == crossed, differences[1])}{'' if good else '   <- not allowed'}", flush=True)
            if not good:
                failed.append(label)
    if failed:
        sys.exit(f"{len(failed)} of the methods differ by more than is allowed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
