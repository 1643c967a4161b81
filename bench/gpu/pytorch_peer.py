#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel-weighted quantiles by PyTorch on a GPU, from arrays of the host to arrays of the host: what tare is measured against.

    python3 bench/gpu/pytorch_peer.py            the sizes of gpu_speed, and the ratio to its times where a file with them is given
    python3 bench/gpu/pytorch_peer.py gpu_speed.jsonl

Rows are in the order of their residuals, so that a quantile is a place in the cumulated weights. Products in single precision (TF32
would be off by 1e-3 in an exponent), bias and exponential fused by torch.compile, then cumsum and searchsorted, in batches that
fill the memory; answers are copied to pinned memory while the next batch is computed. A size is measured for --seconds, and its time given
for all queries.
"""
import argparse
import json
import sys
import time

import torch

LEVELS = 99
SIZES = ((1_000_000, 4, 0.3), (1_000_000, 8, 0.6), (1_000_000, 16, 1.0), (100_000, 32, 2.0))
QUERIES = 1_000_000


@torch.compile(dynamic=False)
def weights(products, row_bias, query_bias):
    return torch.exp(products - row_bias - query_bias)


def answer(x, row_bias, residuals, levels, queries):
    query_bias = (queries * queries).sum(1, keepdim=True) / 2
    cumulated = weights(queries @ x.T, row_bias, query_bias).cumsum(1)
    places = torch.searchsorted(cumulated, levels * cumulated[:, -1:])
    return residuals[places.clamp_(max=len(residuals) - 1)]


def measure(n, d, h, seconds):
    generator = torch.Generator().manual_seed(1)
    host_x = torch.randn(n, d, generator=generator) / h
    host_queries = (torch.randn(QUERIES, d, generator=generator) / h).pin_memory()
    host_residuals = torch.randn(n, generator=generator).sort().values
    batch = max(256, int(4e9 / n))
    out = torch.empty(QUERIES, LEVELS).pin_memory()
    levels = (torch.arange(1, LEVELS + 1, device="cuda") / (LEVELS + 1)).contiguous()
    x = host_x.cuda()
    row_bias = (x * x).sum(1) / 2
    residuals = host_residuals.cuda()

    def run(first):
        queries = host_queries[first : first + batch].cuda(non_blocking=True)
        out[first : first + batch].copy_(answer(x, row_bias, residuals, levels, queries), non_blocking=True)

    run(0)
    torch.cuda.synchronize()
    start, done = time.perf_counter(), 0
    while done + batch <= QUERIES and time.perf_counter() - start < seconds:
        run(done)
        done += batch
        torch.cuda.synchronize()
    return (time.perf_counter() - start) * QUERIES / done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", nargs="?", help="lines of gpu_speed")
    parser.add_argument("--seconds", type=float, default=4.0)
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    ours = {}
    if arguments.ours:
        with open(arguments.ours) as lines:
            for one in map(json.loads, lines):
                if one["what"] == "gaussian" and not one["expected"]:
                    ours[one["n"], one["d"]] = one["seconds"]
    for n, d, h in SIZES:
        torch.cuda.empty_cache()
        took = measure(n, d, h, arguments.seconds)
        ratio = f", {took / ours[n, d]:.1f} times tare's {ours[n, d]:.3f} s" if (n, d) in ours else ""
        print(f"PyTorch {torch.__version__}, n {n}, m {QUERIES}, d {d}: {took:.2f} s{ratio}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
