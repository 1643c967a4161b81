# SPDX-License-Identifier: BSD-3-Clause
"""tare on Spark: any fitted model as a transformer, and calibration on more rows than one machine holds.

`TareModel` puts the answers of a model file beside the rows of a data frame. `SparkCalibrator` is an estimator whose calibration rows stay on the
executors. `fit_auto` fits on a sample of the rows. ``pip install 'tare-quantiles[spark]'`` installs what is needed; Spark itself needs Java 17
or later.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark import SparkContext, StorageLevel, keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import vector_to_array
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, StructField, StructType

from . import _learning_curve, _sharded, _shards, _ship, _spark_parts
from ._calibrator import Calibrator
from ._learning_curve import LearningCurve, SampledFit
from ._partition import Asked, check_model, input_columns
from ._settings import seed_of
from ._spark_parts import BLOBS, Columns

__all__ = ["LearningCurve", "SampledFit", "SparkCalibrator", "SparkCalibratorModel", "TareModel", "fit_auto"]

_QUERIES_AT_ONCE = 10_000


class _Answers(Params):  # type: ignore[misc]
    """What is asked of every row."""

    quantiles: Any = Param(Params._dummy(), "quantiles", "levels: columns q0.05, ...", typeConverter=TypeConverters.toListFloat)
    interval: Any = Param(
        Params._dummy(), "interval", "central intervals: columns lower_0.9, upper_0.9, ...", typeConverter=TypeConverters.toListFloat
    )

    def _set_answers(self, quantiles: Sequence[float] | None, interval: float | Sequence[float] | None) -> None:
        self._setDefault(quantiles=[], interval=[0.9])
        if quantiles is not None:
            self._set(quantiles=[float(level) for level in np.atleast_1d(quantiles)])
            if interval is None:
                interval = []
        if interval is not None:
            self._set(interval=[float(level) for level in np.atleast_1d(interval)])
        self._asked()

    def _asked(self) -> Asked:
        return Asked.of(self.getOrDefault("quantiles"), self.getOrDefault("interval"))


class TareModel(Model, _Answers, MLReadable, MLWritable):  # type: ignore[misc]
    """A fitted model of tare as a transformer: `transform` adds a column for each quantile and each end of an interval.

    The model goes once to each executor, as a file of Spark's. Rows that the model leaves out for missing values (``missing='drop'``) are left
    out. The answers of a row depend on this row alone.

    Parameters
    ----------
    model : path, bytes of a model file, or fitted estimator of this package
    quantiles : list of floats
    interval : float or list of floats
        0.9 if neither is given.

    Examples
    --------
    >>> TareModel.load("cars.tare").transform(df)               # doctest: +SKIP
    >>> TareModel("cars.tare", quantiles=[0.1, 0.5, 0.9])       # doctest: +SKIP
    """

    def __init__(
        self, model: Any = None, *, quantiles: Sequence[float] | None = None, interval: float | Sequence[float] | None = None
    ) -> None:
        super().__init__()
        self._content: bytes | None = None
        self._set_answers(quantiles, interval)
        if model is not None:
            self._shipped, self._content = _ship.ship(model)
            check_model(_ship.open_model(self._shipped, lambda _: self._content or b""))

    @classmethod
    def load(cls, path: str) -> TareModel:
        """A model file of tare, or what `save` wrote."""
        if os.path.isfile(path):
            return cls(path)
        loaded: TareModel = cls.read().load(path)
        return loaded

    @classmethod
    def read(cls) -> Any:
        return _TareReader(cls)

    def write(self) -> Any:
        return _TareWriter(self)

    def copy(self, extra: Any = None) -> TareModel:
        other: TareModel = super().copy(extra)
        return other

    @property
    def model_fetches(self) -> int:
        """How many executors' processes have read the model from Spark's file since this process began; the others of a host share it."""
        return int(_fetches(SparkContext.getOrCreate()).value)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        if self._content is None:
            raise ValueError("the transformer has no model: use TareModel(path) or TareModel.load(path).")
        asked = self._asked()
        model = _ship.open_model(self._shipped, lambda _: self._content or b"")
        needed = input_columns(model)
        absent = [name for name in needed or [] if name not in dataset.columns]
        if absent:
            raise ValueError(f"the data frame has no column {', '.join(map(repr, absent))}, which the model {self._shipped.name} reads.")
        names = asked.names(model)
        clash = [name for name in names if name in dataset.columns]
        if clash:
            raise ValueError(f"the data frame has a column {', '.join(map(repr, clash))} already.")
        context = dataset.sparkSession.sparkContext
        _add_file(context, self._shipped, self._content)
        score = _spark_parts.Score(self._shipped, asked, needed, _fetches(context))
        schema = StructType([*dataset.schema.fields, *(StructField(name, DoubleType()) for name in names)])
        return dataset.mapInArrow(score, schema)


class _TareWriter(MLWriter):  # type: ignore[misc]
    def __init__(self, instance: TareModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:  # noqa: N802
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession.sparkContext)
        _save_blob(self.sparkSession, os.path.join(path, "model"), self.instance._content or b"")


class _TareReader(MLReader):  # type: ignore[misc]
    def __init__(self, cls: type[TareModel]) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> TareModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession.sparkContext)
        content = _load_blob(self.sparkSession, os.path.join(path, "model"))
        # A pickled estimator begins with pickle's mark, a model file with the length of its header.
        model = self.cls(pickle.loads(content) if content[:1] == b"\x80" else content)
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _save_blob(session: SparkSession, path: str, content: bytes) -> None:
    session.createDataFrame([(0, bytearray(content))], BLOBS).coalesce(1).write.parquet(path)


def _load_blob(session: SparkSession, path: str) -> bytes:
    return bytes(session.read.parquet(path).first()["content"])


_added: set[tuple[str, str]] = set()
_counts: dict[str, Any] = {}


def _add_file(context: Any, shipped: _ship.Shipped, content: bytes) -> None:
    """Spark copies a file that was added to each executor, when it first has a task."""
    key = (context.applicationId, shipped.digest)
    if key in _added:
        return
    path = os.path.join(tempfile.mkdtemp(prefix="tare-"), _spark_parts.file_name(shipped))
    with open(path, "wb") as file:
        file.write(content)
    context.addFile(path)
    _added.add(key)


def _fetches(context: Any) -> Any:
    if context.applicationId not in _counts:
        _counts[context.applicationId] = context.accumulator(0)
    return _counts[context.applicationId]


# --- calibration -----------------------------------------------------------------------------------


class _Columns(Params):  # type: ignore[misc]
    features_col: Any = Param(Params._dummy(), "features_col", "columns, or one vector column", typeConverter=TypeConverters.identity)
    label_col: Any = Param(Params._dummy(), "label_col", "column of targets", typeConverter=TypeConverters.toString)
    prediction_col: Any = Param(
        Params._dummy(), "prediction_col", "column of the model's predictions", typeConverter=TypeConverters.toString
    )
    weight_col: Any = Param(Params._dummy(), "weight_col", "column of weights, or ''", typeConverter=TypeConverters.toString)

    def _prepared(self, dataset: DataFrame, *, with_label: bool) -> tuple[DataFrame, Columns]:
        """The columns that are needed, a vector as an array."""
        features = self.getOrDefault("features_col")
        vector = None
        label = self.getOrDefault("label_col") if with_label else None
        weight = (self.getOrDefault("weight_col") or None) if with_label else None
        prediction = self.getOrDefault("prediction_col")
        if isinstance(features, str):
            if features not in dataset.columns:
                raise ValueError(f"features_col is {features!r}, but the data frame has no such column.")
            if dataset.schema[features].dataType.typeName() in ("array", "vector", "vectorudt"):
                vector, features = features, []
                column = dataset[vector] if dataset.schema[vector].dataType.typeName() == "array" else vector_to_array(dataset[vector])
                dataset = dataset.withColumn(vector, column)
            else:
                features = [features]
        columns = Columns(list(features), vector, label, prediction, weight)
        absent = [name for name in columns.names() if name not in dataset.columns]
        if absent:
            raise ValueError(f"the data frame has no column {', '.join(map(repr, absent))}.")
        return dataset.select(columns.names()), columns


class SparkCalibrator(Estimator, _Columns, _Answers):  # type: ignore[misc]
    """Calibrated quantiles around any model whose predictions are a column, on more calibration rows than one machine holds.

    The rows are sorted by their residual and kept in shards on the executors, as in `tare.dask.Calibrator`, with the same answers to the bit.

    Parameters
    ----------
    features_col : list of str, or str
        Columns of the kernel's features, or one vector or array column.
    label_col, prediction_col : str
        Targets, and predictions of a model that was not trained on these rows.
    weight_col : str or None
        Weights of the rows; they need guarantee='none'.
    interval, quantiles : float or list of floats
        What `transform` adds; an interval of 0.9 if neither is given.
    kernel, bandwidth, guarantee, held_out, ranks, fallback, min_support, missing, sample_rows, shard_rows, random_state
        As in `tare.dask.Calibrator`.
    """

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        features_col: Any = "features",
        label_col: str = "label",
        prediction_col: str = "prediction",
        weight_col: str | None = None,
        interval: float | Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        if weight_col and settings.get("guarantee", "split") != "none":
            raise ValueError("weight_col with a guarantee is not supported on rows in partitions: use guarantee='none'.")
        if "estimator" in settings:
            raise TypeError("SparkCalibrator has no estimator: the model's predictions are the column prediction_col.")
        self._settings = _sharded.Settings(**settings)
        self._set(features_col=features_col, label_col=label_col, prediction_col=prediction_col, weight_col=weight_col or "")
        self._set_answers(quantiles, interval)

    def _fit(self, dataset: DataFrame) -> SparkCalibratorModel:
        context = dataset.sparkSession.sparkContext
        rows, columns = self._prepared(dataset, with_label=True)
        settings = self._settings
        most = -(-4 * settings.sample_rows // max(1, rows.rdd.getNumPartitions()))
        samples = _collect(rows.mapInArrow(_spark_parts.of_parts(columns, _spark_parts.sample_work(most, settings.seed)), BLOBS))
        learned = _sharded.learn(settings, [sample for _, sample in samples])
        sent = context.broadcast(learned)
        found = _collect(rows.mapInArrow(_spark_parts.of_parts(columns, _spark_parts.facts_work(sent)), BLOBS))
        facts = [fact for _, (fact, _) in found]
        learned = _sharded.with_facts(learned, facts)
        count = _sharded.shard_count(settings, learned.spec.rows)
        cuts = _shards.cuts_between([fact.sample for fact in facts], count)
        pieces = rows.mapInArrow(_spark_parts.of_parts(columns, _spark_parts.split_work(sent, cuts)), BLOBS)
        shards = pieces.groupBy("number").applyInArrow(_spark_parts.join_shard(learned.dims), BLOBS).persist(StorageLevel.MEMORY_AND_DISK)
        model = SparkCalibratorModel(learned, shards, sorted(row["number"] for row in shards.select("number").collect()))
        self._copyValues(model)
        if learned.held_out_share:
            held_out = _sharded.join_held_out([part for _, (_, part) in found])
            quantiles = model._rounds(held_out.z, _sharded.score_levels())
            model._learned = _sharded.with_guarantee(learned, held_out, quantiles)
        return model


class SparkCalibratorModel(Model, _Columns, _Answers, MLReadable, MLWritable):  # type: ignore[misc]
    """Calibration rows in shards, and the answers from them.

    `transform` brings the rows of its data frame to the driver, 10,000 at a time, asks all shards, and returns a data frame: the driver must hold
    these rows. With many rows to answer take `to_local()`, a `TareModel`, whose rows stay where they are.
    """

    def __init__(self, learned: _sharded.Learned | None = None, shards: DataFrame | None = None, numbers: Sequence[int] = ()) -> None:
        super().__init__()
        self._setDefault(quantiles=[], interval=[0.9], weight_col="")
        self._learned: Any = learned
        self._shards: Any = shards
        self._numbers = list(numbers)

    @property
    def rows(self) -> int:
        return int(self._learned.spec.rows)

    @property
    def shards(self) -> int:
        return len(self._numbers)

    @property
    def bandwidth(self) -> float:
        return float(self._learned.spec.bandwidth)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        asked = self._asked()
        rows, columns = self._prepared(dataset, with_label=False)
        levels = asked.all_levels
        clash = [name for name in asked.level_names if name in dataset.columns]
        if clash:
            raise ValueError(f"the data frame has a column {', '.join(map(repr, clash))} already.")
        whole = dataset.drop(*([columns.vector] if columns.vector else [])).toPandas() if columns.vector else dataset.toPandas()
        features = rows.toArrow() if columns.vector else None
        answers = []
        for first in range(0, len(whole), _QUERIES_AT_ONCE):
            block = whole.iloc[first : first + _QUERIES_AT_ONCE]
            X = (
                _spark_parts.read_columns(features.slice(first, len(block)), [], columns.vector)
                if features is not None
                else block[columns.features]
            )
            query = _sharded.start(self._learned, X, block[columns.prediction].to_numpy(), levels)
            _shards.drive(query.answering, self._ask)
            answers.append(_sharded.finish(self._learned, query, levels))
        values = np.concatenate(answers) if answers else np.empty((0, len(levels)))
        added = pd.concat([whole.reset_index(drop=True), pd.DataFrame(values, columns=asked.level_names)], axis=1)
        kept = [field for field in dataset.schema.fields if field.name != columns.vector]
        schema = StructType([*kept, *(StructField(name, DoubleType()) for name in asked.level_names)])
        return dataset.sparkSession.createDataFrame(added, schema)

    def to_local(self) -> TareModel:
        """A transformer with all calibration rows, which fit one machine: they go to the driver and then to each executor."""
        model = TareModel(self.to_calibrator()._core_model().to_bytes())
        self._copyValues(model)
        return model

    def to_calibrator(self) -> Calibrator:
        """A `tare.Calibrator` with all calibration rows, on this machine: `save` it, or use it anywhere."""
        shards = [pickle.loads(bytes(row["content"])) for row in self._shards.orderBy("number").toLocalIterator()]
        return _sharded.local_model(self._learned, shards, self.getOrDefault("prediction_col"))

    def _rounds(self, z: Any, levels: Sequence[float]) -> Any:
        quantiles = []
        for first in range(0, len(z), _QUERIES_AT_ONCE):
            quantiles.append(
                _shards.drive(_shards.Answering(self._learned.spec, z[first : first + _QUERIES_AT_ONCE], levels), self._ask).quantiles
            )
        return np.concatenate(quantiles)

    def _ask(self, request: _shards.Request) -> list[Any]:
        """A job of Spark's: every shard serves the request. Shards without rows are not there, and are not needed."""
        places = {number: place for place, number in enumerate(self._numbers)}
        own = {self._numbers[place]: value for place, value in request.of_shard.items()}
        asked = _shards.Request(request.kind, request.z, request.values, own)
        sent = self._shards.sparkSession.sparkContext.broadcast(asked)
        replies: list[Any] = [None] * len(self._numbers)
        for number, reply in _collect(self._shards.mapInArrow(_spark_parts.serve_work(self._learned.spec, sent), BLOBS)):
            replies[places[number]] = reply
        sent.unpersist()
        return replies

    def copy(self, extra: Any = None) -> SparkCalibratorModel:
        other: SparkCalibratorModel = super().copy(extra)
        return other

    def write(self) -> Any:
        return _CalibratorWriter(self)

    @classmethod
    def read(cls) -> Any:
        return _CalibratorReader()


