# SPDX-License-Identifier: BSD-3-Clause
"""Each way of getting 90 % intervals and 99 quantiles around the same point model, as a user of the library would write it.

A peer is a function of the problem and a clock. It marks its stages with `clock(name)`, lets `clock.row_alone` time the interval of a
single row at the end, and returns the interval, shape (n, 2), and
the quantiles, shape (n, 99), or None where the library has none.
"""

import numpy as np

from pypeers.problem import LEVEL, QUANTILES

THREADS = 2


class Peer:
    """A function, what kind of method it is, and what a reader of the table has to know."""

    def __init__(self, run, kind, note):
        self.run, self.kind, self.note = run, kind, note


def _tare(**options):
    def run(problem, clock):
        import tare

        with clock("calibrate"):
            calibrated = tare.Calibrator(problem.model, n_jobs=THREADS, **options).calibrate(problem.x, problem.y)
        with clock("interval"):
            interval = calibrated.predict_interval(problem.x_test, confidence_level=LEVEL)
        with clock("quantiles"):
            quantiles = calibrated.predict_quantiles(problem.x_test, QUANTILES)
        clock.row_alone(lambda: calibrated.predict_interval(problem.x_test[:1], confidence_level=LEVEL))
        return interval, quantiles

    return run


def _mapie_split(problem, clock):
    from mapie.regression import SplitConformalRegressor

    with clock("calibrate"):
        conformal = SplitConformalRegressor(problem.model, confidence_level=LEVEL, prefit=True)
        conformal.conformalize(problem.x, problem.y)
    with clock("interval"):
        _, interval = conformal.predict_interval(problem.x_test)
    clock.row_alone(lambda: conformal.predict_interval(problem.x_test[:1]))
    return interval[:, :, 0], None


def _mapie_cqr(problem, clock):
    from mapie.regression import ConformalizedQuantileRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor

    with clock("train"):
        boosting = HistGradientBoostingRegressor(loss="quantile", quantile=0.5, random_state=0)
        conformal = ConformalizedQuantileRegressor(boosting, confidence_level=LEVEL)
        conformal.fit(problem.x_train, problem.y_train)
    with clock("calibrate"):
        conformal.conformalize(problem.x, problem.y)
    with clock("interval"):
        _, interval = conformal.predict_interval(problem.x_test)
    clock.row_alone(lambda: conformal.predict_interval(problem.x_test[:1]))
    return interval[:, :, 0], None


def _linear_map(x):
    return np.column_stack([np.ones(len(x)), x])


def _mapie_conditional(problem, clock):
    from mapie.conditional_conformal_prediction import ConditionalSplitConformalRegressor

    with clock("calibrate"):
        conformal = ConditionalSplitConformalRegressor(_linear_map, problem.model, confidence_level=LEVEL, prefit=True)
        conformal.conformalize(problem.x, problem.y)
    with clock("interval"):
        _, interval = conformal.predict_interval(problem.x_test)
    clock.row_alone(lambda: conformal.predict_interval(problem.x_test[:1]))
    return interval[:, :, 0], None


def _crepes(problem, clock, prepare):
    """`prepare(X, y)` gives the difficulties, the categories and the rows that calibrate. The systems give the quantiles."""
    from crepes import WrapRegressor

    with clock("calibrate"):
        de, mc, x, y = prepare(problem)
        regressor = WrapRegressor(problem.model)
        regressor.calibrate(x, y, de=de, mc=mc, seed=0)
        system = WrapRegressor(problem.model)
        system.calibrate(x, y, de=de, mc=mc, cps=True, seed=0)
    with clock("interval"):
        interval = regressor.predict_int(problem.x_test, confidence=LEVEL)
    with clock("quantiles"):
        percentiles = (100 * QUANTILES).round().tolist()
        quantiles = system.predict_percentiles(problem.x_test, higher_percentiles=percentiles)
    clock.row_alone(lambda: regressor.predict_int(problem.x_test[:1], confidence=LEVEL))
    return interval, quantiles


def _crepes_plain(problem, clock):
    return _crepes(problem, clock, lambda p: (None, None, p.x, p.y))


def _crepes_normalized(problem, clock):
    def prepare(p):
        from crepes.extras import DifficultyEstimator

        half = len(p.y) // 2
        residuals = p.y[:half] - p.model.predict(p.x[:half])
        return DifficultyEstimator().fit(p.x[:half], residuals=residuals), None, p.x[half:], p.y[half:]

    return _crepes(problem, clock, prepare)


def _crepes_mondrian(problem, clock):
    def prepare(p):
        from crepes.extras import MondrianCategorizer

        return None, MondrianCategorizer().fit(p.x, f=p.model.predict, no_bins=20), p.x, p.y

    return _crepes(problem, clock, prepare)


def _quantile_forest(problem, clock):
    from quantile_forest import RandomForestQuantileRegressor

    with clock("calibrate"):
        forest = RandomForestQuantileRegressor(random_state=0, n_jobs=THREADS).fit(problem.x, problem.y)
    with clock("interval"):
        interval = forest.predict(problem.x_test, quantiles=[0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    with clock("quantiles"):
        quantiles = forest.predict(problem.x_test, quantiles=QUANTILES.tolist())
    clock.row_alone(lambda: forest.predict(problem.x_test[:1], quantiles=[0.5 - LEVEL / 2, 0.5 + LEVEL / 2]))
    return interval, quantiles


PEERS = {
    "tare": Peer(_tare(), "tare", "Calibrator(model).calibrate(X, y), as it comes"),
    "tare_nrc": Peer(_tare(method="nrc", options={"screen": "yes"}), "tare", "method='nrc', options={'screen': 'yes'}"),
    "tare_all": Peer(_tare(features="all"), "tare", "features='all'"),
    "tare_all_none": Peer(_tare(features="all", guarantee="none"), "tare", "features='all', guarantee='none'"),
    "tare_rate": Peer(_tare(bandwidth="rate"), "tare", "bandwidth='rate'"),
    "tare_none": Peer(_tare(guarantee="none"), "tare", "guarantee='none'"),
    "tare_split": Peer(_tare(guarantee="split"), "tare", "guarantee='split'"),
    "tare_naive": Peer(_tare(kernel="naive"), "tare", "kernel='naive'"),
    "mapie_split": Peer(_mapie_split, "marginal", "SplitConformalRegressor; intervals only"),
    "mapie_cqr": Peer(
        _mapie_cqr,
        "quantile",
        "ConformalizedQuantileRegressor; three boosted quantile models trained on the point model's training rows; intervals only",
    ),
    "mapie_conditional": Peer(
        _mapie_conditional, "localised", "ConditionalSplitConformalRegressor, linear in the features; intervals only"
    ),
    "crepes": Peer(_crepes_plain, "marginal", "ConformalRegressor, and ConformalPredictiveSystem for the quantiles"),
    "crepes_normalized": Peer(
        _crepes_normalized,
        "localised",
        "the same with DifficultyEstimator: 25 nearest residuals of half of the rows, the other half calibrates",
    ),
    "crepes_mondrian": Peer(_crepes_mondrian, "localised", "the same with 20 categories of the prediction"),
    "quantile_forest": Peer(_quantile_forest, "quantile", "RandomForestQuantileRegressor, 100 trees trained on the rows; no point model"),
}
