# SPDX-License-Identifier: BSD-3-Clause
"""Named answers of a model file, as in `tare predict`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._columns import table_of
from ._decide import read_cost
from ._estimator import QuantileEstimator, threads_of
from ._input import read_features
from ._output import as_container
from ._settings import device_of, warn_without_device
from ._warnings import TareWarning, read_warnings


class Predictor:
    """Answers a model gives for the rows of frames: the same columns, names and notices as ``tare predict`` and the service.

    It accepts every model file, including those for series (``--window``) and with groups (``--group``). Frames are parts of one
    table, in order: a series continues from one to the next, and `notices` count over all of them.

    Parameters
    ----------
    model : path or fitted estimator of this package
        The file of ``tare fit`` or `save`, or a fitted `QuantileRegressor`; for a model around given predictions, the frame has their
        columns.
    levels : list of floats
        Quantiles: columns q0.05, ... The default without `interval` and `cost` is 0.05, 0.5 and 0.95.
    interval : float or list of floats
        Central intervals: columns lower_0.9, upper_0.9, ...
    set : {'interval', 'shortest'}
        'shortest': the sets of `QuantileRegressor.predict_set` in place of central intervals, of 0.9 without `interval`. Columns
        lower_0.9, upper_0.9, lower2_0.9 and upper2_0.9, of which the last two are NaN where a set has one part.
    cost : dict, table or None
        Costs as in `QuantileRegressor.predict_action`, without a function: columns action, cost and cost_of_mean.
    diagnostics : bool
        Whether to add columns about the reliability of each answer.
    keep : list of str
        Columns of the frame that `to_csv` copies.
    missing : {'error', 'drop', 'impute'} or None
        None: 'impute' if the model was fitted with it, else 'error'.
    n_jobs : int or None
    device : str
        Where kernel weights are computed, as in `Calibrator`: 'auto', 'cpu', 'cuda' or 'cuda:1'.

    Attributes
    ----------
    names : list of str
        Names of the columns of an answer.
    notices : list of TareWarning
        Notices about all rows and answers so far: `code`, `rows` and a sentence.
    """

    def __init__(
        self,
        model: Any,
        *,
        levels: Iterable[float] = (),
        interval: npt.ArrayLike = (),
        set: str = "interval",
        cost: Any = None,
        diagnostics: bool = False,
        keep: Iterable[str] = (),
        missing: str | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        core = model._core_model() if isinstance(model, QuantileEstimator) else _core.load_model(os.fspath(model))
        intervals = [float(level) for level in np.atleast_1d(interval)]
        self._core = _core.Predictor(core, [float(level) for level in levels], intervals, diagnostics, list(keep), missing,
                                     None if cost is None else read_cost(cost), set)  # fmt: skip
        self._threads = threads_of(n_jobs)
        self._device = device_of(device)
        self._model = core
        self._missing = missing
        self._name = model._title() if isinstance(model, QuantileEstimator) else os.path.basename(os.fspath(model))

    @property
    def names(self) -> list[str]:
        return list(self._core.names)

    @property
    def notices(self) -> list[TareWarning]:
        return read_warnings(self._core.notices())

    def predict(self, X: Any) -> dict[str, npt.NDArray[Any]]:
        """A dict of arrays, one for each of `names`, with a value for each answered row; NaN: the model does not provide it."""
        values, _ = self._answer(X)
        return {name: values[:, j].astype(bool) if self._core.is_flag(j) and not np.isnan(values[:, j]).any() else values[:, j]
                for j, name in enumerate(self.names)}  # fmt: skip

    def predict_frame(self, X: Any) -> Any:
        """The same as a pandas data frame, with the index of X's answered rows."""
        values, rows = self._answer(X)
        frame = as_container(values, self.names, "pandas", None)
        frame.index = X.index[rows] if hasattr(X, "index") and not callable(X.index) else rows
        return frame

    def to_csv(self, X: Any) -> str:
        """The text that ``tare predict`` would write for these rows."""
        text = self._core.csv(self._table(X), self._threads, self._device)
        warn_without_device(self._device, stacklevel=2)
        return text

    def _answer(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        answer = self._core.answer(self._table(X), self._threads, self._device)
        warn_without_device(self._device, stacklevel=3)
        return answer

    def _table(self, X: Any) -> _core.Table:
        """Of the columns that are needed: others may hold dates or whatever else tare cannot read."""

        def needed(count: int, names: list[str] | None) -> list[int]:
            return list(self._core.needed([f"x{j}" for j in range(count)] if names is None else names)) if count else []

        return table_of(read_features(X, allow_missing=True, select=needed).with_columns(), None, [])
