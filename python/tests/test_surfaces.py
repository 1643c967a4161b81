# SPDX-License-Identifier: BSD-3-Clause
"""One file through the tool, the service, Python and C: the same columns, byte by byte, and the same notices."""
import ctypes
import json
import os
import re
import subprocess
import urllib.request

import numpy as np
import pytest

import tare

pandas = pytest.importorskip("pandas")

TRAIN_ROWS, ROWS = 400, 60
ASKED = {"levels": [0.05, 0.5], "interval": [0.8], "keep": ["id"]}


def write_rows(path, rows, seed):
    """Text, numbers with gaps, groups, a prediction; categories and groups that only the second file has."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(size=rows)
    colours = ["red", "green", "blue"] + (["mauve"] if seed else [])
    zones = ["north", "south"] + (["moon"] if seed else [])
    frame = pandas.DataFrame(
        {
            "id": [f'row "{i}", {seed}' for i in range(rows)],
            "colour": rng.choice(colours, rows),
            "size": np.where(np.arange(rows) % 19 == 7, np.nan, size.round(5)),
            "zone": rng.choice(zones, rows),
            "yhat": size.round(4),
        }
    )
    frame["y"] = (size + rng.normal(size=rows) * (0.1 + size)).round(6)
    if seed:  # a row far from all others
        frame.loc[3, "size"] = 40.0
    frame.to_csv(path, index=False)
    return frame


FITS = {
    "groups": ["--method", "nrc", "--regressor", "ridge", "--guarantee", "split:0.5", "--group", "zone", "--drop", "id,yhat", "--bands", "on"],
    "given": ["--prediction", "yhat", "--drop", "id,zone", "--method", "nrc_boost"],
    "series": ["--method", "nrc_rf", "--window", "3", "--set", "trees=10", "--drop", "id,yhat,zone,colour", "--bands", "off"],
    "knn": ["--method", "nrc", "--regressor", "ridge", "--kernel", "naive", "--bandwidth", "0.05", "--drop", "id,yhat,zone", "--bands", "off"],
}


def fit(tool, folder, model, name):
    rows = [str(folder / "train.csv"), "--target", "y", "--missing", "impute"]
    subprocess.run([tool, "fit", *rows, "-o", model, "-q", *FITS[name]], check=True)


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char_p), ("source", ctypes.c_char_p), ("line", ctypes.c_uint64),
                ("column", ctypes.c_char_p), ("option", ctypes.c_char_p), ("value", ctypes.c_char_p)]  # fmt: skip


class Library:
    """tare/c.h, as a language without a compiler calls it."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.tare_last_error.restype = ctypes.POINTER(Error)
        for name in ("code", "text"):
            getattr(self.c, f"tare_answers_notice_{name}").restype = ctypes.c_char_p
        for name in ("tare_answers_notices", "tare_answers_notice_rows"):
            getattr(self.c, name).restype = ctypes.c_size_t

    def call(self, name, *arguments):
        if getattr(self.c, name)(*arguments) != 0:
            raise ValueError(self.c.tare_last_error().contents.text.decode())

    def predict(self, model_path, data_path, options):
        model, table, answers, text = (ctypes.c_void_p() for _ in range(4))
        listed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        self.call("tare_model_open", model_path.encode(), ctypes.byref(model))
        self.call("tare_table_read_csv", data_path.encode(), ctypes.byref(table))
        self.call("tare_predict", model, table, listed, ctypes.c_size_t(len(options)), ctypes.byref(answers))
        self.call("tare_answers_csv", answers, table, ctypes.byref(text))
        csv = ctypes.string_at(text).decode()
        notices = []
        for k in range(self.c.tare_answers_notices(answers)):
            at = ctypes.c_size_t(k)
            notices.append((self.c.tare_answers_notice_code(answers, at).decode(), self.c.tare_answers_notice_rows(answers, at),
                            self.c.tare_answers_notice_text(answers, at).decode()))  # fmt: skip
        self.c.tare_free(text)
        self.c.tare_answers_free(answers)
        self.c.tare_table_free(table)
        self.c.tare_model_free(model)
        return csv, notices


