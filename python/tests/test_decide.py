# SPDX-License-Identifier: BSD-3-Clause
"""Actions with the least expected cost, and risk control, each beside a slow oracle."""

import json
import os
import shutil
import subprocess
import warnings
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn")

import tare
from tare import _core


def pair_cost(over, under):
    return lambda action, outcome: np.maximum(over * (action - outcome), under * (outcome - action))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(900, 2))
    y = 3 * X[:, 0] + rng.normal(size=900) * (0.2 + X[:, 1])
    return X, y


@pytest.fixture(scope="module")
def model(rows):
    X, y = rows
    return tare.Calibrator(lambda X: 3 * X[:, 0]).calibrate(X[:400], y[:400])


def table_of_costs(actions, low=-50.0, high=50.0, over=1.0, under=4.0):
    entries = [(a, y, pair_cost(over, under)(a, y)) for a in actions for y in (low, a, high)]
    return dict(zip(("action", "outcome", "cost"), map(np.array, zip(*entries))))


def test_the_levels_of_a_decision_are_those_of_a_distribution():
    assert _core.law_levels() == tare.Distribution.levels.tolist()


@pytest.mark.parametrize(("over", "under", "level"), [(1, 4, 0.8), (0.03, 0.07, 0.7), (5, 1, 1 / 6)])
def test_action_is_the_quantile_at_the_level_of_the_costs(rows, model, over, under, level):
    X = rows[0][400:]
    best = model.predict_action(X, {"over": over, "under": under})
    np.testing.assert_allclose(best.action, model.predict_quantiles(X, level)[:, 0], rtol=1e-12)
    assert (best.cost <= best.cost_of_mean + 1e-12).all()


def test_expected_costs_are_those_of_many_draws(rows, model):
    """Quantiles of `ppf` at 20,000 equal steps of level: the mean of a function over them is off by about a step."""
    X = rows[0][400:410]
    law = model.predict_distribution(X)
    draws = law.ppf((np.arange(20_000) + 0.5) / 20_000)
    best = model.predict_action(X, {"over": 1, "under": 4})
    cost = pair_cost(1, 4)
    np.testing.assert_allclose(best.cost, cost(best.action[:, None], draws).mean(axis=1), rtol=2e-3)
    np.testing.assert_allclose(best.cost_of_mean, cost(law.mean()[:, None], draws).mean(axis=1), rtol=2e-3)


def test_table_and_function_agree(rows, model):
    """The function is a straight line between quantiles, the table between outcomes: equal but for the kink inside one step of level."""
    X = rows[0][400:]
    candidates = np.linspace(-1, 5, 25)
    best = model.predict_action(X, table_of_costs(candidates))
    other = model.predict_action(X, pair_cost(1, 4), actions=candidates)
    assert np.isin(best.action, candidates).all()
    np.testing.assert_allclose(best.cost, other.cost, rtol=2e-3)
    assert (best.action == other.action).mean() > 0.97
    spent = model.predict_action(X, {"over": 1, "under": 4}).cost
    assert (best.cost >= spent - 1e-9).all()


def test_function_is_that_of_a_slow_loop(rows, model):
    X = rows[0][400:405]

    def cost(action, outcome):
        return (action - outcome) ** 2 + 3.0 * (outcome > 2.0) * (action < 1.0)

    candidates = np.array([[0.0, 1.5, 3.0]] * 4 + [[7.0, 1.0, 0.5]])
    best = model.predict_action(X, cost, actions=candidates)
    law = model.predict_distribution(X)
    levels = np.concatenate([[0.0], law.levels, [1.0]])
    for i in range(5):
        q = law.quantiles[i]
        padded = np.concatenate([[q[0]], q, [q[-1]]])
        expected = []
        for action in candidates[i]:
            values = [cost(action, value) for value in padded]
            expected.append(sum((levels[k + 1] - levels[k]) * (values[k] + values[k + 1]) / 2 for k in range(len(values) - 1)))
        assert best.action[i] == candidates[i][int(np.argmin(expected))]
        np.testing.assert_allclose(best.cost[i], min(expected), rtol=1e-10)
        sure = [cost(action, law.mean()[i]) for action in candidates[i]]
        np.testing.assert_allclose(best.cost_of_mean[i], expected[int(np.argmin(sure))], rtol=1e-10)


