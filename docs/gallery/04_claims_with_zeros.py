# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Claims with zeros: quantiles that sit on nothing
#
# Three of ten insured people do not see a doctor in a year, and a few go forty times. No interval around a mean describes that. The default
# method finds the value that many rows share and puts exactly as many quantiles on it as each person's chance of no visit calls for.
#
# **Data:** visits to a doctor in a year, 20,190 person-years of the RAND Health Insurance Experiment, which the package statsmodels brings along.

# %%
import matplotlib.pyplot as plt
import numpy as np
import tare
from statsmodels.datasets import randhie

rand = randhie.load_pandas().data
X, y = rand.drop(columns="mdvis"), rand["mdvis"].to_numpy()
order = np.random.default_rng(0).permutation(len(y))
train, test = order[:5000], order[5000:9000]
print(f"no visit: {(y == 0).mean():.0%}, most visits: {y.max():.0f}")

# %%
model = tare.QuantileRegressor("nrc_boost", random_state=0, bands="off").fit(X.iloc[train], y[train])
levels = np.arange(1, 100) / 100.0
quantiles = model.predict_quantiles(X.iloc[test], levels)
print("all quantiles are whole numbers:", bool((quantiles == np.round(quantiles)).all()), "and none is negative:", bool((quantiles >= 0).all()))
no_visit = (quantiles == 0).mean(axis=1)

# %% [markdown]
# The share of a person's quantiles that are 0 is the predicted probability of no visit. Ten groups of people, by that probability:

# %% alt="Predicted probability of no visit against the share of people without a visit, in ten groups: the points follow the diagonal."
rank = np.argsort(no_visit, kind="stable")
groups = np.array_split(rank, 10)
said = np.array([no_visit[group].mean() for group in groups])
seen = np.array([(y[test][group] == 0).mean() for group in groups])
half = 1.96 * np.sqrt(seen * (1 - seen) / len(groups[0]))
fig, ax = plt.subplots(figsize=(5.2, 4.6))
ax.plot([0, 0.7], [0, 0.7], color="#8a8f98", linewidth=1)
ax.errorbar(said, seen, yerr=half, fmt="o", color="#2a6fb0", ecolor="#2a6fb0", capsize=3, label="ten groups of 400 people")
ax.set(xlabel="predicted probability of no visit", ylabel="share without a visit", title="The chance of nothing, person by person", xlim=(0, 0.7), ylim=(0, 0.7))
ax.legend(loc="upper left")
plt.show()

# %% [markdown]
# The upper quantiles matter for the reserve. How many visits does at most one in twenty exceed? Quantiles of counts are whole numbers, so the
# share above them is 5 % at most, and usually less:

# %%
top = model.predict_quantiles(X.iloc[test], [0.95])[:, 0]
for name, rows in (("not in poor health", X.iloc[test]["hlthp"].to_numpy() == 0), ("in poor health", X.iloc[test]["hlthp"].to_numpy() == 1)):
    print(f"{name}: 95 % quantile {np.median(top[rows]):.0f} visits in the median, exceeded by {(y[test] > top)[rows].mean():.1%} of {rows.sum()}")