def ask_service(tool, model, rows_csv, diagnostics):
    process = subprocess.Popen([tool, "serve", model, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        url = process.stdout.readline().decode().strip()
        query = f"levels=0.05,0.5&interval=0.8&keep=id&diagnostics={'true' if diagnostics else 'false'}"
        with open(rows_csv, "rb") as file:
            body = file.read()
        request = urllib.request.Request(f"{url.rstrip('/')}/v1/predict?{query}", body, {"Content-Type": "text/csv"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            csv, header = answer.read().decode(), answer.headers.get("Tare-Warnings", "")
        frame = pandas.read_csv(rows_csv)
        cells = [{name: None if value != value else value for name, value in row.items()} for row in frame.to_dict("records")]
        asked = {"rows": cells, "levels": [0.05, 0.5], "interval": [0.8], "diagnostics": diagnostics}
        request = urllib.request.Request(f"{url.rstrip('/')}/v1/predict", json.dumps(asked).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            warnings = json.loads(answer.read())["warnings"]
    finally:
        process.terminate()
        process.wait(30)
    notices = [(warning["code"], warning["rows"], warning["text"]) for warning in warnings]
    assert header == ", ".join(f"{code}={rows}" for code, rows, _ in notices)
    return csv, notices


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surfaces")
    write_rows(folder / "train.csv", TRAIN_ROWS, 0)
    write_rows(folder / "rows.csv", ROWS, 1)
    return folder


@pytest.mark.parametrize("diagnostics", [False, True])
@pytest.mark.parametrize("name", sorted(FITS))
def test_all_surfaces_give_the_same_bytes(tool, files, name, diagnostics):
    model, rows = str(files / f"{name}.tare"), str(files / "rows.csv")
    if not os.path.exists(model):
        fit(tool, files, model, name)
    asked = ["--levels", "0.05,0.5", "--interval", "0.8", "--keep", "id", *(["--diagnostics"] if diagnostics else [])]
    done = subprocess.run([tool, "predict", model, rows, *asked], check=True, capture_output=True, text=True)
    of_tool = [(code, text) for text, code in re.findall(r"^warning: .*?rows\.csv: (.*) \[(\w+)\]$", done.stderr, re.MULTILINE)]

    predictor = tare.Predictor(model, diagnostics=diagnostics, **ASKED)
    of_python = predictor.to_csv(pandas.read_csv(rows, dtype={"id": str}))
    notices = [(notice.code, notice.rows, str(notice)) for notice in predictor.notices]

    assert of_python == done.stdout
    assert of_tool == [(code, text) for code, _, text in notices]
    assert "imputed_values" in dict(of_tool) and len(notices) > (1 if name == "groups" else 0)
    assert ask_service(tool, model, rows, diagnostics) == (done.stdout, notices)

    library = os.path.join(os.path.dirname(tool), "libtare.so")
    if not os.path.exists(library):
        pytest.skip(f"{library} was not built, so that C is left out")
    options = ["levels=0.05,0.5", "interval=0.8", "keep=id", f"diagnostics={'yes' if diagnostics else 'no'}"]
    assert Library(library).predict(model, rows, options) == (done.stdout, notices)


def test_a_series_goes_on_from_frame_to_frame(tool, files):
    model = str(files / "series.tare")
    if not os.path.exists(model):
        fit(tool, files, model, "series")
    frame = pandas.read_csv(files / "rows.csv")
    whole = tare.Predictor(model).predict(frame)
    in_two = tare.Predictor(model)
    halves = [in_two.predict(frame.iloc[:25]), in_two.predict(frame.iloc[25:])]
    for name, values in whole.items():
        np.testing.assert_array_equal(np.concatenate([half[name] for half in halves]), values)
    assert [notice.rows for notice in in_two.notices if notice.code == "left_out_rows"] == [2]


def test_frames_have_the_index_of_the_answered_rows(tool, files):
    model = str(files / "series.tare")
    frame = pandas.read_csv(files / "rows.csv").set_index(pandas.Index([f"k{i}" for i in range(ROWS)]))
    answer = tare.Predictor(model, interval=0.9).predict_frame(frame)
    assert list(answer.columns) == ["lower_0.9", "upper_0.9"]
    assert list(answer.index) == [f"k{i}" for i in range(2, ROWS)]


def test_columns_that_the_model_does_not_read_may_hold_anything():
    """Dates, lists, infinite numbers; only what is kept must be numbers or texts."""
    regressor = tare.QuantileRegressor("nrc", options={"regressor": "ridge", "bands": "off"})
    train = pandas.DataFrame({"u": np.linspace(0, 1, 120), "v": np.linspace(1, 0, 120) ** 2})
    regressor.fit(train, train["u"] + np.sin(40 * train["v"]))
    asked = pandas.DataFrame({"u": [0.2, 0.4], "v": [0.5, 0.1]})
    wanted = tare.Predictor(regressor, interval=0.9).to_csv(asked)
    more = asked.assign(when=pandas.to_datetime(["2024-01-01", "2024-01-02"]), what=[[1], {}], far=[np.inf, 0.0], id=["a", "b"])
    more = more[["when", "v", "what", "far", "u", "id"]]
    assert tare.Predictor(regressor, interval=0.9).to_csv(more) == wanted
    answer = tare.Predictor(regressor, interval=0.9).predict_frame(more)
    np.testing.assert_array_equal(answer, tare.Predictor(regressor, interval=0.9).predict_frame(asked))
    kept = tare.Predictor(regressor, interval=0.9, keep=["id"]).to_csv(more).splitlines()
    assert [line.split(",", 1)[0] for line in kept] == ["id", "a", "b"]
    with pytest.raises(ValueError, match="'u'"):
        tare.Predictor(regressor).predict(more.drop(columns="u"))
    with pytest.raises(ValueError, match="0 feature"):
        tare.Predictor(regressor).predict(asked[[]])
