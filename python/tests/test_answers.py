# SPDX-License-Identifier: BSD-3-Clause
"""What the estimators answer: shapes, agreement with each other, and that the numbers are right."""

import warnings

import numpy as np
import pytest
from conftest import true_mean

import tare
from tare import metrics


@pytest.fixture
def calibrated(large):
    return tare.Calibrator(true_mean, guarantee="none").calibrate(large.X, large.y)


def test_quantiles_ascend_and_keep_the_order_asked(calibrated, fresh):
    up = calibrated.predict_quantiles(fresh.X[:50], [0.1, 0.5, 0.9])
    down = calibrated.predict_quantiles(fresh.X[:50], [0.9, 0.5, 0.1])
    assert up.shape == (50, 3)
    assert (np.diff(up) >= 0).all()
    assert np.array_equal(down[:, ::-1], up)
    assert calibrated.predict_quantiles(fresh.X[:5], 0.5).shape == (5, 1)


def test_an_interval_lies_between_its_quantiles(calibrated, fresh):
    interval = calibrated.predict_interval(fresh.X[:50], confidence_level=0.9)
    assert np.array_equal(interval, calibrated.predict_quantiles(fresh.X[:50], [0.05, 0.95]))
    several = calibrated.predict_interval(fresh.X[:50], confidence_level=[0.5, 0.9])
    assert several.shape == (50, 2, 2)
    assert np.array_equal(several[:, :, 1], interval)


def test_the_width_follows_the_spread(calibrated):
    """The true 90 % interval is 3.29 (0.1 + x1) wide."""
    grid = np.column_stack([np.full(3, 0.5), [0.2, 0.5, 0.8]])
    width = np.diff(calibrated.predict_interval(grid)).ravel()
    assert np.allclose(width, 3.29 * (0.1 + grid[:, 1]), rtol=0.25)


def test_the_guarantee_covers_over_draws():
    """Mean coverage over 200 calibration sets of 120 rows is at least 0.9 up to noise (sd 0.002), although the model is poor."""
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(200):
        X = rng.uniform(size=(320, 1))
        y = rng.exponential(size=320) * (0.2 + X[:, 0])
        model = tare.Calibrator(guarantee="split", bandwidth=0.5).calibrate(X[:120], y[:120], y_pred=np.zeros(120))
        low, high = model.predict_interval(X[120:], y_pred=np.zeros(200)).T
        shares.append(metrics.coverage(y[120:], low, high))
    assert np.mean(shares) > 0.893


def test_single_precision_stays(calibrated, fresh):
    double = calibrated.predict_quantiles(fresh.X[:100])
    single = calibrated.predict_quantiles(fresh.X[:100].astype(np.float32))
    assert single.dtype == np.float32
    assert np.allclose(single, double, atol=0.05)


