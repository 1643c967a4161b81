# SPDX-License-Identifier: BSD-3-Clause
"""A guarantee within groups, and columns that tare does not read."""

import subprocess

import numpy as np
import pytest
from conftest import true_mean

import tare

pandas = pytest.importorskip("pandas")


def draw(rows, seed=0):
    """Two towns with very different noise, and one with few rows."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], size=rows, p=[0.49, 0.49, 0.02])
    frame = pandas.DataFrame({"size": rng.uniform(size=rows), "town": town})
    return frame, rng.normal(size=rows) * np.where(town == "Bonn", 0.1, 2.0)


def zero(X):
    return np.zeros(len(X))


def coverage(model, frame, y, town):
    at = (frame["town"] == town).to_numpy()
    low, high = model.predict_interval(frame[at], 0.9).T
    return np.mean((low <= y[at]) & (y[at] <= high))


@pytest.mark.parametrize("guarantee", ["split", "cross:5"])
def test_the_guarantee_holds_within_groups(guarantee):
    frame, y = draw(1000)
    settings = {"features": ["size"], "guarantee": guarantee, "bands": False}  # the kernel does not see the town
    by_town = tare.Calibrator(zero, group="town", **settings).calibrate(frame, y)
    overall = tare.Calibrator(zero, **settings).calibrate(frame, y)
    new, target = draw(1500, seed=1)
    for town in ("Bonn", "Kiel"):
        assert 0.83 < coverage(by_town, new, target, town) < 0.97
    assert coverage(overall, new, target, "Bonn") > 0.99 and coverage(overall, new, target, "Kiel") < 0.85
    known = by_town.guarantee_
    assert known["proven_90"] is None and set(known["groups"]) == {"Bonn", "Kiel", "Ulm"}
    assert known["groups"]["Bonn"]["own_ranks"] and sum(group["rows"] for group in known["groups"].values()) == known["rows"]
    if guarantee == "split":
        assert not known["groups"]["Ulm"]["own_ranks"]
    delivered = by_town.diagnostics(new[:50], [0.95])["delivered"][:, 0]
    assert ((delivered == 0) == [not known["groups"][town]["own_ranks"] for town in new["town"][:50]]).all()


def test_fit_holds_out_of_every_group():
    linear_model = pytest.importorskip("sklearn.linear_model")
    frame, y = draw(1500)
    frame["code"] = frame["town"].map({"Bonn": 1, "Kiel": 2, "Ulm": 3})
    X = frame[["size", "code"]].to_numpy()
    model = tare.Calibrator(linear_model.Ridge(), group=1, features=[0], bands=False).fit(X, y)
    groups = model.guarantee_["groups"]
    assert model.guarantee_["form"] == "split" and set(groups) == {"1", "2", "3"}
    for code, name in ((1, "1"), (2, "2"), (3, "3")):
        assert groups[name]["rows"] == pytest.approx(0.2 * np.sum(frame["code"] == code), abs=1)
    with pytest.raises(ValueError, match="cannot hold within groups"):
        tare.Calibrator(linear_model.Ridge(), group=1, guarantee="cross").fit(X, y)
    narrow, wide = np.diff(model.predict_interval([[0.5, 1], [0.5, 2]])).ravel()
    assert wide > 5 * narrow


def test_a_group_that_was_not_there():
    frame, y = draw(800)
    model = tare.Calibrator(zero, group="town", features=["size"], bands=False).calibrate(frame, y)
    with pytest.warns(tare.TareWarning, match="1 rows have a value of 'town'.*nothing is guaranteed") as caught:
        model.predict_interval(pandas.DataFrame({"size": [0.5, 0.5], "town": ["Bonn", "Rom"]}))
    assert caught[0].message.code == "unseen_group" and caught[0].message.rows == 1
    with pytest.raises(ValueError, match="town"):
        model.predict_interval(frame[["size"]])


@pytest.mark.parametrize("features", [None, ["size"]], ids=str)
def test_files_with_groups(tmp_path, tool, features):
    frame, y = draw(800)
    model = tare.Calibrator(zero, group="town", features=features, guarantee="split", bands=False, random_state=0).calibrate(frame, y)
    model.save(tmp_path / "m.tare")
    loaded = tare.Calibrator.load(tmp_path / "m.tare", estimator=zero)
    assert loaded.get_params() == {**model.get_params(), "method": loaded.method}
    assert loaded.guarantee_ == model.guarantee_
    interval = model.predict_interval(frame)
    assert np.array_equal(loaded.predict_interval(frame), interval)
    assert np.array_equal(loaded.predict_interval(frame.assign(other=1)[["town", "other", "size"]]), interval)
    frame.assign(prediction=0.0).to_csv(tmp_path / "d.csv", index=False)
    command = [tool, "predict", str(tmp_path / "m.tare"), str(tmp_path / "d.csv"), "--interval", "0.9"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert np.allclose(np.loadtxt(answer.splitlines(), delimiter=",", skiprows=1)[:, -2:], interval, rtol=1e-5)


def test_a_file_of_the_tool_with_groups(tmp_path, tool):
    frame, y = draw(800)
    frame.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    command = [tool, "fit", "d.csv", "--target", "y", "--method", "nrc", "--set", "regressor=ridge", "--guarantee", "split", "--group", "town"]
    subprocess.run([*command, "-o", "m.tare"], check=True, capture_output=True, cwd=tmp_path)
    model = tare.QuantileRegressor.load(tmp_path / "m.tare")
    assert model.group == "town" and model.guarantee_["groups"]["Bonn"]["own_ranks"]
    answer = subprocess.run([tool, "predict", "m.tare", "d.csv", "--interval", "0.9"], check=True, capture_output=True, text=True, cwd=tmp_path)
    table = np.loadtxt(answer.stdout.splitlines(), delimiter=",", skiprows=1)
    assert np.allclose(table[:, -2:], model.predict_interval(frame), rtol=1e-5)


def test_columns_that_only_the_model_reads():
    """Dates, identifiers, gaps and lists do not matter where `features` names others."""
    frame, y = draw(400)
    frame["when"] = pandas.date_range("2020-01-01", periods=400)
    frame["id"] = [f"row {i}" for i in range(400)]
    frame["gap"] = np.nan
    frame["parts"] = [[1, 2]] * 400
    seen = []

    def model(X):
        seen.append(list(X.columns))
        return X["size"].to_numpy()

    calibrated = tare.Calibrator(model, features=["town"], bands=False).calibrate(frame, y)
    narrow, wide = np.diff(calibrated.predict_interval(frame[frame["town"] != "Ulm"].drop_duplicates("town").sort_values("town"))).ravel()
    assert wide > 5 * narrow and seen[0] == list(frame.columns)
    assert list(calibrated.feature_names_in_) == list(frame.columns) and calibrated.n_features_in_ == 6
    with pytest.raises(TypeError, match="column 'when', row 0"):
        tare.Calibrator(model).calibrate(frame, y)
    array = frame[["size", "gap"]].to_numpy()
    on_array = tare.Calibrator(lambda X: X[:, 0], features=[0], bands=False).calibrate(array, y)
    assert np.isfinite(on_array.predict_interval(array)).all()


def test_sparse_rows(small):
    sparse = pytest.importorskip("scipy.sparse")
    linear_model = pytest.importorskip("sklearn.linear_model")
    X = sparse.csr_matrix(np.column_stack([small.X, np.zeros((300, 50))]))
    with pytest.raises(TypeError, match=r"(?s)Sparse data.*features=\[3, 7\].*y_pred=p"):
        tare.Calibrator(linear_model.Ridge()).fit(X, small.y)
    for guarantee in ("none", "split", "cross"):
        model = tare.Calibrator(linear_model.Ridge(), features=[1], guarantee=guarantee, bands=False).fit(X, small.y)
        dense = tare.Calibrator(linear_model.Ridge(solver="sparse_cg"), features=[1], guarantee=guarantee, bands=False)
        dense.fit(X.toarray(), small.y)
        assert model.predict_interval(X) == pytest.approx(dense.predict_interval(X.toarray()), abs=0.05)
    point = linear_model.Ridge().fit(X, small.y).predict(X)
    alone = tare.Calibrator(bands=False).calibrate(point[:, None], small.y, y_pred=point)
    assert alone.predict_interval(point[:, None], y_pred=point).shape == (300, 2)


def test_columns_of_every_pandas_type():
    rng = np.random.default_rng(0)
    n = 400
    grade = rng.integers(3, size=n)
    frame = pandas.DataFrame(
        {
            "whole": pandas.array(rng.integers(5, size=n), dtype="Int64"),
            "real": pandas.array(rng.uniform(size=n), dtype="Float64"),
            "flag": pandas.array(rng.uniform(size=n) < 0.5, dtype="boolean"),
            "text": pandas.array(rng.choice(["a", "b"], size=n), dtype="string"),
            "grade": pandas.Categorical(grade),  # its categories are numbers, and a category all the same
        }
    )
    y = rng.normal(size=n) * np.array([1.0, 0.1, 1.0])[grade]
    model = tare.Calibrator(zero, features=["grade"], bands=False).calibrate(frame, y)
    assert model.describe()["inputs"][0]["kind"] != "number"
    wide, narrow = np.diff(model.predict_interval(frame.drop_duplicates("grade").sort_values("grade")))[:2, 0]
    assert wide > 3 * narrow
    # A frame of numbers, as from a CSV file, means the same categories.
    plain = frame.astype({"grade": int})
    assert np.array_equal(model.predict_interval(plain), model.predict_interval(frame))
    frame.loc[3, ["whole", "real", "flag", "text"]] = pandas.NA
    with pytest.raises(ValueError, match="column 'whole', row 3"):
        tare.Calibrator(zero).calibrate(frame, y)
    filled = tare.Calibrator(zero, missing="impute", bands=False).calibrate(frame, y)
    assert np.isfinite(filled.predict_interval(frame)).all()


def test_halving_search_over_a_frame(small):
    pytest.importorskip("sklearn")
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import HalvingGridSearchCV

    frame = pandas.DataFrame(small.X, columns=["a", "b"])
    model = tare.Calibrator(Ridge(), guarantee="none", bands=False, cv=3)
    search = HalvingGridSearchCV(model, {"estimator__alpha": [0.1, 1e6]}, cv=3, min_resources=100, random_state=0).fit(
        frame, 5 * frame["a"] + 0.1 * small.y
    )
    assert search.best_params_["estimator__alpha"] == 0.1
    assert list(search.feature_names_in_) == list(search.best_estimator_.feature_names_in_) == ["a", "b"]
    table = search.best_estimator_.set_output(transform="pandas").predict_interval(frame)
    assert list(table.columns) == ["lower_0.9", "upper_0.9"]


def test_true_mean_is_used(small):
    """An array of groups beside numbers: the estimator gets all columns."""
    X = np.column_stack([small.X, np.arange(300) % 2])
    model = tare.Calibrator(true_mean, group=-1, features=[1], guarantee="split", bands=False).calibrate(X, small.y)
    assert set(model.guarantee_["groups"]) == {"0", "1"}
