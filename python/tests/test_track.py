# SPDX-License-Identifier: BSD-3-Clause
"""tare.track, OnlineCalibrator, the tool and tare.Predictor give the same answers to the bit; none looks ahead."""

import subprocess

import numpy as np
import pytest
from online_streams import Stream, mean, saved_and_loaded, state

import tare

pandas = pytest.importorskip("pandas")

ROWS = 320
ROWS_OF_OWN = 150  # each of five fits of its model takes a tenth of a second


def frame_of(rows=ROWS, seed=0):
    """Numbers as a file has them, so that nothing is lost on the way through one."""
    stream = Stream(rows, seed)
    rng = np.random.default_rng(seed)
    data = pandas.DataFrame(stream.X.round(6), columns=["a", "b"])
    data["zone"] = rng.choice(["north", "south"], rows)
    data["volume"] = rng.normal(size=rows).round(4)
    data["forecast"] = mean(data[["a", "b"]].to_numpy()).round(6)
    data["y"] = stream.y.round(6)
    return data


FORMS = {
    "column": ({"prediction": "forecast"}, []),
    "own": ({"drop": ["forecast"]}, ["--drop", "forecast"]),
    "delay": ({"prediction": "forecast", "delay": 4}, ["--delay", "4"]),
    "late": ({"prediction": "forecast", "known_later": ["volume"]}, ["--known-later", "volume"]),
    "own_late": ({"drop": ["forecast"], "known_later": ["volume"]}, ["--drop", "forecast", "--known-later", "volume"]),
    "levels": ({"prediction": "forecast", "levels": [0.1, 0.6], "interval": [0.5]}, ["--levels", "0.1,0.6", "--interval", "0.5"]),
    "season": ({"prediction": "forecast", "period": 24, "lags": [1, 24], "start": 150}, ["--period", "24", "--lags", "1,24", "--start", "150"]),
}
# A model of its own is fitted again and again.
PARAMETERS = [pytest.param(form, id=form, marks=[pytest.mark.slow] * ("own" in form)) for form in sorted(FORMS)]


def rows_of(form):
    return ROWS_OF_OWN if "own" in form else ROWS


