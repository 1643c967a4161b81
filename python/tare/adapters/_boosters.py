# SPDX-License-Identifier: BSD-3-Clause
"""Boosters of XGBoost and LightGBM, with the categories that they were trained on. (CatBoost's models take frames with texts as they are.)"""

from __future__ import annotations

from typing import Any

from .._types import FloatArray
from ._numbers import column_of_predictions


class XgboostModel:
    """An XGBoost booster with `predict`; see `xgboost_model`."""

    def __init__(self, booster: Any, *, iteration_range: tuple[int, int] | None = None) -> None:
        self.booster = booster
        self.iteration_range = iteration_range

    def predict(self, X: Any) -> FloatArray:
        """One prediction for each row."""
        import xgboost

        booster = self.booster
        types = booster.feature_types
        names = booster.feature_names or []
        if types is not None and "c" in types:
            X = _texts_as_categories(X, {name: None for name, kind in zip(names, types) if kind == "c"})
        rows = xgboost.DMatrix(X, enable_categorical=True)
        rounds = self.iteration_range
        if rounds is None:
            best = booster.attr("best_iteration")
            rounds = (0, 0) if best is None else (0, int(best) + 1)
        return column_of_predictions(booster.predict(rows, iteration_range=rounds), "The XGBoost booster")

    def __repr__(self) -> str:
        return f"xgboost_model({self.booster!r})"


def xgboost_model(booster: Any, *, iteration_range: tuple[int, int] | None = None) -> XgboostModel:
    """An XGBoost `Booster` as a model with `predict` for arrays and frames, which makes the `DMatrix`.

    A column of texts of a pandas frame becomes a category if the booster was trained on categories in it. XGBoost from 3.1 on finds
    the codes of the training by the categories' names; an earlier version takes the codes of the frame as they are, so that
    X must then have the categories of the training in their order.

    Parameters
    ----------
    booster : xgboost.Booster
    iteration_range : (int, int) or None
        The rounds to use. None: up to the best one if early stopping found it, otherwise all, as in XGBoost's estimators.
    """
    return XgboostModel(booster, iteration_range=iteration_range)


class LightgbmModel:
    """A LightGBM model with `predict`; see `lightgbm_model`."""

    def __init__(self, model: Any, *, num_iteration: int | None = None) -> None:
        self.model = model
        self.num_iteration = num_iteration

    def predict(self, X: Any) -> FloatArray:
        """One prediction for each row."""
        model = self.model
        booster = model if hasattr(model, "pandas_categorical") else getattr(model, "_Booster", None)
        known = getattr(booster, "pandas_categorical", None)
        if known:
            X = _texts_as_categories(X, known)
        return column_of_predictions(model.predict(X, num_iteration=self.num_iteration), "The LightGBM model")

    def __repr__(self) -> str:
        return f"lightgbm_model({self.model!r})"


def lightgbm_model(model: Any, *, num_iteration: int | None = None) -> LightgbmModel:
    """A LightGBM `Booster` or estimator as a model that also takes its categories as texts.

    LightGBM itself refuses a pandas frame whose categories arrive as texts, as they do from CSV and JSON. Columns of texts get the
    categories of the training here; a text that is not among them is a missing value, as LightGBM treats a new category.

    Parameters
    ----------
    model : lightgbm.Booster or lightgbm.LGBMRegressor
    num_iteration : int or None
        The number of rounds to use. None: up to the best one if early stopping found it, otherwise all.
    """
    return LightgbmModel(model, num_iteration=num_iteration)


def _texts_as_categories(X: Any, known: Any) -> Any:
    """A pandas frame whose columns of texts are categories.

    `known`: a dict of names, of which the columns of texts are categories as they come; or LightGBM's list of categories, one for each
    column that is not numeric, in order.
    """
    if not hasattr(X, "iloc") or not hasattr(X, "dtypes"):
        return X
    import pandas

    def is_text(kind: Any) -> bool:
        return bool(pandas.api.types.is_object_dtype(kind) or pandas.api.types.is_string_dtype(kind))

    kinds = dict(X.dtypes)
    texts = [name for name, kind in kinds.items() if not isinstance(kind, pandas.CategoricalDtype) and is_text(kind)]
    if not texts:
        return X
    if isinstance(known, dict):
        return X.assign(**{name: X[name].astype("category") for name in texts if name in known})
    categorical = [name for name, kind in kinds.items() if isinstance(kind, pandas.CategoricalDtype) or name in texts]
    if len(categorical) != len(known):
        raise ValueError(
            f"X has {len(categorical)} columns of texts or categories ({categorical}), but the LightGBM model was trained on "
            f"{len(known)}: leave out the others, or turn them into numbers."
        )
    return X.assign(**{name: pandas.Categorical(X[name], categories=known[categorical.index(name)]) for name in texts})
