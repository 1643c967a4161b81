# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Wine: the chance of each grade
#
# Tasters give whole grades, from 3 to 9. A mean of 5.8 is a grade that nobody gives. The quantiles of tare are grades, and the share of them
# on each grade is its probability, for each wine its own.
#
# **Data:** 4,898 white Portuguese wines with eleven measurements each (Cortez et al. 2009, UCI), `wine_white.csv` under `TARE_DATA`; duplicates
# are left out, so that no test wine is a training wine.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare

wine = pd.read_csv(Path(os.environ["TARE_DATA"]) / "wine_white.csv").drop_duplicates().sample(frac=1.0, random_state=0)
X, y = wine.drop(columns="quality"), wine["quality"].to_numpy(dtype=float)
model = tare.QuantileRegressor("nrc_boost", random_state=0, bands="off").fit(X[:3000], y[:3000])

# %% [markdown]
# 99 quantiles of each test wine, and the share of them on each grade:

# %%
quantiles = model.predict_quantiles(X[3000:], np.arange(1, 100) / 100.0)
grades = np.arange(3, 10)
chance = np.stack([(quantiles == grade).mean(axis=1) for grade in grades], axis=1)
print(f"on a whole grade: {chance.sum(axis=1).min():.0%} of the quantiles of every wine, or more")
good = chance[:, grades >= 7].sum(axis=1)
for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.01)):
    group = (low <= good) & (good < high)
    print(f"said {good[group].mean():4.0%}: {(y[3000:] >= 7)[group].mean():4.0%} of {group.sum()} wines have grade 7 or better")

# %% alt="Bars with the chances of grades 3 to 9 for four test wines: one that is almost surely a 5 or 6, one spread over 5 to 7, and two with a high chance of 7 or better."
rank = np.argsort(good)
chosen = rank[[int(share * (len(rank) - 1)) for share in (0.02, 0.5, 0.85, 0.995)]]
fig, axes = plt.subplots(1, 4, figsize=(6.6, 3.4), sharey=True)
for ax, one in zip(axes, chosen):
    ax.bar(grades, chance[one], color=np.where(grades >= 7, "#2a6fb0", "#8a8f98"))
    ax.set(title=f"7 or better:\n{good[one]:.0%}", xticks=grades[::2], xlabel="grade")
axes[0].set_ylabel("probability")
plt.show()
