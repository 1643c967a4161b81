# SPDX-License-Identifier: BSD-3-Clause
"""What `fit` and `calibrate` guarantee holds, for the worst model there is: one that repeats its training rows."""

import pickle
import warnings
from typing import ClassVar

import numpy as np
import pytest

import tare
from tare._fold_models import train
from tare._guarantee import Guarantee, around_a_model, in_fit

sklearn = pytest.importorskip("sklearn")
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge


class LeastSquares(RegressorMixin, BaseEstimator):
    """Of minimum norm, as scikit-learn's LinearRegression without an intercept, by normal equations, which take a tenth of the time."""

    def fit(self, X, y):
        rows, columns = X.shape
        self.coef_ = X.T @ np.linalg.solve(X @ X.T, y) if rows < columns else np.linalg.solve(X.T @ X, X.T @ y)
        return self

    def predict(self, X):
        return X @ self.coef_


def draw(rng, rows, columns):
    """A linear signal as large as the noise, spread over all columns."""
    X = rng.normal(size=(rows, columns))
    return X, X @ np.full(columns, columns**-0.5) + rng.normal(size=rows)


def mean_coverage(draws, rows, columns, fit):
    """Of 90 % intervals over draws of the training rows, and what `delivered` says about them."""
    rng = np.random.default_rng(17)
    covered, said = [], []
    for _ in range(draws):
        model = fit(*draw(rng, rows, columns), rng)
        X, y = draw(rng, 300, columns)
        low, high = model.predict_interval(X, 0.9).T
        covered.append(np.mean((low <= y) & (y <= high)))
        level = model.diagnostics(X[:1], [0.05, 0.95])["delivered"][0]
        said.append(level[1] - level[0])
        assert said[-1] == pytest.approx(model.guarantee_["proven_90"])
    return np.mean(covered), np.mean(said)


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["split", "cross"])
@pytest.mark.parametrize(("columns", "features"), [(400, None), (390, [0]), (380, [0])])
def test_fit_covers_around_a_model_that_interpolates(guarantee, columns, features):
    """Residuals of its own rows are 0 with 400 of them, and those of a model refitted on all rows are no one's."""

    def fit(X, y, _):
        return tare.Calibrator(LeastSquares(), guarantee=guarantee, features=features).fit(X, y)

    covered, said = mean_coverage(20 if guarantee == "split" else 5, 400, columns, fit)
    # Folds keep more than is proven for them, 0.97 and more here, so that a few draws tell. Split: 20 draws of 80 held-out rows have a
    # standard deviation of 0.3 / sqrt(80) / sqrt(20) = 0.0075, and 0.88 is 2.7 of these below.
    assert covered >= (0.88 if guarantee == "split" else said)
    assert said >= 0.9 if guarantee == "split" else 0.75 < said < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["split", "cross:5"])
def test_calibrate_covers_around_a_model_of_other_rows(guarantee):
    def fit(X, y, rng):
        model = LeastSquares().fit(*draw(rng, 380, 400))
        return tare.Calibrator(model, guarantee=guarantee).calibrate(X, y)

    covered, said = mean_coverage(20 if guarantee == "split" else 5, 400, 400, fit)
    assert covered >= (0.88 if guarantee == "split" else said)


class Numbered(RegressorMixin, BaseEstimator):
    """Predicts its number in the order of fits, and keeps the first column of its training rows, which numbers them."""

    fits: ClassVar[list] = []

    def fit(self, X, y):
        self.number_ = len(self.fits)
        self.fits.append(set(np.asarray(X)[:, 0].astype(int)))
        return self

    def predict(self, X):
        return np.full(len(X), float(self.number_))


@pytest.fixture
def numbered():
    Numbered.fits = []
    return np.column_stack([np.arange(103.0), np.zeros(103)]), np.zeros(103)


