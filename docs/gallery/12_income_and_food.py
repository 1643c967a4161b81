# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Income and food: Engel's households
#
# The classic of quantile regression: the more a household earns, the more it spends on food, and the more households differ. A straight
# line explains the mean; tare turns it into quantiles that spread like the data.
#
# **Data:** 235 Belgian households of 1857 (Engel; Koenker and Bassett 1982), which the package statsmodels brings along.

# %%
import matplotlib.pyplot as plt
import numpy as np
import tare
from sklearn.linear_model import LinearRegression
from statsmodels.datasets import engel

households = engel.load_pandas().data
X, y = households[["income"]], households["foodexp"].to_numpy()
model = tare.Calibrator(LinearRegression(), method="nrc_boost", random_state=0, bands="off").fit(X, y)

# %% alt="Food expenditure against income with the fitted 5, 25, 50, 75 and 95 percent quantiles: close together for small incomes, far apart for large ones."
income = np.linspace(float(X["income"].quantile(0.01)), float(X["income"].quantile(0.98)), 200)
q = model.predict_quantiles(X.iloc[:0].reindex(range(200)).assign(income=income), [0.05, 0.25, 0.5, 0.75, 0.95])
fig, ax = plt.subplots()
ax.scatter(X["income"], y, s=10, color="#8a8f98", alpha=0.7)
ax.fill_between(income, q[:, 0], q[:, 4], color="#2a6fb0", alpha=0.18, linewidth=0, label="90 %")
ax.fill_between(income, q[:, 1], q[:, 3], color="#2a6fb0", alpha=0.3, linewidth=0, label="50 %")
ax.plot(income, q[:, 2], color="#2a6fb0", label="median")
ax.set(xlim=(income[0], income[-1]), ylim=(100, 2000), xlabel="income, francs", ylabel="food expenditure, francs", title="The richer, the more different")
ax.legend(loc="upper left")
plt.show()

# %% [markdown]
# 235 rows are cross-fitted: each household's error comes from a line that was fitted without it. How often does that cover new households?
# Ten splits of a fifth each:

# %%
inside = []
for seed in range(10):
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[47:], order[:47]
    fold = tare.Calibrator(LinearRegression(), method="nrc_boost", random_state=0, bands="off").fit(X.iloc[train], y[train])
    low, high = fold.predict_interval(X.iloc[test], 0.9).T
    inside.append(np.mean((low <= y[test]) & (y[test] <= high)))
print(f"covered on average: {np.mean(inside):.1%}, from {min(inside):.0%} to {max(inside):.0%}")
