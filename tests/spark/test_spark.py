# SPDX-License-Identifier: BSD-3-Clause
"""tare on Spark: answers beside those of the package, pipelines, save and load, faults."""

import contextlib
import os
import pathlib
import signal

import numpy as np
import pandas as pd
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler

import tare
from tare import _core
from tare.spark import SparkCalibrator, SparkCalibratorModel, TareModel

LEVELS = [0.05, 0.5, 0.95]
NAMES = ["q0.05", "q0.5", "q0.95"]


def table(rows, seed=0, *, skew=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": np.arange(rows), "a": rng.uniform(size=rows), "b": rng.uniform(size=rows)})
    frame["kind"] = rng.choice(["x", "y", "z"], size=rows)
    frame["p"] = np.sin(6 * frame.a)
    frame["y"] = frame.p + rng.normal(size=rows) * (0.1 + frame.b * (frame.kind == "x"))
    if skew:
        frame.loc[rng.permutation(rows)[: rows // 2], "y"] = frame.p + 0.5
    return frame


@pytest.fixture(scope="module")
def fitted():
    rows = table(800)
    return tare.QuantileRegressor("nrc_rf", random_state=1).fit(rows[["a", "b", "kind"]], rows.y)


def in_order(frame):
    return frame.toPandas().sort_values("id", ignore_index=True)


def test_a_model_file_as_a_transformer(spark, fitted, tmp_path):
    rows = table(400, seed=1)
    fitted.save(tmp_path / "m.tare")
    frame = spark.createDataFrame(rows).repartition(5).filter("id >= 0").union(spark.createDataFrame(rows).filter("id < 0"))
    model = TareModel.load(str(tmp_path / "m.tare"))
    answer = in_order(model.transform(frame))
    assert list(answer.columns) == [*rows.columns, "lower_0.9", "upper_0.9"] and len(answer) == 400
    assert (answer[["lower_0.9", "upper_0.9"]].to_numpy() == fitted.predict_interval(rows[["a", "b", "kind"]], 0.9)).all()
    assert 0 <= model.model_fetches <= 2  # at most once for each executor, for ten partitions


def test_a_pipeline_is_saved_and_loaded(spark, fitted, tmp_path):
    rows = table(60, seed=2)
    frame = spark.createDataFrame(rows)
    pipeline = Pipeline(stages=[TareModel(fitted, quantiles=LEVELS)]).fit(frame)
    path = str(tmp_path / "pipeline")
    pipeline.write().save(path)
    again = PipelineModel.load(path)
    assert again.stages[0].uid == pipeline.stages[0].uid
    answer = in_order(again.transform(frame))
    assert (answer[NAMES].to_numpy() == fitted.predict_quantiles(rows[["a", "b", "kind"]], LEVELS)).all()


def test_what_a_transformer_refuses(spark, fitted, tmp_path):
    frame = spark.createDataFrame(table(10))
    with pytest.raises(ValueError, match="no column 'kind'"):
        TareModel(fitted).transform(frame.drop("kind"))
    with pytest.raises(ValueError, match="already"):
        TareModel(fitted, quantiles=[0.5]).transform(frame.withColumnRenamed("p", "q0.5"))
    with pytest.raises(ValueError, match="nothing is asked"):
        TareModel(fitted, interval=[], quantiles=[])
    (tmp_path / "no.tare").write_text("not a model")
    with pytest.raises(OSError, match=r"no\.tare"):
        TareModel.load(str(tmp_path / "no.tare"))


def calibrator(**more):
    given = {"features_col": ["a", "b", "kind"], "label_col": "y", "prediction_col": "p", "quantiles": LEVELS, "sample_rows": 400, "shard_rows": 300}
    return SparkCalibrator(**{**given, **more})


@pytest.mark.parametrize("kernel", ["auto", "knn"])
def test_a_sharded_calibrator_is_that_of_one_machine(spark, kernel, tmp_path):
    rows, new = table(1200, skew=True), table(40, seed=3)
    frame = spark.createDataFrame(rows).repartition(4, "id")
    model = calibrator(kernel=kernel, held_out=120).fit(frame)
    assert model.shards >= 3 and model.rows < 1200
    answer = in_order(model.transform(spark.createDataFrame(new)))
    local = model.to_calibrator()
    assert local.guarantee_["form"] == "split"
    assert (answer[NAMES].to_numpy() == local.predict_quantiles(new[["a", "b", "kind"]], LEVELS, y_pred=new.p)).all()
    model.save(str(tmp_path / "saved"))
    again = SparkCalibratorModel.load(str(tmp_path / "saved"))
    assert (in_order(again.transform(spark.createDataFrame(new)))[NAMES] == answer[NAMES]).all().all()


def test_to_local_is_a_transformer(spark):
    rows = table(600)
    frame = spark.createDataFrame(rows)
    model = calibrator(guarantee="none").fit(frame)
    few = frame.limit(30)
    local = model.to_local()
    one, other = in_order(model.transform(few)), in_order(local.transform(few))
    assert (one[NAMES] == other[NAMES]).all().all()


def test_a_vector_column(spark):
    rows = table(600)
    frame = VectorAssembler(inputCols=["a", "b"], outputCol="features").transform(spark.createDataFrame(rows))
    by_vector = calibrator(features_col="features", guarantee="none").fit(frame)
    by_name = calibrator(features_col=["a", "b"], guarantee="none").fit(frame)
    few = frame.filter("id < 30")
    assert (in_order(by_vector.transform(few))[NAMES] == in_order(by_name.transform(few))[NAMES]).all().all()


def executors_of(application):
    """Processes of the executors, by /proc."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if application in words and any(word.endswith("CoarseGrainedExecutorBackend") for word in words) and words[0].endswith("java"):
                found.append(int(folder.name))
    return found


def test_an_executor_that_dies_changes_no_answer(spark):
    if spark.sparkContext.master.startswith("local"):
        pytest.skip("the executor is this process")
    rows = table(900)
    model = calibrator(guarantee="none").fit(spark.createDataFrame(rows).repartition(3, "id"))
    few = spark.createDataFrame(rows).filter("id < 20")
    before = in_order(model.transform(few))
    executors = executors_of(spark.sparkContext.applicationId)
    assert executors
    os.kill(executors[0], signal.SIGKILL)
    assert (in_order(model.transform(few))[NAMES] == before[NAMES]).all().all()


def test_auto_on_a_sample(spark):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.uniform(size=4000), "label": 0.0})
    table["label"] = 3 * table.a + rng.normal(size=4000)
    rows = spark.createDataFrame(table).repartition(3)
    fit = tare.spark.fit_auto(rows, sample_rows=1000, budget="quick", random_state=0)
    # the number of rows of Spark's sample is binomial
    assert fit.total_rows == 4000 and abs(fit.sample_rows - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75)
    assert fit.curve.total_rows == 4000 and len(fit.curve.rows) == 4 and (np.diff(fit.curve.rows) > 0).all()
    assert TareModel(fit.model, interval=0.9).transform(rows).count() == 4000
    with pytest.raises(ValueError, match="sample_rows is 1"):
        tare.spark.fit_auto(rows, sample_rows=1)


def test_another_version_is_refused_with_both_versions(spark, fitted):
    from dataclasses import replace

    model = TareModel(fitted)
    frame = spark.createDataFrame(table(20))
    answer = model.transform(frame)
    model._shipped = replace(model._shipped, version="9.9.9")  # as if this process had another one
    with pytest.raises(RuntimeError, match=rf"tare {_core.version} .*tare 9\.9\.9"):
        model.transform(frame)
    assert answer.count() == 20