class _CalibratorWriter(MLWriter):  # type: ignore[misc]
    def __init__(self, instance: SparkCalibratorModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:  # noqa: N802
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession.sparkContext)
        _save_blob(self.sparkSession, os.path.join(path, "learned"), pickle.dumps(self.instance._learned))
        self.instance._shards.write.parquet(os.path.join(path, "shards"))


class _CalibratorReader(MLReader):  # type: ignore[misc]
    """Loading unpickles: only from a place that you trust."""

    def load(self, path: str) -> SparkCalibratorModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession.sparkContext)
        learned = pickle.loads(_load_blob(self.sparkSession, os.path.join(path, "learned")))
        _ship.check_version(learned.version)
        shards = self.sparkSession.read.parquet(os.path.join(path, "shards"))
        model = SparkCalibratorModel(learned, shards, sorted(row["number"] for row in shards.select("number").collect()))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _collect(blobs: DataFrame) -> list[tuple[int, Any]]:
    """Blobs on the driver, by number."""
    return sorted(((row["number"], pickle.loads(bytes(row["content"]))) for row in blobs.toLocalIterator()), key=lambda item: int(item[0]))


def fit_auto(
    frame: DataFrame,
    label_col: str = "label",
    features_col: Sequence[str] | None = None,
    *,
    sample_rows: int = 100_000,
    budget: str | None = None,
    curve: bool = True,
    curve_budget: str | None = "quick",
    random_state: Any = None,
    **settings: Any,
) -> SampledFit:
    """Fits `auto` on a random sample of the rows of a data frame, on the driver, and measures what more rows would bring.

    Spark counts the rows and draws the sample, which has `sample_rows` rows on average. The rest is as in `tare.dask.fit_auto`.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    label_col : str
    features_col : list of str or None
        None: all columns but the label.
    sample_rows, budget, curve, curve_budget, random_state, **settings
        As in `tare.dask.fit_auto`.

    Returns
    -------
    SampledFit
        `model`, a `tare.QuantileRegressor`; `TareModel(fit.model)` answers the rows of the cluster. `curve` is for `tare.plot.learning_curve`.
    """
    _learning_curve.check_sample_rows(sample_rows)
    seed = int(seed_of(random_state))
    names = [name for name in frame.columns if name != label_col] if features_col is None else list(features_col)
    rows = frame.select(*(f"`{name}`" for name in [*names, label_col]))
    total = rows.count()
    table = (rows if total <= sample_rows else rows.sample(False, sample_rows / total, seed)).toPandas()
    return _learning_curve.fit_on_sample(
        table[names], table[label_col], total, budget=budget, curve_budget=curve_budget, seed=seed, curve=curve, **settings
    )
