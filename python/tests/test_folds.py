# SPDX-License-Identifier: BSD-3-Clause
"""`cv`, `groups`, weights and fit parameters of `Calibrator.fit`."""

from typing import ClassVar

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tare


class Watched(RegressorMixin, BaseEstimator):
    """Predicts 0, and keeps the rows of each training (the first column numbers them) and the parameters of fit."""

    fits: ClassVar[list] = []
    params: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None, **params):
        self.fits.append(np.asarray(X)[:, 0].astype(int))
        self.params.append({"sample_weight": sample_weight, **params})
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.zeros(X.shape[0])


@pytest.fixture
def rows():
    Watched.fits, Watched.params = [], []
    rng = np.random.default_rng(0)
    return np.column_stack([np.arange(300.0), rng.uniform(size=300)]), rng.normal(size=300)


def fitted(rows, **settings):
    return tare.Calibrator(Watched(), bands=False, **settings).fit(*rows)


def trained_on():
    return [set(rows) for rows in Watched.fits]


def test_a_splitter_decides_the_folds(rows):
    model = fitted(rows, cv=KFold(3), guarantee="none")
    everything = set(range(300))
    assert trained_on() == [everything - set(range(k, k + 100)) for k in (0, 100, 200)] + [everything]
    assert model.guarantee_ == {"form": "none"}
    given = fitted(rows, cv=list(KFold(3).split(rows[0])), guarantee="none")
    assert np.array_equal(given.predict_interval(rows[0]), model.predict_interval(rows[0]))


