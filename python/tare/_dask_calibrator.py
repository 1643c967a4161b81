# SPDX-License-Identifier: BSD-3-Clause
"""Calibration on the rows of Dask collections, which stay on the workers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd

from . import _core, _sharded, _shards
from ._calibrator import Calibrator as LocalCalibrator
from ._dask_ship import current_client
from ._estimator import DEFAULT_QUANTILES
from ._partition import Asked
from ._sharded import Learned, Settings
from ._sklearn import NotFittedError

_SCORED_AT_ONCE = 128  # held-out rows of a task; each has hundreds of levels
# Pieces of a partition for a shard that travel as tasks of their own. Their number grows with the square of the rows; beyond this Dask's
# peer-to-peer shuffle moves the rows, whose cost grows with the rows.
_MOST_PIECES = 1000


class Calibrator:
    """Calibrated quantiles around any model, on more calibration rows than one machine holds.

    The rows are sorted by their residual and kept in shards on the workers. No bit of an answer depends on the number of shards or workers. The
    kernels `naive` and `knn` count rows, and have the answers of `to_local()` to the bit. For the other kernels weights are rounded down to 2^-62
    of the largest possible one before they are added, so that a cumulative weight is within 1e-9 of its level (up to two billion rows).

    Parameters
    ----------
    estimator : object with `predict`, callable, or None
        The model, which was not trained on these rows. It is sent to the workers and gets their partitions. None: pass predictions.
    client : distributed.Client or None
        None: the current client; without one Dask's local scheduler does the work.
    kernel, bandwidth : str, str or float
        Of SNQ, as in `tare.Calibrator`. 'auto': the gaussian kernel, and the bandwidth with the smallest leave-one-out loss on the sample,
        made narrower for all n rows by the factor (n / sampled)^(-1/(d+4)), where d is the number of the kernel's features.
    features : as in `tare.Calibrator`
        Features of the kernel. None: all columns; from four columns on those on which the residuals of the sample depend.
    guarantee : {'split', 'none'}
        'split': about `held_out` random rows are not put into shards but ranked, so that an interval covers at least its level on average over
        new rows that are exchangeable with them. 'none': quantiles as SNQ gives them.
    held_out : int
        Rows for the guarantee, at least 19 and at most a fifth of all. Each costs about as much as two predicted rows.
    ranks, fallback, min_support : as the options of the method 'nrc'
    missing : {'error', 'drop', 'impute'}
    sample_rows : int
        Rows on which columns are encoded and scaled, features are chosen and the bandwidth is searched, on the client.
    shard_rows : int
        Rows of a shard, about. A worker has some shards in memory at a time; each takes 8 bytes for every feature and row, and 8 for the residual.
    timeout : float or None
        Seconds after which `calibrate` and `to_local` give up with a TimeoutError; None: never.
    random_state : int or None

    Attributes
    ----------
    rows_ : int
        Calibration rows, without those held out.
    shards_ : int
    bandwidth_, sample_bandwidth_ : float
        The bandwidth in use, and the one that the search on the sample gave.
    guarantee_ : dict
        'form', and with 'split' the number of ranked 'rows'.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        client: Any = None,
        kernel: str = "auto",
        bandwidth: Any = "auto",
        features: Any = None,
        guarantee: str = "split",
        held_out: int = 1000,
        ranks: str = "expected",
        fallback: str = "nearest",
        min_support: int = 20,
        missing: str = "error",
        sample_rows: int = 20_000,
        shard_rows: int = 1_000_000,
        timeout: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.client = client
        self.timeout = timeout
        self._settings = Settings(
            estimator,
            kernel,
            bandwidth,
            features,
            guarantee,
            held_out,
            ranks,
            fallback,
            min_support,
            missing,
            sample_rows,
            shard_rows,
            random_state,
        )

    # --- calibration ---------------------------------------------------------------------------

    def calibrate(self, X: Any, y: Any, y_pred: Any = None, sample_weight: Any = None) -> Calibrator:
        """Calibrates on the rows of a Dask DataFrame.

        Parameters
        ----------
        X : Dask DataFrame
        y, y_pred, sample_weight : names of columns of X, or Dask Series with the partitions of X
            Named columns are no features. Weights need guarantee='none'.
        """
        if sample_weight is not None and self._settings.guarantee != "none":
            raise ValueError("sample_weight with a guarantee is not supported on rows in partitions: use guarantee='none'.")
        if (y_pred is None) == (self._settings.estimator is None):
            raise ValueError("pass either an estimator to Calibrator, or its predictions as y_pred.")
        self._y_pred = y_pred if isinstance(y_pred, str) else None
        self._start_clock()
        with self._current():
            parts = _parts(X, y, y_pred, sample_weight)
            self._check_versions()
            samples = self._samples(parts)
            learned = _sharded.learn(self._settings, samples)
            sent = dask.delayed(learned, pure=True)
            encoded = self._persist([dask.delayed(_sharded.encode_part)(sent, *part, k) for k, part in enumerate(parts)])
            facts = self._compute([dask.delayed(_sharded.facts_of)(part) for part in encoded])
            learned = _sharded.with_facts(learned, facts)
            held_out = self._compute([dask.delayed(_held_out)(part) for part in encoded]) if learned.held_out_share else []
            self._shards = self._make_shards(learned, encoded, [fact.sample for fact in facts])
            if held_out:
                learned = self._with_guarantee(learned, _sharded.join_held_out(held_out))
        self._set_learned(learned)
        return self

    def _samples(self, parts: Sequence[Any]) -> list[_sharded.Sample]:
        seed, most = self._settings.seed, -(-4 * self._settings.sample_rows // max(1, len(parts)))
        return self._compute([dask.delayed(_sharded.sample_part)(*part, most, seed, k) for k, part in enumerate(parts)])

    def _make_shards(self, learned: Learned, encoded: list[Any], samples: Sequence[Any]) -> list[Any]:
        """Empties `encoded`: the workers let go of a partition once its rows are in shards."""
        count = _sharded.shard_count(self._settings, learned.spec.rows)
        cuts = _shards.cuts_between(samples, count)
        if len(cuts) < count - 1:
            cuts, count = cuts[:0], 1
        if len(encoded) * count > _MOST_PIECES and (self.client or current_client()) is not None:
            rows = dd.from_delayed(
                [dask.delayed(_numbered)(part, cuts) for part in encoded],
                meta=_sharded.shard_frame(_shards.no_rows(learned.dims, learned.spec.weighted), np.empty(0, dtype=np.int64)),
                verify_meta=False,
            )
            moved = rows.set_index("shard", divisions=list(range(count + 1)), shuffle_method="p2p")
            shards = [dask.delayed(_sharded.shard_of_frame)(part, learned.dims) for part in moved.to_delayed()]
            del rows, moved
        else:
            split = [dask.delayed(_split)(part, cuts) for part in encoded]
            shards = [dask.delayed(_shards.join_rows)([part[s] for part in split], learned.dims) for s in range(count)]
            del split
        kept = list(dask.persist(*shards))
        encoded.clear()
        del shards
        self._wait(kept)
        return kept

    def _with_guarantee(self, learned: Learned, held_out: _sharded.HeldOut) -> Learned:
        """Every held-out row is scored against all shards; the scores are ranked here."""
        levels = _sharded.score_levels()
        blocks = [held_out.z[first : first + _SCORED_AT_ONCE] for first in range(0, len(held_out.y), _SCORED_AT_ONCE)]
        answers = [_rounds(dask.delayed(_shards.Answering)(learned.spec, z, levels), self._shards, learned.spec) for z in blocks]
        quantiles = self._compute([dask.delayed(_quantiles)(answering) for answering in answers])
        return _sharded.with_guarantee(learned, held_out, np.concatenate(quantiles))

    def _set_learned(self, learned: Learned) -> None:
        self._learned = learned
        self.rows_ = learned.spec.rows
        self.shards_ = len(self._shards)
        self.bandwidth_ = learned.spec.bandwidth
        self.sample_bandwidth_ = learned.sample_bandwidth
        self.guarantee_ = {"form": "none"} if learned.scores is None else {"form": "split", "rows": len(learned.scores)}

    # --- answers -------------------------------------------------------------------------------

    def predict_quantiles(self, X: Any, quantiles: npt.ArrayLike = DEFAULT_QUANTILES, *, y_pred: Any = None) -> Any:
        """Quantiles of every row: a lazy Dask DataFrame with the columns q0.05, ... and the index of X. Keep the calibrator until it is computed."""
        return self._predict(X, Asked.of(quantiles=quantiles), y_pred)

    def predict_interval(self, X: Any, confidence_level: npt.ArrayLike = 0.9, *, y_pred: Any = None) -> Any:
        """Central intervals of every row: a lazy Dask DataFrame with the columns lower_0.9, upper_0.9, ..."""
        return self._predict(X, Asked.of(interval=confidence_level), y_pred)

    def _predict(self, X: Any, asked: Asked, y_pred: Any) -> Any:
        learned = self._fitted()
        if not hasattr(X, "to_delayed"):
            raise TypeError(f"X is a {type(X).__name__}; pass a Dask DataFrame, or use to_local() for rows in memory.")
        levels = asked.all_levels
        sent = dask.delayed(learned, pure=True)
        y_pred = self._y_pred if y_pred is None else y_pred
        answers = []
        for frame, _, given, _ in _parts(X, None, y_pred, None, needed=self._columns(X)):
            query = dask.delayed(_sharded.start)(sent, frame, given, levels)
            answering = _rounds(dask.delayed(_answering)(query), self._shards, learned.spec)
            answers.append(dask.delayed(_finish)(sent, query, answering, levels, asked.level_names, frame))
        meta = pd.DataFrame({name: pd.Series([], dtype=np.float64) for name in asked.level_names}, index=X._meta.index[:0])
        return dd.from_delayed(answers, meta=meta, divisions=X.divisions, verify_meta=False)

    def _columns(self, X: Any) -> list[str] | None:
        """The columns that were features at calibration."""
        names = getattr(self._learned.model, "feature_names_in_", None)
        if names is None:
            return None
        absent = [name for name in names if name not in X.columns]
        if absent:
            raise ValueError(f"X has no column {', '.join(map(repr, absent))}, which was there at calibration.")
        return list(names)

    def to_local(self) -> LocalCalibrator:
        """A `tare.Calibrator` with all calibration rows, on this machine: `save` it, or use it anywhere."""
        learned = self._fitted()
        self._start_clock()
        with self._current():
            return _sharded.local_model(learned, self._compute(self._shards), self._y_pred)

    def _fitted(self) -> Learned:
        if not hasattr(self, "_learned"):
            raise NotFittedError("This Calibrator is not calibrated yet. Call 'calibrate' first.")
        return self._learned

    # --- the cluster ---------------------------------------------------------------------------

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        if self.client is None:
            yield
        else:
            with self.client.as_current():
                yield

    def _start_clock(self) -> None:
        self._ends = None if self.timeout is None else time.monotonic() + self.timeout

    def _check_versions(self) -> None:
        client = self.client or current_client()
        if client is None:
            return
        for worker, version in client.run(_version).items():
            if version != _core.version:
                raise RuntimeError(
                    f"tare {version} is installed on the worker {worker}, but this is tare {_core.version}: install the same version everywhere."
                )

    def _persist(self, values: list[Any]) -> list[Any]:
        kept = list(dask.persist(*values))
        self._wait(kept)
        return kept

    def _compute(self, values: list[Any]) -> list[Any]:
        client = self.client or current_client()
        if client is None or self._ends is None:
            return list(dask.compute(*values))
        futures = client.compute(values)
        self._wait(futures)
        return list(client.gather(futures))

    def _wait(self, values: list[Any]) -> None:
        """Until all are there; an error of one is raised."""
        client = self.client or current_client()
        if client is None:
            return
        from distributed import futures_of, wait

        futures = futures_of(values)
        left = None if self._ends is None else max(0.1, self._ends - time.monotonic())
        try:
            wait(futures, timeout=left)
        except TimeoutError:
            client.cancel(futures)
            raise TimeoutError(f"the workers did not finish within timeout={self.timeout} seconds") from None
        for future in futures:
            if future.status != "finished":
                future.result()


# --- tasks -----------------------------------------------------------------------------------------


def _version() -> str:
    return str(_core.version)


def _split(part: _sharded.EncodedPart, cuts: Any) -> list[_shards.ShardRows]:
    numbers = _shards.shard_numbers(part.rows.u, cuts)
    return [part.rows.take(np.flatnonzero(numbers == s)) for s in range(len(cuts) + 1)]


def _numbered(part: _sharded.EncodedPart, cuts: Any) -> Any:
    return _sharded.shard_frame(part.rows, _shards.shard_numbers(part.rows.u, cuts))


def _held_out(part: _sharded.EncodedPart) -> _sharded.HeldOut:
    return part.held_out


def _answering(query: _sharded.Query) -> _shards.Answering:
    return query.answering


def _request(answering: _shards.Answering) -> _shards.Request | None:
    return answering.request()


def _receive(answering: _shards.Answering, replies: Sequence[Any]) -> _shards.Answering:
    if answering.is_done:
        return answering
    return answering.received(replies)


def _quantiles(answering: _shards.Answering) -> Any:
    return answering.quantiles


def _rounds(answering: Any, shards: Sequence[Any], spec: _shards.Spec) -> Any:
    """As many rounds as a query may need; those that it does not need cost a task without work for each shard."""
    for _ in range(spec.most_rounds):
        request = dask.delayed(_request)(answering)
        replies = [dask.delayed(_shards.serve)(rows, spec, request, number) for number, rows in enumerate(shards)]
        answering = dask.delayed(_receive)(answering, replies)
    return answering


def _finish(
    learned: Learned, query: _sharded.Query, answering: _shards.Answering, levels: list[float], names: list[str], frame: Any
) -> Any:
    query.answering = answering
    return pd.DataFrame(_sharded.finish(learned, query, levels), columns=names, index=frame.index)


def _parts(X: Any, y: Any, y_pred: Any, weight: Any, needed: list[str] | None = None) -> list[tuple[Any, Any, Any, Any]]:
    """(features, target, predictions, weights) of each partition, lazy."""
    if not hasattr(X, "to_delayed"):
        raise TypeError(f"X is a {type(X).__name__}; pass a Dask DataFrame (dask.dataframe.from_pandas, read_parquet, ...).")
    named = [name for name in (y, y_pred, weight) if isinstance(name, str)]
    columns = []
    for name, values in (("y", y), ("y_pred", y_pred), ("sample_weight", weight)):
        if isinstance(values, str):
            if values not in X.columns:
                raise ValueError(f"{name} is {values!r}, but X has no such column.")
            columns.append(X[values].to_delayed())
        elif values is None:
            columns.append([None] * X.npartitions)
        else:
            if values.npartitions != X.npartitions:
                raise ValueError(f"{name} has {values.npartitions} partitions, X has {X.npartitions}: take both from one frame.")
            columns.append(values.to_delayed())
    features = X[needed] if needed is not None else X.drop(columns=named) if named else X
    return list(zip(features.to_delayed(), *columns))
