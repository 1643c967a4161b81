# SPDX-License-Identifier: BSD-3-Clause
"""Settings mean what they say, before and after a file, and messages speak Python."""

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pytest
from conftest import true_mean

import tare


def calibrated(small, **settings):
    return tare.Calibrator(true_mean, bands=False, **settings).calibrate(small.X, small.y)


def test_a_guarantee_in_options_counts(small):
    assert calibrated(small, options={"guarantee": "none"}).guarantee_ == {"form": "none"}
    assert calibrated(small, options={"guarantee": "none"}).method_ == "nrc_boost"
    with pytest.raises(ValueError, match=r"guarantee is 'cross', but options=\{'guarantee': 'none'\}"):
        calibrated(small, guarantee="cross", options={"guarantee": "none"})
    sklearn = pytest.importorskip("sklearn.linear_model")
    assert tare.Calibrator(sklearn.Ridge(), options={"guarantee": "none"}).fit(small.X, small.y).guarantee_ == {"form": "none"}
    assert calibrated(small, options={"bounds": "-9,9"}).predict_quantiles(small.X, [0.001]).min() >= -9
    with pytest.raises(ValueError, match="give one of them"):
        calibrated(small, bounds=(0, None), options={"bounds": "-9,9"})


@pytest.mark.parametrize(
    "settings",
    [
        {"guarantee": "none", "features": [1]},
        {"guarantee": "none", "features": [0]},
        {"guarantee": "split", "features": [1, 0], "bandwidth": 0.5, "kernel": "triangular"},
        {"guarantee": "cross:5", "features": "auto"},
        {"guarantee": "cross:5,strict", "bounds": (-9.0, None), "missing": "impute"},
        {"guarantee": "none", "method": "nrc", "options": {"min_support": "7"}, "random_state": 3},
    ],
    ids=str,
)
def test_a_file_gives_the_parameters_back(small, tmp_path, settings):
    settings = {"method": "nrc", "random_state": 0, **settings}
    model = calibrated(small, **settings)
    model.save(tmp_path / "m.tare")
    loaded = tare.Calibrator.load(tmp_path / "m.tare", estimator=true_mean)
    assert loaded.get_params() == {**model.get_params(), "bands": False}
    assert np.array_equal(loaded.predict_interval(small.X), model.predict_interval(small.X))
    again = loaded.calibrate(small.X, small.y)
    assert np.array_equal(again.predict_interval(small.X), model.predict_interval(small.X))


def test_a_file_gives_a_regressor_back(small, tmp_path):
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, guarantee="split", bands=False, random_state=0)
    model.fit(small.X, small.y).save(tmp_path / "m.tare")
    assert tare.QuantileRegressor.load(tmp_path / "m.tare").get_params() == model.get_params()


def test_a_mask_is_a_mask(small):
    mask, index = calibrated(small, features=[False, True]), calibrated(small, features=[1])
    assert np.array_equal(mask.predict_interval(small.X), index.predict_interval(small.X))
    as_array = calibrated(small, features=np.array([False, True]))
    assert np.array_equal(as_array.predict_interval(small.X), index.predict_interval(small.X))
    with pytest.raises(ValueError, match="a mask of 3 columns, but X has 2"):
        calibrated(small, features=[False, True, False])
    with pytest.raises(ValueError, match="names no column"):
        calibrated(small, features=[False, False])


def test_given_predictions_do_not_replace_the_estimator(small):
    model = tare.Calibrator(true_mean, bands=False).calibrate(small.X, small.y, y_pred=small.mean)
    assert np.array_equal(model.predict(small.X), true_mean(small.X))
    assert np.array_equal(model.predict_interval(small.X), calibrated(small).predict_interval(small.X))


def test_gaps_that_first_occur_at_prediction(small, tmp_path):
    new = np.array([[np.nan, 0.5], [0.5, np.nan]])
    model = tare.Calibrator(lambda X: np.zeros(len(X)), missing="impute", bands=False).calibrate(small.X, small.y)
    assert np.isfinite(model.predict_interval(new)).all()
    strict = tare.Calibrator(lambda X: np.zeros(len(X)), bands=False).calibrate(small.X, small.y).set_params(missing="impute")
    with pytest.raises(ValueError, match="was fitted with missing='error': fit it again with missing='impute'"):
        strict.predict_interval(new)


def test_a_budget_of_the_regressor(small):
    with pytest.raises(ValueError, match="budget='quick' is for method 'auto'; method 'nrc' has no budget"):
        tare.QuantileRegressor("nrc", budget="quick").fit(small.X, small.y)
    with pytest.raises(ValueError, match="budget"):
        tare.QuantileRegressor("auto", budget="quick", options={"budget": "best"}).fit(small.X, small.y)


