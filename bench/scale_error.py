# SPDX-License-Identifier: BSD-3-Clause
"""How many calibration rows are worth having: the error of 5 % and 95 % quantiles against the number of rows, on laws that are known.

The law has d features in [0, 1]; the residual is normal with the standard deviation 0.2 + the first feature, and the other features do not matter.
Errors are root mean squares over new rows, in units of the row's own standard deviation.

usage: bench/scale_error.py --rows 1000 10000 100000 --features 1 2 4
"""

import argparse
import json
import time

import numpy as np

import tare

Z95 = 1.6448536269514722


def draw(rows, features, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(rows, features))
    return x, rng.normal(size=rows) * (0.2 + x[:, 0])


def error(rows, features, seed, chosen):
    x, y = draw(rows, features, seed)
    model = tare.Calibrator(method="nrc", guarantee="none", bands=False, bounds="none", features=chosen, random_state=seed)
    started = time.monotonic()
    model.calibrate(x, y, y_pred=np.zeros(rows))
    seconds = time.monotonic() - started
    new, _ = draw(2000, features, seed + 1000)
    scale = 0.2 + new[:, 0]
    quantiles = model.predict_quantiles(new, [0.05, 0.95], y_pred=np.zeros(len(new)))
    return float(np.sqrt(np.mean((quantiles / scale[:, None] - [-Z95, Z95]) ** 2))), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--features", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--screen", action="store_true", help="let tare choose the features of the kernel")
    options = parser.parse_args()
    for features in options.features:
        for rows in options.rows:
            found = [error(rows, features, seed, "auto" if options.screen and features > 1 else None) for seed in range(options.seeds)]
            print(json.dumps({"features": features, "rows": rows, "rmse_sd": round(float(np.mean([e for e, _ in found])), 4),
                              "calibrate_s": round(float(np.mean([s for _, s in found])), 1), "chosen": options.screen}), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
