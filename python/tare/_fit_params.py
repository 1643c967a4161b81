# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of `fit` that go on to the wrapped estimator."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from ._host import on_host
from ._input import row_count, take_rows
from ._sklearn import routing_enabled
from ._types import IndexArray


class FitParams:
    """Keyword arguments for the estimator's `fit`. Those with an entry for each row are cut to the rows of a training."""

    def __init__(self, values: dict[str, Any], rows: int) -> None:
        self._values = values
        self._rows = rows

    def of(self, rows: IndexArray) -> dict[str, Any]:
        if len(rows) == self._rows:
            return dict(self._values)
        return {name: take_rows(value, rows) if self._is_by_row(value) else value for name, value in self._values.items()}

    def take(self, rows: IndexArray) -> FitParams:
        """For some of the rows."""
        return FitParams(self.of(rows), len(rows))

    def _is_by_row(self, value: Any) -> bool:
        if value is None or isinstance(value, (str, bytes, dict, type)):
            return False
        if isinstance(value, (list, tuple)):
            return len(value) == self._rows
        shape = getattr(value, "shape", None)
        return bool(shape is not None and len(shape) > 0 and row_count(value) == self._rows)


def takes_weight(estimator: Any) -> bool:
    """Whether the estimator's `fit` has a parameter sample_weight."""
    try:
        return "sample_weight" in inspect.signature(estimator.fit).parameters
    except (TypeError, ValueError):  # a fit without a signature, of a compiled class
        return False


def read_fit_params(calibrator: Any, rows: int, groups: Any, weight: Any, given: dict[str, Any]) -> tuple[FitParams, Any]:
    """The parameters for the estimator's `fit`, and the groups for the splitter.

    If scikit-learn's metadata routing is enabled, requests decide. Otherwise `given` goes on as it is, and the weights if the estimator
    takes them.
    """
    if routing_enabled():
        from sklearn.utils.metadata_routing import process_routing

        passed = {name: value for name, value in (("sample_weight", weight), ("groups", groups)) if value is not None}
        if not passed and not given:
            return FitParams({}, rows), None
        routed = process_routing(calibrator, "fit", **passed, **given)
        of_fit = dict(routed.estimator.fit) if "estimator" in routed else {}
        split = dict(routed.splitter.split) if "splitter" in routed else {}
        return FitParams(of_fit, rows), split.get("groups", groups)
    values = dict(given)
    if weight is not None:
        if takes_weight(calibrator.estimator):
            values["sample_weight"] = np.asarray(on_host(weight, "sample_weight"))
        elif not any(name.endswith("__sample_weight") for name in given):
            warnings.warn(
                f"sample_weight weighs the calibration only: fit of {type(calibrator.estimator).__name__} has no parameter sample_weight. "
                "For a step of a pipeline, also pass STEP__sample_weight.",
                stacklevel=4,
            )
    return FitParams(values, rows), groups


def routing_of(calibrator: Any) -> Any:
    """What scikit-learn's metadata routing needs to know: who gets the parameters of `fit`."""
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

    router = MetadataRouter(owner=calibrator).add_self_request(calibrator)
    if hasattr(calibrator.estimator, "get_metadata_routing"):
        router.add(estimator=calibrator.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    if hasattr(calibrator.cv, "get_metadata_routing"):
        router.add(splitter=calibrator.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    return router