def test_no_held_out_row_is_in_any_training(numbered):
    X, y = numbered
    trained = train(Numbered(), X, y, Guarantee("split", share=0.3), 5, 0)
    held_out = set(np.flatnonzero(trained.held_out))
    assert len(held_out) == 31 and len(Numbered.fits) == 6
    assert not any(rows & held_out for rows in Numbered.fits)
    assert Numbered.fits[5] == set(range(103)) - held_out
    for row in range(103):  # held-out rows are predicted by the model that answers, others by one that has not seen them
        number = int(trained.given[row, 0])
        assert number == 5 if row in held_out else row not in Numbered.fits[number]


def test_a_folds_column_comes_from_models_without_the_fold(numbered):
    X, y = numbered
    trained = train(Numbered(), X, y, Guarantee("cross", folds=4), 5, 0)
    assert len(Numbered.fits) == 10 and len(trained.rows) == 100
    assert np.bincount(trained.fold).tolist() == [25] * 4
    everything = set(range(103))
    assert all(everything - set(trained.rows) < rows for rows in Numbered.fits)  # 3 rows are left over
    folds = [set(trained.rows[trained.fold == k]) for k in range(4)]
    for i, own in enumerate(trained.fold):
        for k, number in enumerate(trained.given[i].astype(int)):
            assert Numbered.fits[number] == everything - folds[own] - folds[k]
    # A new row gets for each fold what a row of the fold got.
    columns = trained.model.columns(X[:2], 2)
    for k in range(4):
        assert (trained.given[trained.fold == k, k] == columns[0, k]).all()
    assert trained.model.predict(X[:2]) == pytest.approx(columns.mean(axis=1))


def test_what_is_asked_for_is_what_is_fitted():
    X, y = draw(np.random.default_rng(0), 400, 3)

    def known(**options):
        return tare.Calibrator(Ridge(), **options).fit(X, y).guarantee_

    assert known(guarantee="none") == {"form": "none"} == known(guarantee=None)
    assert known() == known(guarantee="cross")
    five, ten = known(guarantee="cross"), known(guarantee="cross:10")
    assert (five["form"], five["folds"], five["rows"]) == ("cross", 5, 400)
    assert (ten["folds"], ten["rows"]) == (10, 400)
    assert five["proven_90"] == pytest.approx(1 - 2 * (0.1 + 1.6 / 81))
    assert known(cv=2)["folds"] == 3  # of two folds nothing is left for a model without both
    assert known(guarantee="split")["rows"] == 80
    split = known(guarantee="split:0.3")
    assert (split["form"], split["rows"]) == ("split", 120)
    assert split["proven_90"] >= 0.9
    for wrong in ("cross:2", "cross:1000", "cross:x", "split:1.5", "marginal:3", "certain", "none:1"):
        with pytest.raises(ValueError, match=wrong):
            known(guarantee=wrong)
    with pytest.raises(ValueError, match=r"at least 2.*got 1"):
        known(cv=1)
    with pytest.raises(ValueError, match=r"would hold out 4 of 400 rows.*1900 rows"):
        known(guarantee="split:0.01")


def test_strict_goes_on_to_the_core():
    assert in_fit("split:0.3,strict", 400, 5).text() == "split:0.3,strict"
    assert in_fit("cross,strict", 400, 4).text() == "cross:4,strict"
    assert in_fit("marginal,strict", 400, 5).text() == "cross:5,strict"
    assert in_fit("marginal,strict", 50_000, 5).text() == "split:0.2,strict"
    assert in_fit("marginal", 100_000, 5).text() == "split:0.1"
    assert around_a_model("marginal,strict", 400) == "cross:10,strict"
    assert around_a_model("split:0.3,strict", 400) == "split:0.3,strict"


