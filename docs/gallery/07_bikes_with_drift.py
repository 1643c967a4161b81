# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Bikes with drift: a forecast that ages
#
# A model of hourly bike rentals is trained on the first months. The system grows, and the model is soon too low. Intervals of a fixed
# calibration stop covering; intervals that learn each hour after answering it keep their level, and a watch raises an alarm.
#
# **Data:** hourly rentals in Washington, 2011 and 2012 (Fanaee-T and Gama 2014, UCI), `bike_sharing.csv` under `TARE_DATA`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare
from sklearn.ensemble import HistGradientBoostingRegressor

bikes = pd.read_csv(Path(os.environ["TARE_DATA"]) / "bike_sharing.csv")
columns = ["mnth", "hr", "holiday", "weekday", "workingday", "weathersit", "temp", "hum", "windspeed"]
train, cal = slice(0, 4000), slice(4000, 6000)
later = bikes[6000:].reset_index(drop=True)
model = HistGradientBoostingRegressor(max_iter=150, random_state=0).fit(bikes[columns][train], bikes["cnt"][train])

# %% [markdown]
# Fixed: errors on 2,000 hours calibrate, and the rest of two years is answered with that. Following: each hour is answered, then learned.

# %%
fixed = tare.Calibrator(model, method="nrc_boost", random_state=0, bands="off").calibrate(bikes[columns][cal], bikes["cnt"][cal])
low, high = fixed.predict_interval(later[columns], 0.9).T
inside_fixed = (low <= later["cnt"]) & (later["cnt"] <= high)

stream = bikes[4000:].assign(forecast=lambda rows: model.predict(rows[columns]))
tracked = tare.track(stream[[*columns, "forecast", "cnt"]], "cnt", prediction="forecast", interval=0.9, start=2000)
answers = tracked.frame.to_numpy()
inside = (answers[:, 0] <= later["cnt"]) & (later["cnt"] <= answers[:, 1])
print(f"fixed: covered {inside_fixed.mean():.1%}, mean width {(high - low).mean():.0f}")
print(f"following: covered {inside.mean():.1%}, mean width {(answers[:, 1] - answers[:, 0]).mean():.0f}")
print(f"alarm {tracked.alarms[0].alarm_row - 2000} hours after the end of the calibration" if tracked.alarms else "no alarm")

# %% alt="Coverage of the 90 percent interval in stretches of 500 hours: that of the fixed calibration falls far below 90 percent as the system grows, that of the following one stays near the line."
stretch = 500
starts = np.arange(0, len(later) - stretch + 1, stretch)
fig, ax = plt.subplots()
ax.axhline(0.9, color="#8a8f98", linewidth=1)
ax.plot(starts + stretch / 2, [inside_fixed[s : s + stretch].mean() for s in starts], "o-", color="#b45400", label="fixed calibration")
ax.plot(starts + stretch / 2, [inside[s : s + stretch].mean() for s in starts], "o-", color="#2a6fb0", label="answer, then learn")
if tracked.alarms:
    ax.axvline(tracked.alarms[0].alarm_row - 2000, color="#1b2733", linewidth=1, linestyle="--", label="alarm")
ax.set(xlabel="hours after the calibration", ylabel="coverage in 500 hours", title="A fixed calibration ages; one that learns does not", ylim=(0, 1.02))
ax.legend(loc="lower left")
plt.show()
