# SPDX-License-Identifier: BSD-3-Clause
"""Methods compared on repeated splits, and the options of a method searched on validation rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._columns import free_name, table_of
from ._input import read_features, read_target
from ._inspect import html_table, page_part, text_table
from ._options import option_text
from ._progress import progress_for
from ._report import Page
from ._settings import seed_of, threads_of
from ._types import FloatArray, Progress, RandomState

_MOST_REPEATS = 10_000
_MOST_SPLITS = 1_000
MethodChoice = str | tuple[str, Mapping[str, Any]]


class Comparison:
    """Methods from best to worst: `tare.compare` makes it. A notebook shows the ranking.

    Attributes
    ----------
    table : dict of lists
        A list for each column, with an entry for each method, best first. 'check_score' is the mean pinball loss on the test rows, 'behind'
        the difference from the best, 'behind_low' and 'behind_high' its 95 % confidence interval, 'tied' whether this contains 0, 'p' the
        p-value of the difference, 'p_corrected' the same corrected for all pairs of methods by Holm's method, 'survives' whether it is at
        most 0.05; then 'MACE', 'AGCE', 'Coverage' and 'Length' of the 90 % interval, the same with ties counted as below ('MACE_counted',
        ...), and 'seconds' of a fit and its test.
    trials : list of dicts
        The scores of each method in each repeat.
    best : str
        The first method.
    failed : list of str
        Trials that could not be fitted, and why.
    page : Page
        The page of ``tare compare --report``; `page.save(path)` writes it.
    """

    def __init__(self, found: dict[str, Any], repeats: int, test_share: float) -> None:
        ranking: list[dict[str, Any]] = found["ranking"]
        self.table: dict[str, list[Any]] = {name: [row.get(name) for row in ranking] for name in ranking[0]}
        self.trials: list[dict[str, Any]] = found["trials"]
        self.failed: list[str] = found["failed"]
        self.best: str = ranking[0]["method"]
        self.page = Page(found["html"])
        self._about = [
            f"Means over {repeats} random splits with {100 * test_share:.3g} % test rows, the same for all methods. A smaller CheckScore is better.",
            "A method is 'tied' if the 95 % interval of its difference from the best contains 0.",
        ]
        if found["mace_floor"] is not None:
            self._about.append(f"A perfect forecaster has a MACE of {found['mace_floor']:.3g} on as many rows.")
        if found["comparisons_text"]:
            self._about.append(found["comparisons_text"])
        if self.failed:
            self._about.append(f"{len(self.failed)} trials could not be fitted (failed), such as {self.failed[0]}")

    def to_frame(self) -> Any:
        """`table` as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.table)

    def _cells(self) -> list[list[str]]:
        table = self.table
        names = _row_names(table["method"], table["options"])
        rows = [["method", "CheckScore", "behind", "95 % interval", "", "p, corrected", "MACE", "Coverage", "Length", "s"]]
        for k, name in enumerate(names):
            tested = k > 0 and np.isfinite(table["behind_low"][k])
            rows.append(
                [
                    name,
                    f"{table['check_score'][k]:.4g}",
                    f"{table['behind'][k]:.3g}",
                    f"[{table['behind_low'][k]:.3g}, {table['behind_high'][k]:.3g}]" if tested else "",
                    "best" if k == 0 else "tied" if table["tied"][k] else "",
                    f"{table['p_corrected'][k]:.2g}" if tested else "",
                    f"{table['MACE'][k]:.3g}",
                    f"{table['Coverage'][k]:.3f}",
                    f"{table['Length'][k]:.4g}",
                    f"{table['seconds'][k]:.3g}",
                ]
            )
        return rows

    def __repr__(self) -> str:
        return text_table(self._cells()) + "\n\n" + "\n".join(self._about)

    def _repr_html_(self) -> str:
        import html

        return page_part(html_table(self._cells()) + "".join(f"<p>{html.escape(text)}</p>" for text in self._about))


