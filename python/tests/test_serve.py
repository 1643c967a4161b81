# SPDX-License-Identifier: BSD-3-Clause
"""tare.serve: the service as a process beside Python."""
import doctest
import json
import os
import urllib.error
import urllib.request

import numpy as np
import pytest

import tare
from tare import _serve


@pytest.fixture
def own(tool, small):
    return tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False).fit(small.X, small.y)


def ask(service, rows, headers=None):
    body = json.dumps({"rows": rows, "levels": [0.1, 0.9]}).encode()
    request = urllib.request.Request(service.url + "/v1/predict", body, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["rows"]


def test_answers_are_those_of_python_and_stop_ends_the_process(own, small):
    with tare.serve(own, token=True, n_jobs=1, max_rows=5) as service:
        assert service.running and service.port > 0 and "running" not in repr(service)
        rows = ask(service, [{"x0": 0.25, "x1": 0.5}], service.headers)
        assert [rows[0]["q0.1"], rows[0]["q0.9"]] == own.predict_quantiles([[0.25, 0.5]], [0.1, 0.9])[0].tolist()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(service, [{"x0": 0.25, "x1": 0.5}])
        with pytest.raises(urllib.error.HTTPError, match="413"):
            ask(service, [{"x0": 0.25, "x1": 0.5}] * 6, service.headers)
        process = service._process
    assert not service.running and process.returncode == 0
    assert repr(service).endswith(", stopped>")
    service.stop()


def test_a_file_is_served_and_requests_are_logged(own, tmp_path):
    own.save(tmp_path / "m.tare")
    with tare.serve(tmp_path / "m.tare", log=tmp_path / "log.jsonl") as service:
        assert service.given_columns == [] and service.token is None and service.headers == {}
        ask(service, [{"x0": 0.25, "x1": 0.5}])
    assert "/v1/predict" in (tmp_path / "log.jsonl").read_text()


def test_a_wrapped_estimator_is_refused_unless_clients_send_its_predictions(tool, small):
    model = tare.Calibrator(lambda X: X[:, 0], bands=False).calibrate(small.X, small.y)
    with pytest.raises(ValueError, match=r"the service cannot call: pass send_predictions=True, .* in the column 'prediction'"):
        tare.serve(model)
    with tare.serve(model, send_predictions=True) as service:
        assert service.given_columns == ["prediction"]
        rows = ask(service, [{"x0": 0.25, "x1": 0.5, "prediction": 0.25}])
    assert [rows[0]["q0.1"], rows[0]["q0.9"]] == model.predict_quantiles(np.array([[0.25, 0.5]]), [0.1, 0.9])[0].tolist()


def test_errors_speak_of_arguments(own, tmp_path, monkeypatch):
    with pytest.raises(TypeError, match="no argument 'max_row'"):
        tare.serve(own, max_row=5)
    with pytest.raises(RuntimeError, match=r"did not start: watch 1.5 does not lie strictly between 0 and 1") as raised:
        tare.serve(own, watch=1.5)
    assert "--" not in str(raised.value)
    with pytest.raises(RuntimeError, match="port must be at most 65535"):
        tare.serve(own, port=70000, log=tmp_path / "log")
    with tare.serve(own) as service, pytest.raises(RuntimeError, match=r"did not start: .*in use"):
        tare.serve(own, port=service.port)
    with pytest.raises(tare.NotFittedError):
        tare.serve(tare.QuantileRegressor())
    with pytest.raises(TypeError, match="got dict"):
        tare.serve({})
    with pytest.raises(FileNotFoundError, match=r"absent.tare"):
        tare.serve(tmp_path / "absent.tare")
    with pytest.raises(ValueError, match="one line"):
        tare.serve(own, token="a\nb")
    program = tmp_path / "tare"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(_serve, "command", lambda: str(program))
    with pytest.raises(TimeoutError, match=r"not ready after 0.2 seconds"):
        tare.serve(own, start_timeout=0.2)


def test_a_missing_command_is_said(own, monkeypatch):
    monkeypatch.setenv("TARE_TOOL", "/nowhere/tare")
    if os.path.exists(tare._command.INSIDE):
        pytest.skip("the command is inside the package")
    with pytest.raises(FileNotFoundError, match="TARE_TOOL is '/nowhere/tare'"):
        tare.serve(own)


def test_the_example_runs(tool, monkeypatch):
    monkeypatch.setenv("TARE_TOOL", tool)
    assert doctest.testmod(_serve).failed == 0


def test_no_temporary_file_stays(own, tmp_path, monkeypatch):
    monkeypatch.setattr(_serve.tempfile, "tempdir", str(tmp_path))
    with tare.serve(own, token="secret"):
        folder = next(tmp_path.glob("tare-serve-*"))
        assert oct(os.stat(folder / "token").st_mode)[-3:] == "600"
    with pytest.raises(RuntimeError):
        tare.serve(own, watch=0)
    assert list(tmp_path.iterdir()) == []


def test_models_after_cross_name_a_column_for_each_fold(tool, small):
    sklearn = pytest.importorskip("sklearn.linear_model")
    model = tare.Calibrator(sklearn.LinearRegression(), cv=3, guarantee="cross", bands=False).fit(small.X, small.y)
    with pytest.raises(ValueError, match="the columns 'prediction0' to 'prediction2'"):
        tare.serve(model)
    assert np.isfinite(model.predict_interval(small.X[:2])).all()
