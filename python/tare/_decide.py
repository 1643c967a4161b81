# SPDX-License-Identifier: BSD-3-Clause
"""Actions with the least expected cost, and levels that keep an expected loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._distribution import Distribution
from ._types import BoolArray, FloatArray

CostFunction = Callable[[Any, Any], Any]
CostLike = Mapping[str, Any] | CostFunction | Any

_NUMBERS_AT_ONCE = 2_000_000  # of temporary arrays
_FORMS = (
    "cost must be a dict {'over': 1, 'under': 4}, a table with the columns action, outcome and cost, or a function "
    "cost(action, outcome) with actions="
)
_INFINITE_TAIL = (
    "{} of {} rows have infinite quantiles. Expected costs count the outermost finite quantile in their place, and are too small by "
    "what lies beyond it."
)


class Actions(NamedTuple):
    """What `predict_action` returns: three arrays of shape (n,)."""

    action: FloatArray  #: the action with the least expected cost
    cost: FloatArray  #: its expected cost
    cost_of_mean: FloatArray  #: the expected cost of the action that is best if the outcome is the mean


def read_cost(cost: Any) -> _core.Cost:
    """Costs by unit, or a table, as the core has them."""
    names = set(cost) if isinstance(cost, Mapping) else set(getattr(cost, "columns", ()))
    if isinstance(cost, Mapping) and names & {"over", "under"}:
        if names != {"over", "under"}:
            raise ValueError(f"{_FORMS}, got the keys {', '.join(sorted(map(str, names)))}.")
        return _core.Cost.over_under(float(cost["over"]), float(cost["under"]))
    if not {"action", "outcome", "cost"} <= names:
        raise (TypeError if not names else ValueError)(f"{_FORMS}, got {type(cost).__name__}.")
    columns = []
    for name in ("action", "outcome", "cost"):
        try:
            columns.append(np.ascontiguousarray(cost[name], dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ValueError(f"cost[{name!r}] must be a column of numbers (number the actions): {error}") from error
    lengths = {column.shape for column in columns}
    if len(lengths) != 1 or columns[0].ndim != 1:
        raise ValueError(f"cost has columns of different lengths: {', '.join(str(len(np.atleast_1d(column))) for column in columns)}.")
    return _core.Cost.table(*columns)


def _level_weights() -> FloatArray:
    """What each quantile weighs in the integral of a function that is a straight line between them."""
    padded = np.concatenate([[0.0], Distribution.levels, [1.0]])
    steps = np.diff(padded)
    weights: FloatArray = (steps[:-1] + steps[1:]) / 2.0
    weights[0] += steps[0] / 2.0  # beyond the outermost levels the quantile is constant
    weights[-1] += steps[-1] / 2.0
    return weights


def _without_infinite(quantiles: FloatArray) -> tuple[FloatArray, int]:
    """Infinite quantiles replaced by the nearest finite one of the row, and the number of such rows."""
    finite = np.isfinite(quantiles)
    missing: BoolArray = np.isnan(quantiles)
    some: BoolArray = np.logical_and(finite.any(axis=1), ~missing.any(axis=1))
    first = np.take_along_axis(quantiles, finite.argmax(axis=1)[:, None], axis=1)
    last = np.take_along_axis(quantiles, (quantiles.shape[1] - 1 - finite[:, ::-1].argmax(axis=1))[:, None], axis=1)
    filled = np.where(quantiles == -np.inf, first, np.where(quantiles == np.inf, last, quantiles))
    filled[~some] = np.nan
    return filled, int((~finite & some[:, None]).any(axis=1).sum())


def _read_actions(actions: Any, rows: int) -> FloatArray:
    """Candidates as (1, A) for all rows, or (n, A)."""
    if actions is None:
        raise ValueError("A cost function needs actions=: the candidates, shape (A,) for all rows or (n, A).")
    array = np.asarray(actions, dtype=np.float64)
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or array.shape[0] not in (1, rows) or array.shape[1] == 0:
        raise ValueError(f"actions has shape {np.shape(actions)}, where (A,) or ({rows}, A) is expected.")
    if not np.isfinite(array).all():
        raise ValueError("actions has a value that is not finite.")
    return array


def _costs_of(cost: CostFunction, action: FloatArray, outcome: FloatArray) -> FloatArray:
    values = np.asarray(cost(action, outcome), dtype=np.float64)
    try:
        values = np.broadcast_to(values, outcome.shape)
    except ValueError as error:
        raise ValueError(
            f"cost(action, outcome) returned the shape {values.shape}, where {outcome.shape} is expected: it gets arrays of outcomes."
        ) from error
    if np.isnan(values[~np.isnan(outcome)]).any():
        raise ValueError("cost(action, outcome) returned NaN.")
    return values


def decide_by_function(cost: CostFunction, actions: Any, quantiles: FloatArray) -> tuple[Actions, list[tuple[str, int, str]]]:
    """The best of some actions for rows with quantiles at `Distribution.levels`."""
    rows = len(quantiles)
    candidates = _read_actions(actions, rows)
    filled, infinite = _without_infinite(np.asarray(quantiles, dtype=np.float64))
    weights = _level_weights()
    result = np.empty((rows, 3))
    size = max(1, _NUMBERS_AT_ONCE // len(weights))
    for start in range(0, rows, size):
        part = slice(start, start + size)
        law = filled[part]
        mean = law @ weights
        own = candidates if len(candidates) == 1 else candidates[part]
        expected = np.empty((len(law), own.shape[1]))
        sure = np.empty_like(expected)
        for k in range(own.shape[1]):
            action = np.broadcast_to(own[:, k : k + 1], (len(law), 1))
            expected[:, k] = _costs_of(cost, action, law) @ weights
            sure[:, k] = _costs_of(cost, action, mean[:, None])[:, 0]
        known = ~np.isnan(mean)
        best, of_mean = (np.where(known, np.argmin(np.where(known[:, None], table, 0.0), axis=1), 0) for table in (expected, sure))
        each = np.arange(len(law))
        result[part, 0] = np.broadcast_to(own, expected.shape)[each, best]
        result[part, 1] = expected[each, best]
        result[part, 2] = expected[each, of_mean]
        result[part][~known] = np.nan
    notices = [("infinite_tail", infinite, _INFINITE_TAIL.format(infinite, rows))] if infinite else []
    return Actions(result[:, 0], result[:, 1], result[:, 2]), notices


@dataclass(frozen=True)
class RiskControl:
    """The level that `control_risk` chose, and the inequality behind it.

    The action for a row is its quantile at `level`: ``model.predict_quantiles(X, control.level)``.

    Attributes
    ----------
    level : float
        The lowest level that keeps the inequality; the highest one for a loss that rises with the action.
    alpha, bound : float
        As passed.
    rows : int
        Number of calibration rows.
    mean_loss : float
        Of the calibration rows at this level.
    corrected_loss : float
        n / (n + 1) mean_loss + bound / (n + 1), which is at most alpha.
    rows_at_bound : int
        Calibration rows whose loss at this level is the bound, or was above and counts as the bound.
    """

    level: float
    alpha: float
    bound: float
    rows: int
    mean_loss: float
    corrected_loss: float
    rows_at_bound: int

    def __str__(self) -> str:
        return (
            f"level {self.level}: act on the quantile of a row at this level.\n"
            f"Mean loss of {self.rows} calibration rows: {self.mean_loss:.6g}; corrected for their number: {self.corrected_loss:.6g}.\n"
            f"Proven: the expected loss of a new row is at most {self.alpha}, on average over calibration rows and new rows, where no "
            f"loss counts for more than {self.bound}.\n"
            "Assumed: calibration rows and new rows are exchangeable, and no part of the fit has used the calibration rows."
        )


def _unit_loss(loss: Mapping[str, Any]) -> tuple[bool, float]:
    """Whether it rises with the action, and its rate."""
    if len(loss) != 1 or set(loss) - {"over", "under"}:
        raise ValueError(f"loss must be {{'under': rate}}, {{'over': rate}} or a function loss(action, outcome), got {dict(loss)!r}.")
    ((side, value),) = loss.items()
    rate = float(value)
    if not (rate > 0.0 and np.isfinite(rate)):
        raise ValueError(f"loss[{side!r}] must be a positive number, got {value!r}.")
    return side == "over", rate


def control_risk(
    model: Any,
    X: Any,
    y: Any,
    loss: Mapping[str, Any] | Callable[[Any, Any], Any],
    alpha: float,
    bound: float,
    *,
    rises: bool = False,
    y_pred: Any = None,
    y_std: Any = None,
    n_jobs: int | None = None,
) -> RiskControl:
    """The level whose quantile keeps the expected loss of a new row at most `alpha`: conformal risk control.

    With the losses L of n calibration rows at a level, the first level with n / (n + 1) mean(L) + bound / (n + 1) <= alpha is chosen
    among 1,009 fixed ones, in exact arithmetic (Angelopoulos, Bates, Fisch, Lei, Schuster 2024). If calibration rows and new rows are
    exchangeable, the expected loss at this level is at most `alpha`, on average over calibration rows and new rows. ``tare
    control-risk`` is the same on the command line.

    Parameters
    ----------
    model : Calibrator, QuantileRegressor or Predictor
        A fitted model.
    X, y : features and targets
        Calibration rows that no part of the fit has used, neither the model nor its calibration.
    loss : dict or callable
        {'under': 1}: 1 for each unit by which the action is less than the target; {'over': 1}: by which it is more. A loss above
        `bound` counts as `bound`. Or a function loss(action, outcome) of arrays of one shape. It must not be negative, must not
        exceed `bound`, and must never rise with the action (see `rises`); where it does on a calibration row, this is an error.
    alpha : float
        The expected loss that is allowed, between 0 and `bound`.
    bound : float
        The largest loss of a row.
    rises : bool
        Whether a loss function rises with the action. The highest level that keeps the inequality is then chosen.
    y_pred, y_std : arrays or None
        Predictions for X, for a `Calibrator` that was calibrated with given predictions.
    n_jobs : int or None

    Returns
    -------
    RiskControl

    Raises
    ------
    ValueError
        If no level keeps the inequality; with fewer than bound / alpha - 1 rows none does.

    Examples
    --------
    >>> import numpy as np, tare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(900, 1)); y = X[:, 0] + rng.normal(size=900) * X[:, 0]
    >>> model = tare.Calibrator(lambda X: X[:, 0]).calibrate(X[:300], y[:300])
    >>> control = tare.control_risk(model, X[300:600], y[300:600], {"under": 1}, alpha=0.1, bound=3)
    >>> actions = model.predict_quantiles(X[600:], control.level)[:, 0]
    >>> bool(np.maximum(y[600:] - actions, 0).mean() < 0.2)
    True
    """
    from ._report import read_rows
    from ._settings import threads_of

    if callable(loss):
        rate = None
    elif isinstance(loss, Mapping):
        rises, rate = _unit_loss(loss)
    else:
        raise TypeError(f"loss must be {{'under': rate}}, {{'over': rate}} or a function loss(action, outcome), got {type(loss).__name__}.")
    if not (bound > 0.0 and bound <= 1e100):
        raise ValueError(f"bound must be a positive number up to 1e100, got {bound!r}.")
    if not 0.0 < alpha < bound:
        raise ValueError(f"alpha must lie strictly between 0 and the bound {bound}, which no loss exceeds, got {alpha!r}.")
    core, _, rows = read_rows(model, X, y, y_pred, y_std)
    control = _core.RiskControl(float(alpha), float(bound), bool(rises))
    levels = _core.risk_levels()
    threads = threads_of(n_jobs)
    size = max(1, _NUMBERS_AT_ONCE // len(levels))
    for start in range(0, len(rows.y), size):
        part = slice(start, start + size)
        given = None if rows.given is None else np.ascontiguousarray(rows.given[part])
        group = None if rows.group is None else np.ascontiguousarray(rows.group[part])
        quantiles, _ = core.predict(np.ascontiguousarray(rows.x[part]), given, levels, threads, group)
        target = rows.y[part, None]
        if rate is not None:
            with np.errstate(over="ignore"):
                losses: npt.NDArray[np.float64] = rate * np.maximum(quantiles - target if rises else target - quantiles, 0.0)
        else:
            assert callable(loss)
            losses = _function_losses(loss, quantiles, target, float(bound), start)
        control.add(np.ascontiguousarray(losses, dtype=np.float64))
    found = control.choose()
    return RiskControl(
        level=levels[found["place"]],
        alpha=float(alpha),
        bound=float(bound),
        rows=found["rows"],
        mean_loss=found["mean_loss"],
        corrected_loss=found["corrected_loss"],
        rows_at_bound=found["rows_at_bound"],
    )


def _function_losses(loss: Callable[[Any, Any], Any], quantiles: FloatArray, target: FloatArray, bound: float, start: int) -> FloatArray:
    losses = np.asarray(loss(quantiles, np.broadcast_to(target, quantiles.shape)), dtype=np.float64)
    if losses.shape != quantiles.shape:
        raise ValueError(f"loss(action, outcome) returned the shape {losses.shape} for arrays of shape {quantiles.shape}.")
    above = np.flatnonzero((losses > bound).any(axis=1))
    if len(above):
        row = int(above[0])
        raise ValueError(
            f"loss(action, outcome) is {losses[row].max():.6g} in row {start + row}, which is above the bound {bound:.6g}: raise bound, "
            "or have the function count at most the bound."
        )
    return losses
