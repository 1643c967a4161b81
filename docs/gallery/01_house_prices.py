# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # House prices: a forest that says how sure it is
#
# A random forest predicts the median house value of 506 districts of Boston. Its errors are small for ordinary districts and large for
# expensive ones. tare gives each district the interval that its own errors call for.
#
# **Data:** Boston housing (Harrison and Rubinfeld 1978), `boston.csv` under `TARE_DATA`. The set has a contested column, `B`, which is
# left out here; values above 50 (thousand dollars) are recorded as 50.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare
from sklearn.ensemble import RandomForestRegressor

houses = pd.read_csv(Path(os.environ["TARE_DATA"]) / "boston.csv").drop(columns="B")
X, y = houses.drop(columns="MEDV"), houses["MEDV"]
order = np.random.default_rng(0).permutation(len(y))
train, test = order[:380], order[380:]

# %% [markdown]
# `fit` trains the forest five times, each time without a fifth of the rows, so that every row gets a residual from a forest that has not
# seen it. `nrc_boost` then learns the center and the scale of these residuals, and their quantiles near each district.

# %%
forest = RandomForestRegressor(100, min_samples_leaf=2, random_state=0, n_jobs=1)
model = tare.Calibrator(forest, method="nrc_boost", random_state=0).fit(X.iloc[train], y.iloc[train])
low, middle, high = model.predict_quantiles(X.iloc[test], [0.05, 0.5, 0.95]).T
price = y.iloc[test].to_numpy()
inside = (low <= price) & (price <= high)
cheap, dear = middle < np.quantile(middle, 1 / 3), middle > np.quantile(middle, 2 / 3)
print(f"inside: {inside.mean():.0%} of {len(test)} districts, the cheapest third {inside[cheap].mean():.0%}, the dearest {inside[dear].mean():.0%}")
print(f"mean width: the cheapest third {(high - low)[cheap].mean():.1f}, the dearest {(high - low)[dear].mean():.1f} thousand dollars")

# %% alt="Intervals of 126 test districts, sorted by predicted median: narrow for districts of 15 to 25 thousand dollars, wider for the dearest; most prices lie inside."
rank = np.argsort(middle)
fig, ax = plt.subplots()
ax.vlines(np.arange(len(rank)), low[rank], high[rank], color="#2a6fb0", alpha=0.45, linewidth=2.2, label="90 % interval")
ax.plot(middle[rank], color="#2a6fb0", label="median")
ax.scatter(np.arange(len(rank)), price[rank], s=14, color=np.where(inside[rank], "#1b2733", "#b45400"), zorder=3, label="price (orange: outside)")
ax.set(xlabel="test districts, by predicted median", ylabel="median value, thousand dollars", title="Wide where the forest errs, narrow where it does not")
ax.legend()
plt.show()

# %% [markdown]
# One width for all districts would be too wide for most of them and too narrow for the dearest. With 380 rows the share inside is known to a
# few per cent only: the standard deviation of a share of 0.9 among 126 districts is 2.7 %.
#
# The same rows as a page, with reliability, coverage along each column, and the regions where calibration is worst:

# %%
page = tare.report(model, X.iloc[test], y.iloc[test], "report.html")

# %% [markdown]
# [The report of this model](files/house-prices/report.html).
