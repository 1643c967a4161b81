# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # A model, monitored: the sensor that went wrong
#
# A model of a power plant's output runs in production. From some hour on, a temperature sensor reads too high in warm weather. Errors of
# single hours hardly show it. The watch over calibrated errors raises an alarm, says where the change began, and in which rows.
#
# **Data:** 9,568 hours of a combined cycle power plant (Tüfekci 2014, UCI) in random order, `power.csv` under `TARE_DATA`. The fault is made: from hour
# 2,500 of the stream on, ambient temperatures (`AT`) above 20 degrees are read 4 degrees too high.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare
from sklearn.ensemble import HistGradientBoostingRegressor

power = pd.read_csv(Path(os.environ["TARE_DATA"]) / "power.csv").sample(frac=1.0, random_state=0).reset_index(drop=True)
columns = ["AT", "V", "AP", "RH"]
model = HistGradientBoostingRegressor(max_iter=150, random_state=0).fit(power[columns][:4000], power["PE"][:4000])

stream = power[4000:].reset_index(drop=True)
fault = 2500
stream.loc[(stream.index >= fault) & (stream["AT"] > 20.0), "AT"] += 4.0
stream["forecast"] = model.predict(stream[columns])

# %%
tracked = tare.track(stream[[*columns, "forecast", "PE"]], "PE", prediction="forecast", interval=0.9, start=500)
alarm = tracked.alarms[0]
print(f"the fault: hour {fault}; the alarm: hour {alarm.alarm_row}; the change began, by estimate, at hour {alarm.change_row}")
for cause in alarm.causes[:3]:
    print("mostly where", cause)
low, high = tracked.frame.to_numpy().T
inside = (low <= stream["PE"][500:]) & (stream["PE"][500:] <= high)
print(f"covered before the fault: {inside[: fault - 500].mean():.1%}, after it: {inside[fault - 500 :].mean():.1%}")

# %% alt="Errors of the forecast over 5,000 hours: after the fault the cloud moves up a little. A dashed line marks the fault and, shortly after, a solid line the alarm."
fig, ax = plt.subplots()
error = (stream["PE"] - stream["forecast"]).to_numpy()
warm = (stream["AT"] > 20.0).to_numpy()
ax.scatter(np.flatnonzero(~warm), error[~warm], s=3, color="#8a8f98", alpha=0.6, linewidths=0, label="error, up to 20 degrees")
ax.scatter(np.flatnonzero(warm), error[warm], s=3, color="#2a6fb0", alpha=0.7, linewidths=0, label="error, above 20 degrees")
ax.axvline(fault, color="#1b2733", linestyle="--", linewidth=1.2, label="the sensor fails")
ax.axvline(alarm.alarm_row, color="#b45400", linewidth=1.6, label=f"alarm, {alarm.alarm_row - fault} hours later")
ax.set(xlabel="hour of the stream", ylabel="output minus forecast, MW", title="An alarm from errors that a glance does not see", ylim=(-17, 25))
ax.legend(loc="upper left", ncols=2)
plt.show()

# %% [markdown]
# The rate of false alarms is a setting (`drift_rate`, 0.01): a stream whose errors do not change raises one with at most that probability,
# [under the conditions stated there](../online.md#what-is-proven). `tare serve` watches in the same way and shows it in `/metrics`.