@pytest.mark.slow
def test_a_quick_budget(small):
    model = tare.QuantileRegressor("auto", budget="quick").fit(small.X, small.y)
    assert model.describe()["options"]["budget"] == "quick"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: calibrated(s).predict_interval(s.X, alpha=0.1), r"alpha is not an argument.*confidence_level=0.9"),
        (lambda s: calibrated(s, features=0), r"features must be a list.*write features=\[0\]"),
        (lambda s: calibrated(s, n_jobs="2"), "n_jobs must be a whole number.*got '2'"),
        (lambda s: tare.Calibrator(true_mean).calibrate(None, s.y), "X is None"),
        (lambda s: tare.Calibrator(dict).calibrate(s.X, s.y), r"estimator is the class dict: pass an instance, such as dict\(\)"),
        (
            lambda s: tare.Calibrator(bands=False).calibrate(s.X, s.y, s.mean, y_std=np.ones(300)).predict_interval(s.X, y_pred=s.mean),
            "calibrated with y_std: pass y_std as well",
        ),
        (
            lambda s: tare.Calibrator(bands=False).calibrate(s.X, s.y, s.mean).predict_interval(s.X, y_pred=s.mean, y_std=s.mean + 9),
            "calibrated without y_std",
        ),
        (lambda s: calibrated(s, group=5), "group names column 5, but X has 2"),
        (lambda s: calibrated(s, group=0, guarantee="none"), "group names the groups of a guarantee, but there is no guarantee"),
        (lambda s: calibrated(s).predict_interval(s.X, y_prediction=s.y), "y_prediction"),
    ],
)
def test_messages(small, call, text):
    with pytest.raises((ValueError, TypeError), match=text) as caught:
        call(small)
    assert "--" not in str(caught.value)


def test_classifiers_are_refused(small):
    linear_model = pytest.importorskip("sklearn.linear_model")
    pipeline = pytest.importorskip("sklearn.pipeline")
    for estimator in (linear_model.LogisticRegression(), pipeline.make_pipeline(linear_model.LogisticRegression())):
        for call in (tare.Calibrator(estimator).fit, tare.Calibrator(estimator).calibrate):
            with pytest.raises(ValueError, match=r"is a classifier.*predict_proba"):
                call(small.X, small.y > 0)
    with pytest.raises(TypeError, match=r"class Ridge: pass an instance, such as Ridge\(\)"):
        tare.Calibrator(linear_model.Ridge).fit(small.X, small.y)


def test_decimals_are_numbers(small):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [decimal.Decimal(str(v)) for v in small.X[:, 0]], "b": small.X[:, 1]})
    model = tare.Calibrator(bands=False).calibrate(frame, small.y, y_pred=small.mean)
    plain = tare.Calibrator(bands=False).calibrate(small.X, small.y, y_pred=small.mean)
    assert np.array_equal(model.predict_interval(frame, y_pred=small.mean), plain.predict_interval(small.X, y_pred=small.mean))
    frame["when"] = datetime.date(2020, 1, 1)
    with pytest.raises(TypeError, match=r"column 'when', row 0.*features=\["):
        tare.Calibrator().calibrate(frame, small.y, y_pred=small.mean)


def test_a_lazy_frame_has_no_rows_yet(small):
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame({"a": small.X[:, 0], "b": small.X[:, 1]}).lazy()
    with pytest.raises(TypeError, match=r"LazyFrame.*X\.collect\(\)"):
        tare.Calibrator().calibrate(lazy, small.y, y_pred=small.mean)


def test_slices_by_a_named_column(small):
    pytest.importorskip("matplotlib").use("Agg")
    pandas = pytest.importorskip("pandas")
    import tare.plot

    frame = pandas.DataFrame({"AT": small.X[:, 0], "V": small.X[:, 1], "town": "Bonn"})
    model = tare.Calibrator(lambda X: np.zeros(len(X)), bands=False).calibrate(frame, small.y)
    assert tare.plot.coverage_by_slice(model, frame, small.y, by="AT").get_xlabel() == "AT"
    with pytest.raises(ValueError, match="by names 'at', which is not a column of X"):
        tare.plot.coverage_by_slice(model, frame, small.y, by="at")
    with pytest.raises(ValueError, match="column 'town', which has texts"):
        tare.plot.coverage_by_slice(model, frame, small.y, by="town")


def test_every_keyword_is_in_the_signature():
    import inspect

    import tare.plot

    for owner in (tare.Calibrator, tare.QuantileRegressor, tare.plot):
        for name, function in inspect.getmembers(owner, inspect.isfunction):
            if name.startswith("_") or not function.__module__.startswith("tare"):
                continue
            wild = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_KEYWORD]
            assert wild == (["fit_params"] if name == "fit" and owner is tare.Calibrator else []) or name == "set_params", name


@pytest.mark.parametrize("owner", ["Calibrator", "QuantileRegressor", "FoldModels", "Predictor", "TareWarning"])
def test_attributes_are_documented(owner):
    assert "Attributes\n" in getattr(tare, owner).__doc__


def test_the_package_alone_does_not_import_scikit_learn():
    code = "import sys, tare; assert 'sklearn' not in sys.modules; assert set(tare.__all__) <= set(dir(tare))"
    subprocess.run([sys.executable, "-c", code], check=True)
