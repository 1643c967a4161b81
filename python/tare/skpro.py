# SPDX-License-Identifier: BSD-3-Clause
"""tare as a probabilistic regressor of skpro, and with it of sktime (``pip install skpro``).

>>> import numpy as np, pandas as pd, tare
>>> from sklearn.linear_model import LinearRegression
>>> from tare.skpro import TareRegressor
>>> rng = np.random.default_rng(0)
>>> X = pd.DataFrame({"a": rng.uniform(size=400)})
>>> y = X[["a"]] * 2 + rng.normal(size=(400, 1)) * 0.1
>>> model = TareRegressor(tare.Calibrator(LinearRegression())).fit(X, y)
>>> model.predict_interval(X.head(3), coverage=0.9).shape
(3, 2)
>>> distribution = model.predict_proba(X.head(3))
>>> distribution.cdf(y.head(3)).shape
(3, 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import pandas as pd
    from skpro.distributions.base import BaseDistribution
    from skpro.regression.base import BaseProbaRegressor
except ImportError as error:
    raise ImportError("tare.skpro needs skpro: pip install skpro") from error

from ._sklearn import clone
from ._types import FloatArray

__all__ = ["QuantileFunction", "TareRegressor"]

_LEVELS = np.round(np.arange(1, 1000) / 1000, 3)


class QuantileFunction(BaseDistribution):  # type: ignore[misc]
    """Distributions given by their quantiles at 0.001, 0.002, ..., 0.999, linear between them and constant beyond.

    The cdf is 0 below the first quantile and 1 from the last one on, and includes the jump at a value that several quantiles share.
    Mean, variance and energy give each of the 999 quantiles the same weight, so that a variance leaves out the spread of the last
    thousandth on each side. There is no density.

    Parameters
    ----------
    quantiles : array of shape (n, 999), or (999,) for a single distribution
    index : pandas.Index or None
    columns : pandas.Index or None
        With one name.

    Examples
    --------
    >>> import numpy as np
    >>> from tare.skpro import QuantileFunction
    >>> uniform = QuantileFunction(np.arange(1, 1000) / 1000)
    >>> round(float(uniform.ppf(0.25)), 6), round(float(uniform.cdf(0.3)), 6)
    (0.25, 0.3)
    """

    _tags = {  # noqa: RUF012 (skbase's way)
        "capabilities:approx": ["mean", "var", "energy"],
        "capabilities:exact": ["cdf", "ppf"],
        "distr:measuretype": "mixed",
        "distr:paramtype": "nonparametric",
    }

    def __init__(self, quantiles: Any, index: Any = None, columns: Any = None) -> None:
        self.quantiles = quantiles
        grid = np.asarray(quantiles, dtype=np.float64)
        if grid.ndim == 2:
            index = pd.RangeIndex(len(grid)) if index is None else index
            columns = pd.RangeIndex(1) if columns is None else columns
        super().__init__(index=index, columns=columns)
        if grid.shape[-1:] != _LEVELS.shape or grid.ndim > 2 or (grid.ndim == 2 and self.shape != (len(grid), 1)):
            raise ValueError(
                f"quantiles has shape {grid.shape}, where 999 quantiles for each row of the index and one column are expected."
            )
        self._grid = grid.reshape(-1, len(_LEVELS))

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> QuantileFunction:
        if np.ndim(rowidx) == 0 and rowidx is not None and np.ndim(colidx) == 0 and colidx is not None:
            return self._iat(rowidx, colidx)
        rows = np.arange(len(self._grid)) if rowidx is None else np.atleast_1d(np.asarray(rowidx))
        places = np.zeros(1, dtype=int) if colidx is None else np.atleast_1d(np.asarray(colidx))
        return QuantileFunction(self._grid[rows], index=self.index[rows], columns=self.columns[places])

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> QuantileFunction:
        if rowidx is None or colidx is None:
            raise ValueError("iat needs a row and a column.")
        return QuantileFunction(self._grid[rowidx])

    def _shaped(self, values: npt.NDArray[Any]) -> Any:
        """One value for each row, in the shape of the distribution."""
        return values.reshape(self.shape)

    def _ppf(self, p: Any) -> Any:
        """Quantiles at the levels p, one for each row."""
        levels = np.broadcast_to(np.asarray(p, dtype=np.float64), self.shape).reshape(-1)
        place = np.clip(levels * 1000 - 1, 0, len(_LEVELS) - 1)
        low = np.nan_to_num(np.floor(place + 1e-9)).astype(np.intp)
        share = np.clip(place - low, 0.0, 1.0)
        rows = np.arange(len(self._grid))
        left, right = self._grid[rows, low], self._grid[rows, np.minimum(low + 1, len(_LEVELS) - 1)]
        with np.errstate(invalid="ignore"):
            between = left + share * (right - left)
        value = np.where(share == 0, left, np.where(np.isfinite(right - left), between, np.where(np.isinf(left), left, right)))
        return self._shaped(np.where((levels < 0) | (levels > 1) | np.isnan(levels), np.nan, value))

    def _cdf(self, x: Any) -> Any:
        """P(Y <= x), one x for each row."""
        at = np.broadcast_to(np.asarray(x, dtype=np.float64), self.shape).reshape(-1)
        return self._shaped(np.array([_cdf_of_row(row, value) for row, value in zip(self._grid, at)]))

    def _mean(self) -> Any:
        with np.errstate(invalid="ignore"):
            return self._shaped(self._grid.mean(axis=1))

    def _var(self) -> Any:
        with np.errstate(invalid="ignore"):
            return self._shaped(self._grid.var(axis=1))

    def _energy_self(self) -> Any:
        """E|Y - Z| of two independent draws, summed over the columns."""
        ranks = 2 * np.arange(1, len(_LEVELS) + 1) - len(_LEVELS) - 1
        with np.errstate(invalid="ignore"):
            energy = 2.0 * (self._grid * ranks).sum(axis=1) / len(_LEVELS) ** 2
        return self._shaped(energy)

    def _energy_x(self, x: Any) -> Any:
        """E|Y - x|, summed over the columns."""
        at = np.broadcast_to(np.asarray(x, dtype=np.float64), self.shape).reshape(-1, 1)
        energy = np.abs(self._grid - at).mean(axis=1)
        return self._shaped(energy)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for skpro's own tests."""
        rows = np.array([[0.0], [1.0], [5.0]]) + np.array([[1.0], [2.0], [0.5]]) * _LEVELS
        return [{"quantiles": rows, "index": pd.Index([1, 2, 5]), "columns": pd.Index(["a"])}, {"quantiles": rows}, {"quantiles": rows[0]}]