def by_tool(tool, path, form, *more):
    command = [tool, "track", str(path), "--target", "y", "-q", *FORMS[form][1], *more]
    if "prediction" in FORMS[form][0]:
        command += ["--prediction", "forecast"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return np.array([[float(cell) for cell in line.split(",")] for line in done.stdout.splitlines()[1:]])


def calibrator(form):
    """The same stream for OnlineCalibrator, and which columns it takes."""
    settings = {name: value for name, value in FORMS[form][0].items() if name not in ("prediction", "drop")}
    return tare.OnlineCalibrator(**settings)


def columns_of(data, form):
    given = {"y_pred": data["forecast"]} if "prediction" in FORMS[form][0] else {}
    return data.drop(columns=["y", "forecast"]), data["y"], given


@pytest.mark.parametrize("form", PARAMETERS)
def test_python_the_tool_and_the_file_agree_to_the_bit(form, tool, tmp_path):
    data = frame_of(rows_of(form))
    data.to_csv(tmp_path / "data.csv", index=False)
    tracked = tare.track(data, "y", **FORMS[form][0])
    read = tare.track(tmp_path / "data.csv", "y", **FORMS[form][0])
    np.testing.assert_array_equal(tracked.values, read.values)
    np.testing.assert_array_equal(tracked.values, by_tool(tool, tmp_path / "data.csv", form, "--save", str(tmp_path / "tool.tare")))
    online = calibrator(form)
    X, y, given = columns_of(data, form)
    answers = online.track(X, y, **given)
    np.testing.assert_array_equal(tracked.values, answers[tracked.rows])
    assert np.isnan(answers[: tracked.rows[0]]).all()
    assert tracked.coverage == np.ravel(online.coverage_)[0] and tracked.bound == np.ravel(online.bound_)[0]
    # The model after the last row: of the tool, of track, of the calibrator, and of its file.
    online.save(tmp_path / "online.tare")
    tracked.model.save(tmp_path / "tracked.tare")
    new = frame_of(30, seed=5)
    new.to_csv(tmp_path / "new.csv", index=False)
    asked = [tmp_path / name for name in ("tool.tare", "tracked.tare", "online.tare")]
    new["prediction"] = new["forecast"]  # as OnlineCalibrator calls the column
    frames = [tare.Predictor(path, interval=0.5).predict_frame(new) for path in asked]
    X, _, given = columns_of(new.drop(columns="prediction"), form)
    for found in (*frames[1:], online.predict_interval(X, 0.5, **given), tracked.model.predict_interval(X, 0.5, **given)):
        np.testing.assert_array_equal(frames[0].to_numpy(), np.asarray(found))
    command = [tool, "predict", str(asked[0]), str(tmp_path / "new.csv"), "--interval", "0.5", "-q"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    np.testing.assert_array_equal(frames[0].to_numpy(), np.loadtxt(done.stdout.splitlines(), delimiter=",", skiprows=1))


@pytest.mark.parametrize("form", [form for form in PARAMETERS if form.id in ("column", "own", "delay")])
def test_update_of_the_tool_and_of_python(form, tool, tmp_path):
    data, new = frame_of(rows_of(form)), frame_of(60, seed=7)
    new.to_csv(tmp_path / "new.csv", index=False)
    tracked = tare.track(data, "y", **FORMS[form][0])
    tracked.model.save(tmp_path / "online.tare")
    subprocess.run([tool, "update", str(tmp_path / "online.tare"), str(tmp_path / "new.csv"), "-q"], check=True, capture_output=True)
    X, y, given = columns_of(new, form)
    tracked.model.update(X, y, **given)
    taught = tare.OnlineCalibrator.load(tmp_path / "online.tare")
    assert state(taught)[0] == state(tracked.model)[0]
    assert taught.n_seen_ == len(data) + 60


@pytest.mark.parametrize("form", PARAMETERS)
@pytest.mark.parametrize("way", ["track", "tool"])
def test_no_answer_depends_on_a_later_row(form, way, tool, tmp_path):
    rows_of_data = rows_of(form)
    data = frame_of(rows_of_data)
    rng = np.random.default_rng(9)

    def answers(rows):
        if way == "track":
            return tare.track(rows, "y", **FORMS[form][0]).values
        rows.to_csv(tmp_path / "data.csv", index=False)
        return by_tool(tool, tmp_path / "data.csv", form)

    start = FORMS[form][0].get("start", 100)
    before = answers(data)
    for row in rng.integers(start, rows_of_data - 1, size=2):
        changed = data.copy()
        later = slice(row + 1, None)
        changed.loc[later, ["a", "b", "volume", "forecast"]] = rng.normal(size=(rows_of_data - row - 1, 4)).round(5)[: len(changed.loc[later])]
        changed.loc[later, "zone"] = rng.choice(["south", "moon"], rows_of_data - row - 1)
        changed.loc[row:, "y"] = 99.0
        if "late" in form:
            changed.loc[row, "volume"] = 55.0  # known with the target only
        np.testing.assert_array_equal(answers(changed)[: row + 1 - start], before[: row + 1 - start])


def test_the_result():
    data = frame_of(500)
    data.index = [f"row {i}" for i in range(500)]
    tracked = tare.track(data, "y", prediction="forecast", diagnostics=True)
    assert list(tracked.frame.columns) == ["lower_0.9", "upper_0.9", "prediction", "effective_n", "coverage_0.9", "drift_log_e"]
    assert list(tracked.frame.index) == list(data.index[100:])
    low, high = tracked.values[:, 0], tracked.values[:, 1]
    y = data["y"].to_numpy()[100:]
    inside = (low <= y) & (y <= high)
    assert tracked.coverage == inside.mean()
    assert tracked.mean_width == pytest.approx((high - low).mean())
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    assert tracked.winkler == pytest.approx(((high - low) + 20 * outside).mean())
    stretches = np.lib.stride_tricks.sliding_window_view(inside, 100).mean(axis=1)
    assert tracked.worst_stretch == pytest.approx(stretches.min())
    np.testing.assert_array_equal(tracked.targets, y)
    np.testing.assert_array_equal(tracked.predictions, data["forecast"][100:])
    np.testing.assert_array_equal(tracked.values[:, 2], data["forecast"][100:])
    assert "400 rows answered\n0.9 interval: coverage" in repr(tracked)
    assert tracked.alarms == [] and tracked.notices == []
    assert tracked.intervals[0].confidence == 0.9
    polars = pytest.importorskip("polars")
    other = tare.track(polars.from_pandas(data), "y", prediction="forecast", diagnostics=True)
    assert isinstance(other.frame, polars.DataFrame)
    np.testing.assert_array_equal(other.values, tracked.values)


def test_rows_at_the_end_without_a_target_are_answered_only():
    data = frame_of()
    data.loc[310:, "y"] = np.nan
    tracked = tare.track(data, "y", prediction="forecast")
    assert tracked.rows[-1] == ROWS - 1 and np.isnan(tracked.targets[-10:]).all()
    assert tracked.model.n_seen_ == 310
    for form in ("column", "delay"):
        X, y, given = columns_of(data, form)
        whole = tare.track(data, "y", **FORMS[form][0])
        np.testing.assert_array_equal(calibrator(form).track(X, y, **given)[100:], whole.values)


def test_an_alarm_has_rows_of_the_data():
    rng = np.random.default_rng(0)
    data = pandas.DataFrame({"a": rng.uniform(size=900), "f": np.zeros(900), "y": rng.normal(size=900)})
    data.loc[500:, "y"] *= 3
    tracked = tare.track(data, "y", prediction="f")
    (alarm,) = tracked.alarms
    assert 500 <= alarm.alarm_row < 600 and 450 < alarm.change_row <= alarm.alarm_row
    assert f"drift: alarm at row {alarm.alarm_row}" in repr(tracked)
    assert tracked.model.drift_.alarm_row == alarm.alarm_row


def test_models_of_python_of_tare_and_files(tmp_path):
    past, data = frame_of(300, seed=1), frame_of().drop(columns="forecast")
    fitted = tare.QuantileRegressor("nrc", options={"regressor": "ridge"}, bands=False)
    fitted.fit(past.drop(columns=["y", "forecast"]), past["y"])
    fitted.save(tmp_path / "fitted.tare")
    tracked = [tare.track(data, "y", model=model) for model in (fitted, tmp_path / "fitted.tare", tare.Predictor(fitted))]
    online = tare.OnlineCalibrator(fitted)
    answers = online.track(data.drop(columns="y"), data["y"])[100:]
    for found in tracked:
        np.testing.assert_array_equal(found.values, answers)
    again = saved_and_loaded(tmp_path)(tracked[0].model)
    np.testing.assert_array_equal(again.predict_interval(data.drop(columns="y")), online.predict_interval(data.drop(columns="y")))

    def model(X):
        return mean(X[["a", "b"]].to_numpy())

    python = tare.track(data, "y", model=model)
    around = tare.OnlineCalibrator(model).track(data.drop(columns="y"), data["y"])
    np.testing.assert_array_equal(python.values, around[100:])
    assert np.isfinite(python.model.predict_interval(data.drop(columns="y"))).all()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"target": None}, "target is None"),
        ({"target": "z"}, "data has no column 'z'"),
        ({"prediction": "z"}, "data has no column 'z'"),
        ({"known_later": ["z"]}, "data has no column 'z'"),
        ({"prediction": "forecast", "model": mean}, "leave one of them out"),
        ({"start": 320}, "data has 320 rows, and the first 320 are for warming up: use a smaller start"),
        ({"start": 30, "delay": 29}, "start is 30 and the delay 29.*use start=31 or more"),
        ({"target": "zone"}, "column 'zone': '[a-z]*' is not a number"),
        ({"method": "best"}, "best"),
        ({"levels": [2]}, "levels must lie strictly between 0 and 1, got 2.0"),
        ({"drop": [3]}, "drop has 3"),
    ],
)
def test_what_track_refuses(settings, text):
    with pytest.raises((ValueError, TypeError), match=text) as error:
        tare.track(frame_of(), **{"target": "y", "drop": [], **settings})
    assert "--" not in str(error.value)


def test_what_track_refuses_of_data(tmp_path):
    with pytest.raises(TypeError, match="data must be a data frame or the path of a file, got ndarray"):
        tare.track(np.zeros((200, 2)), "y")
    with pytest.raises(FileNotFoundError):
        tare.track(tmp_path / "absent.csv", "y")
    frame_of().to_csv(tmp_path / "data.csv")
    with pytest.raises(TypeError, match="but data is a file"):
        tare.track(tmp_path / "data.csv", "y", model=mean)