def test_frames_and_rows_left_out(rows, model):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    table = table_of_costs([0.0, 2.0, 4.0])
    best = model.predict_action(X[400:], pandas.DataFrame(table))
    np.testing.assert_array_equal(best.action, model.predict_action(X[400:], table).action)
    holes = X.copy()
    holes[::7, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = tare.QuantileRegressor(method="nrc", missing="drop", options={"regressor": "ridge"}).fit(holes, y)
        for cost, more in (({"over": 1, "under": 4}, {}), (table, {}), (pair_cost(1, 4), {"actions": [0.0, 2.0]})):
            found = fitted.predict_action(holes[:20], cost, **more)
            for values in found:
                assert np.isnan(values[::7]).all()
                assert np.isfinite(np.delete(values, np.arange(0, 20, 7))).all()


def test_warnings_say_what_is_assumed(rows):
    X, y = rows
    strict = tare.Calibrator(lambda X: 3 * X[:, 0], guarantee="split,strict").calibrate(X[:200], y[:200])
    for cost, more in (({"over": 1, "under": 4}, {}), (pair_cost(1, 4), {"actions": [0.0, 2.0]})):
        with pytest.warns(tare.TareWarning, match="infinite quantiles") as seen:
            best = strict.predict_action(X[400:420], cost, **more)
        assert seen[0].message.code == "infinite_tail" and seen[0].message.rows == 20
        assert np.isfinite(best.cost).all()
        assert seen[0].filename == __file__
    with pytest.warns(tare.TareWarning, match="beyond the outcomes"):
        strict.predict_action(X[400:420], {"action": [1, 1], "outcome": [0, 0.1], "cost": [0, 1]})


@pytest.mark.parametrize(
    ("cost", "more", "kind", "words"),
    [
        ({"over": 1}, {}, ValueError, "got the keys over"),
        ({"over": 0, "under": 1}, {}, ValueError, "positive"),
        ({"action": [1], "outcome": [1]}, {}, ValueError, "columns action, outcome and cost"),
        ({"action": ["wait"], "outcome": [1], "cost": [1]}, {}, ValueError, "number the actions"),
        ({"action": [1, 2], "outcome": [1], "cost": [1]}, {}, ValueError, "different lengths: 2, 1, 1"),
        ({"action": [1], "outcome": [np.nan], "cost": [1]}, {}, ValueError, "not finite"),
        (4.0, {}, TypeError, "got float"),
        ({"over": 1, "under": 4}, {"actions": [1]}, ValueError, "for a cost function"),
        (pair_cost(1, 4), {}, ValueError, "needs actions="),
        (pair_cost(1, 4), {"actions": []}, ValueError, "shape"),
        (pair_cost(1, 4), {"actions": np.ones((3, 2))}, ValueError, "shape"),
        (pair_cost(1, 4), {"actions": [np.inf]}, ValueError, "not finite"),
        (lambda a, y: np.ones(3), {"actions": [1]}, ValueError, "returned the shape"),
        (lambda a, y: y * np.nan, {"actions": [1]}, ValueError, "returned NaN"),
    ],
)
def test_wrong_costs_are_explained(rows, model, cost, more, kind, words):
    with pytest.raises(kind, match=words):
        model.predict_action(rows[0][400:410], cost, **more)


def test_predictor_and_tool_agree(rows, model, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    regressor = tare.QuantileRegressor(method="nrc", options={"regressor": "ridge"}).fit(pandas.DataFrame(X, columns=["a", "b"]), y)
    new = pandas.DataFrame(X[:20], columns=["a", "b"])
    named = tare.Predictor(regressor, cost={"over": 1, "under": 4})
    assert named.names == ["action", "cost", "cost_of_mean"]
    best = regressor.predict_action(new, {"over": 1, "under": 4})
    answer = named.predict(new)
    for name in named.names:
        np.testing.assert_array_equal(answer[name], getattr(best, name))
    tool = os.environ.get("TARE_TOOL") or shutil.which("tare")
    if tool is None:
        pytest.skip("the tool is not there")
    regressor.save(tmp_path / "m.tare")
    new.to_csv(tmp_path / "new.csv", index=False)
    command = [tool, "predict", "m.tare", "new.csv", "--cost", "over=1,under=4"]
    assert subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout == named.to_csv(new)


def test_report_has_the_worth(rows, model):
    X, y = rows
    page = tare.report(model, X[400:], y[400:], cost={"over": 1, "under": 4})
    assert "What calibration is worth" in page.html
    best = model.predict_action(X[400:], {"over": 1, "under": 4})
    paid = pair_cost(1, 4)(best.action, y[400:])
    np.testing.assert_allclose(page.worth["action"]["cost"], paid.mean(), rtol=1e-12)
    np.testing.assert_allclose(page.worth["action"]["error"], paid.std(ddof=1) / np.sqrt(500), rtol=1e-9)
    assert page.worth["mean_plus_margin"]["more_error"] > 0
    assert tare.report(model, X[400:], y[400:]).worth is None


# --- risk control ------------------------------------------------------------------------------


def slow_level(quantiles, y, loss, alpha, bound, rises):
    """A scan over all levels, in fractions."""
    levels = _core.risk_levels()
    for j in reversed(range(len(levels))) if rises else range(len(levels)):
        total = sum(Fraction(min(float(loss(q, t)), bound)) for q, t in zip(quantiles[:, j], y))
        if total + Fraction(str(bound)) <= Fraction(str(alpha)) * (len(y) + 1):
            return levels[j]
    return None


@pytest.mark.parametrize(("loss", "alpha", "bound"), [({"under": 1}, 0.1, 3), ({"under": 2.5}, 0.3, 8), ({"over": 1}, 0.2, 4)])
def test_level_is_that_of_a_scan_in_fractions(rows, model, loss, alpha, bound):
    X, y = rows
    ((side, rate),) = loss.items()
    quantiles = model.predict_quantiles(X[400:500], _core.risk_levels())
    single = (lambda a, t: max(rate * (t - a), 0.0)) if side == "under" else (lambda a, t: max(rate * (a - t), 0.0))
    wanted = slow_level(quantiles, y[400:500], single, alpha, bound, side == "over")
    found = tare.control_risk(model, X[400:500], y[400:500], loss, alpha, bound)
    assert found.level == wanted
    assert found.rows == 100 and found.corrected_loss <= alpha
    assert "Proven" in str(found) and "exchangeable" in str(found)

    def as_function(action, outcome):
        return np.minimum(np.maximum(rate * ((outcome - action) if side == "under" else (action - outcome)), 0.0), bound)

    again = tare.control_risk(model, X[400:500], y[400:500], as_function, alpha, bound, rises=side == "over")
    assert again == found


def test_expected_loss_is_kept_in_small_samples():
    """600 draws of 30 and of 100 calibration rows, around a model that is wrong: the mean of the realised risk is at most alpha plus two
    standard errors (one of 40 such tests fails by chance; the seed is fixed)."""
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(400, 1))
    wrong = tare.Calibrator(lambda X: X[:, 0] - 0.3).calibrate(X, X[:, 0] - 0.3 + 0.8 * rng.normal(size=400))
    z = wrong.predict_quantiles(np.array([[0.5]]), _core.risk_levels())[0] - 0.5  # the same at every x, nearly
    for n, alpha, bound in ((30, 0.25, 4.0), (100, 0.25, 4.0)):
        risks = []
        for _ in range(600):
            y = rng.normal(size=n)
            control = _core.RiskControl(alpha, bound, False)
            control.add(np.ascontiguousarray(np.maximum(y[:, None] - z, 0.0)))
            level = control.choose()["place"]
            risks.append(np.minimum(np.maximum(rng.normal(size=100) - z[level], 0.0), bound).mean())
        error = np.std(risks) / np.sqrt(len(risks))
        assert np.mean(risks) <= alpha + 2 * error
        assert np.mean(risks) >= alpha - 2 * bound / (n + 1) - 0.02  # and is not far from it


def test_predictor_and_tool_choose_the_same_level(rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=["a", "b"]).assign(y=y)
    regressor = tare.QuantileRegressor(method="nrc", options={"regressor": "ridge"}).fit(frame[["a", "b"]][:400], y[:400])
    regressor.save(tmp_path / "m.tare")
    found = tare.control_risk(regressor, frame[["a", "b"]][400:], y[400:], {"under": 1}, 0.1, 3)
    assert tare.control_risk(tare.Predictor(tmp_path / "m.tare"), frame[400:], None, {"under": 1}, 0.1, 3) == found
    tool = os.environ.get("TARE_TOOL") or shutil.which("tare")
    if tool is None:
        pytest.skip("the tool is not there")
    frame[400:].to_csv(tmp_path / "cal.csv", index=False)
    command = [tool, "control-risk", "m.tare", "cal.csv", "--loss", "under=1", "--at-most", "0.1", "--bound", "3", "--json"]
    told = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    assert told["level"] == found.level and told["rows_at_bound"] == found.rows_at_bound
    np.testing.assert_allclose(told["mean_loss"], found.mean_loss, rtol=1e-9)


@pytest.mark.parametrize(
    ("loss", "alpha", "bound", "more", "kind", "words"),
    [
        ({"under": 1}, 0.001, 3, {}, ValueError, "give at least 2999 rows"),
        ({"under": 1}, 3, 3, {}, ValueError, "alpha must lie strictly between 0 and the bound"),
        ({"under": 1}, 0.1, -3, {}, ValueError, "bound must be a positive number"),
        ({"under": 0}, 0.1, 3, {}, ValueError, "must be a positive number"),
        ({"under": 1, "over": 1}, 0.1, 3, {}, ValueError, "loss must be"),
        ({}, 0.1, 3, {}, ValueError, "loss must be"),
        (5, 0.1, 3, {}, TypeError, "loss must be"),
        (lambda a, y: np.maximum(y - a, 0.0), 0.1, 0.2, {}, ValueError, "above the bound"),
        (lambda a, y: (a > y) * 1.0, 0.1, 3, {}, ValueError, "rises with the action"),
        (lambda a, y: (a < y) * 1.0, 0.1, 3, {"rises": True}, ValueError, "falls with the action"),
        (lambda a, y: a - 100.0, 0.1, 3, {}, ValueError, "negative or NaN"),
        (lambda a, y: 1.0, 0.1, 3, {}, ValueError, "returned the shape"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(rows, model, loss, alpha, bound, more, kind, words):
    X, y = rows
    with pytest.raises(kind, match=words):
        tare.control_risk(model, X[400:500], y[400:500], loss, alpha, bound, **more)
