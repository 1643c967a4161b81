# SPDX-License-Identifier: BSD-3-Clause
"""The page of ``tare report`` about a model on test rows."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._columns import table_of
from ._decide import read_cost
from ._estimator import QuantileEstimator, seed_of, threads_of
from ._frames import Column
from ._input import read_features, read_target
from ._inspect import facts_of
from ._output import short
from ._predictor import Predictor
from ._progress import progress_for
from ._types import FloatArray, IndexArray, Progress, RandomState
from ._warnings import TareWarning, read_warnings

# The page advises in the words of the tool; here they are arguments.
_WORDS = {
    "--calibrate-on": "features=",
    "--reducer": "options={&#39;reducer&#39;: ...}",
    "fit --budget quick": "options={&#39;budget&#39;: &#39;quick&#39;}",
    "fit --calibrate-on": "features=",
    "fit --guarantee split": "guarantee=&#39;split&#39;",
    "fit --guarantee split --group": "guarantee=&#39;split&#39; with groups=",
    "fit --guarantee split:0.3": "guarantee=&#39;split:0.3&#39;",
    "fit --shift-to": "shift_to=",
    "--repeats 10": "repeats=10",
}
_FRAME_HEIGHT = 640

By = Iterable[str] | Mapping[str, Any] | None


def in_python_words(page: str) -> str:
    """The page with arguments in place of the tool's options."""
    return re.sub("<code>([^<]*)</code>", lambda code: f"<code>{_WORDS.get(code[1], code[1])}</code>", page)


