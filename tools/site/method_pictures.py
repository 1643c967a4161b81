#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page about methods: for each one of `tare methods` a picture of how its quantiles bend, on rows whose true quantiles are known.

usage: tools/site/method_pictures.py FOLDER [METHOD...]   (writes methods.md and figures-made/; METHOD: only these pictures)
Names, sources and guarantees come from the table of methods, so that a new method appears here; it needs a line in FAMILIES."""

from __future__ import annotations

import concurrent.futures
import importlib
import io
import os
import pathlib
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import figures
import matplotlib
import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]
matplotlib.use("svg")
plt: Any = importlib.import_module("matplotlib.pyplot")
tare: Any = importlib.import_module("tare")  # the installed package, whose types tools/check_python.sh checks elsewhere

ROWS = 1000
LEVELS = (0.05, 0.5, 0.95)
PLACES = np.linspace(0.0, 1.0, 201)
UNRELATED = 7  # columns beside x for methods that choose or project columns; they are 0.5 along the picture

# The families in their order, and for each method what to see in its picture.
FAMILIES: dict[str, dict[str, str]] = {
    "The default": {
        "auto": "Center, spread and skewness are followed, as several ways to find them compete on left-out rows.",
    },
    "SNQ on residuals": {
        "nrc_boost": "Boosted trees find center and size of the residuals first; what is left differs little, so the kernel can be wide.",
        "nrc": "The window moves along x: the band follows spread and skewness at the resolution of its bandwidth.",
        "nrc_rf": "The same around a forest, which follows single rows: center and band are jagged.",
        "pure_kernel": "No model below: the quantiles are those of the neighbours' targets, so the band widens where the curve is steep.",
        "nrc_rp": "With x and 7 unrelated columns: a random projection to 4 mixes them, and the window sees x only in part.",
        "nrc_cov": "With x and 7 unrelated columns: the 4 that correlate most with the target are kept, x among them.",
        "nrc_embed": "With x and 7 unrelated columns: distances are taken in the last layer of the network, which has learned that x matters.",
        "nrc_rf_rp": "As `nrc_rp` around a forest.",
    },
    "A normal distribution for each row": {
        "hnn": "Smooth, and symmetric around the center, so that on the right, where noise is skewed, the lower end is too low.",
        "mc_dropout": "As `hnn`, smoothed by dropout.",
        "deep_ensemble": "Five of `hnn`: smoother, and wider where they disagree.",
        "mmd": "Draws resemble all targets together, which does not say which row has which distribution.",
        "isr": "The levels of `hnn` are corrected by one map for all rows: right on average, not at each x.",
        "distribution_calibration": "The levels of `hnn` are corrected by a map that depends on the prediction, so the correction can bend.",
        "ngboost": "Trees in place of the network: center and spread move in steps, the band is symmetric, and 500 rounds follow single rows.",
        "paic": "A mixture of normal distributions: smooth, nearly symmetric.",
        "dgp": "A Gaussian process on a Gaussian process: very smooth, and too wide where the noise is small.",
    },
    "Quantiles of a network or of trees": {
        "cqr": "Each quantile bends on its own, so skewness is followed; then all rows get the same correction.",
        "oqr": "As `cqr`, with a penalty on dependence between length and coverage.",
        "maqr": "Local quantiles of training residuals, which are too small where a network overfits; with one column it hardly does.",
        "ccl": "Average calibration and sharpness in one loss: sharpness pulls the band together.",
        "cqr_boost": "Quantiles of boosted trees, in steps, then the same correction for all rows.",
        "qrf": "The targets of rows that share leaves with the row: steps, and no answer beyond a target of the fit.",
    },
    "Kernels": {
        "kernel_density": "A set for each cell of x, so the band is a step function; its ends are no quantiles.",
        "kqr": "A smooth curve for each level, by a Gaussian kernel and a penalty.",
    },
    "Distributions that grow with a prediction": {
        "idr": "Only the order of the predictions counts: two places with the same center have the same band, so the spread cannot follow x.",
    },
    "Series": {
        "lstm_nrc": "An LSTM reads the last rows; SNQ calibrates its residuals, which are larger at the peaks.",
        "lstm_hnn": "An LSTM with a mean and an sd: symmetric around its center.",
    },
}
REDUCERS = {"nrc_rp", "nrc_cov", "nrc_embed", "nrc_rf_rp"}
BLUE, GREEN, ORANGE, ROW = "#2a6fb0", "#2c7a4b", "#b45400", "#8a8f98"


def shape(x: Array) -> Array:
    """Of the gamma distribution: from nearly normal at 0 to exponential at 1."""
    return np.asarray(1.0 + 40.0 * (1.0 - x) ** 3)


def center(x: Array) -> Array:
    return np.asarray(np.sin(2.0 * np.pi * x))


def spread(x: Array) -> Array:
    return np.asarray(0.1 + 0.5 * x)


def true_quantiles(x: Array, levels: tuple[float, ...] = LEVELS) -> Array:
    k = shape(x)
    return np.stack([center(x) + spread(x) * (stats.gamma.ppf(level, k) - k) / np.sqrt(k) for level in levels], axis=1)


def true_level(x: Array, y: Array) -> Array:
    """The probability of a target at or below y, given x."""
    k = shape(x)
    return np.asarray(stats.gamma.cdf((y - center(x)) / spread(x) * np.sqrt(k) + k, k))


def draw(rng: np.random.Generator) -> tuple[Array, Array]:
    x = rng.uniform(size=ROWS)
    k = shape(x)
    return x, center(x) + spread(x) * (rng.gamma(k) - k) / np.sqrt(k)


@dataclass(frozen=True)
class Drawn:
    svg: str
    alt: str


def svg_of(figure: Any) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()


def fitted(method: str, X: Array, y: Array, **more: Any) -> Any:
    quick: dict[str, Any] = {"budget": "quick"} if method == "auto" else {}
    return tare.QuantileRegressor(method, random_state=1, n_jobs=1, bands="off", **quick, **more).fit(X, y)


def picture(method: str) -> Drawn:
    plt.rcParams.update(figures.STYLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tare.TareWarning)
        return series_picture(method) if method.startswith("lstm") else row_picture(method)


def row_picture(method: str) -> Drawn:
    rng = np.random.default_rng(3)
    x, y = draw(rng)
    unrelated = UNRELATED if method in REDUCERS else 0
    X = np.column_stack([x, rng.uniform(size=(ROWS, unrelated))])
    at = np.column_stack([PLACES, np.full((len(PLACES), unrelated), 0.5)])
    model = fitted(method, X, y)
    answer, truth = model.predict_quantiles(at, LEVELS), true_quantiles(PLACES)
    grid = np.linspace(0.02, 0.98, 49)
    error = float(
        np.abs(true_level(np.repeat(PLACES, len(grid)), model.predict_quantiles(at, grid).ravel()) - np.tile(grid, len(PLACES))).mean()
    )

    figure, ax = plt.subplots(figsize=(6.2, 3.4))
    ax.scatter(x[:400], y[:400], s=7, color=ROW, alpha=0.35, linewidths=0)
    ax.fill_between(PLACES, answer[:, 0], answer[:, 2], color=BLUE, alpha=0.22, linewidth=0)
    ax.plot(PLACES, answer[:, 1], color=BLUE, linewidth=2.0, label=f"{method}: 5 %, 50 %, 95 %")
    ax.plot(PLACES, answer[:, [0, 2]], color=BLUE, linewidth=1.4)
    for level in range(len(LEVELS)):
        ax.plot(PLACES, truth[:, level], color=GREEN, linewidth=1.3, linestyle=(0, (4, 2)), label="truth" if level == 0 else None)
    ax.set(xlim=(0, 1), ylim=(-1.9, 2.6), xlabel="x", ylabel="y", title=f"mean error of a level: {error:.3f}")
    ax.legend(loc="upper right", ncols=2)
    inside = true_level(PLACES, answer[:, 2]) - true_level(PLACES, answer[:, 0])
    left, right = inside[PLACES < 0.5].mean(), inside[PLACES >= 0.5].mean()
    alt = (
        f"5 %, 50 % and 95 % quantiles of {method} along x beside the true ones. Its 90 % interval covers {left:.0%} for x below 0.5 and {right:.0%} "
        f"above; the mean error of a level is {error:.3f}."
    )
    return Drawn(svg_of(figure), alt)


def series_picture(method: str) -> Drawn:
    """A day of 24 rows whose noise grows with the level."""
    rng = np.random.default_rng(4)
    hour = np.arange(1600)
    level = 10.0 + 6.0 * np.sin(2.0 * np.pi * hour / 24.0)
    y = level + (0.1 * level) * rng.normal(size=len(hour))
    X = np.column_stack([np.sin(2.0 * np.pi * hour / 24.0), np.cos(2.0 * np.pi * hour / 24.0)])
    model = fitted(method, X[:1500], y[:1500])
    answer = model.predict_quantiles(X[1496:], LEVELS)[4:]
    shown = slice(1500, 1600)
    figure, ax = plt.subplots(figsize=(6.2, 3.4))
    truth = np.stack([level[shown] * (1.0 + 0.1 * stats.norm.ppf(tau)) for tau in LEVELS], axis=1)
    hours = np.arange(100)
    ax.scatter(hours, y[shown], s=9, color=ROW, alpha=0.7, linewidths=0)
    ax.fill_between(hours, answer[:, 0], answer[:, 2], color=BLUE, alpha=0.22, linewidth=0)
    ax.plot(hours, answer[:, 1], color=BLUE, linewidth=2.0, label=f"{method}: 5 %, 50 %, 95 %")
    ax.plot(hours, answer[:, [0, 2]], color=BLUE, linewidth=1.4)
    for at in range(len(LEVELS)):
        ax.plot(hours, truth[:, at], color=GREEN, linewidth=1.3, linestyle=(0, (4, 2)), label="truth" if at == 0 else None)
    scale = 0.1 * level[shown]
    inside = stats.norm.cdf((answer[:, 2] - level[shown]) / scale) - stats.norm.cdf((answer[:, 0] - level[shown]) / scale)
    ax.set(
        xlabel="hour after the last row of the fit",
        ylabel="y",
        ylim=(0, 25),
        title=f"covers {inside.mean():.0%} of the 100 hours after the fit",
    )
    ax.legend(loc="upper right", ncols=2)
    return Drawn(
        svg_of(figure), f"90 % band of {method} over the 100 hours after the fit, beside the true one; it covers {inside.mean():.0%}."
    )


def two_intervals() -> Drawn:
    """For the first page: one width for all rows, and the width of each row."""
    plt.rcParams.update(figures.STYLE)
    rng = np.random.default_rng(5)
    x = rng.uniform(size=3000)
    y = center(x) + spread(x) * rng.normal(size=3000)
    model = tare.Calibrator(lambda X: center(np.asarray(X)[:, 0]), method="nrc_boost", random_state=0, n_jobs=1)
    local = model.calibrate(x[:, None], y).predict_interval(PLACES[:, None], 0.9)
    width = np.quantile(np.abs(y - center(x)), 0.9)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True)
    one = np.stack([center(PLACES) - width, center(PLACES) + width], axis=1)
    for ax, ends, colour, title in (
        (axes[0], one, ORANGE, "one width for all rows"),
        (axes[1], local, BLUE, "tare: the width of each row"),
    ):
        ax.scatter(x[:500], y[:500], s=7, color=ROW, alpha=0.45, linewidths=0)
        ax.fill_between(PLACES, ends[:, 0], ends[:, 1], color=colour, alpha=0.22, linewidth=0)
        ax.plot(PLACES, ends, color=colour, linewidth=1.6)
        inside = stats.norm.cdf((ends[:, 1] - center(PLACES)) / spread(PLACES)) - stats.norm.cdf(
            (ends[:, 0] - center(PLACES)) / spread(PLACES)
        )
        for at, half in ((0.05, inside[:101]), (0.97, inside[100:])):
            ax.text(at, -2.1, f"covers {half.mean():.0%}", color=colour, ha="left" if at < 0.5 else "right", fontweight="bold")
        ax.set(xlim=(0, 1), ylim=(-2.4, 2.2), title=title, xlabel="x")
    return Drawn(svg_of(figure), "")


def page(drawn: dict[str, Drawn]) -> str:
    lines = [
        "# The methods, and how each bends",
        "",
        f"Every method of `tare methods`, with its defaults (`auto` with `budget=quick`), on the same {ROWS:,} rows. They are drawn from a known",
        "process: y is a sine of x plus noise that grows from left to right, and from nearly normal to exponential, so that center, spread and",
        "skewness all depend on x. Blue is the",
        "method's 5 %, 50 % and 95 % quantile, dashed green the truth. The *mean error of a level* is the mean distance between the level of a",
        "quantile and the true probability below it, over x and 49 levels: 0 is perfect. One draw and one seed show a character, not a ranking;",
        "that is what [the leaderboard](leaderboard.md) is for. [The guide](guide.md#the-other-methods) has their limits and options.",
        "",
    ]
    table = tare.methods()
    for family, methods in FAMILIES.items():
        lines += [f"## {family}", ""]
        for name, bends in methods.items():
            entry = table[name]
            lines += [
                f"### `{name}`",
                "",
                f"{entry['summary'][0].upper()}{entry['summary'][1:]}. **How it bends:** {bends}",
                "",
                figures.markdown(f"figures-made/method-{name}", drawn[name].alt),
                "",
                f"*Guarantees* {entry['guarantee']}. *Source:* {entry['citation']}.",
                "",
            ]
    return "\n".join(lines)


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    names = [name for methods in FAMILIES.values() for name in methods]
    if set(names) != set(tare.methods()):
        sys.exit(f"tools/site/method_pictures.py: FAMILIES and the table of methods differ: {sorted(set(names) ^ set(tare.methods()))}")
    wanted = sys.argv[2:] or names
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        drawn = dict(zip(wanted, pool.map(picture, wanted)))
    for name, one in drawn.items():
        figures.write(one.svg, folder / "figures-made", f"method-{name}")
    if len(wanted) == len(names):
        figures.write(two_intervals().svg, folder / "figures-made", "two-intervals")
        (folder / "methods.md").write_text(page(drawn), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
