# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Energy load: a Gaussian process that is right on average only
#
# A Gaussian process gives a mean and a standard deviation, nearly the same one for every building. Low buildings err much less than tall
# ones. tare takes both numbers as they are and corrects them where they are wrong.
#
# **Data:** heating load of 768 simulated buildings (Tsanas and Xifara 2012, UCI), `energy.csv` under `TARE_DATA`.

# %%
import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import tare
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.preprocessing import StandardScaler

energy = pd.read_csv(Path(os.environ["TARE_DATA"]) / "energy.csv")
X, y = energy.drop(columns="heating_load"), energy["heating_load"].to_numpy()
Z = StandardScaler().fit_transform(X)
order = np.random.default_rng(0).permutation(len(y))
train, cal, test = order[:250], order[250:560], order[560:]
kernel = ConstantKernel(1.0) * RBF(np.ones(Z.shape[1]), (1e-2, 1e3)) + WhiteKernel(0.01)
warnings.simplefilter("ignore", ConvergenceWarning)  # a column without influence has its length scale at the bound
gp = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(Z[train], y[train])

# %% [markdown]
# The process was trained on 250 buildings. On 310 others its mean and standard deviation calibrate, and 208 test.

# %%
mean_cal, sd_cal = gp.predict(Z[cal], return_std=True)
mean, sd = gp.predict(Z[test], return_std=True)
calibrated = tare.Calibrator(method="nrc_boost", random_state=0).calibrate(X.iloc[cal], y[cal], y_pred=mean_cal, y_std=sd_cal)
low, high = calibrated.predict_interval(X.iloc[test], 0.9, y_pred=mean, y_std=sd).T

tall = X.iloc[test]["overall_height"].to_numpy() == 7.0
given = np.abs(y[test] - mean) <= 1.645 * sd
ours = (low <= y[test]) & (y[test] <= high)
for name, rows in (("low buildings", ~tall), ("tall buildings", tall)):
    print(f"{name}: the process covers {given[rows].mean():.0%} with width {(3.29 * sd)[rows].mean():.2f}, tare {ours[rows].mean():.0%} with width {(high - low)[rows].mean():.2f}")

# %% alt="Errors of the Gaussian process for low and tall buildings with the 90 percent intervals of the process, equally wide for both, and those of tare, narrow for low and wide for tall buildings."
fig, axes = plt.subplots(1, 2, figsize=(6.4, 4.2), sharey=True)
for ax, lower, upper, colour, title in ((axes[0], -1.645 * sd, 1.645 * sd, "#b45400", "as the process has it"), (axes[1], low - mean, high - mean, "#2a6fb0", "calibrated")):
    place = 0
    for name, rows in (("low", ~tall), ("tall", tall)):
        rank = np.where(rows)[0][np.argsort(mean[rows])]
        at = place + np.arange(len(rank))
        ax.vlines(at, lower[rank], upper[rank], color=colour, alpha=0.3, linewidth=1.6)
        ax.scatter(at, (y[test] - mean)[rank], s=8, color="#1b2733")
        ax.text(at.mean(), 2.75, name, ha="center")
        place += len(rank) + 15
    ax.set(title=title, xticks=[], ylim=(-3.2, 3.2), xlabel="test buildings")
axes[0].set_ylabel("heating load minus mean, kWh/m²")
plt.show()

# %% [markdown]
# The likelihood of a Gaussian process pays for one noise level; nothing in it asks whether that level fits every building. The
# calibration set answers that.
