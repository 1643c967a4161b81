# SPDX-License-Identifier: BSD-3-Clause
"""tare on Dask: a cluster of two processes on this machine, with faults."""

import os
import time

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
import dask.dataframe as dd

import tare
import tare.dask
from tare import _core, _dask_calibrator, _sharded, _shards, _ship

LEVELS = [0.05, 0.5, 0.95]


def center(X):
    return np.sin(6 * np.asarray(X["a"]))


def frame(rows, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.uniform(size=rows), "b": rng.uniform(size=rows), "kind": rng.choice(["x", "y", "z"], size=rows)})
    table["y"] = center(table) + rng.normal(size=rows) * (0.1 + table.b * (table.kind == "x"))
    return table


@pytest.fixture(scope="module")
def client():
    with (
        # A cluster gives up a worker that is away for 15 seconds. On a busy machine one that was killed takes longer to come back.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def fitted():
    table = frame(800)
    return tare.QuantileRegressor("nrc_rf", random_state=1).fit(table[["a", "b", "kind"]], table.y)


def test_answers_are_those_of_the_model(client, fitted, tmp_path):
    table = frame(500, seed=1)
    table["when"] = pd.date_range("2026-01-01", periods=len(table))  # a column of a type that tare does not read
    path = tmp_path / "m.tare"
    fitted.save(path)
    whole = fitted.predict_quantiles(table[["a", "b", "kind"]], LEVELS)
    rows = dd.from_pandas(table, npartitions=6)
    rows = dd.concat([rows, rows[rows.a > 2]])  # six more partitions, without rows
    for model in (fitted, path, path.read_bytes()):
        answer = tare.dask.predict_quantiles(model, rows, LEVELS)
        assert list(answer.columns) == ["q0.05", "q0.5", "q0.95"] and answer.npartitions == 12
        computed = answer.compute()
        assert (computed.to_numpy() == whole).all() and (computed.index == table.index).all()
    interval = tare.dask.predict_interval(fitted, rows, [0.5, 0.9]).compute()
    assert list(interval.columns) == ["lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    everything = tare.dask.predict(fitted, rows, quantiles=[0.5], interval=0.9, diagnostics=True).compute()
    assert {"q0.5", "lower_0.9", "upper_0.9", "fallback", "nearest"} <= set(everything.columns)


def test_a_model_goes_to_a_host_once(client, fitted):
    rows = dd.from_pandas(frame(200, seed=2), npartitions=20)
    before = tare.dask.model_traffic(client)
    tare.dask.predict_quantiles(fitted, rows, LEVELS).compute()
    assert tare.dask.model_traffic(client)["sent"] == before["sent"]  # it is on this host already

    def another_host():
        import tempfile

        tempfile.tempdir = shared
        _ship._open.clear()

    import tempfile

    shared = tempfile.mkdtemp()
    client.run(another_host)  # both workers, with a temporary folder that the client does not share
    answer = tare.dask.predict_quantiles(fitted, rows, LEVELS).compute()
    after = tare.dask.model_traffic(client)
    assert after["sent"] == before["sent"] + 1
    assert after["bytes"] == before["bytes"] + len(fitted._core_model().to_bytes())
    assert len(answer) == 200


@pytest.mark.slow
def test_arrays_and_a_wrapped_model(client):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    model = tare.Calibrator(_first_column).calibrate(X, y)
    import dask.array as da

    answer = tare.dask.predict_quantiles(model, da.from_array(X, chunks=(70, 2)), LEVELS)
    assert answer.shape == (300, 3)
    assert (answer.compute(scheduler="synchronous") == model.predict_quantiles(X, LEVELS)).all()
    with pytest.raises(ValueError, match="one chunk of columns"):
        tare.dask.predict_quantiles(model, da.from_array(X, chunks=(70, 1)), LEVELS)


def _first_column(X):
    return np.asarray(X)[:, 0]


def test_what_is_refused(client, fitted):
    rows = dd.from_pandas(frame(50), npartitions=2)
    with pytest.raises(ValueError, match="no column 'kind'"):
        tare.dask.predict_quantiles(fitted, rows[["a", "b"]], LEVELS)
    with pytest.raises(ValueError, match="between 0 and 1"):
        tare.dask.predict_quantiles(fitted, rows, [1.5])
    with pytest.raises(TypeError, match="Dask DataFrame"):
        tare.dask.predict_quantiles(fitted, frame(5), LEVELS)
    with pytest.raises(ValueError, match="guarantee"):
        tare.dask.Calibrator(center, guarantee="local")
    with pytest.raises(ValueError, match="either an estimator"):
        tare.dask.Calibrator().calibrate(rows, "y")
    with pytest.raises(ValueError, match="no such column"):
        tare.dask.Calibrator(center).calibrate(rows, "target")


def calibrator(**more):
    return tare.dask.Calibrator(zero, guarantee="none", sample_rows=500, shard_rows=300, **more)


def zero(X):
    return np.zeros(len(X))


def numbers(rows, seed=0, *, skew=False):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    table["y"] = rng.normal(size=rows) * (1 + table.a.abs())
    if skew:
        table.loc[rng.permutation(rows)[: rows // 2], "y"] = 0.5
    return table


@pytest.mark.parametrize("kernel", [pytest.param("auto", marks=pytest.mark.slow), "knn"])
def test_a_sharded_calibrator_is_that_of_one_machine(client, kernel):
    table, new = numbers(1500, skew=True), numbers(60, seed=1)
    rows = dd.from_pandas(table, npartitions=4)
    rows = dd.concat([rows, rows[rows.a > 100]])
    many = tare.dask.Calibrator(zero, kernel=kernel, sample_rows=500, shard_rows=300, held_out=150).calibrate(rows, "y")
    assert many.shards_ >= 4 and many.guarantee_["form"] == "split" and many.rows_ + many.guarantee_["rows"] == 1500
    answer = many.predict_quantiles(dd.from_pandas(new, npartitions=3), LEVELS).compute()
    local = many.to_local()
    assert (answer.to_numpy() == local.predict_quantiles(new[["a", "b"]], LEVELS)).all()
    few = tare.dask.Calibrator(zero, kernel=kernel, sample_rows=500, shard_rows=10_000, held_out=150).calibrate(rows, "y")
    assert few.shards_ == 1
    assert (few.predict_quantiles(dd.from_pandas(new, npartitions=1), LEVELS).compute() == answer).all().all()


def test_an_engine_sees_how_large_a_shard_is():
    """Without it Dask takes shards for small objects, moves them freely, and writes none of them to disk before memory runs out."""
    from dask.sizeof import sizeof

    rows = _shards.ShardRows(np.zeros((1000, 4)), np.zeros(1000), np.zeros(1000))
    part = _sharded.EncodedPart(rows, _sharded.HeldOut(np.zeros((500, 4)), np.zeros(500), np.zeros(500)), True, 1.0)
    assert 48_000 <= sizeof(rows) < 49_000 and 96_000 <= sizeof([rows, rows]) < 98_000 and 72_000 <= sizeof(part) < 74_000


@pytest.mark.slow
@pytest.mark.parametrize("dies", [False, True])
def test_rows_that_dask_shuffles_give_the_same_bits(client, monkeypatch, tmp_path, dies):
    """Many partitions and shards: Dask's peer-to-peer shuffle moves the rows, also once more after a worker with shards is gone."""
    table, new = numbers(1500, skew=True), dd.from_pandas(numbers(40, seed=1), npartitions=2)
    table["w"] = np.random.default_rng(0).exponential(size=1500)
    rows = dd.from_pandas(table, npartitions=4)
    rows = dd.concat([rows, rows[rows.a > 100]])
    few = calibrator(kernel="knn").calibrate(rows, "y", sample_weight="w")
    pieces = few.predict_quantiles(new, LEVELS).compute()
    monkeypatch.setattr(_dask_calibrator, "_MOST_PIECES", 0)
    client.wait_for_workers(2, timeout=240)
    many = calibrator(kernel="knn").calibrate(rows, "y", sample_weight="w")
    assert many.shards_ == 5 and many.rows_ == 1500
    if dies:
        client.run(fault, "sums", "die", str(tmp_path / "mark"))
    assert (many.predict_quantiles(new, LEVELS).compute() == pieces).all().all()
    assert (tmp_path / "mark").exists() == dies
    client.wait_for_workers(2, timeout=240)


def test_rows_that_only_rank_have_no_part_in_the_search():
    """The sample, on which features and bandwidth are chosen, has none of the held-out rows."""
    table = numbers(1000)
    settings = _sharded.Settings(held_out=150, sample_rows=600, random_state=3)
    halves = [table[:400], table[400:]]
    samples = [_sharded.sample_part(part[["a", "b"]], part.y, None, None, 2400, 3, k) for k, part in enumerate(halves)]
    _, y, _, _, rows = _sharded.join_samples(settings, samples)
    share = _sharded.held_out_share(settings, rows)
    held_out = np.concatenate([part.y[_sharded.held_out_draws(3, k, len(part)) < share] for k, part in enumerate(halves)])
    assert rows == 1000 and share == 0.15 and 100 < len(held_out) < 200 and 400 < len(y) < 600
    assert not set(y) & set(held_out)


@pytest.mark.slow
def test_predictions_and_weights_as_columns(client):
    table = numbers(900)
    table["p"], table["w"] = 0.1, np.random.default_rng(0).exponential(size=900)
    rows = dd.from_pandas(table, npartitions=3)
    many = tare.dask.Calibrator(guarantee="none", sample_rows=400, shard_rows=300).calibrate(rows, "y", "p", "w")
    answer = many.predict_interval(rows, 0.8).compute()
    local = many.to_local().predict_interval(table[["a", "b"]], 0.8, y_pred=table.p)
    assert (answer.to_numpy() == local).all()


@pytest.mark.slow
def test_coverage_of_the_guarantee(client):
    many = tare.dask.Calibrator(zero, sample_rows=500, held_out=400).calibrate(dd.from_pandas(numbers(2500), npartitions=4), "y")
    new = numbers(2000, seed=5)
    ends = many.to_local().predict_interval(new[["a", "b"]], 0.9)
    covered = np.mean((ends[:, 0] <= new.y) & (new.y <= ends[:, 1]))
    assert 0.9 - 4 * np.sqrt(0.09 * (1 / 400 + 1 / 2000)) < covered < 0.96


def fault(kind, action, mark):
    """Makes the workers' next task of a kind fail in some way, once."""
    original = _shards.serve

    def serve(rows, spec, request, number, threads=1):
        if request is not None and request.kind == kind:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return original(rows, spec, request, number, threads)
            if action == "die":
                os._exit(1)
            time.sleep(2)
        return original(rows, spec, request, number, threads)

    _shards.serve = serve


@pytest.mark.parametrize(("kind", "action"), [
    ("pick", "die"),
    pytest.param("sums", "die", marks=pytest.mark.slow),
    pytest.param("distances", "die", marks=pytest.mark.slow),
    pytest.param("sums", "wait", marks=pytest.mark.slow),
])
def test_a_worker_that_dies_or_is_late_changes_no_answer(client, tmp_path, kind, action):
    many = calibrator(kernel="knn").calibrate(dd.from_pandas(numbers(900), npartitions=3), "y")
    new = numbers(30, seed=2)
    lazy = many.predict_quantiles(dd.from_pandas(new, npartitions=2), LEVELS)
    expected = many.to_local().predict_quantiles(new[["a", "b"]], LEVELS)
    client.wait_for_workers(2, timeout=240)
    client.run(fault, kind, action, str(tmp_path / "mark"))
    assert (lazy.compute().to_numpy() == expected).all()
    assert (tmp_path / "mark").exists()
    client.wait_for_workers(2, timeout=240)


@pytest.mark.slow
def test_a_worker_that_dies_while_partitions_are_encoded(client, tmp_path):
    client.wait_for_workers(2, timeout=240)
    many = tare.dask.Calibrator(DiesOnce(str(tmp_path / "mark")), guarantee="none", sample_rows=100, shard_rows=300)
    many.calibrate(dd.from_pandas(numbers(900), npartitions=3), "y")
    assert (tmp_path / "mark").exists() and many.rows_ == 900
    client.wait_for_workers(2, timeout=240)


class DiesOnce:
    """A model that ends the first worker on which it predicts a whole partition."""

    def __init__(self, mark):
        self.mark = mark

    def predict(self, X):
        if len(X) > 250:
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return np.zeros(len(X))
            os._exit(1)
        return np.zeros(len(X))


@pytest.mark.slow
def test_a_time_limit(client):
    slow = tare.dask.Calibrator(_slow, guarantee="none", sample_rows=100, timeout=1.0)
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="timeout=1"):
        slow.calibrate(dd.from_pandas(numbers(600), npartitions=3), "y")
    assert time.monotonic() - started < 20


def _slow(X):
    if len(X) > 150:
        time.sleep(3)
    return np.zeros(len(X))


@pytest.mark.slow
def test_another_version_is_refused_with_both_versions(client, fitted):
    rows = dd.from_pandas(frame(40), npartitions=2)
    numbers_only = dd.from_pandas(numbers(300), npartitions=2)
    client.wait_for_workers(2, timeout=240)
    try:
        client.run(_set_version, "9.9.9")
        with pytest.raises(RuntimeError, match=rf"tare 9\.9\.9 .*tare {_core.version}"):
            tare.dask.predict_quantiles(fitted, rows, LEVELS).compute()
        with pytest.raises(RuntimeError, match=rf"tare 9\.9\.9 .*tare {_core.version}"):
            calibrator().calibrate(numbers_only, "y")
    finally:
        client.run(_set_version, _core.version)


def _set_version(version):
    _core.version = version
