# SPDX-License-Identifier: BSD-3-Clause
"""shift_to: weights towards rows whose features are distributed differently."""
import subprocess
from math import erf

import numpy as np
import pytest

import tare

LEVELS = [0.05, 0.5, 0.95]
normal_cdf = np.vectorize(lambda z: 0.5 * (1 + erf(z / 2**0.5)))


def draw(rng, rows, moved=0.0):
    """Noise grows with the first feature, which moves by one standard deviation."""
    X = rng.normal(size=(rows, 3))
    X[:, 0] += moved
    return X, np.exp(0.5 * X[:, 0]) * rng.normal(size=rows)


def coverage(model, X, **outside):
    """The true probability of the 90 % intervals."""
    low, high = model.predict_interval(X, 0.9, **outside).T
    spread = np.exp(0.5 * X[:, 0])
    return (normal_cdf(high / spread) - normal_cdf(low / spread)).mean()


@pytest.mark.parametrize(("guarantee", "draws"), [("split:0.5", 10), pytest.param("cross", 8, marks=pytest.mark.slow)])
def test_weights_restore_the_coverage(guarantee, draws):
    """The tool's test, ShiftSlow: the model knows one law for all rows, so that only the ranks can tell. Over many draws 75 % and 90 %."""
    plain, weighted = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X, y = draw(rng, 1000)
        announced, fresh = draw(rng, 1000, 1.0)[0], draw(rng, 200, 1.0)[0]
        model = tare.QuantileRegressor(
            "pure_kernel", options={"bandwidth": "infinite", "split": "cross"}, guarantee=guarantee, bands=False, random_state=seed
        )
        plain.append(coverage(model.fit(X, y), fresh))
        weighted.append(coverage(model.fit(X, y, shift_to=announced), fresh))
    assert np.mean(plain) < 0.80
    assert abs(np.mean(weighted) - 0.9) < 0.025


def test_around_a_model():
    rng = np.random.default_rng(0)
    X, y = draw(rng, 3000)
    announced, fresh = draw(rng, 3000, 1.0)[0], draw(rng, 500, 1.0)[0]
    zero = {"y_pred": np.zeros(500)}
    plain = tare.Calibrator(method="nrc", bandwidth="infinite", guarantee="split:0.5", bands=False)
    plain.calibrate(X, y, y_pred=np.zeros(3000))
    shifted = tare.Calibrator(method="nrc", bandwidth="infinite", guarantee="split:0.5", bands=False)
    shifted.calibrate(X, y, y_pred=np.zeros(3000), shift_to=announced)
    assert coverage(plain, fresh, **zero) < 0.8 < 0.86 < coverage(shifted, fresh, **zero) < 0.95
    described = shifted.describe()["guarantee"]
    assert plain.describe()["guarantee"]["shift_effective_rows"] is None
    assert 300 < described["shift_effective_rows"] < 3000
    assert "rows weighted towards shift_to" in dict(shifted.inspect().facts)["shift"]


def test_answers_are_those_of_the_tool(tool, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    (X, y), (new, _) = draw(rng, 400), draw(rng, 300, 0.7)
    frames = [pandas.DataFrame(rows, columns=["a", "b", "c"]).assign(k=np.where(rows[:, 1] < 0, "n", "p")) for rows in (X, new)]
    weight = rng.uniform(0.5, 2, 400)
    frames[0].assign(y=y, w=weight).to_csv(tmp_path / "d.csv", index=False, float_format="%.17g")
    frames[1].to_csv(tmp_path / "n.csv", index=False, float_format="%.17g")
    words = [tool, "fit", tmp_path / "d.csv", "--target", "y", "--method", "nrc", "--regressor", "ridge", "--shift-to", tmp_path / "n.csv"]
    subprocess.run([*words, "--seed", "4", "--guarantee", "split", "--bands", "off", "--weight", "w", "-o", tmp_path / "t.tare", "-q"], check=True)
    told = tare.QuantileRegressor.load(tmp_path / "t.tare")
    options = {"regressor": "ridge"}
    model = tare.Calibrator(method="nrc", options=options, guarantee="split", bands=False, random_state=4)
    model.calibrate(frames[0], y, sample_weight=weight, shift_to=frames[1])
    assert np.array_equal(model.predict_quantiles(frames[1], LEVELS), told.predict_quantiles(frames[1], LEVELS))
    model.save(tmp_path / "p.tare")
    again = tare.Calibrator.load(tmp_path / "p.tare")
    assert np.array_equal(again.predict_quantiles(frames[1], LEVELS), told.predict_quantiles(frames[1], LEVELS))


@pytest.mark.parametrize("guarantee", ["none", "split", "cross"])
def test_fit_with_an_estimator(guarantee):
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(2)
    (X, y), (new, _) = draw(rng, 300), draw(rng, 300, 0.5)
    model = tare.Calibrator(linear.LinearRegression(), guarantee=guarantee, cv=3, bands=False)
    with_weights = model.fit(X, y, shift_to=new).predict_interval(new)
    assert np.isfinite(with_weights).all()
    assert not np.array_equal(with_weights, model.fit(X, y).predict_interval(new))


def test_few_similar_rows_and_errors():
    rng = np.random.default_rng(3)
    (X, y), (far, _) = draw(rng, 400), draw(rng, 400, 2.5)
    model = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False)
    with pytest.warns(tare.TareWarning, match="few rows of the fit resemble those of shift_to") as caught:
        model.fit(X, y, shift_to=far)
    assert caught[0].message.code == "few_shifted_rows" and caught[0].message.rows < 100
    assert caught[0].filename == __file__
    for wrong, text in [
        (far[:, :2], "shift_to has 2 features, but X has 3 features"),
        (far[:10], "shift_to.*20 rows"),
        (np.where(far > 3, np.nan, far), "shift_to: Input X contains NaN"),
        (far[0], "shift_to: Expected 2D array"),
    ]:
        with pytest.raises(ValueError, match=text):
            model.fit(X, y, shift_to=wrong)
    frame = pytest.importorskip("pandas").DataFrame
    with pytest.raises(ValueError, match=r"shift_to: The feature names should match"):
        model.fit(frame(X, columns=list("abc")), y, shift_to=frame(far, columns=list("abd")))