def _cdf_of_row(quantiles: FloatArray, x: float) -> float:
    if np.isnan(x) or np.isnan(quantiles[0]):
        return float("nan")
    below = int(np.searchsorted(quantiles, x, side="right"))
    if below == 0:
        return 0.0
    if below == len(quantiles):
        return 1.0
    gap = quantiles[below] - quantiles[below - 1]
    share = (x - quantiles[below - 1]) / gap if np.isfinite(gap) and gap > 0 else 0.0
    return float((below + share) / 1000)


class TareRegressor(BaseProbaRegressor):  # type: ignore[misc]
    """A `tare.Calibrator` or `tare.QuantileRegressor` as a probabilistic regressor of skpro.

    `predict_quantiles` and `predict_interval` are those of the model, at any level, with its guarantee. `predict_proba` is a
    `QuantileFunction` of 999 quantiles (8 KB a row), from which `predict_var` comes. In sktime, `YfromX(TareRegressor(...))` is a forecaster
    from exogenous columns with intervals, quantiles and distributions.

    Parameters
    ----------
    model : tare.Calibrator, tare.QuantileRegressor or None
        Not fitted; `fit` trains a copy. None: `tare.Calibrator()`, which trains tare's own models.

    Attributes
    ----------
    model_ : tare.Calibrator or tare.QuantileRegressor
        The fitted copy.

    Examples
    --------
    >>> import tare
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from tare.skpro import TareRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> regressor = TareRegressor(tare.Calibrator(Ridge())).fit(X[:300], y[:300])
    >>> regressor.predict_quantiles(X[300:], alpha=[0.1, 0.9]).shape
    (142, 2)
    """

    _tags = {  # noqa: RUF012 (skbase's way)
        "capability:multioutput": False,
        "capability:missing": True,
        "python_dependencies": ["scikit-learn"],
    }

    def __init__(self, model: Any = None) -> None:
        self.model = model
        super().__init__()
        if model is None or getattr(model, "missing", "error") == "error":
            self.set_tags(**{"capability:missing": False})

    def _fit(self, X: Any, y: Any) -> TareRegressor:
        from ._calibrator import Calibrator

        self._columns = y.columns
        model = Calibrator() if self.model is None else clone(self.model)
        self.model_ = model.fit(_with_text_names(X), y.iloc[:, 0].to_numpy())
        return self

    def _predict(self, X: Any) -> Any:
        return pd.DataFrame(np.asarray(self.model_.predict(_with_text_names(X)), dtype=np.float64), index=X.index, columns=self._columns)

    def _quantiles(self, X: Any, levels: list[float]) -> npt.NDArray[Any]:
        return np.asarray(self.model_.predict_quantiles(_with_text_names(X), levels), dtype=np.float64)

    def _predict_quantiles(self, X: Any, alpha: list[float]) -> Any:
        names = pd.MultiIndex.from_product([self._columns, alpha])
        return pd.DataFrame(self._quantiles(X, alpha), index=X.index, columns=names)

    def _predict_interval(self, X: Any, coverage: list[float]) -> Any:
        levels = [0.5 + side * level / 2 for level in coverage for side in (-1, 1)]
        names = pd.MultiIndex.from_product([self._columns, coverage, ["lower", "upper"]])
        return pd.DataFrame(self._quantiles(X, levels), index=X.index, columns=names)

    def _predict_proba(self, X: Any) -> QuantileFunction:
        grid = self.model_._quantile_array(_with_text_names(X), _LEVELS)  # does not warn about levels at the ends
        return QuantileFunction(np.asarray(grid, dtype=np.float64), index=X.index, columns=self._columns)

    def _predict_var(self, X: Any) -> Any:
        return self._predict_proba(X).var()

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for skpro's own tests."""
        from sklearn.linear_model import Ridge

        from ._calibrator import Calibrator
        from ._regressor import QuantileRegressor

        own = QuantileRegressor("nrc", options={"regressor": "ridge", "split": "cross"})
        return [{"model": Calibrator(Ridge(), guarantee="none")}, {"model": own}]


def _with_text_names(X: Any) -> Any:
    """skpro accepts frames whose columns are named by texts and numbers together; tare's names are all texts, or none is."""
    kinds = {isinstance(name, str) for name in X.columns}
    return X.set_axis([str(name) for name in X.columns], axis=1) if len(kinds) > 1 else X