def test_single_precision_is_widened_in_parts():
    """More rows than are widened at a time give what double precision gives for the same numbers."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(40000, 1)).astype(np.float32)
    y = X[:, 0].astype(float)
    model = tare.Calibrator(guarantee="none", bandwidth=0.1).calibrate(X[:500], y[:500], y_pred=np.zeros(500))
    single = model.predict_quantiles(X, [0.5], y_pred=np.zeros(len(X)))
    double = model.predict_quantiles(X.astype(np.float64), [0.5], y_pred=np.zeros(len(X)))
    assert np.array_equal(single, double.astype(np.float32))


def test_score_is_the_metric(calibrated, fresh):
    quantiles = calibrated.predict_quantiles(fresh.X, metrics.metric_levels())
    assert calibrated.score(fresh.X, fresh.y) == pytest.approx(-metrics.check_score(fresh.y, quantiles), rel=1e-12)


@pytest.mark.slow
def test_same_seed_same_answer_whatever_the_threads(large):
    answers = [
        tare.QuantileRegressor("nrc_rf", random_state=3, n_jobs=jobs, options={"trees": 20}).fit(large.X, large.y).predict(large.X)
        for jobs in (1, 2)
    ]
    assert np.array_equal(*answers)


@pytest.mark.slow
def test_another_seed_another_model(large):
    answers = [
        tare.QuantileRegressor("nrc_rf", random_state=seed, options={"trees": 20}).fit(large.X, large.y).predict(large.X)
        for seed in (1, 2)
    ]
    assert not np.array_equal(*answers)


def test_distribution(calibrated, fresh):
    law = calibrated.predict_distribution(fresh.X[:200])
    assert np.array_equal(law.ppf(0.3), calibrated.predict_quantiles(fresh.X[:200], [0.3])[:, 0])
    at = law.ppf([0.1, 0.5, 0.9])
    assert np.allclose(law.cdf(at), [0.1, 0.5, 0.9], atol=0.01)
    grid = np.linspace(-3, 3, 50)
    assert (np.diff(law.cdf(np.tile(grid, (200, 1))), axis=1) >= 0).all()
    draws = law.sample(400, random_state=0)
    assert draws.shape == (200, 400)
    assert np.allclose((draws <= law.median()[:, None]).mean(), 0.5, atol=0.02)  # 80,000 draws: sd 0.002, and a grid of 999
    crps = law.crps(fresh.y[:200])
    quantiles = calibrated.predict_quantiles(fresh.X[:200], metrics.crps_levels())
    assert crps.mean() == pytest.approx(metrics.crps(fresh.y[:200], quantiles), rel=0.01)  # a sum over fewer levels


def test_pit_is_even(calibrated, fresh):
    """Predicted probabilities of what happened are uniform: 20,000 rows, calibration noise of 4,000."""
    u = calibrated.predict_distribution(fresh.X).cdf(fresh.y)
    assert np.abs(np.histogram(u, 10, (0, 1))[0] / len(u) - 0.1).max() < 0.03


def test_diagnostics(calibrated, fresh):
    known = calibrated.diagnostics(fresh.X[:100], [0.05, 0.5])
    assert (known["effective_n"] > 1).all()
    assert (known["band_low"] <= known["quantiles"]).all() and (known["quantiles"] <= known["band_high"]).all()
    far = calibrated.diagnostics([[9.0, 9.0]])
    assert far["outside"][0] and known["outside"].mean() < 0.05  # one in a hundred by its definition
    assert "delivered" not in known


def test_delivered_levels_with_a_guarantee(large, fresh):
    model = tare.Calibrator(true_mean, guarantee="split").calibrate(large.X, large.y)
    delivered = model.diagnostics(fresh.X[:3], [0.05, 0.95])["delivered"]
    assert (delivered[:, 1] - delivered[:, 0] >= 0.9).all()
    assert model.guarantee_["form"] == "split"


def test_marginal_takes_folds_for_few_rows(small):
    model = tare.Calibrator(true_mean).calibrate(small.X, small.y)
    assert model.guarantee_["form"] == "cross"


@pytest.mark.slow
def test_every_method_of_the_table_can_be_named(small):
    for name, row in tare.methods().items():
        if row["window"] > 1 or name in ("auto", "dgp"):  # series; and those that take long
            continue
        options = {"epochs": 5} if "epochs" in tare.method_options(name) else {}
        model = tare.QuantileRegressor(name, options=options).fit(small.X, small.y)
        assert model.method_ == name
        assert np.isfinite(model.predict(small.X)).all()


@pytest.mark.slow
def test_features_choose_the_kernel(large):
    model = tare.Calibrator(true_mean, features=[0], guarantee="none").calibrate(large.X, large.y)
    grid = np.column_stack([np.full(3, 0.5), [0.1, 0.5, 0.9]])
    assert np.ptp(np.diff(model.predict_interval(grid)).ravel()) == 0  # the second column is not looked at


@pytest.mark.parametrize(
    ("features", "change"),
    [pytest.param("auto", 0.0, marks=pytest.mark.slow), (None, 0.02), pytest.param("all", np.inf, marks=pytest.mark.slow)],
)
def test_features_can_be_found(features, change):
    """The law depends on column 4 alone; where that was found, an interval hardly changes along column 0."""
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(3000, 6))
    y = rng.normal(size=3000) * (0.1 + X[:, 4])
    model = tare.Calibrator(features=features, guarantee="none").calibrate(X, y, y_pred=np.zeros(3000))
    rows = np.full((2, 6), 0.5)
    rows[:, 0] = [0.0, 1.0]
    widths = np.diff(model.predict_interval(rows, y_pred=[0.0, 0.0])).ravel()
    assert np.ptp(widths) <= change * widths.mean()
    assert np.isfinite(change) or np.ptp(widths) > 0.02 * widths.mean()


@pytest.mark.slow
def test_around_a_model_trees_come_before_the_kernel(large, tmp_path):
    """Unless something of SNQ is asked for, or the predictions come with a spread."""

    def method(**options):
        fitted = tare.Calibrator(true_mean, **options).calibrate(large.X, large.y)
        fitted.save(tmp_path / "model.tare", overwrite=True)
        return tare.Calibrator.load(tmp_path / "model.tare").method

    assert method() == "nrc_boost"
    assert {method(features="all"), method(kernel="naive"), method(bandwidth=0.3), method(options={"scale": "none"})} == {"nrc"}
    spread = tare.Calibrator().calibrate(large.X, large.y, y_pred=true_mean(large.X), y_std=np.ones(len(large.y)))
    spread.save(tmp_path / "model.tare", overwrite=True)
    assert tare.Calibrator.load(tmp_path / "model.tare").method == "nrc"


@pytest.mark.parametrize(("rows", "form"), [(60, "none"), (150, "cross"), (2500, "cross"), (5000, "split")])
def test_the_guarantee_follows_the_rows(rows, form):
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(rows, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if form == "none" else "error")
        model = tare.Calibrator().calibrate(X, rng.normal(size=rows), y_pred=np.zeros(rows))
    assert model.guarantee_["form"] == form


def test_every_slice_is_covered():
    """Errors are wider with one column, skewed with another, and the model is off by a third; intervals cover in every tenth of each."""
    rng = np.random.default_rng(8)

    def draw(rows):
        X = rng.uniform(size=(rows, 5))
        noise = np.where(rng.uniform(size=rows) < X[:, 1], rng.exponential(size=rows) - 1, rng.normal(size=rows))
        return X, 2 * X[:, 2] + (0.3 + 2 * X[:, 0]) * noise

    X, y = draw(20_000)
    model = tare.Calibrator().calibrate(X, y, y_pred=np.zeros(len(y)))
    X, y = draw(100_000)
    low, high = model.predict_interval(X, y_pred=np.zeros(len(y))).T
    inside = (low <= y) & (y <= high)
    for column in X.T:
        shares = [inside[part].mean() for part in np.array_split(np.argsort(column), 10)]
        # 1,600 calibration rows of a tenth tell coverage to 0.0075, the guarantee's 4,000 to 0.005, and the worst of 50 tenths is
        # two and a half times that; sizes by trees are steps, worst at the ends. One width for all would be off by 0.25.
        assert np.abs(np.array(shares) - 0.9).max() < 0.06


@pytest.mark.parametrize("bands", [True, "auto", False])
def test_bands_are_there_where_they_are_asked_for(bands):
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(150, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=150)
    fitted = tare.Calibrator(guarantee="none", bands=bands).calibrate(X, y, y_pred=X[:, 0])
    known = fitted.diagnostics(X, [0.1, 0.9], y_pred=X[:, 0])
    assert ("band_low" in known) == ("effective_n" in known) == bool(bands)
    if bands:
        assert (known["band_low"] <= known["band_high"]).all() and known["band_low"].shape == (150, 2)
        assert ((known["effective_n"] >= 1) & (known["effective_n"] <= 150)).all()
    with pytest.raises(ValueError, match="bands must be 'auto', True or False, got 'maybe'"):
        tare.Calibrator(bands="maybe").calibrate(X, y, y_pred=X[:, 0])


def test_bands_that_could_not_be_honest_are_left_out_with_a_warning():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(300, 1))
    y = np.where(rng.uniform(size=300) < 0.4, 0.0, rng.normal(size=300))
    with pytest.warns(tare.TareWarning, match="There are no bands") as seen:
        fitted = tare.QuantileRegressor("cqr_boost", bands=True).fit(X, y)
    assert [one.message.code for one in seen] == ["no_bands"]
    assert "band_low" not in fitted.diagnostics(X)