def test_too_few_rows_are_told():
    X, y = draw(np.random.default_rng(0), 60, 2)
    for fit in (
        lambda **options: tare.Calibrator(Ridge(), **options).fit(X, y),
        lambda **options: tare.Calibrator(**options).calibrate(X, y, y_pred=np.zeros(60)),
    ):
        with pytest.warns(tare.TareWarning, match="60 rows are too few for guarantee='marginal', which needs 100") as caught:
            assert fit().guarantee_ == {"form": "none"}
        assert caught[0].message.code == "no_guarantee" and caught[0].message.rows == 60
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert fit(guarantee="none").guarantee_["form"] == "none"
            assert fit(guarantee="cross").guarantee_["form"] == "cross"
    with pytest.raises(ValueError, match=r"would rank 15 of 18 rows in 5 folds.*at least 20 rows"):
        tare.Calibrator(Ridge(), guarantee="cross").fit(X[:18], y[:18])
    with pytest.raises(ValueError, match="would hold out 12 of 60 rows"):
        tare.Calibrator(Ridge(), guarantee="split").fit(X, y)
    with pytest.warns(tare.TareWarning, match="from 60 rows on .* but there are 59"):
        tare.Calibrator(method="nrc", options={"regressor": "ridge"}).fit(X[:59], y[:59])
    with pytest.warns(tare.TareWarning, match="from 30 rows on .* but there are 29"):
        tare.Calibrator().fit(X[:29], y[:29])
    assert tare.Calibrator().fit(X[:30], y[:30]).guarantee_["rows"] == 10


def test_loose_is_for_models_of_tares_own_and_for_calibrate():
    X, y = draw(np.random.default_rng(0), 300, 2)
    own = tare.Calibrator(method="nrc", options={"regressor": "ridge"}).fit(X, y)
    assert own.guarantee_["form"] == "loose" and own.guarantee_["rows"] == 37
    assert 0.8 <= own.guarantee_["proven_90"] < 0.9
    assert "second model" in dict(own.inspect().facts)["guarantee"]
    around = tare.Calibrator(guarantee="loose:0.2", random_state=1).calibrate(X, y, y_pred=np.zeros(300))
    assert around.guarantee_["rows"] == 60
    without = tare.Calibrator(guarantee="none", random_state=1).calibrate(X, y, y_pred=np.zeros(300))
    wide, narrow = (model.predict_interval(X, 0.9, y_pred=np.zeros(300)) for model in (around, without))
    assert np.all(wide[:, 0] <= narrow[:, 0]) and np.all(wide[:, 1] >= narrow[:, 1])
    with pytest.raises(ValueError, match="'cross' or 'split'"):
        tare.Calibrator(Ridge(), guarantee="loose").fit(X, y)


def test_the_score_is_finite():
    """80 held-out rows cannot keep a level of 0.995 by a finite quantile."""
    X, y = draw(np.random.default_rng(0), 600, 3)
    for guarantee in ("split", "cross", "none"):
        model = tare.Calibrator(Ridge(), guarantee=guarantee).fit(X[:400], y[:400])
        assert -1.0 < model.score(X[400:], y[400:]) < -0.1


