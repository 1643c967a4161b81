#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares qrf, tare's quantile regression forest, with quantile-forest and R's ranger: time, memory and CheckScore in one run.

    python3 -m venv VENV && VENV/bin/pip install . scikit-learn quantile-forest
    TARE_DATA=... VENV/bin/python bench/qrf_peers.py --markdown

Every peer grows the same number of trees with the same least leaf and the same share of the columns at each split, on the same rows, with one
thread, and predicts 99 quantiles for the test rows. Each measurement is a process of its own: times are processor seconds (user and system)
after imports and data, memory is the peak above what was resident before the fit. 'quantile_forest' keeps all rows of a leaf, as Meinshausen
(2006) defines it and as tare does; 'quantile_forest_1' is its default, which keeps one row of each leaf; so does ranger (asked only where
Rscript and the package are there). A ranger without 'min.bucket', as version 0.14 of Debian 12, does not bound the rows of a leaf, only those of a
node that is split: its leaves are smaller than the others' unless --min-leaf is 1. The cases are the tables of $TARE_DATA with a tenth of the rows
held out, and a known heteroscedastic law of 10 features for which rows are no limit. '+-' is the standard error of the mean difference
from tare's CheckScore over the seeds, which draw both the rows and the trees; "times tare's" are the ratios of the two times and of the memory.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from pypeers.measure import fit_and_predict  # noqa: E402

TABLES = {
    "concrete": ("concrete.csv", "compressive_strength"),
    "power": ("power.csv", "PE"),
    "kin8nm": ("kin8nm.csv", "y"),
    "wine": ("wine_white.csv", "quality"),
}
LAWS = {"law_2000": 2000, "law_20000": 20_000, "law_100000": 100_000}
LEVELS = [j / 100 for j in range(1, 100)]


def law_rows(rows, rng):
    """Sine and line in the mean, an sd that depends on two features; six features say nothing."""
    import numpy as np

    x = rng.random((rows, 10))
    sd = 0.2 + x[:, 2] + np.abs(x[:, 3] - 0.5)
    return x, np.sin(6 * x[:, 0]) + 2 * x[:, 1] + sd * rng.standard_normal(rows)


