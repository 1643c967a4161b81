# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Concrete: how sure is it that it holds?
#
# A builder does not need the mean strength of a mix but the probability that it is strong enough. The default method gives the whole
# conditional distribution of each mix, and with it that probability at every age.
#
# **Data:** 1,030 samples of concrete with the compressive strength of each in MPa (Yeh 1998, UCI), `concrete.csv` under `TARE_DATA`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare

concrete = pd.read_csv(Path(os.environ["TARE_DATA"]) / "concrete.csv").drop_duplicates()
X, y = concrete.drop(columns="compressive_strength"), concrete["compressive_strength"].to_numpy()
order = np.random.default_rng(0).permutation(len(y))
train, test = order[200:], order[:200]
model = tare.QuantileRegressor("auto", budget="quick", random_state=0).fit(X.iloc[train], y[train])

# %% [markdown]
# First a check: are the probabilities right? Of the 200 test samples, sort those for which the model says "strong enough for 40 MPa with
# probability p" by p, and count how many were.

# %%
enough = 1.0 - model.predict_distribution(X.iloc[test]).cdf(40.0)
for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.01)):
    group = (low <= enough) & (enough < high)
    print(f"said {enough[group].mean():4.0%} on average: {(y[test] > 40.0)[group].mean():4.0%} of {group.sum()} samples were stronger than 40 MPa")

# %% [markdown]
# Then one mix, as it ages: its quantiles, and the day on which it is stronger than 40 MPa with a probability of 95 %.

# %% alt="Predicted strength of one mix from day 3 to day 100, with its 50 and 90 percent intervals: a steep rise in the first month, then flatter; a line marks the day from which at most 5 percent lie below 40 MPa."
mix = X.iloc[[test[np.argmax(X.iloc[test]["cement"].to_numpy() == np.quantile(X.iloc[test]["cement"], 0.75, method="nearest"))]]]
days = np.arange(3.0, 101.0)
aged = pd.concat([mix] * len(days)).assign(age_days=days)
q = model.predict_quantiles(aged, [0.05, 0.25, 0.5, 0.75, 0.95])
fig, ax = plt.subplots()
ax.fill_between(days, q[:, 0], q[:, 4], color="#2a6fb0", alpha=0.18, linewidth=0, label="90 %")
ax.fill_between(days, q[:, 1], q[:, 3], color="#2a6fb0", alpha=0.3, linewidth=0, label="50 %")
ax.plot(days, q[:, 2], color="#2a6fb0", label="median")
ax.axhline(40.0, color="#b45400", linewidth=1.2)
ready = days[q[:, 0] >= 40.0]
if len(ready):
    ax.axvline(ready[0], color="#b45400", linewidth=1.2, linestyle="--")
    ax.annotate(f"day {ready[0]:.0f}: 95 % sure", (ready[0], 40.0), (8, -18), textcoords="offset points", color="#b45400")
ax.set(xlabel="age, days", ylabel="compressive strength, MPa", title="Strong enough? The day on which 95 % of such mixes hold 40 MPa")
ax.legend(loc="lower right")
plt.show()

# %% [markdown]
# The median reaches 40 MPa much earlier. Whoever strips the formwork on that day is wrong every second time.
