#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times one training step of small networks in tare and in PyTorch, in one run, on one thread each.

A step is forward, mean squared error, backward, Adam; tare's also gathers its minibatch from a table, PyTorch's has it
ready. Cases take turns; each figure is the best of 200 means over about 3 ms, which also holds on a machine that is not idle.

    cmake --build BUILD --target nn_bench && /usr/bin/python3 bench/nn_vs_torch.py BUILD/bench/nn_bench

Exit code 1 when tare is not at least 10 times as fast for [20,20], 4 times for [64,64] at batch 64, and twice for the LSTM.
"""

import argparse
import json
import subprocess
import sys
import time

import torch

CASES = [("mlp", "20,20", 10, 10), ("mlp", "20,20", 64, 10), ("mlp", "20,20", 128, 10), ("mlp", "64,64", 10, None),
         ("mlp", "64,64", 64, 4), ("mlp", "64,64", 128, None), ("lstm", "40,40", 64, 2)]


class Series(torch.nn.Module):
    def __init__(self, inputs, units, layers):
        super().__init__()
        self.lstm = torch.nn.LSTM(inputs, units, layers, batch_first=True)
        self.head = torch.nn.Linear(units, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def make_case(kind, layers, batch):
    units = [int(one) for one in layers.split(",")]
    if kind == "lstm":
        return Series(11, units[0], len(units)), torch.randn(batch, 5, 11)
    parts, width = [], 8
    for one in units:
        parts += [torch.nn.Linear(width, one), torch.nn.LeakyReLU(0.2)]
        width = one
    return torch.nn.Sequential(*parts, torch.nn.Linear(width, 1)), torch.randn(batch, 8)


def time_torch(kind, layers, batch):
    net, x = make_case(kind, layers, batch)
    y = torch.randn(batch, 1)
    adam = torch.optim.Adam(net.parameters())
    loss = torch.nn.MSELoss()

    def steps(count):
        start = time.perf_counter()
        for _ in range(count):
            adam.zero_grad()
            loss(net(x), y).backward()
            adam.step()
        return (time.perf_counter() - start) / count

    few = max(1, int(3e-3 / steps(50)))
    return 1e6 * min(steps(few) for _ in range(200))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the nn_bench program")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, one thread; microseconds per training step")
    print(f"{'network':12} {'batch':>5} {'tare':>8} {'PyTorch':>8} {'ratio':>6} {'wanted':>6}")
    missed = False
    for kind, layers, batch, wanted in CASES:
        done = subprocess.run([args.program, kind, layers, str(batch)], check=True, capture_output=True, text=True)
        ours = json.loads(done.stdout)["microseconds"]
        theirs = time_torch(kind, layers, batch)
        ratio = theirs / ours
        missed = missed or (wanted is not None and ratio < wanted)
        print(f"{kind + ' ' + layers:12} {batch:5} {ours:8.1f} {theirs:8.1f} {ratio:6.1f} {wanted or '-':>6}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