@pytest.mark.parametrize("cv", [KFold(3), PredefinedSplit(np.arange(300) // 100)], ids=str)
def test_cross_with_a_splitter(rows, cv):
    """Three models without a fold, and three without two: none of them is trained on a row that it predicts."""
    model = fitted(rows, cv=cv, guarantee="cross")
    folds = [set(range(k, k + 100)) for k in (0, 100, 200)]
    everything = set(range(300))
    assert trained_on()[3:] == [everything - fold for fold in folds]
    assert trained_on()[:3] == [folds[2], folds[1], folds[0]]
    assert (model.guarantee_["folds"], model.guarantee_["rows"]) == (3, 300)
    assert 0.7 < model.guarantee_["proven_90"] < 0.8


def test_folds_of_different_size_rank_equally_many_rows(rows):
    fold = np.repeat([0, 1, 2], [120, 100, 80])
    model = fitted(rows, cv=PredefinedSplit(fold), guarantee="cross")
    assert model.guarantee_["rows"] == 240
    # Rows that are not ranked stay in their fold.
    assert trained_on()[3:] == [set(np.flatnonzero(fold != k)) for k in range(3)]


def test_rows_in_time_order(rows, tmp_path):
    cv = TimeSeriesSplit(4)
    none = fitted(rows, cv=cv, guarantee="none")
    assert [(min(fit), max(fit)) for fit in trained_on()] == [(0, 59), (0, 119), (0, 179), (0, 239), (0, 299)]
    assert none.describe()["rows"] == 240  # those in no test fold only train
    Watched.fits = []
    split = fitted(rows, cv=cv)
    assert split.guarantee_["form"] == "split" and split.guarantee_["rows"] == 60
    assert split.guarantee_["proven_90"] is None
    split.save(tmp_path / "in_order.tare")
    loaded = tare.Calibrator.load(tmp_path / "in_order.tare", split.estimator_)
    assert loaded.guarantee_["proven_90"] is None and "nothing, because rows of the fit depend" in str(loaded.inspect())
    assert all(max(fit) < 240 for fit in trained_on())  # the last rows are held out
    with pytest.raises(ValueError, match="cv does not put each row into one test fold"):
        fitted(rows, cv=cv, guarantee="cross")


def test_the_future_is_covered_better_in_time_order():
    """The noise grows with time: folds of later rows show it, random ones do not."""
    rng = np.random.default_rng(0)
    time = np.arange(1500.0)
    X, y = np.column_stack([time, rng.uniform(size=1500)]), rng.normal(size=1500) * (0.1 + (time / 1500) ** 3)

    def coverage(**settings):
        model = tare.Calibrator(LinearRegression(), features=[1], bands=False, **settings).fit(X[:1200], y[:1200])
        low, high = model.predict_interval(X[1200:], 0.9).T
        return np.mean((low <= y[1200:]) & (y[1200:] <= high))

    random, ordered = coverage(), coverage(cv=TimeSeriesSplit(5))
    assert random < 0.75 and ordered > random + 0.1


def test_a_row_in_several_test_folds_gets_the_mean(rows):
    class Counting(Watched):
        def predict(self, X):
            return np.full(len(X), float(len(self.fits)))

    model = tare.Calibrator(Counting(), guarantee="none", bands=False, cv=ShuffleSplit(4, test_size=0.5, random_state=0))
    model.fit(rows[0], np.zeros(300) + 2.5)
    assert len(Watched.fits) == 5
    tested = set().union(*[set(range(300)) - fit for fit in trained_on()[:4]])
    assert model.describe()["rows"] == len(tested) < 300


@pytest.mark.parametrize("cv", [5, GroupKFold(5)], ids=str)
@pytest.mark.parametrize("guarantee", ["none", "split", "cross"])
def test_rows_of_a_group_stay_together(rows, cv, guarantee):
    groups = np.random.default_rng(1).permutation(np.repeat(np.arange(30), 10))
    model = tare.Calibrator(Watched(), cv=cv, guarantee=guarantee, bands=False).fit(*rows, groups=groups)
    of_group = [set(np.flatnonzero(groups == g)) for g in range(30)]
    for fit in trained_on():
        assert all(group <= fit or not group & fit for group in of_group)
    assert model.guarantee_["form"] == guarantee
    assert model.guarantee_.get("proven_90") is None
    if guarantee == "split":
        assert model.guarantee_["rows"] == 60 and len(set().union(*trained_on())) == 240
    with pytest.raises(ValueError, match=r"groups has shape \(299,\), where one value for each of 300 rows"):
        tare.Calibrator(Watched(), cv=cv).fit(*rows, groups=groups[1:])


@pytest.mark.parametrize(
    ("cv", "text"),
    [
        (1, "at least 2"),
        (2.5, "got 2.5"),
        ("5", "got '5'"),
        ([], "no folds"),
        ([(np.arange(300), np.arange(10))], "row 0 is a training row and a test row of fold 0"),
        ([(np.arange(10), [300])], "test rows of fold 0 of cv have row 300, but there are 300 rows"),
        ([(np.arange(10), [])], "the test rows of fold 0 of cv must be a list of row numbers"),
        ([np.arange(10)], "where a pair"),
    ],
    ids=str,
)
def test_folds_that_cannot_be(rows, cv, text):
    with pytest.raises(ValueError, match=text):
        fitted(rows, cv=cv)


def test_cross_needs_as_many_folds_as_it_says(rows):
    with pytest.raises(ValueError, match="asks for 10 folds, but cv has 3"):
        fitted(rows, cv=KFold(3), guarantee="cross:10")
    with pytest.raises(ValueError, match="needs 3 to 20 folds, but cv has 2"):
        fitted(rows, cv=KFold(2), guarantee="cross")
    assert fitted(rows, cv=KFold(2)).guarantee_["form"] == "split"


@pytest.mark.parametrize("guarantee", ["none", "split", "cross"])
def test_parameters_of_fit_are_cut_to_the_rows(rows, guarantee):
    X, y = rows
    model = tare.Calibrator(Watched(), guarantee=guarantee, cv=3, bands=False)
    model.fit(X, y, sample_weight=X[:, 0] + 1, offset=X[:, 0].tolist(), early=True, name="a" * 300, pair=(1, 2))
    for at, got in zip(Watched.fits, Watched.params):
        assert np.array_equal(got["sample_weight"], at + 1) and np.array_equal(got["offset"], at)
        assert got["early"] is True and got["name"] == "a" * 300 and got["pair"] == (1, 2)


def test_weights_go_to_the_calibration_too(small):
    """Rows with a small spread have nearly all of the weight, so that intervals are as narrow as theirs."""
    X = np.ones((600, 1))
    y = np.tile([0.01, 1.0], 300) * np.random.default_rng(0).normal(size=600)
    weight = np.tile([1.0, 1e-6], 300)
    plain = tare.Calibrator(Ridge(), guarantee="none", bands=False).fit(X, y)
    weighted = tare.Calibrator(Ridge(), guarantee="none", bands=False).fit(X, y, sample_weight=weight)
    wide, narrow = (np.diff(model.predict_interval(X[:1])).item() for model in (plain, weighted))
    assert narrow < 0.1 < 1 < wide
    assert weighted.estimator_.intercept_ == pytest.approx(Ridge().fit(X, y, sample_weight=weight).intercept_)
    own = tare.QuantileRegressor("nrc", options={"regressor": "ridge", "split": "cross"}, bands=False).fit(X, y, sample_weight=weight)
    assert np.diff(own.predict_interval(X[:1])).item() < 0.1


def test_parameters_of_a_step_of_a_pipeline(small):
    inner = make_pipeline(StandardScaler(), Ridge())
    weight = np.linspace(0.1, 1, 300)
    model = tare.Calibrator(inner, guarantee="none", bands=False)
    with pytest.warns(UserWarning, match="weighs the calibration only.*STEP__sample_weight"):
        model.fit(small.X, small.y, sample_weight=weight)
    model.fit(small.X, small.y, sample_weight=weight, ridge__sample_weight=weight)
    alone = make_pipeline(StandardScaler(), Ridge()).fit(small.X, small.y, ridge__sample_weight=weight)
    assert np.allclose(model.predict(small.X), alone.predict(small.X))


def test_metadata_routing(rows):
    X, y = rows
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Watched().set_fit_request(sample_weight=False)
        tare.Calibrator(inner, cv=3, guarantee="none", bands=False).set_fit_request(sample_weight=True).fit(X, y, sample_weight=X[:, 0] + 1)
        assert all(got["sample_weight"] is None for got in Watched.params)
        Watched.params.clear()
        groups = np.arange(300) // 10
        model = tare.Calibrator(Watched().set_fit_request(sample_weight=True), cv=GroupKFold(3), guarantee="none", bands=False)
        model.fit(X, y, sample_weight=X[:, 0] + 1, groups=groups)
        assert [len(got["sample_weight"]) for got in Watched.params] == [200, 200, 200, 300]
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            tare.Calibrator(LinearRegression(), bands=False).fit(X, y, sample_weight=X[:, 0])


def test_without_an_estimator_nobody_takes_them(small):
    with pytest.raises(TypeError, match="groups, eval_set: only an estimator"):
        tare.Calibrator().fit(small.X, small.y, groups=np.zeros(300), eval_set=None)


def test_rows_that_are_left_out_are_left_out_of_everything(rows):
    X, y = rows
    X = X.copy()
    X[:100, 1] = np.nan
    with pytest.warns(UserWarning, match="100 rows"):
        tare.Calibrator(Watched(), cv=KFold(2), guarantee="none", missing="drop", bands=False).fit(X, y, offset=X[:, 0])
    for at, got in zip(Watched.fits, Watched.params):
        assert at.min() >= 100 and np.array_equal(got["offset"], at)
    with pytest.raises(ValueError, match="cv is a list of row numbers"), pytest.warns(UserWarning, match="100 rows"):
        tare.Calibrator(Watched(), cv=list(KFold(2).split(X)), missing="drop").fit(X, y)
