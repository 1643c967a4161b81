#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Calibrator with device='cuda' on arrays of PyTorch, CuPy or JAX that are on the GPU: seconds in all, and of the parts.

    bench/gpu/python_arrays.py [ROWS [QUERIES]]     a line of JSON for each library and number of levels; medians of five

Four features, a model that is computed on the GPU, kernel gaussian, bandwidth 0.3. `copy_in`: the features and the model's
predictions to the host; `answer`: the same job from NumPy arrays to NumPy arrays; `copy_out`: the answer to the GPU.
"""
import functools
import json
import statistics
import sys
import time

import numpy as np

import tare


def seconds(work, wait, times=5):
    work()
    taken = []
    for _ in range(times):
        wait()
        start = time.perf_counter()
        work()
        wait()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def libraries():
    """(name, array on the GPU, copy on the host, waiting for the GPU) of those that are installed."""
    try:
        import torch

        yield "torch", lambda x: torch.as_tensor(x, device="cuda"), lambda x: x.cpu().numpy(), torch.cuda.synchronize
    except ImportError:
        pass
    try:
        import cupy

        yield "cupy", cupy.asarray, lambda x: x.get(), cupy.cuda.runtime.deviceSynchronize
    except ImportError:
        pass
    try:
        import jax

        yield "jax", lambda x: jax.device_put(x, jax.devices("gpu")[0]), np.asarray, lambda: None
    except (ImportError, RuntimeError):
        pass


def parts(model, new, asked, name, to_gpu, to_host, wait):
    there, own = to_gpu(new), model.predict_quantiles(new, asked)
    both = model.predict_quantiles(there, asked)
    return {
        "queries": len(new),
        "levels": len(asked),
        "library": name,
        "all": seconds(lambda: model.predict_quantiles(there, asked), wait),
        "copy_in": seconds(lambda: (to_host(there), to_host(there[:, 0])), wait),
        "copy_out": seconds(lambda: to_gpu(own), wait),
        "same": bool(np.array_equal(to_host(both), own)),
        "is": f"{type(both).__module__}.{type(both).__name__} {both.dtype} on {both.device}",
    }


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    queries = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, 4)).astype(np.float32)
    y = X[:, 0] + (0.5 + np.abs(X[:, 1])) * rng.normal(size=rows)
    new = rng.normal(size=(queries, 4)).astype(np.float32)
    start = time.perf_counter()
    model = tare.Calibrator(lambda X: X[:, 0], method="nrc", kernel="gaussian", bandwidth=0.3, guarantee="none", bands=False, device="cuda")
    model.calibrate(X, y)
    print(json.dumps({"what": "calibrate", "rows": rows, "seconds": round(time.perf_counter() - start, 3)}), flush=True)
    for levels in (2, 99):
        asked = list(np.arange(1, levels + 1) / (levels + 1))
        answer = seconds(functools.partial(model.predict_quantiles, new, asked), lambda: None)
        for library in libraries():
            result = {"rows": rows, **parts(model, new, asked, *library), "answer": answer}
            print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in result.items()}), flush=True)


if __name__ == "__main__":
    main()
