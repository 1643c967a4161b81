# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # A newsvendor's decision, and what it costs
#
# Bikes must be at the docks before the hour begins. One that stands idle costs 1, a customer without one costs 4. The best number is a
# quantile of the demand of *that* hour, and the notebook pays for three rules on the same hours.
#
# **Data:** hourly rentals in Washington (UCI), `bike_sharing.csv` under `TARE_DATA`; the hours of 2012 in random order, so that the rules
# differ by their distributions and not by drift. The costs are made up.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare
from sklearn.ensemble import HistGradientBoostingRegressor

bikes = pd.read_csv(Path(os.environ["TARE_DATA"]) / "bike_sharing.csv").query("yr == 1").sample(frac=1.0, random_state=0)
X, y = bikes.drop(columns=["cnt", "yr"]), bikes["cnt"].to_numpy(dtype=float)
train, cal, test = slice(0, 3500), slice(3500, 6000), slice(6000, None)
model = HistGradientBoostingRegressor(max_iter=150, random_state=0).fit(X[train], y[train])
calibrated = tare.Calibrator(model, method="nrc_boost", random_state=0, bands="off").calibrate(X[cal], y[cal])

# %% [markdown]
# Three rules: the forecast; the forecast plus one margin for all hours, the best such margin on the calibration hours; and the action with
# the least expected cost of each hour.

# %%
OVER, UNDER = 1.0, 4.0


def paid(order):
    return np.maximum(OVER * (order - y[test]), UNDER * (y[test] - order))


forecast = model.predict(X[test])
margin = np.quantile(y[cal] - model.predict(X[cal]), UNDER / (OVER + UNDER))
best = calibrated.predict_action(X[test], cost={"over": OVER, "under": UNDER})
rules = {"the forecast": forecast, "plus one margin": np.maximum(forecast + margin, 0.0), "tare, hour by hour": best.action}
for name, order in rules.items():
    print(f"{name}: {paid(order).mean():.1f} per hour")
print(f"expected by the model for its own orders: {best.cost.mean():.1f}")

# %% alt="Cost per hour of the three rules over the hours of the day: hour by hour ordering is the cheapest on the whole, most visibly at night, where one margin for all hours puts out far too many bikes."
hour = X[test]["hr"].to_numpy()
fig, ax = plt.subplots()
for (name, order), colour in zip(rules.items(), ("#8a8f98", "#b45400", "#2a6fb0")):
    ax.plot(range(24), [paid(order)[hour == h].mean() for h in range(24)], "o-", color=colour, markersize=4, label=f"{name}: {paid(order).mean():.1f}")
ax.set(xlabel="hour of the day", ylabel="mean cost", title="One margin is wrong at night and at rush hour", xticks=range(0, 24, 4), ylim=(0, 215))
ax.legend(title="cost per hour", loc="upper left")
plt.show()

# %% [markdown]
# [Deciding under a model's error](../decide.md) has the theory, tables of actions, and how to keep an expected loss below a number.