def test_files_and_pickles_of_fold_models(tmp_path, tool):
    import csv
    import subprocess

    X, y = draw(np.random.default_rng(1), 203, 2)
    model = tare.Calibrator(Ridge(), guarantee="cross", cv=3).fit(X, y)
    assert len(model.estimators_) == 3
    interval = model.predict_interval(X)
    assert np.isfinite(interval).all()
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_interval(X), interval)
    path = tmp_path / "m.tare"
    model.save(path)
    for estimator in (model.estimator_, model.estimators_):
        loaded = tare.Calibrator.load(path, estimator=estimator)
        assert np.array_equal(loaded.predict_interval(X), interval)
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.guarantee_ == model.guarantee_
        assert loaded.describe() == model.describe()
    alone = tare.Calibrator.load(path)
    with pytest.raises(ValueError, match="a prediction for each of 3 folds"):
        alone.predict_interval(X)
    columns = model.estimator_.columns(X, len(X))
    assert np.array_equal(alone.predict_interval(X, y_pred=columns), interval)
    with pytest.raises(ValueError, match=r"shape \(203, 3\) are expected"):
        alone.predict_interval(X, y_pred=columns[:, 0])
    with pytest.raises(TypeError, match="3 folds with a model for each"):
        tare.Calibrator.load(path, estimator=Ridge().fit(X, y))
    with pytest.raises(TypeError, match="3 folds with a model for each"):
        tare.Calibrator.load(path, estimator=model.estimators_[:2])
    with open(tmp_path / "d.csv", "w", newline="") as file:
        csv.writer(file).writerows([["x0", "x1", "prediction0", "prediction1", "prediction2"], *np.column_stack([X, columns]).tolist()])
    command = [tool, "predict", str(path), str(tmp_path / "d.csv"), "--interval", "0.9"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert np.allclose(np.loadtxt(done.stdout.splitlines(), delimiter=",", skiprows=1)[:, -2:], interval, rtol=1e-5)
    facts = subprocess.run([tool, "inspect", str(path)], check=True, capture_output=True, text=True).stdout
    assert "prediction0, prediction1, prediction2: one column for the model of each fold" in facts


@pytest.mark.parametrize("guarantee", ["none", "split", "cross"])
def test_frames_with_categories_in_every_form(guarantee):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"size": rng.uniform(size=300), "town": rng.choice(["Bonn", "Kiel"], size=300)})
    y = frame["size"] + np.where(frame["town"] == "Bonn", 0.1, 1.0) * rng.normal(size=300)

    class OnSize(Ridge):
        def fit(self, X, y):
            return super().fit(X[["size"]], y)

        def predict(self, X):
            return super().predict(X[["size"]])

    model = tare.Calibrator(OnSize(), guarantee=guarantee, features=["town"]).fit(frame, y)
    new = pandas.DataFrame({"size": [0.5, 0.5], "town": ["Bonn", "Kiel"]})
    narrow, wide = np.diff(model.predict_interval(new)).ravel()
    assert wide > 3 * narrow


@pytest.mark.parametrize("guarantee", ["none", "split", "cross"])
def test_rows_left_out_have_no_answer_at_all(guarantee):
    """A gap in training or in a question: no number is invented, and the wrapped model is not asked about it."""
    rng = np.random.default_rng(3)
    X, y = draw(rng, 307, 2)
    X[:7, 1] = np.nan
    with pytest.warns(UserWarning, match="7 rows with a missing value were left out"):
        model = tare.Calibrator(Ridge(), guarantee=guarantee, missing="drop").fit(X, y)
    new, target = draw(rng, 5, 2)
    new[[1, 3], 0] = np.nan
    gap = np.array([False, True, False, True, False])
    law = model.predict_distribution(new)
    answers = [
        model.predict(new),
        model.predict_interval(new),
        model.predict_quantiles(new, [0.3]),
        law.cdf(1e9),
        law.cdf(np.tile([-1e9, 0.0, 1e9], (5, 1))),
        law.ppf(0.5),
        law.ppf([0.1, 0.2]),
        law.sample(4, random_state=0),
        law.crps(target),
    ]
    if guarantee == "none":  # ranks of so few rows may leave levels below 0.003 open on both sides
        answers.append(law.mean())
    for answer in answers:
        answer = answer.reshape(5, -1)
        assert np.isnan(answer[gap]).all() and not np.isnan(answer[~gap]).any()
    assert np.isfinite(model.score(new, target))
    nothing = np.full((2, 2), np.nan)
    assert np.isnan(model.predict_interval(nothing)).all() and np.isnan(model.predict(nothing)).all()
    # Training rows without a gap do not change what a gap in a question means.
    complete = tare.Calibrator(Ridge(), guarantee=guarantee, missing="drop").fit(X[7:], y[7:])
    assert np.array_equal(np.isnan(complete.predict_interval(new)[:, 0]), gap)