class Tuned:
    """The options that `tare.tune` found. A notebook shows the best settings.

    Attributes
    ----------
    method : str
    options : dict
        The best options, those that were fixed included: `QuantileRegressor(tuned.method, options=tuned.options)` takes them.
    score : float
        Their mean pinball loss on validation rows.
    trail : list of dicts
        Every setting: 'options', 'check_score' and 'splits', the number of splits on which it was scored before it was dropped; best first.
    """

    def __init__(self, found: dict[str, Any], fixed: dict[str, str]) -> None:
        self.method: str = found["method"]
        self.options: dict[str, str] = {**fixed, **found["options"]}
        self.trail: list[dict[str, Any]] = found["trail"]
        self.score: float = self.trail[0]["check_score"]

    def _cells(self) -> list[list[str]]:
        rows = [["options", "CheckScore", "splits"]]
        return rows + [[_options_text(t["options"]) or "defaults", f"{t['check_score']:.5g}", str(t["splits"])] for t in self.trail[:5]]

    def _title(self) -> str:
        return (
            f"{self.method}: the best of {len(self.trail)} settings; CheckScore is the mean over the splits on which a setting was scored"
        )

    def __repr__(self) -> str:
        return self._title() + "\n" + text_table(self._cells())

    def _repr_html_(self) -> str:
        return page_part(f"<p>{self._title()}</p>" + html_table(self._cells()))


