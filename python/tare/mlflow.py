# SPDX-License-Identifier: BSD-3-Clause
"""tare's models in MLflow (``pip install mlflow``): log, save, load, and serve as a pyfunc.

    import mlflow, tare.mlflow

    with mlflow.start_run():
        info = tare.mlflow.log_model(calibrated, name="model", input_example=X.head())
    same = tare.mlflow.load_model(info.model_uri)                        # the estimator of tare
    served = mlflow.pyfunc.load_model(info.model_uri)                    # what 'mlflow models serve' answers with
    served.predict(X, params={"quantiles": [0.1, 0.5, 0.9]})             # columns q0.1, q0.5, q0.9
    served.predict(X, params={"confidence_level": [0.9], "point": True}) # prediction, lower_0.9, upper_0.9

A logged model is a folder with tare's own model file (`model.tare`, which the tool reads), the estimator's settings as JSON and, if there is a
wrapped model, that model as written by cloudpickle. Loading such a pickle runs code, as with every pickle: load models of sources that you trust.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import tempfile
from typing import Any

import numpy as np

try:
    import cloudpickle
    import mlflow.pyfunc
    from mlflow.models import Model, ModelSignature, infer_signature
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri
    from mlflow.types.schema import DataType, ParamSchema, ParamSpec
except ImportError as error:
    raise ImportError("tare.mlflow needs MLflow: pip install mlflow") from error

from ._calibrator import Calibrator
from ._core import version
from ._estimator import DEFAULT_QUANTILES, QuantileEstimator
from ._output import short
from ._predictor import Predictor
from ._regressor import QuantileRegressor

__all__ = ["get_default_pip_requirements", "infer_model_signature", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "tare"
_MODEL = "model.tare"
_SETTINGS = "settings.json"
_WRAPPED = "wrapped.pkl"
_FOLDER = "tare"
_CLASSES: dict[str, type[QuantileEstimator]] = {"Calibrator": Calibrator, "QuantileRegressor": QuantileRegressor}


def save_model(
    model: QuantileEstimator,
    path: Any,
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    conda_env: Any = None,
    code_paths: Any = None,
    metadata: Any = None,
    mlflow_model: Any = None,
) -> None:
    """Saves a fitted estimator as an MLflow model in a new folder.

    Parameters
    ----------
    model : fitted tare.Calibrator or tare.QuantileRegressor
    path : path
    signature : mlflow.models.ModelSignature, False or None
        None: that of `infer_model_signature` for the input example; without an example, the parameters alone. False: none.
    input_example : frame or array or None
        A few rows of X.
    pip_requirements, extra_pip_requirements, conda_env, code_paths, metadata, mlflow_model
        As in MLflow. The default requirements are `get_default_pip_requirements(model)`.
    """
    _check_fitted(model)
    mlflow_model = Model() if mlflow_model is None else mlflow_model
    if signature is None:
        signature = infer_model_signature(model, input_example)
    if pip_requirements is None and conda_env is None:
        pip_requirements = get_default_pip_requirements(model)
        if extra_pip_requirements is not None:
            extra = [extra_pip_requirements] if isinstance(extra_pip_requirements, str) else list(extra_pip_requirements)
            pip_requirements, extra_pip_requirements = pip_requirements + extra, None
    mlflow_model.add_flavor(FLAVOR_NAME, tare_version=version, data=f"data/{_FOLDER}", estimator=type(model).__name__)
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.join(temporary, _FOLDER)
        _write(model, folder)
        mlflow.pyfunc.save_model(
            path=os.fspath(path),
            loader_module="tare.mlflow",
            data_path=folder,
            code_paths=code_paths,
            conda_env=conda_env,
            mlflow_model=mlflow_model,
            signature=None if signature is False else signature,
            input_example=input_example,
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            metadata=metadata,
        )


def log_model(model: QuantileEstimator, name: str = "model", *, registered_model_name: str | None = None, **saving: Any) -> Any:
    """Logs a fitted estimator in the active run (a new run if there is none), and returns MLflow's `ModelInfo`.

    `saving`: the arguments of `save_model`, and those of `mlflow.models.Model.log` (`run_id`, `tags`, `params`, ...).
    """
    _check_fitted(model)
    module = sys.modules[__name__]
    return Model.log(artifact_path=None, name=name, flavor=module, registered_model_name=registered_model_name, model=model, **saving)


def load_model(model_uri: Any, dst_path: Any = None) -> Any:
    """The estimator of tare that was logged or saved, from a folder or a URI of MLflow ('runs:/...', 'models:/...')."""
    local = _download_artifact_from_uri(artifact_uri=os.fspath(model_uri), output_path=dst_path)
    flavors = Model.load(local).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(f"{model_uri} is not a model of tare: its flavors are {sorted(flavors)}.")
    return _read(os.path.join(local, *flavors[FLAVOR_NAME]["data"].split("/")))


def infer_model_signature(model: QuantileEstimator, input_example: Any = None) -> Any:
    """The signature: columns of the example, answers to it, and the parameters `quantiles`, `confidence_level` and `point`."""
    none: list[float] = []
    params = ParamSchema([
        ParamSpec("quantiles", DataType.double, none, shape=(-1,)),
        ParamSpec("confidence_level", DataType.double, none, shape=(-1,)),
        ParamSpec("point", DataType.boolean, False),
    ])  # fmt: skip
    if input_example is None:
        return ModelSignature(params=params)
    found = infer_signature(input_example, _Served(model).predict(input_example))
    return ModelSignature(inputs=found.inputs, outputs=found.outputs, params=params)


def get_default_pip_requirements(model: QuantileEstimator | None = None) -> list[str]:
    """The packages that the saved model needs: tare, pandas, cloudpickle, and the libraries of the wrapped model, in their versions here."""
    known = importlib.metadata.packages_distributions()
    roots = ["tare", "pandas", "cloudpickle"]
    if model is not None:
        inside = _libraries([getattr(model, "estimator_", None), getattr(model, "estimator", None)], set())
        roots += sorted(root for root in inside if root in known and root not in ("tare", "numpy"))
    found = []
    for root in roots:
        name = known[root][0] if root in known else root
        requirement = f"{name}=={version if root == 'tare' else importlib.metadata.version(name)}"
        if requirement not in found:
            found.append(requirement)
    return found


def _libraries(value: Any, seen: set[int], depth: int = 5) -> set[str]:
    """The packages of the classes of an object and of what is inside it."""
    if id(value) in seen or depth == 0:
        return set()
    seen.add(id(value))
    inside = list(value) if isinstance(value, (list, tuple)) else list(value.values()) if isinstance(value, dict) else []
    inside += list(vars(value).values()) if hasattr(value, "__dict__") and not isinstance(value, type) else []
    found = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    return found.union(*(_libraries(part, seen, depth - 1) for part in inside))


# --- the folder ----------------------------------------------------------------------------------


def _check_fitted(model: Any) -> None:
    if type(model) not in _CLASSES.values():
        raise TypeError(f"model must be a tare.Calibrator or a tare.QuantileRegressor, got {type(model).__name__}.")
    model._core_model()  # raises NotFittedError


def _write(model: QuantileEstimator, folder: str) -> None:
    os.makedirs(folder)
    model.save(os.path.join(folder, _MODEL))
    settings = {name: value for name, value in model.get_params(deep=False).items() if name != "estimator" and _is_plain(value)}
    with open(os.path.join(folder, _SETTINGS), "w", encoding="utf-8") as file:
        json.dump({"estimator": type(model).__name__, "params": settings}, file, indent=2)
    wrapped = {"estimator": getattr(model, "estimator", None), "estimator_": getattr(model, "estimator_", None)}
    if any(value is not None for value in wrapped.values()):
        with open(os.path.join(folder, _WRAPPED), "wb") as file:
            cloudpickle.dump(wrapped, file)


def _is_plain(value: Any) -> bool:
    """Whether JSON gives the same value back (a tuple as a list)."""
    try:
        again = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return False
    return bool(again == value) or (isinstance(value, tuple) and tuple(again) == value)


def _read(folder: str) -> Any:
    with open(os.path.join(folder, _SETTINGS), encoding="utf-8") as file:
        settings = json.load(file)
    wrapped: dict[str, Any] = {}
    if os.path.exists(os.path.join(folder, _WRAPPED)):
        with open(os.path.join(folder, _WRAPPED), "rb") as file:
            wrapped = cloudpickle.load(file)
    path = os.path.join(folder, _MODEL)
    loaded: Any
    if settings["estimator"] == "Calibrator":
        loaded = Calibrator.load(path, estimator=wrapped.get("estimator_"))
        loaded.estimator = wrapped.get("estimator")
    else:
        loaded = QuantileRegressor.load(path)
    names = loaded.get_params(deep=False)
    return loaded.set_params(**{name: value for name, value in settings["params"].items() if name in names})


# --- the pyfunc ----------------------------------------------------------------------------------


def _load_pyfunc(path: str) -> _Served:
    """Called by `mlflow.pyfunc.load_model`."""
    return _Served(_read(path))


class _Served:
    """What MLflow asks: a frame in, a frame out."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_raw_model(self) -> Any:
        return self.model

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """Quantiles (q0.05, ...), intervals (lower_0.9, upper_0.9, ...) and the point prediction (prediction), as the parameters ask.

        Without parameters: the quantiles 0.05, 0.5 and 0.95.
        """
        import pandas

        asked = params or {}
        levels = _levels(asked.get("quantiles"), "quantiles")
        intervals = _levels(asked.get("confidence_level"), "confidence_level")
        point = bool(asked.get("point"))
        if not (levels or intervals or point):
            levels = list(DEFAULT_QUANTILES)
        if self.model._core_model().given > 0 and self.model.estimator_ is None:
            if point:
                raise ValueError("point=True needs a wrapped model; this model takes the predictions as columns of its input.")
            model = self.model
            predictor = Predictor(model, levels=levels, interval=intervals, n_jobs=model.n_jobs, device=model.device)
            return predictor.predict_frame(data)
        X = self._features(data)
        answers: dict[str, Any] = {}
        if point:
            answers["prediction"] = np.asarray(self.model.predict(X), dtype=np.float64)
        wanted = levels + [bound for level in intervals for bound in (0.5 - level / 2, 0.5 + level / 2)]
        names = [f"q{short(level)}" for level in levels] + [f"{end}_{short(level)}" for level in intervals for end in ("lower", "upper")]
        if wanted:
            answers.update(zip(names, np.asarray(self.model.predict_quantiles(X, wanted), dtype=np.float64).T))
        return pandas.DataFrame(answers, index=getattr(data, "index", None))

    def _features(self, data: Any) -> Any:
        """The columns of the fit by name, in its order; an array if the model was fitted on one."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            return data.to_numpy() if hasattr(data, "to_numpy") else np.asarray(data)
        if not hasattr(data, "columns"):
            import pandas

            return pandas.DataFrame(np.asarray(data), columns=list(names))
        absent = [name for name in names if name not in data.columns]
        if absent:
            raise ValueError(f"The input has no column {absent[0]!r}, which the model was fitted on; its columns are {list(data.columns)}.")
        return data[list(names)]


def _levels(value: Any, name: str) -> list[float]:
    if value is None:
        return []
    levels = [float(level) for level in np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()]
    for level in levels:
        if not 0.0 < level < 1.0:
            raise ValueError(f"{name} must lie strictly between 0 and 1, got {level}.")
    return levels
