# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Electricity, online: the same coverage, a third of the width
#
# Several methods keep 90 % coverage on a stream by moving one number up and down. tare's own also looks at what the errors depend on: the
# time of day, the last errors, the columns. Both cover; one of them is much narrower.
#
# **Data:** 2,000 half-hours of electricity demand in New South Wales with a stored autoregressive forecast (Harries 1999; Angelopoulos,
# Candes and Tibshirani 2023), `online/elec2.csv` under `TARE_DATA`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare

stream = pd.read_csv(Path(os.environ["TARE_DATA"]) / "online" / "elec2.csv").drop(columns=["t", "f_prophet"])
found = {}
for method in ("snq", "aci", "pid"):
    found[method] = tare.track(stream, "y", prediction="f_ar", interval=0.9, start=300, method=method)
    print(f"{method}: coverage {found[method].coverage:.1%}, mean width {found[method].mean_width:.3f}, Winkler score {found[method].winkler:.3f}")

# %% alt="Two days of demand: the interval of adaptive conformal inference is wide at all times, that of snq a narrow band around the demand."
shown = slice(1200, 1296)
hours = np.arange(96) / 2
fig, ax = plt.subplots()
for method, colour, alpha in (("aci", "#b45400", 0.22), ("snq", "#2a6fb0", 0.4)):
    low, high = found[method].frame.to_numpy()[shown, :2].T
    ax.fill_between(hours, low, high, color=colour, alpha=alpha, linewidth=0, label=f"{method}: 90 % interval")
ax.plot(hours, stream["y"].to_numpy()[300:][shown], ".", color="#1b2733", markersize=4, label="demand")
ax.set(xlabel="hours", ylabel="demand, scaled", title="Two days: both cover 90 % in the long run")
ax.legend(loc="upper right", ncols=2)
plt.show()

# %% [markdown]
# Each row is answered before its target is seen. What is proven for `snq` in the long run, whatever the targets do, is
# [on the page about streams](../online.md#what-is-proven); the table there has more methods.
