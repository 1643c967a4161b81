# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Few rows: what a hundred patients can tell
#
# With few rows an interval is uncertain itself. tare says how much: a band around each quantile, and the number of patients that an answer is
# worth. The notebook asks for the same patients with 100 and with 400 rows.
#
# **Data:** progression of diabetes in 442 patients (Efron et al. 2004), which scikit-learn brings along.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import tare
from sklearn.datasets import load_diabetes

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
order = np.random.default_rng(0).permutation(len(y))
new = X.iloc[order[400:]]
warnings.simplefilter("ignore", tare.TareWarning)  # it warns that these answers are uncertain: that is what the notebook is about
known = {}
for rows in (100, 400):
    chosen = order[:rows]
    model = tare.QuantileRegressor("nrc_rf", random_state=0, bands="on").fit(X.iloc[chosen], y.iloc[chosen])
    known[rows] = model.diagnostics(new, [0.05, 0.95])
    print(f"{rows} rows: effective sample size of an answer {np.median(known[rows]['effective_n']):.0f} in the median")

# %% alt="For each of 42 patients the 95 percent quantile with its 90 percent band, from 100 and from 400 rows: bands from 100 rows are wider for nearly every patient."
rank = np.argsort(known[400]["quantiles"][:, 1])
fig, ax = plt.subplots()
for rows, colour, shift in ((100, "#b45400", -0.18), (400, "#2a6fb0", 0.18)):
    at = np.arange(len(rank)) + shift
    ax.vlines(at, known[rows]["band_low"][rank, 1], known[rows]["band_high"][rank, 1], color=colour, alpha=0.55, linewidth=2.4)
    ax.plot(at, known[rows]["quantiles"][rank, 1], ".", color=colour, markersize=6, label=f"from {rows} rows")
width = {rows: (known[rows]["band_high"] - known[rows]["band_low"])[:, 1] for rows in known}
ax.set(xlabel="42 new patients", ylabel="95 % quantile of the progression", title="The same question, asked with 100 and with 400 patients", xticks=[])
ax.legend(loc="upper left")
plt.show()
print(f"mean width of a band: {width[100].mean():.0f} with 100 rows, {width[400].mean():.0f} with 400; wider with 100 for {(width[100] > width[400]).sum()} of {len(rank)} patients")

# %% [markdown]
# The band says how well the quantile is known, not where the target will be. [How far to trust an answer](../python.md#how-far-to-trust-an-answer)
# says how it is made and how often it holds the true quantile.
