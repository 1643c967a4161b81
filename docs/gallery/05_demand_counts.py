# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Demand: counts whose spread changes with a promotion
#
# A shop sells a product in whole pieces. A promotion raises the demand, and its uncertainty even more. The quantiles of tare are whole
# numbers, and the probability of running out is read off them.
#
# **Data:** drawn, not observed. Demand is negative binomial: mean 6 on weekdays and 11 at weekends, doubled by a promotion, with
# dispersion 8 without and 2 with a promotion. So the truth is known and can be compared with.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare
from scipy import stats

rng = np.random.default_rng(0)
days = pd.DataFrame({"weekday": np.arange(3000) % 7, "promotion": (rng.uniform(size=3000) < 0.25).astype(int), "price": rng.uniform(1.8, 2.4, 3000)})


def law(rows):
    mean = np.where(rows["weekday"] >= 5, 11.0, 6.0) * np.where(rows["promotion"] == 1, 2.0, 1.0) * (2.1 / rows["price"])
    size = np.where(rows["promotion"] == 1, 2.0, 8.0)
    return stats.nbinom(size, size / (size + mean))


demand = law(days).rvs(random_state=1)
model = tare.QuantileRegressor("nrc_boost", random_state=0, bands="off").fit(days, demand)

# %% alt="Predicted probabilities of demand on a weekday without and with a promotion as steps beside the true distribution functions; the promotion moves the curve to the right and flattens it."
cases = pd.DataFrame({"weekday": [2, 2], "promotion": [0, 1], "price": [2.1, 2.1]})
pieces = np.arange(0, 46)
ours = model.predict_distribution(cases).cdf(np.tile(pieces + 0.0, (2, 1)))
fig, ax = plt.subplots()
for row, (name, colour) in enumerate((("without a promotion", "#2a6fb0"), ("with a promotion", "#b45400"))):
    ax.step(pieces, ours[row], where="post", color=colour, label=f"tare, {name}")
    ax.plot(pieces, law(cases.iloc[[row]]).cdf(pieces[:, None])[:, 0], ".", color="#2c7a4b", markersize=5, label="truth" if row == 0 else None)
ax.axhline(0.95, color="#8a8f98", linewidth=1)
ax.set(xlabel="pieces in stock", ylabel="probability that they are enough", title="A promotion doubles the mean and more than doubles the stock", ylim=(0, 1.02))
ax.legend(loc="lower right")
plt.show()

# %% [markdown]
# The stock that is enough in 95 of 100 cases, predicted and true:

# %%
ask = model.predict_quantiles(cases, [0.95])[:, 0]
true = law(cases).ppf(0.95)
for row, name in enumerate(("without", "with")):
    print(f"{name} a promotion: {ask[row]:.0f} pieces, truth {true[row]:.0f}")
level = law(days).cdf(model.predict_quantiles(days, [0.95])[:, 0])
print(f"true probability that the predicted 95 % stock is enough: mean {level.mean():.3f}, from {np.quantile(level, 0.05):.3f} to {np.quantile(level, 0.95):.3f} on nine of ten days")
