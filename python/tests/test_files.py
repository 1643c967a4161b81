# SPDX-License-Identifier: BSD-3-Clause
"""Model files go both ways between Python and the tool; pickles work as well."""

import csv
import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import true_mean

import tare

OPTIONS = {"regressor": "ridge"}


def write_csv(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def by_tool(tool, model, data):
    out = subprocess.run([tool, "predict", str(model), str(data), "--levels", "0.1,0.9"], check=True, capture_output=True, text=True)
    return np.array([[float(cell) for cell in line.split(",")] for line in out.stdout.splitlines()[1:]])


def test_the_tool_reads_what_python_wrote(small, tool, tmp_path):
    model = tare.QuantileRegressor("nrc", options=OPTIONS).fit(small.X, small.y)
    model.save(tmp_path / "m.tare")
    write_csv(tmp_path / "d.csv", {"x0": small.X[:, 0], "x1": small.X[:, 1]})
    assert np.allclose(by_tool(tool, tmp_path / "m.tare", tmp_path / "d.csv"), model.predict_quantiles(small.X, [0.1, 0.9]), rtol=1e-12)


def test_a_model_describes_itself_as_inspect_does(small, tool, tmp_path):
    model = tare.QuantileRegressor("nrc", guarantee="split", options=OPTIONS).fit(small.X, small.y)
    model.save(tmp_path / "m.tare")
    out = subprocess.run([tool, "inspect", str(tmp_path / "m.tare"), "--json"], check=True, capture_output=True, text=True)
    said = model.describe()
    assert said == json.loads(out.stdout)["description"]
    assert said["kernel"]["point_model"] == "ridge"
    assert said["guarantee"]["intervals"][2]["proven"] == model.guarantee_["proven_90"]


def test_the_tool_reads_a_frame_with_categories_by_name(tool, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": rng.uniform(size=200), "colour": rng.choice(["blue", "red"], size=200)})
    model = tare.Calibrator(lambda X: X["size"]).calibrate(frame, rng.normal(size=200))
    model.save(tmp_path / "m.tare")
    # columns in another order, and the prediction beside them
    write_csv(tmp_path / "d.csv", {"colour": frame["colour"], "prediction": frame["size"], "size": frame["size"]})
    assert np.allclose(by_tool(tool, tmp_path / "m.tare", tmp_path / "d.csv"), model.predict_quantiles(frame, [0.1, 0.9]), rtol=1e-12)


def test_python_reads_what_the_tool_wrote(small, tool, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(small.X, columns=["a", "b"])
    write_csv(tmp_path / "d.csv", {"a": small.X[:, 0], "b": small.X[:, 1], "target": small.y})
    command = [tool, "fit", tmp_path / "d.csv", "--target", "target", "--method", "nrc_rf", "-o", tmp_path / "m.tare"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    for model in (tare.QuantileRegressor.load(tmp_path / "m.tare"), tare.Calibrator.load(tmp_path / "m.tare")):
        assert list(model.feature_names_in_) == ["a", "b"]
        assert np.allclose(model.predict_quantiles(frame, [0.1, 0.9]), by_tool(tool, tmp_path / "m.tare", tmp_path / "d.csv"), rtol=1e-12)


def test_same_data_same_bytes_as_the_tool(small, tool, tmp_path):
    """Python and the tool are one core: the model of plain numbers is the same file but for the columns' description."""
    write_csv(tmp_path / "d.csv", {"x0": small.X[:, 0].tolist(), "x1": small.X[:, 1].tolist(), "y": small.y.tolist()})
    command = [tool, "fit", tmp_path / "d.csv", "--target", "y", "--method", "nrc_rf", "--seed", 4, "-o", tmp_path / "m.tare"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    mine = tare.QuantileRegressor("nrc_rf", random_state=4).fit(small.X, small.y)
    assert np.array_equal(tare.QuantileRegressor.load(tmp_path / "m.tare").predict(small.X), mine.predict(small.X))


def test_every_column_of_the_tool_is_pythons_to_the_bit(small, tool, tmp_path):
    levels = [0.001, 0.1, 0.5, 0.95]
    model = tare.QuantileRegressor("nrc_boost", guarantee="split", bands=True).fit(small.X, small.y)
    model.save(tmp_path / "m.tare")
    new = small.X[:60] + 0.01
    write_csv(tmp_path / "d.csv", {"x0": new[:, 0].tolist(), "x1": new[:, 1].tolist()})
    asked = ",".join(map(str, levels))
    command = [tool, "predict", str(tmp_path / "m.tare"), str(tmp_path / "d.csv"), "--levels", asked, "--diagnostics"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    table = {name: np.array(cells, dtype=float) for name, *cells in zip(*csv.reader(out.splitlines()))}
    with pytest.warns(tare.TareWarning):  # few rows cannot keep 0.001
        mine = model.diagnostics(new, levels)
    with pytest.warns(tare.TareWarning):
        quantiles = model.predict_quantiles(new, levels)
    expected = {name: mine[name] for name in ("effective_n", "nearest", "fallback", "outside")}
    for j, level in enumerate(levels):
        expected[f"q{level}"] = quantiles[:, j]
        expected[f"q{level}_low"], expected[f"q{level}_high"] = mine["band_low"][:, j], mine["band_high"][:, j]
        expected[f"delivered_q{level}"] = mine["delivered"][:, j]
    assert set(table) == set(expected)
    for name, values in expected.items():
        assert np.array_equal(table[name], values), name


def test_save_and_load(small, tmp_path):
    model = tare.Calibrator(true_mean).calibrate(small.X, small.y)
    model.save(tmp_path / "m.tare")
    with pytest.raises(ValueError, match="exists"):
        model.save(tmp_path / "m.tare")
    model.save(tmp_path / "m.tare", overwrite=True)
    loaded = tare.Calibrator.load(tmp_path / "m.tare", estimator=true_mean)
    assert np.array_equal(loaded.predict_interval(small.X), model.predict_interval(small.X))
    alone = tare.Calibrator.load(tmp_path / "m.tare")
    assert np.array_equal(alone.predict_interval(small.X, y_pred=true_mean(small.X)), model.predict_interval(small.X))
    with pytest.raises(ValueError, match=r"Calibrator\.load"):
        tare.QuantileRegressor.load(tmp_path / "m.tare")


def test_a_file_that_is_not_there_or_broken(tmp_path):
    with pytest.raises(FileNotFoundError):
        tare.Calibrator.load(tmp_path / "none.tare")
    (tmp_path / "bad.tare").write_bytes(b"nonsense")
    with pytest.raises(OSError, match=r"bad\.tare"):
        tare.Calibrator.load(tmp_path / "bad.tare")


def test_pickle_and_joblib(small, tmp_path):
    model = tare.Calibrator(true_mean).calibrate(small.X, small.y)
    copies = [pickle.loads(pickle.dumps(model))]
    joblib = pytest.importorskip("joblib")
    joblib.dump(model, tmp_path / "m.joblib")
    copies.append(joblib.load(tmp_path / "m.joblib"))
    for copy in copies:
        assert np.array_equal(copy.predict_interval(small.X), model.predict_interval(small.X))
        assert copy.get_params().keys() == model.get_params().keys()


@pytest.mark.slow
def test_processes_can_share_it(small):
    joblib = pytest.importorskip("joblib")
    model = tare.QuantileRegressor("nrc", options=OPTIONS).fit(small.X, small.y)
    answers = joblib.Parallel(n_jobs=2)(joblib.delayed(model.predict)(small.X) for _ in range(2))
    assert all(np.array_equal(answer, model.predict(small.X)) for answer in answers)
