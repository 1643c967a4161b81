#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the test error of tare's mlp with the same network in PyTorch, on the same rows.

Both: hidden layers [20, 20], leaky ReLU 0.2, Adam, the paper's grid (learning rates 0.01, 0.005, 0.001 and minibatches
10, 64, 128) chosen on 15 % validation rows, training stopped when the best validation loss is 20 epochs old, best
weights restored. 10 % of the rows are the test, the same for both; each draws its own validation rows from the rest.
Standardised inputs and target. One thread each.

    cmake --build BUILD --target nn_fit && TARE_DATA=DIR /usr/bin/python3 bench/nn_accuracy.py BUILD/bench/nn_fit

PyTorch needs about twenty minutes for the three tables; --torch-cache FILE keeps its figures for another run.
Exit code 1 when tare's mean error is more than 5 % above PyTorch's on one of them.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy

RATES = [1e-2, 5e-3, 1e-3]
BATCHES = [10, 64, 128]
EPOCHS, PATIENCE = 1000, 20


def read_table(path):
    table = numpy.genfromtxt(path, delimiter=",", skip_header=1)
    assert numpy.isfinite(table).all(), path
    return table


def split_rows(table, seed):
    order = numpy.random.default_rng(seed).permutation(len(table))
    test = len(table) // 10
    return table[order[test:]], table[order[:test]]


def write_matrix(path, matrix):
    with open(path, "wb") as out:
        out.write(numpy.array(matrix.shape, dtype="<i8").tobytes())
        out.write(numpy.ascontiguousarray(matrix, dtype="<f8").tobytes())


def fit_tare(program, train, test, options, seed):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train", "test")]
        write_matrix(paths[0], train)
        write_matrix(paths[1], test)
        done = subprocess.run([program, "mlp", *paths, options, str(seed)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def train_torch(torch, parts, rate, batch, seed):
    (x, y), (vx, vy) = parts
    torch.manual_seed(seed)
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], 20), torch.nn.LeakyReLU(0.2), torch.nn.Linear(20, 20), torch.nn.LeakyReLU(0.2),
        torch.nn.Linear(20, 1))
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    best, best_epoch, best_state = float("inf"), 0, None
    for epoch in range(1, EPOCHS + 1):
        order = torch.randperm(len(x))
        for first in range(0, len(x), batch):
            rows = order[first:first + batch]
            adam.zero_grad()
            loss = torch.mean((net(x[rows]) - y[rows]) ** 2)
            loss.backward()
            adam.step()
        with torch.no_grad():
            current = float(torch.mean((net(vx) - vy) ** 2))
        if current < best:
            best, best_epoch, best_state = current, epoch, copy.deepcopy(net.state_dict())
        if epoch - best_epoch >= PATIENCE:
            break
    net.load_state_dict(best_state)
    return best, net


def fit_torch(train, test, seed, rates, batches):
    import torch
    torch.set_num_threads(1)
    start = time.perf_counter()
    mean, scale = train.mean(axis=0), train.std(axis=0)
    scale[scale == 0] = 1.0
    rows = torch.tensor((train - mean) / scale, dtype=torch.float32)
    order = numpy.random.default_rng(1000 + seed).permutation(len(rows))
    held = round(0.15 * len(rows))
    parts = [(rows[order[held:], :-1], rows[order[held:], -1:]), (rows[order[:held], :-1], rows[order[:held], -1:])]
    best, net = min((train_torch(torch, parts, r, b, seed) for r in rates for b in batches), key=lambda one: one[0])
    queries = torch.tensor((test[:, :-1] - mean[:-1]) / scale[:-1], dtype=torch.float32)
    with torch.no_grad():
        predicted = net(queries).numpy()[:, 0].astype(float) * scale[-1] + mean[-1]
    return {"rmse": float(numpy.sqrt(numpy.mean((predicted - test[:, -1]) ** 2))), "validation_loss": best,
            "seconds": time.perf_counter() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the nn_fit program")
    parser.add_argument("--tables", default="concrete,energy,power")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--options", default="grid=paper", help="of tare's mlp")
    parser.add_argument("--torch-cache", help="JSON file of PyTorch's figures, read and written")
    args = parser.parse_args()

    cache = {}
    if args.torch_cache and os.path.exists(args.torch_cache):
        with open(args.torch_cache, encoding="utf-8") as file:
            cache = json.load(file)
    worst = 0.0
    print(f"{'table':10} {'tare RMSE':>18} {'PyTorch RMSE':>18} {'ratio':>6} {'tare s':>8} {'PyTorch s':>10}")
    for name in args.tables.split(","):
        table = read_table(os.path.join(os.environ["TARE_DATA"], name + ".csv"))
        ours, theirs = [], []
        for seed in range(args.seeds):
            train, test = split_rows(table, seed)
            ours.append(fit_tare(args.program, train, test, args.options, seed))
            key = f"{name}/{seed}"
            if key not in cache:
                cache[key] = fit_torch(train, test, seed, RATES, BATCHES)
                if args.torch_cache:
                    with open(args.torch_cache, "w", encoding="utf-8") as file:
                        json.dump(cache, file)
            theirs.append(cache[key])
        a, b = (numpy.array([one["rmse"] for one in runs]) for runs in (ours, theirs))
        seconds = [sum(one["seconds"] for one in runs) for runs in (ours, theirs)]
        ratio = a.mean() / b.mean()
        worst = max(worst, ratio)
        print(f"{name:10} {a.mean():9.4f} +- {a.std(ddof=1):5.3f} {b.mean():9.4f} +- {b.std(ddof=1):5.3f} {ratio:6.3f} "
              f"{seconds[0]:8.2f} {seconds[1]:10.1f}", flush=True)
    return 1 if worst > 1.05 else 0


if __name__ == "__main__":
    sys.exit(main())
