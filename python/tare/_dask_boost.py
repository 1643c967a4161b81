# SPDX-License-Identifier: BSD-3-Clause
"""nrc_boost on the rows of Dask collections: XGBoost grows the trees on the workers, and the residuals are calibrated in shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd

from . import _boosted, _sharded
from ._boosted import Boosting, Framing, Trees
from ._dask_calibrator import Calibrator, _parts
from ._dask_ship import current_client
from ._estimator import DEFAULT_QUANTILES
from ._sklearn import NotFittedError


class QuantileRegressor:
    """The method nrc_boost on more rows than one machine holds: a point model, the size of its residuals, and their calibrated quantiles.

    `xgboost.dask` grows the trees from histograms that are summed over the workers. Every row is predicted by trees that were grown without it, and
    a new row by the mean of the trees of all folds, as on one machine. Trees then estimate the size of the residual in the same way, and the
    residuals divided by it are calibrated as by `tare.dask.Calibrator`, in shards. It needs the package xgboost and a `distributed.Client`.

    Parameters
    ----------
    method : {'nrc_boost'}
    client : distributed.Client or None
        None: the current client.
    folds, rounds, learning_rate, depth, patience : int, int, float, int or None, int
        Of the trees of the point model. `rounds` at most are grown, until the error of 15 % of the rows has not fallen for `patience` rounds.
        depth=None: the number of columns plus 2, but at most 6. Trees of sizes have at most four leaves and 200 rounds.
    kernel, bandwidth, guarantee, held_out, sample_rows, shard_rows
        As in `tare.dask.Calibrator`. Rows that are held out for the guarantee grow no trees. The kernel's features are chosen on the sample among
        the columns, the prediction and the estimated size.
    missing : {'error', 'impute'}
    timeout : float or None
        Seconds after which XGBoost's workers stop waiting for each other, and after which the calibration of the residuals gives up.
    random_state : int or None

    Attributes
    ----------
    rows_ : int
        Calibration rows, without those held out.
    rounds_ : list of int
        Trees of each fold's point model.
    size_rounds_ : list of int
        Trees of each fold's model of the residual's size.
    calibrator_ : tare.dask.Calibrator
        Of the standardised residuals.
    """

    def __init__(
        self,
        method: str = "nrc_boost",
        *,
        client: Any = None,
        folds: int = 5,
        rounds: int = 2000,
        learning_rate: float = 0.05,
        depth: int | None = None,
        patience: int = 50,
        kernel: str = "auto",
        bandwidth: Any = "auto",
        guarantee: str = "split",
        held_out: int = 1000,
        missing: str = "error",
        sample_rows: int = 20_000,
        shard_rows: int = 1_000_000,
        timeout: float | None = None,
        random_state: Any = None,
    ) -> None:
        if method.lower().replace("-", "_") != "nrc_boost":
            raise ValueError(
                f"method is {method!r}; on rows in partitions it is 'nrc_boost'. Fit any method on a sample with tare.QuantileRegressor "
                "or tare.dask.fit_auto, and answer all rows with tare.dask.predict_quantiles."
            )
        if missing not in ("error", "impute"):
            raise ValueError(f"missing is {missing!r}; for trees on rows in partitions it is 'error' or 'impute'.")
        self.method = "nrc_boost"
        self.client = client
        self.timeout = timeout
        self._boosting = Boosting(folds, rounds, learning_rate, depth, patience)
        self._inner = {
            "client": client,
            "kernel": kernel,
            "bandwidth": bandwidth,
            "guarantee": guarantee,
            "held_out": held_out,
            "missing": missing,
            "sample_rows": sample_rows,
            "shard_rows": shard_rows,
            "timeout": timeout,
            "random_state": random_state,
        }
        Calibrator(_zero, **self._inner)  # refuses wrong values now

    def fit(self, X: Any, y: Any) -> QuantileRegressor:
        """Fits on the rows of a Dask DataFrame. y: the name of a column of X, or a Dask Series with the partitions of X."""
        xgboost = _import_xgboost()
        client = self.client or current_client()
        if client is None:
            raise ValueError("XGBoost needs a cluster: pass client=distributed.Client(...), or make one before the fit.")
        cluster = Calibrator(_zero, **self._inner)
        settings = cluster._settings
        with cluster._current():
            parts = _parts(X, y, None, None)
            cluster._start_clock()
            cluster._check_versions()
            samples = cluster._samples(parts)
            sample_X, sample_y, _, _, rows = _sharded.join_samples(settings, samples)
            columns = _boosted.learn_columns(settings, self._boosting, sample_X, sample_y, _sharded.held_out_share(settings, rows))
            sent = dask.delayed(columns, pure=True)
            frames = cluster._persist([dask.delayed(_boosted.number_part)(sent, part[0], part[1], k) for k, part in enumerate(parts)])
            empty = _boosted.no_numbers(columns)
            targets, self.rounds_ = self._grow(xgboost, client, frames, empty, columns.names, "target", settings.seed)
            frames = cluster._persist([dask.delayed(_boosted.add_prediction)(targets, frame) for frame in frames])
            little = _boosted.little_size(cluster._compute([dask.delayed(_boosted.sizes_of_part)(frame) for frame in frames]))
            middle = float(np.log(100 * little))
            frames = cluster._persist([dask.delayed(_boosted.add_log_size)(frame, little, middle) for frame in frames])
            empty = empty.assign(prediction=np.empty(0, dtype=np.float32), center=np.empty(0), log_size=np.empty(0))
            seen = [*columns.names, "prediction"]
            sizes, self.size_rounds_ = self._grow(xgboost, client, frames, empty, seen, "log_size", settings.seed)
            framing = Framing(columns, targets, sizes, middle)
            frames = cluster._persist([dask.delayed(_boosted.add_size)(framing, frame) for frame in frames])
            framing = framing.limited(cluster._compute([dask.delayed(_boosted.size_range)(frame) for frame in frames]))
            standard = [dask.delayed(_boosted.standardise)(framing, frame) for frame in frames]
            meta = pd.DataFrame({name: np.empty(0) for name in [*framing.features, "y"]})
            cluster.calibrate(dd.from_delayed(standard, meta=meta, verify_meta=False), "y")
        self._framing = framing
        self.calibrator_ = cluster
        self.rows_ = cluster.rows_
        self.guarantee_ = cluster.guarantee_
        return self

    def _grow(
        self, xgboost: Any, client: Any, frames: Sequence[Any], empty: Any, names: Sequence[str], target: str, seed: int
    ) -> tuple[Trees, list[int]]:
        """Trees of each fold, grown on the rows of the others."""
        table = dd.from_delayed(frames, meta=empty, verify_meta=False)
        is_size = target == "log_size"
        rounds, patience = (_boosted.SIZE_ROUNDS, _boosted.SIZE_PATIENCE) if is_size else (self._boosting.rounds, self._boosting.patience)
        boosters, counts = [], []
        for fold in range(self._boosting.folds):
            params = self._boosting.size_trees(seed + fold) if is_size else self._boosting.target_trees(len(names), seed + fold)
            used = table.map_partitions(_boosted.rows_of_fold, fold, False, meta=empty)
            watched = table.map_partitions(_boosted.rows_of_fold, fold, True, meta=empty)
            data = xgboost.dask.DaskQuantileDMatrix(client, used[list(names)], used[target])
            tested = xgboost.dask.DaskQuantileDMatrix(client, watched[list(names)], watched[target], ref=data)
            more = {} if self.timeout is None else {"coll_cfg": xgboost.collective.Config(timeout=max(1, int(self.timeout)))}
            try:
                grown = xgboost.dask.train(
                    client, params, data, rounds, evals=[(tested, "watched")], early_stopping_rounds=patience, verbose_eval=False, **more
                )
            except xgboost.core.XGBoostError as error:
                what = "size" if is_size else "target"
                raise RuntimeError(
                    f"XGBoost did not finish the trees of the {what}, fold {fold + 1} of {self._boosting.folds}. If a worker was lost or ran "
                    "out of memory, fit again, with more workers or memory; XGBoost's message is above."
                ) from error
            best = grown["booster"].best_iteration + 1
            boosters.append(bytes(grown["booster"][:best].save_raw("ubj")))
            counts.append(best)
        return Trees(tuple(boosters), tuple(names)), counts

    def predict_quantiles(self, X: Any, quantiles: npt.ArrayLike = DEFAULT_QUANTILES) -> Any:
        """Quantiles of every row: a lazy Dask DataFrame with the columns q0.05, ... and the index of X."""
        return self._predict(X, "predict_quantiles", quantiles)

    def predict_interval(self, X: Any, confidence_level: npt.ArrayLike = 0.9) -> Any:
        """Central intervals of every row: a lazy Dask DataFrame with the columns lower_0.9, upper_0.9, ..."""
        return self._predict(X, "predict_interval", confidence_level)

    def _predict(self, X: Any, how: str, levels: npt.ArrayLike) -> Any:
        if not hasattr(self, "_framing"):
            raise NotFittedError("This QuantileRegressor is not fitted yet. Call 'fit' first.")
        if not hasattr(X, "to_delayed"):
            raise TypeError(f"X is a {type(X).__name__}; pass a Dask DataFrame.")
        framing = self._framing
        wanted = list(framing.columns.model.feature_names_in_)
        absent = [name for name in wanted if name not in X.columns]
        if absent:
            raise ValueError(f"X has no column {', '.join(map(repr, absent))}, which was there at the fit.")
        sent = dask.delayed(framing, pure=True)
        frames = [dask.delayed(_boosted.frame_rows)(sent, part) for part in X[wanted].to_delayed()]
        meta = pd.DataFrame({name: np.empty(0) for name in [*framing.features, "center"]}, index=X._meta.index[:0])
        table = dd.from_delayed(frames, meta=meta, divisions=X.divisions, verify_meta=False)
        inner = getattr(self.calibrator_, how)(table, levels)
        answers = [dask.delayed(_boosted.scale_back)(sent, frame, part) for frame, part in zip(frames, inner.to_delayed())]
        return dd.from_delayed(answers, meta=inner._meta, divisions=X.divisions, verify_meta=False)


def _import_xgboost() -> Any:
    try:
        import xgboost
        import xgboost.collective
        import xgboost.dask
    except ImportError as error:
        raise ImportError(
            f"tare.dask.QuantileRegressor grows its trees with XGBoost, which cannot be imported here ({error}): pip install 'xgboost>=3', "
            "on every worker."
        ) from error
    return xgboost


def _zero(X: Any) -> Any:
    return np.zeros(len(X))
