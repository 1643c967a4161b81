# SPDX-License-Identifier: BSD-3-Clause
"""What the Python processes of Spark's executors do: batches of Arrow in, batches of Arrow out."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from . import _sharded, _shards, _ship
from ._partition import Asked, answers

_PART_ROWS = 200_000  # of a partition that are encoded together
BLOBS = "number int, content binary"
Part = tuple[Any, Any, Any, Any]  # features, target, predictions, weights
Work = Callable[[int, Part], Iterator[tuple[int, Any]]]


def fetch_from_spark(shipped: _ship.Shipped) -> bytes:
    """The file that Spark brought to this executor, once (SparkContext.addFile)."""
    from pyspark import SparkFiles

    with open(SparkFiles.get(file_name(shipped)), "rb") as file:
        return file.read()


def file_name(shipped: _ship.Shipped) -> str:
    return f"tare-{shipped.digest[:16]}.model"


def read_columns(batch: Any, columns: Sequence[str], vector: str | None) -> Any:
    """The features of a batch as a pandas frame: named columns, or the elements of one array column."""
    if vector is None:
        return batch.select(list(columns)).to_pandas()
    values = batch.column(vector)
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if values.null_count:
        raise ValueError(f"the column {vector!r} of features has {values.null_count} rows without a vector.")
    flat = values.flatten().to_numpy(zero_copy_only=False)
    width = len(flat) // len(values) if len(values) else 0
    if len(values) and (width * len(values) != len(flat) or len(set(np.diff(values.offsets.to_numpy()))) > 1):
        raise ValueError(f"the vectors of column {vector!r} differ in length.")
    return pd.DataFrame(np.asarray(flat, dtype=np.float64).reshape(len(values), width), columns=[f"{vector}_{j}" for j in range(width)])


@dataclass
class Score:
    """Tier one: appends the answers of a model to every batch."""

    shipped: _ship.Shipped
    asked: Asked
    columns: Sequence[str] | None
    fetches: Any  # an accumulator

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        before = _ship.fetched["models"]
        model = _ship.open_model(self.shipped, fetch_from_spark)
        if _ship.fetched["models"] > before:
            self.fetches.add(1)
        names = self.asked.names(model)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            frame = pa.table(batch if self.columns is None else batch.select(list(self.columns)))
            values, rows = answers(model, self.asked, frame)
            kept = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows))
            arrays = [*kept.columns, *(pa.array(np.ascontiguousarray(values[:, j])) for j in range(len(names)))]
            yield pa.RecordBatch.from_arrays(arrays, names=[*kept.schema.names, *names])


@dataclass
class Columns:
    """Where features, target, predictions and weights are."""

    features: Sequence[str]
    vector: str | None
    label: str | None
    prediction: str | None
    weight: str | None

    def read(self, table: Any) -> Part:
        def values(name: str | None) -> Any:
            return None if name is None else table.column(name).to_numpy(zero_copy_only=False) if table.num_rows else np.empty(0)

        return read_columns(table, self.features, self.vector), values(self.label), values(self.prediction), values(self.weight)

    def names(self) -> list[str]:
        others = [name for name in (self.label, self.prediction, self.weight) if name is not None]
        return [*([self.vector] if self.vector else self.features), *others]


def parts_of(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """A partition in parts of some 200,000 rows, each with a number of its own."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    number = context.partitionId() << 12
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= _PART_ROWS:
            yield number, pa.Table.from_batches(waiting)
            number, waiting = number + 1, []
    if waiting:
        yield number, pa.Table.from_batches(waiting)


def blob(number: int, value: Any) -> Any:
    content = pa.array([pickle.dumps(value, protocol=5)], type=pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([number], type=pa.int32()), content], names=["number", "content"])


def of_parts(columns: Columns, work: Work) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for mapInArrow from rows to blobs."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for number, table in parts_of(batches):
            for key, value in work(number, columns.read(table)):
                yield blob(key, value)

    return run


def sample_work(most: int, seed: int) -> Work:
    def work(number: int, part: Part) -> Iterator[tuple[int, Any]]:
        yield number, _sharded.sample_part(*part, most, seed, number)

    return work


def facts_work(learned: Any) -> Work:
    def work(number: int, part: Part) -> Iterator[tuple[int, Any]]:
        encoded = _sharded.encode_part(learned.value, *part, number)
        yield number, (_sharded.facts_of(encoded), encoded.held_out)

    return work


def split_work(learned: Any, cuts: Any) -> Work:
    def work(number: int, part: Part) -> Iterator[tuple[int, Any]]:
        rows = _sharded.encode_part(learned.value, *part, number).rows
        numbers = _shards.shard_numbers(rows.u, cuts)
        for shard in np.unique(numbers):
            yield int(shard), (number, rows.take(np.flatnonzero(numbers == shard)))

    return work


def join_shard(dims: int) -> Callable[[Any], Any]:
    """A function for applyInArrow: one shard from its pieces, in the order of the partitions."""

    def run(table: Any) -> Any:
        pieces = sorted((pickle.loads(content.as_py()) for content in table.column("content")), key=lambda piece: int(piece[0]))
        return pa.Table.from_batches([blob(table.column("number")[0].as_py(), _shards.join_rows([rows for _, rows in pieces], dims))])

    return run


def serve_work(spec: _shards.Spec, request: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number, content in zip(batch.column("number"), batch.column("content")):
                rows = pickle.loads(content.as_py())
                yield blob(number.as_py(), _shards.serve(rows, spec, request.value, number.as_py()))

    return run