class Page:
    """One HTML page without links to other files; a notebook shows it in a frame of its own.

    Attributes
    ----------
    html : str
        The page.
    """

    def __init__(self, page: str) -> None:
        self.html = in_python_words(page)

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Writes the page. A file that exists stays unless `overwrite` is true."""
        try:
            with open(os.fspath(path), "w" if overwrite else "x", encoding="utf-8") as file:
                file.write(self.html)
        except FileExistsError as error:
            raise FileExistsError(f"{os.fspath(path)} exists (use overwrite=True to replace it).") from error

    def _repr_html_(self) -> str:
        # A document of its own: its styles do not reach the notebook, nor the notebook's styles the page.
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" title="tare report" sandbox="allow-scripts" '
            f'style="width:100%;height:{_FRAME_HEIGHT}px;border:1px solid #8884" loading="lazy"></iframe>'
        )


class Report(Page):
    """The report about a model on test rows: `tare.report` makes it.

    Attributes
    ----------
    html : str
        The page, one document without links to other files.
    scores : dict
        The scores on the page, by their names in ``tare evaluate --json``.
    regions, regions_off : int
        Regions of the features that were tested, and those whose coverage is off by more than chance.
    warnings : list of TareWarning
        About the answers.
    worth : dict or None
        With `cost`, realised costs by rule: the member `worth` of ``tare evaluate --cost --json``.
    """

    def __init__(self, made: dict[str, Any], rows: int) -> None:
        super().__init__(made["html"])
        self.scores: dict[str, float] = made["scores"]
        self.regions: int = made["regions"]
        self.regions_off: int = made["regions_off"]
        self.warnings: list[TareWarning] = read_warnings(made["warnings"])
        self.worth: dict[str, Any] | None = made.get("worth")
        self._rows = rows

    def __repr__(self) -> str:
        covered = f"{100 * self.scores['coverage_90']:.1f} % of the 90 % intervals contain their target"
        return f"<tare.Report: {self._rows} rows, {covered}, {self.regions_off} of {self.regions} regions off by more than chance>"


@dataclass
class ScoredRows:
    """Rows as the core takes them."""

    x: FloatArray
    given: FloatArray | None
    group: npt.NDArray[np.uint32] | None
    y: FloatArray
    rows: IndexArray | None  # of X; None: all
    count: int  # of X
    notices: list[tuple[str, int, str]]


def report(
    model: Any,
    X: Any,
    y: Any = None,
    path: Any = None,
    *,
    y_pred: Any = None,
    y_std: Any = None,
    by: By = None,
    cost: Any = None,
    overwrite: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    verbose: int = 0,
) -> Report:
    """Examines a model on test rows: reliability, the regions where it is worst, coverage along each feature, and advice.

    The page is that of ``tare report``. At the end of a notebook cell it is shown; `save` writes it.

    Parameters
    ----------
    model : Calibrator, QuantileRegressor or Predictor
        A fitted model. A wrapped estimator predicts the rows.
    X, y : features and targets
        Rows that took no part in the fit. For a `Predictor` X is a frame with the model's columns; y=None takes the target's column from it.
    path : path or None
        Where to write the page as well.
    y_pred, y_std : arrays or None
        Predictions for X, for a `Calibrator` that was calibrated with given predictions.
    by : list of str, dict or None
        Columns of X, or a dict of names and values, by whose values the page also shows coverage. They need not be features.
    cost : dict, table or None
        Costs as in `predict_action`, without a function: the page then shows what acting on the rows' distributions costs, beside
        acting on their means, and `worth` has the numbers.
    overwrite : bool
        Whether `path` may exist.
    random_state : int, RandomState, Generator or None
        For the random groups of one score (AGCE), and the folds of `cost`.
    n_jobs : int or None
        Number of threads; None and -1 use all cores.
    progress : callable or None
        Called with a stage and the share that is done; an exception that it raises stops the work.
    verbose : int
        1 shows a progress bar on stderr.

    Returns
    -------
    Report

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(600, 2)); y = X[:, 0] + rng.normal(size=600) * X[:, 1]
    >>> model = tare.Calibrator(lambda X: X[:, 0]).calibrate(X[:300], y[:300])
    >>> page = tare.report(model, X[300:], y[300:])
    >>> 0.8 < page.scores["coverage_90"] < 1.0
    True
    """
    if path is not None and not overwrite and os.path.exists(os.fspath(path)):
        raise FileExistsError(f"{os.fspath(path)} exists (use overwrite=True to replace it).")
    core, title, rows = read_rows(model, X, y, y_pred, y_std)
    if len(rows.y) == 0:
        raise ValueError("Every row of X was left out (missing values, or no full window): there is nothing to report.")
    with progress_for(verbose, progress) as bar:
        made = _core.report(
            model=core,
            x=rows.x,
            given=rows.given,
            group=rows.group,
            y=rows.y,
            by=_group_cells(core, X, by, rows),
            model_name=title,
            data_name="X",
            about_model=facts_of(core.describe()),
            about_data=_data_facts(rows),
            seed=seed_of(random_state),
            threads=threads_of(n_jobs),
            progress=bar,
            cost=None if cost is None else read_cost(cost),
        )
    page = Report(made, len(rows.y))
    if path is not None:
        page.save(path, overwrite=overwrite)
    return page


def read_rows(model: Any, X: Any, y: Any, y_pred: Any, y_std: Any) -> tuple[_core.Model, str, ScoredRows]:
    if isinstance(model, Predictor):
        if y_pred is not None or y_std is not None:
            raise ValueError("y_pred and y_std are for a Calibrator: the rows of a Predictor have a column for each prediction.")
        return model._model, model._name, _rows_of_table(model, X, y)
    if not isinstance(model, QuantileEstimator):
        raise TypeError(f"model must be a fitted Calibrator, QuantileRegressor or Predictor, got {type(model).__name__}.")
    core = model._core_model()
    read = model._encode_rows(X, y_pred, y_std)
    target = read_target(y, read.count)
    target = target if read.rows is None else np.ascontiguousarray(target[read.rows])
    return core, model._title(), ScoredRows(read.double, read.given, read.group, target, read.rows, read.count, [])


def _rows_of_table(predictor: Predictor, X: Any, y: Any) -> ScoredRows:
    core = predictor._model
    features = read_features(X, allow_missing=True).with_columns()
    name = (core.schema.target if core.schema else "") or "y"
    assert features.columns is not None
    columns = [column for column in features.columns if column.name != name or y is None]
    if y is not None:
        columns.append(Column(name, read_target(y, features.rows), None))
    elif all(column.name != name for column in columns):
        raise ValueError(f"y was not passed, and X has no column {name!r}, the target of the model.")
    features.columns = columns
    encoded = _core.encode_rows(core, table_of(features, None, []), predictor._missing)
    rows = encoded["rows"].astype(np.intp)
    return ScoredRows(encoded["x"], encoded["given"], encoded["group"], encoded["y"], rows, features.rows, encoded["notices"])


def _data_facts(rows: ScoredRows) -> list[tuple[str, str]]:
    facts = [("rows", f"{len(rows.y):,}")]
    if not rows.notices and len(rows.y) < rows.count:
        facts.append(("rows left out", f"{rows.count - len(rows.y):,} with a missing value or without a full window"))
    return facts + [(code.replace("_", " "), text) for code, _, text in rows.notices]


def _group_cells(core: _core.Model, X: Any, by: By, rows: ScoredRows) -> list[tuple[str, list[str]]]:
    """Names and cells of the columns of `by` and of the guarantee's groups, for the rows that are shown."""
    columns: dict[str, Any] = dict(by) if isinstance(by, Mapping) else {}
    names = [] if by is None or isinstance(by, Mapping) else [by] if isinstance(by, str) else list(by)
    group = core.schema.group if core.schema else ""
    if group and rows.group is not None and group not in names:
        names.append(group)
    if names:
        known = {column.name: column for column in read_features(X, allow_missing=True).with_columns().columns or []}
        for name in names:
            if name not in known:
                raise ValueError(f"by names {name!r}, which is not a column of X: {', '.join(known)} (or pass a dict of names and values).")
            column = known[name]
            columns[name] = column.numbers if column.numbers is not None else column.texts
    categories = {name for name, categorical in (core.schema.inputs if core.schema else []) if categorical}
    chosen = []
    for name, values in columns.items():
        if len(values) != rows.count:
            raise ValueError(f"by[{name!r}] has {len(values)} values, but X has {rows.count} rows.")
        if name not in categories:  # which the page shows anyway
            cells = [_cell(value) for value in values]
            chosen.append((name, cells if rows.rows is None else [cells[i] for i in rows.rows]))
    return chosen


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, (float, np.floating)):
        return short(float(value)).removesuffix(".0")
    return str(value)
