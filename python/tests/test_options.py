# SPDX-License-Identifier: BSD-3-Clause
"""tare.options: a type for the options of each method, from the table."""
import importlib.util
import pathlib
import re

import numpy as np
import pytest

import tare
from tare import _core

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "make_python_options.py"


def words_of(annotation):
    """Of a Literal, which is a text or a reference to one."""
    return re.findall(r"""['"](\w+)['"]""", getattr(annotation, "__forward_arg__", None) or str(annotation))


@pytest.mark.parametrize("method", tare.methods())
def test_the_names_are_those_of_the_table(method):
    names = set(tare.options.BY_METHOD[method].__annotations__)
    known = set(tare.method_options(method))
    assert names >= known
    regressors = _core.regressors().values() if "regressor" in known else []
    assert names == known | {name for options in regressors for name in options}
    assert method in tare.options.BY_METHOD[method].__doc__


def test_every_choice_of_words_is_one_that_the_core_takes(small):
    """A word that is not in the core's list is refused by name; one that is fits, or fails for another reason."""
    texts = {**tare.options.Nrc.__annotations__, **tare.options.Auto.__annotations__}
    kernels = words_of(texts["kernel"])
    assert len(kernels) == 7
    for kernel in kernels:
        options = tare.options.Nrc(kernel=kernel, regressor="ridge", bandwidth=20 if kernel == "knn" else 0.5)
        model = tare.QuantileRegressor("nrc", options=options, bands=False).fit(small.X[:60], small.y[:60])
        assert model.describe()["kernel"]["kernel"] == kernel
    regressors = words_of(texts["regressor"])
    assert sorted(regressors) == sorted(_core.regressors())
    with pytest.raises(ValueError, match="naiv"):
        tare.QuantileRegressor("nrc", options={"kernel": "naiv"}).fit(small.X, small.y)


def test_they_are_dicts(small):
    options = tare.options.Nrc(regressor="ridge", bandwidth=0.5)
    assert options == {"regressor": "ridge", "bandwidth": 0.5} and type(options) is dict
    same = [tare.QuantileRegressor("nrc", options=given, bands=False).fit(small.X, small.y) for given in (options, dict(options))]
    assert np.array_equal(same[0].predict(small.X), same[1].predict(small.X))


def test_the_file_is_what_the_script_writes():
    if not SCRIPT.exists():
        pytest.skip("the sources are not beside the tests")
    spec = importlib.util.spec_from_file_location("make_python_options", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = pathlib.Path(tare.options.__file__).read_text(encoding="utf-8")
    assert written == script.module_text(_core.methods(), _core.regressors()), "python tools/make_python_options.py > python/tare/options.py"