def make_case(name, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    if name in LAWS:
        x, y = law_rows(LAWS[name] + 5000, rng)
        return x[:-5000], y[:-5000], x[-5000:], y[-5000:]
    file, target = TABLES[name]
    with open(os.path.join(os.environ["TARE_DATA"], file), encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
        table = np.array([[float(cell) for cell in line.split(",")] for line in lines])
    table = table[rng.permutation(len(table))]
    at = header.index(target)
    x, y = np.delete(table, at, axis=1), table[:, at]
    test = len(y) // 10
    return x[test:], y[test:], x[:test], y[:test]


def tried(o, x):
    return max(1, int(o.columns * x.shape[1]))


class Tare:
    def __init__(self, o):
        import tare

        self.options = o
        self.regressor = tare.QuantileRegressor

    def fit(self, x, y):
        o = self.options
        # As many columns as the others try: they round down.
        options = {"trees": o.trees, "min_leaf": o.min_leaf, "columns": tried(o, x) / x.shape[1], "leaf_rows": o.leaf_rows}
        self.model = self.regressor("qrf", options=options, bands=False, n_jobs=1, random_state=o.seed).fit(x, y)

    def quantiles(self, x):
        return self.model.predict_quantiles(x, LEVELS)


class QuantileForest:
    KEPT = None

    def __init__(self, o):
        from quantile_forest import RandomForestQuantileRegressor

        self.model = RandomForestQuantileRegressor(
            n_estimators=o.trees, min_samples_leaf=o.min_leaf, max_features=o.columns, max_samples_leaf=self.KEPT, n_jobs=1, random_state=o.seed
        )

    def fit(self, x, y):
        self.model.fit(x, y)

    def quantiles(self, x):
        return self.model.predict(x, quantiles=LEVELS)


class QuantileForestOne(QuantileForest):
    KEPT = 1


PEERS = {"tare": Tare, "quantile_forest": QuantileForest, "quantile_forest_1": QuantileForestOne}

RANGER = """
suppressMessages(library(ranger))
a <- commandArgs(TRUE)
train <- read.csv(file.path(a[1], 'train.csv')); test <- read.csv(file.path(a[1], 'test.csv'))
peak <- function() as.numeric(sub('[^0-9]*([0-9]+).*', '\\\\1', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1024
now <- function() sum(proc.time()[1:2])
cat('5', file = '/proc/self/clear_refs'); before <- peak(); start <- now()
least <- if ('min.bucket' %in% names(formals(ranger))) list(min.bucket = as.numeric(a[3])) else list()
m <- do.call(ranger, c(list(y ~ ., train, num.trees = as.numeric(a[2]), min.node.size = 2 * as.numeric(a[3]), mtry = as.numeric(a[4]),
                            quantreg = TRUE, num.threads = 1, seed = as.numeric(a[5]), verbose = FALSE), least))
fit <- now() - start; start <- now()
q <- predict(m, test, type = 'quantiles', quantiles = (1:99) / 100, num.threads = 1, verbose = FALSE)$predictions
predict <- now() - start
write.table(q, file.path(a[1], 'q.csv'), row.names = FALSE, col.names = FALSE, sep = ',')
cat(fit, predict, peak() - before)
"""


def check_score(y, quantiles):
    import numpy as np

    error = y[:, None] - quantiles
    tau = np.array(LEVELS)
    return float(np.mean(np.maximum(tau * error, (tau - 1) * error)))


def ranger(o, case):
    import numpy as np

    x, y, x_test, y_test = case
    with tempfile.TemporaryDirectory() as folder:
        names = [f"x{j}" for j in range(x.shape[1])]
        for file, table, header in (("train", np.column_stack([x, y]), [*names, "y"]), ("test", x_test, names)):
            np.savetxt(f"{folder}/{file}.csv", table, delimiter=",", header=",".join(header), comments="")
        command = ["Rscript", "-e", RANGER, folder, str(o.trees), str(o.min_leaf), str(tried(o, x)), str(o.seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        fit, predict, megabytes = (float(word) for word in done.stdout.split())
        quantiles = np.loadtxt(f"{folder}/q.csv", delimiter=",", ndmin=2)
    return {"fit": fit, "predict": predict, "megabytes": megabytes, "check_score": check_score(y_test, quantiles)}


def measure(o, name, case):
    x, y, x_test, y_test = case
    _, quantiles, taken = fit_and_predict(lambda: PEERS[name](o), x, y, x_test)
    return {**taken, "check_score": check_score(y_test, quantiles)}


def measured(o, peer, case, seed):
    if peer == "ranger":
        o.seed = seed
        return ranger(o, make_case(case, seed))
    arguments = ["--trees", str(o.trees), "--min-leaf", str(o.min_leaf), "--columns", str(o.columns), "--leaf-rows", o.leaf_rows]
    command = [sys.executable, os.path.abspath(__file__), "--measure", peer, case, str(seed), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{peer} on {case}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--min-leaf", type=int, default=5)
    parser.add_argument("--columns", type=float, default=0.34)
    parser.add_argument("--leaf-rows", default="drawn", choices=["drawn", "all"], help="training rows that a leaf of tare keeps")
    parser.add_argument("--cases", nargs="+", default=[*TABLES, *LAWS], choices=[*TABLES, *LAWS])
    parser.add_argument("--peers", nargs="+", default=[*PEERS, "ranger"], choices=[*PEERS, "ranger"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--measure", nargs=3, metavar=("PEER", "CASE", "SEED"), help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.measure:
        peer, case, seed = o.measure
        o.seed = int(seed)
        print(json.dumps(measure(o, peer, make_case(case, o.seed))))
        return
    if "ranger" in o.peers and not shutil.which("Rscript"):
        print("ranger is left out: there is no Rscript", file=sys.stderr)
        o.peers.remove("ranger")
    o.cases = [case for case in o.cases if case in LAWS or "TARE_DATA" in os.environ]
    header = ["case", "peer", "fit, cpu s", "predict, cpu s", "MB", "CheckScore", "+-", "times tare's"]
    print(("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|") if o.markdown else "\t".join(header))
    for case in o.cases:
        own, own_runs = {}, []
        for peer in o.peers:
            runs = [measured(o, peer, case, seed) for seed in o.seeds]
            line = {key: statistics.median(run[key] for run in runs) for key in ("fit", "predict", "megabytes")}
            line["check_score"] = statistics.mean(run["check_score"] for run in runs)
            own, own_runs = (line, runs) if peer == "tare" else (own, own_runs)
            differences = [run["check_score"] - base["check_score"] for run, base in zip(runs, own_runs, strict=False)]
            error = f"{statistics.stdev(differences) / len(runs) ** 0.5:.4f}" if peer != "tare" and len(differences) > 1 else "-"
            ratio = "-" if not own else " / ".join(f"{line[k] / own[k]:.1f}" for k in ("fit", "predict", "megabytes"))
            cells = [case, peer, f"{line['fit']:.3g}", f"{line['predict']:.3g}", f"{line['megabytes']:.0f}"]
            cells += [f"{line['check_score']:.4f}", error, ratio]
            print(("| " + " | ".join(cells) + " |") if o.markdown else "\t".join(cells), flush=True)


if __name__ == "__main__":
    main()
