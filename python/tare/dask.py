# SPDX-License-Identifier: BSD-3-Clause
"""tare on Dask: answers for the rows of a Dask collection, and calibration on more rows than one machine holds.

`predict_quantiles` and `predict_interval` take any fitted model of tare; `Calibrator` calibrates on rows that stay on the workers,
`QuantileRegressor` also trains there, and `fit_auto` fits on a sample of the rows. All answers are lazy.
``pip install 'tare-quantiles[dask]'`` installs what is needed.
"""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
import pandas as pd

from . import _learning_curve, _ship
from ._dask_boost import QuantileRegressor
from ._dask_calibrator import Calibrator, _parts
from ._dask_ship import fetch_from_scheduler, model_traffic, offer
from ._estimator import DEFAULT_QUANTILES
from ._learning_curve import LearningCurve, SampledFit
from ._partition import Asked, answers, check_model, input_columns
from ._settings import seed_of

__all__ = [
    "Calibrator",
    "LearningCurve",
    "QuantileRegressor",
    "SampledFit",
    "fit_auto",
    "model_traffic",
    "predict",
    "predict_interval",
    "predict_quantiles",
]


def predict_quantiles(model: Any, X: Any, quantiles: npt.ArrayLike = DEFAULT_QUANTILES, *, client: Any = None) -> Any:
    """Quantiles of every row of a Dask frame or array: columns q0.05, ..., partition by partition.

    The model goes once to each host that has workers, and not once to each partition.

    Parameters
    ----------
    model : path, bytes of a model file, or fitted estimator of this package
        For a model around given predictions, the frame has their columns. A `Calibrator` around a Python model is pickled with this model.
    X : Dask DataFrame, or Dask array with one chunk of columns
        Columns are found by name; other columns are ignored. An array has the model's columns in their order.
    quantiles : list of floats in (0, 1)
    client : distributed.Client or None
        None: the current client, or Dask's local schedulers if there is none.

    Returns
    -------
    Dask DataFrame or array
        Lazy. A frame has the index of X; rows that the model leaves out for missing values are not in it.
    """
    return predict(model, X, quantiles=quantiles, client=client)


def predict_interval(model: Any, X: Any, confidence_level: npt.ArrayLike = 0.9, *, client: Any = None) -> Any:
    """Central intervals of every row of a Dask frame or array: columns lower_0.9, upper_0.9, ... See `predict_quantiles`."""
    return predict(model, X, interval=confidence_level, client=client)


def predict(
    model: Any,
    X: Any,
    *,
    quantiles: npt.ArrayLike = (),
    interval: npt.ArrayLike = (),
    diagnostics: bool = False,
    client: Any = None,
) -> Any:
    """Quantiles, intervals and diagnostics of every row in one pass, with the columns of `tare.Predictor`. See `predict_quantiles`."""
    asked = Asked.of(quantiles, interval, diagnostics)
    shipped, content = _ship.ship(model)
    opened = _ship.open_model(shipped, lambda _: content)
    check_model(opened)
    offer(shipped, content, client)
    names = asked.names(opened)
    if isinstance(X, da.Array):
        if X.ndim != 2 or len(X.chunks[1]) != 1:
            raise ValueError(f"X has the chunks {X.chunks}: use two dimensions and one chunk of columns (X.rechunk({{1: -1}})).")
        return X.map_blocks(_array_answers, shipped, asked, dtype=np.float64, chunks=(X.chunks[0], (len(names),)))
    if not hasattr(X, "map_partitions"):
        raise TypeError(f"X is a {type(X).__name__}; pass a Dask DataFrame or array, or use the model itself for rows in memory.")
    needed = input_columns(opened)
    if needed is not None:
        absent = [name for name in needed if name not in X.columns]
        if absent:
            raise ValueError(f"X has no column {', '.join(map(repr, absent))}, which the model {shipped.name} reads.")
        X = X[list(needed)]
    meta = pd.DataFrame({name: pd.Series([], dtype=np.float64) for name in names}, index=X._meta.index[:0])
    return X.map_partitions(_frame_answers, shipped, asked, meta=meta)


def fit_auto(
    X: Any,
    y: Any,
    *,
    sample_rows: int = 100_000,
    budget: str | None = None,
    curve: bool = True,
    curve_budget: str | None = "quick",
    client: Any = None,
    random_state: Any = None,
    **settings: Any,
) -> SampledFit:
    """Fits `auto` on a random sample of the rows of a Dask DataFrame, on this machine, and measures what more rows would bring.

    Every row has the same chance to be in the sample. The partitions are read twice, to count and to draw. With `curve` the method is also fitted
    on 1/8, 1/4, 1/2 and all of four fifths of the sample and tested on the other fifth, with `curve_budget`.

    Parameters
    ----------
    X : Dask DataFrame
    y : name of a column of X, or Dask Series with the partitions of X
    sample_rows : int
        Rows that this machine fits on.
    budget : {'quick', 'default', 'best'} or None
    client : distributed.Client or None
    **settings
        Of `tare.QuantileRegressor`: missing, bounds, guarantee, n_jobs, ...

    Returns
    -------
    SampledFit
        `model`, a `tare.QuantileRegressor`, and `curve`, for `tare.plot.learning_curve`.
    """
    _learning_curve.check_sample_rows(sample_rows)
    seed = int(seed_of(random_state))
    parts = [(part, target) for part, target, _, _ in _parts(X, y, None, None)]
    counts = _computed([dask.delayed(len)(part) for part, _ in parts], client)
    wanted = _learning_curve.rows_of_parts(counts, sample_rows, seed)
    drawn = _computed(
        [dask.delayed(_draw)(*part, count, seed, number) for number, (part, count) in enumerate(zip(parts, wanted)) if count], client
    )
    if not drawn:
        raise ValueError("X has no rows.")
    rows, targets = pd.concat([part for part, _ in drawn], ignore_index=True), np.concatenate([target for _, target in drawn])
    return _learning_curve.fit_on_sample(
        rows, targets, sum(counts), budget=budget, curve_budget=curve_budget, seed=seed, curve=curve, **settings
    )


def _computed(values: list[Any], client: Any) -> list[Any]:
    return list(dask.compute(*values)) if client is None else list(client.gather(client.compute(values)))


def _draw(X: Any, y: Any, count: int, seed: int, number: int) -> tuple[Any, Any]:
    return _learning_curve.draw_rows(X, count, seed, number), _learning_curve.draw_rows(np.asarray(y), count, seed, number)


def _frame_answers(frame: Any, shipped: _ship.Shipped, asked: Asked) -> Any:
    model = _ship.open_model(shipped, fetch_from_scheduler)
    values, rows = answers(model, asked, frame)
    return pd.DataFrame(values, columns=asked.names(model), index=frame.index[rows])


def _array_answers(block: npt.NDArray[Any], shipped: _ship.Shipped, asked: Asked) -> npt.NDArray[np.float64]:
    model = _ship.open_model(shipped, fetch_from_scheduler)
    values, rows = answers(model, asked, np.asarray(block))
    if len(rows) == len(block):
        return values
    full = np.full((len(block), values.shape[1]), np.nan)
    full[rows] = values
    return full
