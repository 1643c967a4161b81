# SPDX-License-Identifier: BSD-3-Clause
"""tare on Dask: answers for the rows of a Dask collection, and calibration on more rows than one machine holds.

`predict_quantiles` and `predict_interval` take any fitted model of tare; `Calibrator` calibrates on rows that stay on the workers. All answers
are lazy. ``pip install 'tare-quantiles[dask]'`` installs what is needed.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
import pandas as pd

from . import _ship
from ._dask_calibrator import Calibrator
from ._dask_ship import fetch_from_scheduler, model_traffic, offer
from ._estimator import DEFAULT_QUANTILES
from ._partition import Asked, answers, check_model, input_columns

__all__ = ["Calibrator", "model_traffic", "predict", "predict_interval", "predict_quantiles"]


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
