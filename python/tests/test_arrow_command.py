# SPDX-License-Identifier: BSD-3-Clause
"""Parquet, Feather and Arrow streams in the command tare: the answers of CSV, in bounded memory, completely or not at all."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

import tare


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model, and 3,000 rows as CSV and in each format."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    rows = 3000
    table = pa.table({
        "a": rng.uniform(size=rows),
        "flag": rng.uniform(size=rows) < 0.5,
        "kind": pa.array(rng.choice(["x", 'a "b", c', "z"], size=rows)).dictionary_encode(),
        "id": [f"{i:06}" for i in range(rows)],
        "when": pa.array(np.arange(rows) * 3600, type=pa.timestamp("ms")),
        "y": rng.normal(size=rows),
    })  # fmt: skip
    frame = table.to_pandas()
    model = tare.QuantileRegressor("nrc_rf", random_state=0, options={"bands": "off"}).fit(frame.loc[:400, ["a", "flag", "kind"]], frame.y[:401])
    model.save(folder / "m.tare")
    pq.write_table(table, folder / "rows.parquet", row_group_size=700)
    pyarrow.feather.write_feather(table, folder / "rows.feather")
    with pa.ipc.new_stream(folder / "rows.arrows", table.schema) as stream:
        stream.write_table(table)
    plain = table.set_column(1, "flag", table["flag"].cast(pa.int8())).set_column(2, "kind", table["kind"].cast(pa.string()))
    pyarrow.csv.write_csv(plain, folder / "rows.csv")
    return folder


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "tare", *map(str, arguments)], capture_output=True, text=True, check=False)


READERS = {
    "parquet": pq.read_table,
    "feather": pyarrow.feather.read_table,
    "arrows": lambda path: pa.ipc.open_stream(pa.OSFile(str(path))).read_all(),
}


@pytest.mark.parametrize("suffix", ["parquet", pytest.param("feather", marks=pytest.mark.slow), pytest.param("arrows", marks=pytest.mark.slow)])
def test_answers_are_those_of_csv(tool, files, suffix, tmp_path):
    expected = command("predict", files / "m.tare", files / "rows.csv", "--interval", "0.9", "--keep", "id")
    assert expected.returncode == 0, expected.stderr
    text = command("predict", files / "m.tare", files / f"rows.{suffix}", "--interval", "0.9", "--keep", "id")
    assert text.stdout == expected.stdout
    out = tmp_path / f"out.{suffix}"
    written = command("predict", files / "m.tare", files / f"rows.{suffix}", "--interval", "0.9", "--keep", "id,when,flag,kind", f"--output={out}")
    assert written.returncode == 0 and not written.stdout, written.stderr
    table = READERS[suffix](out)
    source = pq.read_table(files / "rows.parquet")
    assert table.column_names == ["id", "when", "flag", "kind", "lower_0.9", "upper_0.9"]
    assert [str(t) for t in table.schema.types[:3]] == ["string", "timestamp[ms]", "bool"]
    for name in ("id", "when", "flag", "kind"):
        assert table[name].to_pylist() == source[name].to_pylist()
    answers = [[float(cell) for cell in row.split(",")[1:]] for row in expected.stdout.splitlines()[1:]]
    assert answers == [list(pair) for pair in zip(table["lower_0.9"].to_pylist(), table["upper_0.9"].to_pylist())]


@pytest.mark.slow
def test_other_commands_read_these_formats(tool, files, tmp_path):
    text = [command("evaluate", files / "m.tare", files / f"rows.{suffix}", "--json") for suffix in ("csv", "parquet")]
    scores = [json.loads(answer.stdout) for answer in text]
    differ = {name for name in scores[0] if scores[0][name] != scores[1][name]}
    assert scores[0].keys() == scores[1].keys() and differ <= {"data"}
    options = ["--target", "y", "--features", "a,kind", "--method", "nrc", "--regressor", "ridge"]
    fitted = command("fit", files / "rows.parquet", *options, "-o", tmp_path / "n.tare")
    assert fitted.returncode == 0, fitted.stderr
    assert (tmp_path / "n.tare").exists()


def test_what_is_refused(tool, files, tmp_path):
    out = tmp_path / "out.parquet"
    out.write_text("mine")
    taken = command("predict", files / "m.tare", files / "rows.parquet", "-o", out)
    assert taken.returncode == 2 and "exists already" in taken.stderr and out.read_text() == "mine"
    assert command("predict", files / "m.tare", files / "rows.parquet", "-o", out, "--force").returncode == 0
    assert command("predict", files / "m.tare", tmp_path / "none.parquet").returncode == 3
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 not")
    damaged = command("predict", files / "m.tare", bad)
    assert damaged.returncode == 4 and "bad.parquet" in damaged.stderr and "Traceback" not in damaged.stderr
    nested = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"a": [[1.0], [2.0]]}), nested)
    refused = command("predict", files / "m.tare", nested)
    assert refused.returncode == 4 and "column 'a' has the type list" in refused.stderr
    assert command("fit", files / "rows.csv", "--target", "y", "-o", tmp_path / "m.parquet").returncode == 2


def test_the_end_of_the_interpreter_does_not_change_the_exit_status(tool, files, tmp_path, monkeypatch):
    """A thread of Arrow that releases memory of Python's while the interpreter ends aborts the process, but seldom;
    here the end of the interpreter always aborts it."""
    (tmp_path / "sitecustomize.py").write_text("import atexit, os; atexit.register(os.abort)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == -signal.SIGABRT
    out = tmp_path / "out.parquet"
    written = command("predict", files / "m.tare", files / "rows.parquet", "-o", out)
    assert written.returncode == 0 and not written.stderr and pq.read_table(out).num_rows == 3000
    refused = command("predict", files / "m.tare", files / "rows.parquet", "-o", out)
    assert refused.returncode == 2 and "exists already" in refused.stderr


@pytest.mark.parametrize("closed", [1, 2])
def test_closed_streams_are_no_failure(tool, files, tmp_path, closed):
    out = tmp_path / "out.parquet"
    arguments = ["predict", files / "m.tare", files / "rows.parquet", "-o", out]
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "sh", sys.executable, "-m", "tare", *map(str, arguments)], capture_output=True, check=False
    )
    assert ran.returncode == 0 and b"Traceback" not in ran.stderr
    assert pq.read_table(out).num_rows == 3000


def test_a_wrong_value_is_named_by_file_and_row(tool, files, tmp_path):
    source = pq.read_table(files / "rows.parquet")
    values = source["a"].to_numpy().copy()
    values[41] = np.inf
    wrong = tmp_path / "wrong.parquet"
    pq.write_table(source.set_column(0, "a", pa.array(values)), wrong)
    out = tmp_path / "out.parquet"
    answer = command("predict", files / "m.tare", wrong, "-o", out)
    assert answer.returncode == 4 and "wrong.parquet: row 42: column 'a'" in answer.stderr
    assert os.listdir(tmp_path) == ["wrong.parquet"]  # nothing half-written


@pytest.mark.slow
def test_no_rows(tool, files, tmp_path):
    empty, out = tmp_path / "empty.parquet", tmp_path / "out.parquet"
    pq.write_table(pq.read_table(files / "rows.parquet").slice(0, 0), empty)
    answer = command("predict", files / "m.tare", empty, "--interval", "0.9", "-o", out)
    assert answer.returncode == 4 and "empty.parquet: the file has a header but no data rows" in answer.stderr  # as for CSV
    assert not out.exists()


def test_without_pyarrow_it_says_what_to_do(tool, files, tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    answer = subprocess.run([sys.executable, "-m", "tare", "predict", files / "m.tare", files / "rows.parquet"], env=environment,
                            capture_output=True, text=True, check=False)  # fmt: skip
    assert answer.returncode == 5 and "pip install pyarrow" in answer.stderr


@pytest.mark.slow
def test_duckdb_and_polars(tool, files, tmp_path):
    """The recipes of docs/scale.md."""
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    predictor = tare.Predictor(files / "m.tare", levels=[0.05, 0.95])
    expected = predictor.predict(pq.read_table(files / "rows.parquet").select(["a", "flag", "kind"]))

    columns = f"select a, flag, kind from '{files / 'rows.parquet'}'"
    found = [predictor.predict(pa.table(batch)) for batch in duckdb.sql(columns).to_arrow_reader(1000)]
    for name in ("q0.05", "q0.95"):
        assert (np.concatenate([part[name] for part in found]) == expected[name]).all()

    lazy = pl.scan_parquet(files / "rows.parquet").select("a", "flag", pl.col("kind").cast(pl.String))
    schema = {**lazy.collect_schema(), "q0.05": pl.Float64, "q0.95": pl.Float64}
    answered = lazy.map_batches(lambda frame: frame.with_columns(**predictor.predict(frame)), schema=schema)
    assert (answered.collect()["q0.95"].to_numpy() == expected["q0.95"]).all()