def compare(
    X: Any,
    y: Any,
    methods: Iterable[MethodChoice] | str = "all",
    *,
    repeats: int = 10,
    test_share: float = 0.1,
    calibrate_share: float = 0.3,
    options: Mapping[str, Any] | None = None,
    missing: str = "error",
    random_state: RandomState = 1,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compares methods on random splits of the rows, and tells which differences exceed the noise.

    The same as ``tare compare``: every method is fitted and scored on the same splits. Confidence intervals and p-values allow for the rows that
    splits share (Nadeau and Bengio 2003).

    Parameters
    ----------
    X, y : features and targets
    methods : list of str or (str, dict), or 'all'
        Keys of `tare.methods()`, each alone or with its options; 'all': every method that is not for series. The default takes long.
    repeats : int
        Number of random splits.
    test_share, calibrate_share : float
        Share of the rows that test, and share of the others that calibrate, in methods with a calibration step.
    options : dict or None
        Options of every method.
    missing : {'error', 'drop', 'impute'}
        What to do with missing values.
    random_state : int, RandomState, Generator or None
        Of the splits and the methods. The default is that of the tool.
    n_jobs : int or None
        Number of trials at a time; None and -1 use all cores. The result does not depend on it.
    progress : callable or None
        Called with the trial and the share that is done; an exception that it raises stops the work. Ctrl-C stops it too.
    verbose : int
        1 shows a progress bar on stderr.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1)); y = X[:, 0] + rng.normal(size=300) * X[:, 0]
    >>> local, everywhere = ("nrc", {"regressor": "ridge"}), ("nrc", {"regressor": "ridge", "bandwidth": "infinite"})
    >>> found = tare.compare(X, y, [local, everywhere], repeats=5)
    >>> found.table["options"][0]
    {'regressor': 'ridge'}
    """
    _check_range("repeats", repeats, 1, _MOST_REPEATS)
    for name, share in (("test_share", test_share), ("calibrate_share", calibrate_share)):
        if not 0.001 <= share <= 0.9:
            raise ValueError(f"{name} must lie between 0.001 and 0.9, got {share!r}.")
    x, target = _numbers(X, y, missing)
    shared = _texts(options)
    chosen = [(name, {**shared, **own}) for name, own in _chosen(methods)]
    with progress_for(verbose, progress) as bar:
        found = _core.compare(
            x=x,
            y=target,
            methods=chosen,
            repeats=int(repeats),
            test_share=float(test_share),
            calibrate_share=float(calibrate_share),
            seed=seed_of(random_state),
            threads=threads_of(n_jobs),
            progress=bar,
        )
    return Comparison(found, int(repeats), test_share)


def tune(
    X: Any,
    y: Any,
    method: str,
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    n_iter: int | None = None,
    splits: int = 9,
    options: Mapping[str, Any] | None = None,
    missing: str = "error",
    random_state: RandomState = 1,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    verbose: int = 0,
) -> Tuned:
    """Searches the options of a method on validation rows, by successive halving.

    The same as ``tare tune``: every setting is scored on one random split of the rows, the best third on three splits, and so on.

    Parameters
    ----------
    X, y : features and targets
    method : str
        A key of `tare.methods()`.
    grid : dict of lists or None
        Values to try, by option; they replace or extend the values that the method proposes (`tare.tune_grid(method)`).
    n_iter : int or None
        Number of settings to try, drawn at random from the grid; None: all.
    splits : int
        Number of splits on which the finalists are scored.
    options : dict or None
        Options that are the same in all settings.
    missing : {'error', 'drop', 'impute'}
    random_state : int, RandomState, Generator or None
        Of the splits and the methods. The default is that of the tool.
    n_jobs : int or None
        Number of fits at a time; None and -1 use all cores. The result does not depend on it.
    progress : callable or None
        Called with a stage and the share that is done; an exception that it raises stops the work. Ctrl-C stops it too.
    verbose : int
        1 shows a progress bar on stderr.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1)); y = X[:, 0] + rng.normal(size=300) * X[:, 0]
    >>> found = tare.tune(X, y, "nrc", grid={"kernel": ["naive", "gaussian"]}, options={"regressor": "ridge"}, splits=3)
    >>> model = tare.QuantileRegressor(found.method, options=found.options).fit(X, y)
    >>> sorted(found.options)[:2]
    ['kernel', 'regressor']
    """
    _check_range("splits", splits, 1, _MOST_SPLITS)
    if n_iter is not None:
        _check_range("n_iter", n_iter, 1, 2**31)
    x, target = _numbers(X, y, missing)
    fixed = _texts(options)
    axes = tune_grid(method, options)
    for name, values in (grid or {}).items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise ValueError(f"grid[{name!r}] must be a list of values to try, got {values!r}.")
        axes[_option_name(name)] = [option_text(value) for value in values]
        if not axes[_option_name(name)]:
            raise ValueError(f"grid[{name!r}] has no value to try.")
    both = sorted(set(axes) & set(fixed))
    if both:
        raise ValueError(f"{both[0]!r} is in grid and in options; leave it out of one of them.")
    with progress_for(verbose, progress) as bar:
        found = _core.tune(
            x=x,
            y=target,
            method=method,
            fixed=fixed,
            grid=list(axes.items()),
            random=int(n_iter or 0),
            splits=int(splits),
            seed=seed_of(random_state),
            threads=threads_of(n_jobs),
            progress=bar,
        )
    return Tuned(found, fixed)


def tune_grid(method: str, options: Mapping[str, Any] | None = None) -> dict[str, list[str]]:
    """The values that `tune` tries for a method if `grid` does not name others, without the options that are fixed.

    >>> import tare
    >>> sorted(tare.tune_grid("hnn"))[:1]
    ['batch']
    """
    return dict(_core.proposed_grid(method, _texts(options)))


def _option_name(name: str) -> str:
    return str(name).lower().replace("-", "_")


def _texts(options: Mapping[str, Any] | None) -> dict[str, str]:
    return {_option_name(name): option_text(value) for name, value in (options or {}).items()}


def _check_range(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value!r}.")


def _chosen(methods: Iterable[MethodChoice] | str) -> list[tuple[str, dict[str, str]]]:
    if isinstance(methods, str):
        if methods != "all":
            raise ValueError(f"methods must be a list of names of methods, or 'all', got {methods!r}.")
        return [(row["name"], {}) for row in _core.methods() if row["window"] == 1]
    chosen = [(method, {}) if isinstance(method, str) else (method[0], _texts(method[1])) for method in methods]
    if not chosen:
        raise ValueError("methods is empty; name at least one method of tare.methods().")
    return chosen


def _numbers(X: Any, y: Any, missing: str) -> tuple[FloatArray, FloatArray]:
    """Features as numbers: categories and missing values as a fit encodes them."""
    if missing not in ("error", "drop", "impute"):
        raise ValueError(f"missing must be 'error', 'drop' or 'impute', got {missing!r}.")
    features = read_features(X, allow_missing=missing != "error")
    target = read_target(y, features.rows)
    if missing == "drop":
        kept = features.complete()
        features, target = features.take(kept), np.ascontiguousarray(target[kept])
    if features.array is not None:
        return np.ascontiguousarray(features.array, dtype=np.float64), target
    assert features.columns is not None
    table = table_of(features, None, [])
    name = free_name("y", [column.name for column in features.columns])
    schema = _core.Schema.learn(table, name, _core.GivenForm(), [], missing)
    return schema.encode(table, missing)["x"], target


def _options_text(options: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _row_names(methods: list[str], options: list[dict[str, str]]) -> list[str]:
    """Methods, with their options where a method is there twice."""
    return [name if methods.count(name) == 1 else f"{name} {_options_text(own)}".strip() for name, own in zip(methods, options)]
