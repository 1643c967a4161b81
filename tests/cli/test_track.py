# SPDX-License-Identifier: BSD-3-Clause
"""track and update: rows in time order, each answered before its target is seen."""
import gzip
import math
import os
import random
import re

from harness import BAD_DATA, NOT_FOUND, USAGE, CliTest, csv_text, main

COLUMNS = ["a", "c", "late", "p", "y"]
START = 40


def stream(count, seed=1, change=None):
    """Rows of a feature, a category, a column that is known later, a prediction and the target. Errors follow each
    other, and their spread depends on the category; from row `change` on it is three times as large."""
    rng = random.Random(seed)
    rows, error = [], 0.0
    for i in range(count):
        a, c = round(rng.uniform(0, 5), 3), rng.choice("uv")
        factor = 3.0 if change is not None and i >= change else 1.0
        error = 0.4 * error + factor * rng.gauss(0, 0.3 if c == "u" else 0.9)
        p = round(2 * a + math.sin(i / 4), 3)
        rows.append([a, c, round(rng.gauss(0, 1), 3), p, round(p + error, 3)])
    return rows


class TrackTest(CliTest):
    def write_rows(self, name, rows, header=COLUMNS):
        return self.write(name, csv_text(header, rows))

    def track(self, data, *args, start=START, **options):
        return self.ok("track", data, "--target", "y", "--prediction", "p", "--start", start, "-q", *args, **options)


class Answers(TrackTest):
    def setUp(self):
        super().setUp()
        self.rows = stream(160)
        self.write_rows("s.csv", self.rows)

    def test_each_row_after_the_start_has_an_answer(self):
        result = self.track("s.csv")
        self.assertEqual(result.rows()[0], ["lower_0.9", "upper_0.9"])
        self.assertEqual(len(result.numbers()), 160 - START)
        for low, high in result.numbers():
            self.assertTrue(-100 < low <= high < 100)
        self.assertEqual(result.err, "")

    def test_columns_follow_levels_and_intervals(self):
        result = self.track("s.csv", "--levels", "0.5,0.1", "--interval", "0.8,0.95")
        self.assertEqual(result.rows()[0], ["q0.5", "q0.1", "lower_0.8", "upper_0.8", "lower_0.95", "upper_0.95"])
        for q5, q1, low, high, lowest, highest in result.numbers():
            self.assertTrue(lowest <= low <= q5 <= high <= highest and low == q1, "quantiles never cross")

    def test_an_answer_does_not_depend_on_the_report_or_diagnostics(self):
        plain = self.track("s.csv").numbers()
        result = self.track("s.csv", "--diagnostics", "--report", "page.html")
        header = result.rows()[0]
        self.assertEqual(header, ["lower_0.9", "upper_0.9", "prediction", "effective_n", "coverage_0.9", "drift_log_e"])
        self.assertEqual([[float(cell) for cell in row[:2]] for row in result.rows()[1:]], plain)
        table = result.table()
        self.assertEqual([float(row["prediction"]) for row in table], [row[3] for row in self.rows[START:]])
        self.assertEqual(table[0]["coverage_0.9"], "", "nothing is known before the first target")
        # The share is that of the rows before this one.
        inside = 0
        for i, row in enumerate(table):
            if i > 0:
                self.assertAlmostEqual(float(row["coverage_0.9"]), inside / i, places=12)
            inside += float(row["lower_0.9"]) <= self.rows[START + i][4] <= float(row["upper_0.9"])
        self.assertTrue(all(float(row["effective_n"]) > 0 for row in table))

    def test_summary_has_the_numbers(self):
        result = self.ok("track", "s.csv", "--target", "y", "--prediction", "p", "--start", START)
        inside, widths, scores = [], [], []
        for (low, high), row in zip(result.numbers(), self.rows[START:]):
            y = row[4]
            inside.append(low <= y <= high)
            widths.append(high - low)
            scores.append(high - low + 20 * (max(low - y, 0) + max(y - high, 0)))
        count = len(inside)
        worst = min(sum(inside[i:i + 100]) for i in range(count - 99)) / 100
        self.assertTrue(result.err.startswith(f"{count} rows answered\n"), result.err)
        self.assertNotIn("\n\n", result.err)
        self.assertIn(f"coverage {sum(inside) / count:.3f}, mean width {sum(widths) / count:.4g}, "
                      f"mean Winkler score {sum(scores) / count:.4g}, lowest coverage of 100 rows {worst:.2f}", result.err)

    def test_json_and_kept_columns(self):
        plain = self.track("s.csv", "--keep", "c,y")
        self.assertEqual(plain.rows()[0], ["c", "y", "lower_0.9", "upper_0.9"])
        lines = self.track("s.csv", "--keep", "c,y", "--json").json_lines()
        self.assertEqual([[line["c"], float(line["y"]), line["lower_0.9"], line["upper_0.9"]] for line in lines],
                         [[row[0], float(row[1]), float(row[2]), float(row[3])] for row in plain.rows()[1:]])
        self.assertEqual(self.track("s.csv", "--keep", "all").rows()[0], [*COLUMNS, "lower_0.9", "upper_0.9"])
        self.fails(NOT_FOUND, "track", "s.csv", "--target", "y", "--prediction", "p", "--start", START, "--keep", "d",
                   says=["'d'"])

    def test_input_from_a_pipe_or_gzip_gives_the_same_bytes(self):
        plain = self.track("s.csv").bytes
        self.assertEqual(self.track("-", stdin=self.read("s.csv")).bytes, plain)
        self.write("s.csv.gz", gzip.compress(self.read("s.csv")))
        self.assertEqual(self.track("s.csv.gz").bytes, plain)

    def test_methods_and_their_options(self):
        answers = {self.track("s.csv").bytes}
        for method in ("aci", "dtaci", "tracker", "pid", "eci", "enbpi", "trailing"):
            answers.add(self.track("s.csv", "--method", method).bytes)
        self.assertEqual(len(answers), 8, "each method answers in its own way")
        self.assertNotEqual(self.track("s.csv", "--method", "tracker", "--set", "step=0.5").bytes,
                            self.track("s.csv", "--method", "tracker").bytes)
        for option in (["--period", "8"], ["--lags", "1,8"], ["--drop", "a,c,late"], ["--features", "a"], ["--set", "window=50"]):
            self.assertIn(self.track("s.csv", *option).bytes.count(b"\n"), [161 - START], option)
        self.assertNotEqual(self.track("s.csv", "--lags", "1,8").bytes, self.track("s.csv", "--lags", "2").bytes)
        self.assertEqual(self.track("s.csv", "--categorical", "c").bytes, self.track("s.csv").bytes)

    def test_infinite_answers_are_printed_as_such(self):
        result = self.track("s.csv", "--method", "aci", "--json", start=5)
        first = result.json_lines()[0]
        csv = self.track("s.csv", "--method", "aci", start=5)
        self.assertEqual(csv.rows()[1], ["-inf", "inf"])
        self.assertIsNone(first["upper_0.9"], "JSON has no infinity")
        self.assertIn("mean width inf", self.ok("track", "s.csv", "--target", "y", "--prediction", "p", "--method", "aci",
                                                "--start", "5").err)

    def test_own_model_and_threads(self):
        line = ["track", "s.csv", "--target", "y", "--start", "110", "-q"]
        one = self.ok(*line, "--threads", "1").bytes
        self.assertEqual(self.ok(*line, "--threads", "3").bytes, one)
        self.assertEqual(one.count(b"\n"), 51)
        self.assertNotEqual(self.ok(*line, "--seed", "5").bytes, one)

    def test_around_a_fitted_model(self):
        self.write_rows("old.csv", stream(80, seed=9))
        self.fit("old.csv", "--method", "nrc", "--regressor", "ridge", "--drop", "p,late")
        result = self.ok("track", "s.csv", "--model", "m.tare", "--start", START, "-q", "--diagnostics")
        medians = self.ok("predict", "m.tare", "s.csv", "--levels", "0.5", "-q").numbers()
        self.assertEqual([float(row["prediction"]) for row in result.table()], [q for q, in medians[START:]])
        self.assertEqual(self.ok("track", "s.csv", "--model", "m.tare", "--target", "y", "--start", START, "-q",
                                 "--diagnostics", "--threads", "2").bytes, result.bytes)

    def test_drift_is_said_with_the_line(self):
        self.write_rows("d.csv", stream(500, seed=4, change=250))
        line = ["track", "d.csv", "--target", "y", "--prediction", "p", "--start", START]
        err = self.ok(*line).err
        found = re.search(r"drift: alarm at line (\d+), change from about line (\d+) \(spread x ([\d.]+)", err)
        self.assertTrue(found, err)
        alarm, change, scale = int(found[1]), int(found[2]), float(found[3])
        self.assertTrue(252 <= alarm <= 400 and abs(change - 252) < 60 and scale > 1.5, err)
        rare = self.ok(*line, "--drift-rate", "1e-9").err
        later = re.search(r"alarm at line (\d+)", rare)
        self.assertTrue(later is None or int(later[1]) > alarm, rare)


class LookAhead(TrackTest):
    def check(self, rows, line, answered):
        """Whatever one cell after a row becomes, the answers up to that row have the same bytes."""
        self.write_rows("s.csv", rows)
        whole = self.ok(*line).bytes.splitlines()
        rng = random.Random(5)
        for trial in range(24):
            place = rng.randrange(len(rows) - 60, len(rows))
            changed = [list(row) for row in rows]
            column = trial % len(COLUMNS)
            changed[place][column] = {0: "99", 1: "new", 2: "-7", 3: "1000", 4: rng.choice(["", "5000"])}[column]
            self.write_rows("s.csv", changed)
            lines = self.ok(*line).bytes.splitlines()
            # The row itself is answered from its own columns, but not from its target or what is known later.
            same = answered(place) + (1 if column in (2, 4) else 0)
            self.assertEqual(lines[:1 + same], whole[:1 + same], f"{COLUMNS[column]} of row {place}")
            self.assertEqual(len(lines), len(whole))
            if column == 4 and changed[place][4] != "" and place + 3 < len(rows):
                self.assertNotEqual(lines, whole, "later answers do know the target")

    def test_no_answer_depends_on_a_later_cell(self):
        line = ["track", "s.csv", "--target", "y", "--prediction", "p", "--start", START, "-q", "--known-later", "late",
                "--diagnostics"]
        self.check(stream(160), line, lambda place: place - START)

    def test_with_a_season_and_rows_without_a_target(self):
        rows = stream(160)
        for i in (70, 71, 110, 111, 112, 150):
            rows[i][4] = ""
        line = ["track", "s.csv", "--target", "y", "--prediction", "p", "--start", START, "-q", "--known-later", "late",
                "--period", "6", "--delay", "2"]
        self.check(rows, line, lambda place: place - START)

    def test_with_a_model_of_its_own(self):
        line = ["track", "s.csv", "--target", "y", "--start", "105", "-q", "--known-later", "late,p"]
        rows = stream(180)
        self.write_rows("s.csv", rows)
        whole = self.ok(*line).bytes.splitlines()
        for place in (125, 150, 179):
            changed = [list(row) for row in rows]
            changed[place][4] = "77"
            self.write_rows("s.csv", changed)
            self.assertEqual(self.ok(*line).bytes.splitlines()[:2 + place - 105], whole[:2 + place - 105])

    def test_targets_that_never_come_change_nothing_before(self):
        """All targets from some row on are blank: rows up to it keep their answers, and gaps count as steps either way."""
        rows = stream(150)
        line = ["track", "s.csv", "--target", "y", "--prediction", "p", "--start", START, "-q", "--period", "5"]
        for i in range(120, 126):
            rows[i][4] = ""
        self.write_rows("s.csv", rows)
        whole = self.ok(*line).bytes.splitlines()
        for row in rows[126:]:
            row[4] = ""
        self.write_rows("s.csv", rows)
        blank = self.ok(*line).bytes.splitlines()
        self.assertEqual(blank[:1 + 127 - START], whole[:1 + 127 - START])
        self.assertNotEqual(blank, whole)


class LateTargets(TrackTest):
    def test_a_delay_hides_that_many_targets(self):
        """Row t of a delayed stream is answered as if the file ended there and the last targets were blank."""
        rows, delay = stream(130), 7
        line = ["track", "s.csv", "--target", "y", "--prediction", "p", "--start", START, "-q", "--period", "9", "--delay", delay]
        self.write_rows("s.csv", rows)
        whole = self.ok(*line).bytes.splitlines()
        self.assertNotEqual(whole, self.ok(*line[:-2]).bytes.splitlines())
        for t in range(60, 130, 11):
            hidden = [list(row) for row in rows[:t + 1]]
            for row in hidden[t - delay:]:
                row[4] = ""
            self.write_rows("s.csv", hidden)
            self.assertEqual(self.ok(*line).bytes.splitlines()[-1], whole[1 + t - START], t)

    def test_rows_at_the_end_without_a_target(self):
        rows = stream(120)
        self.write_rows("s.csv", rows)
        whole = self.track("s.csv").bytes.splitlines()
        for row in rows[-5:]:
            row[4] = ""
        self.write_rows("s.csv", rows)
        result = self.track("s.csv", "--save", "m.tare")
        self.assertEqual(len(result.numbers()), 120 - START)
        self.assertEqual(result.bytes.splitlines()[:-4], whole[:-4], "they are the same up to the first of these rows")
        # The saved model goes on after the last target: its next row is the first of those without one.
        self.write_rows("next.csv", rows[-5:-4])
        self.assertEqual(self.ok("predict", "m.tare", "next.csv", "--interval", "0.9", "-q").rows()[1],
                         result.rows()[-5])

    def test_columns_that_are_known_later(self):
        rows = stream(120)
        self.write_rows("s.csv", rows)
        changed = [list(row) for row in rows]
        changed[100][2] = "9"
        self.write_rows("t.csv", changed)
        at = 1 + 100 - START
        with_it = [self.track(name).bytes.splitlines()[at] for name in ("s.csv", "t.csv")]
        without = [self.track(name, "--known-later", "late").bytes.splitlines() for name in ("s.csv", "t.csv")]
        self.assertNotEqual(with_it[0], with_it[1])
        self.assertEqual(without[0][:at + 1], without[1][:at + 1])
        self.assertNotEqual(without[0][at + 1], without[1][at + 1], "the next row knows it")


class Restart(TrackTest):
    def after(self, args, split, more=()):
        """The predictions of a model that was told of all rows at once, and of one that was updated in between."""
        rows = stream(170)
        self.write_rows("all.csv", rows)
        self.write_rows("first.csv", rows[:split])
        self.write_rows("rest.csv", rows[split:])
        self.write_rows("new.csv", stream(20, seed=8))
        self.ok("track", "all.csv", *args, "--save", "whole.tare", "-o", "whole.csv", "--force", "-q")
        self.ok("track", "first.csv", *args, "--save", "part.tare", "-o", "part.csv", "--force", "-q")
        self.ok("update", "part.tare", "rest.csv", "-q")
        predict = ["new.csv", "--levels", "0.05,0.5,0.95", "-q", *more]
        return (self.ok("predict", "whole.tare", *predict).bytes, self.ok("predict", "part.tare", *predict).bytes)

    def test_update_equals_the_whole(self):
        for args in (["--target", "y", "--prediction", "p", "--start", START],
                     ["--target", "y", "--prediction", "p", "--start", START, "--method", "dtaci", "--levels", "0.05,0.5,0.95"],
                     ["--target", "y", "--start", "105", "--period", "6"]):
            for split in (115, 150) if "--prediction" in args else (140,):
                whole, part = self.after(args, split)
                self.assertEqual(whole, part, args)
                self.assertEqual(self.read("whole.tare"), self.read("part.tare"), "the files are the same")

    def test_update_replaces_the_file_as_a_whole_or_not_at_all(self):
        rows = stream(130)
        self.write_rows("s.csv", rows)
        self.write_rows("rest.csv", stream(30, seed=3))
        self.track("s.csv", "--save", "m.tare")
        before = self.read("m.tare")
        result = self.ok("update", "m.tare", "rest.csv", "-o", "new.tare")
        self.assertIn("30 rows learned; the model has followed 160", result.err)
        self.assertEqual(self.read("m.tare"), before)
        self.fails(USAGE, "update", "m.tare", "rest.csv", "-o", "new.tare", says=["new.tare", "--force"])
        self.ok("update", "m.tare", "rest.csv", "-o", "new.tare", "--force", "-q")
        self.ok("update", "m.tare", "rest.csv", "-q")
        self.assertEqual(self.read("m.tare"), self.read("new.tare"))
        self.assertNotEqual(self.read("m.tare"), before)
        bad = csv_text(COLUMNS, [*rows[:5], [1, "u", 0, "x", 3]])
        self.write("bad.csv", bad)
        self.fails(BAD_DATA, "update", "m.tare", "bad.csv", says=["bad.csv:7", "'x'"])
        self.write_rows("gone.csv", [row[:4] for row in rows[:5]], COLUMNS[:4])
        self.fails(NOT_FOUND, "update", "m.tare", "gone.csv", says=["'y'"])
        self.assertEqual(os.listdir(self.folder).count("m.tare"), 1)

    def test_update_makes_a_fitted_model_an_online_one(self):
        self.write_rows("s.csv", stream(80))
        self.fit("s.csv", "--prediction", "p", "--drop", "late")
        self.write_rows("rest.csv", stream(60, seed=3))
        self.ok("update", "m.tare", "rest.csv", "-o", "online.tare", "--levels", "0.1,0.5,0.9", "-q")
        said = self.ok("inspect", "online.tare", "--json").json()["description"]["online"]
        self.assertEqual((said["rows"], said["answered"], said["predictions_of"], said["base_method"]), (60, 60, "model", "nrc"))
        self.assertEqual([level["level"] for level in said["levels"]], [0.1, 0.5, 0.9])
        medians = self.ok("predict", "m.tare", "rest.csv", "--levels", "0.5", "-q").numbers()
        self.assertNotEqual(self.ok("predict", "online.tare", "rest.csv", "--levels", "0.5", "-q").numbers(), medians)


class Inspect(TrackTest):
    def test_says_what_is_true_of_an_online_model(self):
        self.write_rows("d.csv", stream(400, seed=4, change=250))
        self.track("d.csv", "--save", "m.tare", "--levels", "0.05,0.95", "--delay", "3")
        text = self.ok("inspect", "m.tare").out
        for part in (r"method +online", r"online +snq; errors are those of the column",
                     r"followed +400 rows: 40 to warm up, then 360 answered and learned; a target is known after 3 more",
                     r"level +0\.95: 0\.\d{4} of the targets at or below the answer; proven: within 0\.\d{4} of the level",
                     r"drift +alarm at row \d+, change from about row \d+"):
            self.assertRegex(text, part)
        for wrong in ("fitted on", "bands", "guarantee", "warning"):
            self.assertNotIn(wrong, text)
        said = self.ok("inspect", "m.tare", "--json").json()
        self.assertEqual(said["warnings"], [])
        online = said["description"]["online"]
        answers = self.track("d.csv", "--levels", "0.05,0.95", "--delay", "3").numbers()
        targets = [row[4] for row in stream(400, seed=4, change=250)][START:]
        for j, level in enumerate(online["levels"]):
            share = sum(y <= row[j] for y, row in zip(targets, answers)) / len(targets)
            self.assertAlmostEqual(level["share_below"], share, places=12)
            self.assertLessEqual(abs(share - level["level"]), level["proven_within"] or 1.0)
        self.assertEqual((online["rows"], online["answered"], online["start"], online["delay"]), (400, 360, 40, 3))
        self.assertTrue(250 <= online["drift"]["alarm_row"] < 400)
        self.assertGreaterEqual(online["drift"]["log_e"], math.log(1 / online["drift"]["rate"]))

    def test_what_is_not_proven_is_said(self):
        self.write_rows("s.csv", stream(120))
        self.track("s.csv", "--save", "aci.tare", "--method", "aci")
        text = self.ok("inspect", "aci.tare").out
        self.assertIn("nothing proven yet", text)
        self.assertIn("Nothing is proven yet about the levels of this online model", text)
        self.assertRegex(text, r"drift +no alarm; evidence log e -?\d+\.\d+, an alarm from 4\.61 on")
        self.track("s.csv", "--save", "m.tare")
        said = self.ok("predict", "m.tare", "s.csv", "--interval", "0.9,0.5").err
        self.assertRegex(said, r"120 of 120 rows have a requested level that the online model does not keep, at levels 0\.25, 0\.75.*"
                               r"\[beyond_kept_levels\]")
        self.assertNotIn("does not keep", self.ok("predict", "m.tare", "s.csv", "--interval", "0.9").err)
        self.assertIsNone(self.ok("inspect", self.small_model("fitted.tare"), "--json").json()["description"]["online"])


class Constant(TrackTest):
    def test_targets_equal_to_their_predictions_keep_the_bound(self):
        """Answers are base + a move that rounding must not undo, and a closed interval counts its lower end."""
        self.write_rows("s.csv", [[1, "u", 0, 5, 5]] * 2000)
        err = self.ok("track", "s.csv", "--target", "y", "--prediction", "p", "--start", "10", "--drop", "a,c,late").err
        found = re.search(r"coverage ([\d.]+), .*?(proven: within ([\d.]+) of 0.9)?\n", err)
        self.assertTrue(found, err)
        self.assertLessEqual(abs(float(found[1]) - 0.9), float(found[3] or 1) + 0.0005, err)

    def test_targets_on_the_lower_end_are_inside(self):
        """Half of the targets are 0, and answers are often exactly 0: the bound of an interval counts them."""
        rng = random.Random(6)
        self.write_rows("s.csv", [[1, "u", 0, 0, 0 if rng.random() < 0.5 else rng.choice([1, 2, 3])] for _ in range(6000)])
        result = self.ok("track", "s.csv", "--target", "y", "--prediction", "p", "--start", "10", "--drop", "a,c,late",
                         "--interval", "0.5")
        found = re.search(r"coverage ([\d.]+), .*proven: within ([\d.]+) of 0.5", result.err)
        self.assertTrue(found, result.err)
        self.assertLessEqual(abs(float(found[1]) - 0.5), float(found[2]) + 0.0005, result.err)


class Errors(TrackTest):
    def setUp(self):
        super().setUp()
        self.rows = stream(120)
        self.write_rows("s.csv", self.rows)
        self.line = ["track", "s.csv", "--target", "y", "--prediction", "p", "--start", START]

    def test_columns_and_options(self):
        for code, args, says in (
                (USAGE, ["track", "s.csv"], ["--target"]),
                (NOT_FOUND, ["track", "s.csv", "--target", "z", "--prediction", "p"], ["'z'", "target"]),
                (NOT_FOUND, ["track", "s.csv", "--target", "y", "--prediction", "q"], ["'q'"]),
                (NOT_FOUND, ["track", "none.csv", "--target", "y"], ["none.csv"]),
                (NOT_FOUND, [*self.line, "--features", "x"], ["'x'"]),
                (NOT_FOUND, [*self.line, "--drop", "x"], ["'x'"]),
                (NOT_FOUND, [*self.line, "--known-later", "x"], ["'x'"]),
                (NOT_FOUND, [*self.line, "--method", "acl"], ["'acl'", "aci"]),
                (USAGE, [*self.line, "--set", "stp=1"], ["'stp'", "snq"]),
                (USAGE, [*self.line, "--set", "window=3"], ["window", "'3'"]),
                (USAGE, [*self.line, "--lags", "1,x"], ["lags", "'1,x'"]),
                (USAGE, [*self.line, "--delay", "4", "--lags", "2"], ["lags", "5"]),
                (USAGE, [*self.line, "--period", "1"], ["period", "'1'"]),
                (USAGE, [*self.line, "--interval", "1.5"], ["1.5"]),
                (USAGE, [*self.line, "--levels", "0.1,a"], ["'a'"]),
                (USAGE, [*self.line, "--delay", "-1"], ["delay", "'-1'"]),
                (USAGE, [*self.line, "--delay", "100001"], ["delay", "100000"]),
                (USAGE, [*self.line, "--drift-rate", "0"], ["drift-rate", "'0'"]),
                (USAGE, [*self.line, "--missing", "maybe"], ["'maybe'"]),
                (USAGE, [*self.line, "--seed", "-3"], ["'-3'"])):
            self.fails(code, *args, says=says)

    def test_targets_that_come_too_late_for_the_start(self):
        for delay, least in (("39", "41"), ("40", "42"), ("60", "62")):
            self.fails(USAGE, *self.line, "--delay", delay, says=["--start is 40", f"delay {delay}", f"--start {least} or more", "--delay"])
        self.assertEqual(len(self.ok(*self.line, "--delay", "38", "-q").numbers()), 120 - START)

    def test_rows_before_two_known_targets_are_not_answered(self):
        result = self.ok("track", "s.csv", "--target", "y", "--prediction", "p", "--start", "0", "-o", "-")
        self.assertEqual(len(result.numbers()), 118)
        self.assertIn("2 rows were not answered, because fewer than 2 targets were known", result.err)
        self.assertTrue(all(low < high for low, high in result.numbers()))
        gaps = [row if i >= 60 or i == 5 else [*row[:4], ""] for i, row in enumerate(self.rows)]
        self.write_rows("gaps.csv", gaps)
        for delay, answered in (("0", 59), ("7", 52)):
            result = self.ok("track", "gaps.csv", *self.line[2:], "--delay", delay)
            self.assertEqual(len(result.numbers()), answered)
            self.assertIn(f"{120 - START - answered} rows were not answered", result.err)
            self.assertTrue(all(low < high for low, high in result.numbers()))

    def test_a_file_without_targets(self):
        for known in (0, 1):
            self.write_rows("none.csv", [*self.rows[:known], *([*row[:4], ""] for row in self.rows[known:])])
            self.fails(BAD_DATA, "track", "none.csv", *self.line[2:], says=["none.csv", "'y'", "too few targets"])

    def test_a_model_that_knows_too_few_targets_does_not_answer(self):
        self.ok("fit", "s.csv", "--target", "y", "--method", "nrc", "--regressor", "ridge", "-o", "m.tare", "-q")
        self.write_rows("one.csv", self.rows[:1])
        self.ok("update", "m.tare", "one.csv", "-q")
        self.fails(USAGE, "predict", "m.tare", "s.csv", says=["fewer than 2 targets", "update"])
        self.write_rows("two.csv", self.rows[1:2])
        self.ok("update", "m.tare", "two.csv", "-q")
        self.assertEqual(len(self.ok("predict", "m.tare", "s.csv").numbers()), 120)

    def test_too_few_rows(self):
        for start in ("120", "500"):
            self.fails(BAD_DATA, "track", "s.csv", "--target", "y", "--prediction", "p", "--start", start,
                       says=["120 rows", start, "--start"])
        self.assertEqual(len(self.ok("track", "s.csv", "--target", "y", "--prediction", "p", "--start", "119", "-q").numbers()), 1)

    def test_targets_and_cells(self):
        self.write_rows("t.csv", [[*row[:4], "low"] for row in self.rows])
        self.fails(BAD_DATA, "track", "t.csv", "--target", "y", "--prediction", "p", "--start", START,
                   says=["t.csv:2", "'y'", "'low' is not a number"])
        rows = [list(row) for row in self.rows]
        rows[80][0] = ""
        self.write_rows("t.csv", rows)
        self.fails(BAD_DATA, "track", "t.csv", *self.line[2:], says=["t.csv:82", "'a'", "--missing"])
        self.assertEqual(len(self.ok("track", "t.csv", *self.line[2:], "--missing", "impute", "-q").numbers()), 120 - START)
        self.assertEqual(len(self.ok("track", "t.csv", *self.line[2:], "--missing", "drop", "-q").numbers()), 119 - START)
        rows[80][0], rows[60][3] = "1", ""
        self.write_rows("t.csv", rows)
        self.fails(BAD_DATA, "track", "t.csv", *self.line[2:], says=["t.csv:62", "'p'"])
        self.track("s.csv", "--save", "online.tare")
        rows[60][3:] = ["-1.5e308", "1.5e308"]
        self.write_rows("t.csv", rows)
        says = ["t.csv:62", "'y'", "1.5e+308", "-1.5e+308", "too large for a number", "smaller units"]
        self.fails(BAD_DATA, "track", "t.csv", *self.line[2:], says=says)
        before = self.read("online.tare")
        self.fails(BAD_DATA, "update", "online.tare", "t.csv", says=says)
        self.assertEqual(self.read("online.tare"), before)

    def test_two_sources_and_models_that_follow_already(self):
        self.fit("s.csv", "--method", "nrc", "--regressor", "ridge")
        self.fails(USAGE, *self.line, "--model", "m.tare", says=["--prediction", "--model"])
        self.track("s.csv", "--save", "online.tare")
        self.fails(USAGE, "track", "s.csv", "--model", "online.tare", says=["already follows a stream", "--model"])

    def test_files_are_not_replaced_without_force(self):
        for option in ("-o", "--save", "--report"):
            self.write("there", "something")
            self.fails(USAGE, *self.line, option, "there", says=["there", "--force"])
            self.ok(*self.line, option, "there", "--force", "-q")
            self.assertNotEqual(self.read("there"), b"something")


class Page(TrackTest):
    def page(self, data, *args, start=START):
        self.track(data, "--report", "page.html", "--force", *args, start=start)
        return self.read("page.html").decode()

    def test_holds_what_it_names(self):
        self.write_rows("d.csv", stream(500, seed=4, change=250))
        text = self.page("d.csv")
        for part in ("Coverage over time, 90 % interval", "Coverage so far, 90 % interval", "Width over time",
                     "The level that was needed", "Evidence of drift", "The last rows", "worst stretch of 100",
                     "Winkler", "alarm at line"):
            self.assertIn(part, text)
        self.assertNotRegex(text, r"(src|href)=\"(?!#)|url\(|@import|\bnan\b|\binf\b")
        self.assertEqual(self.page("d.csv"), text, "the same rows give the same page")

    def test_levels_alone_one_level_few_rows_and_no_targets(self):
        rows = stream(300)
        self.write_rows("s.csv", rows)
        text = self.page("s.csv", "--levels", "0.2,0.8")
        self.assertIn("Targets below the answer over time, level 0.2", text)
        self.assertIn("The level that was needed", text)
        self.assertNotIn("The level that was needed", self.page("s.csv", "--levels", "0.5"))
        self.write_rows("s.csv", rows[:START + 3])
        self.assertIn("few rows", self.page("s.csv"))
        self.write_rows("s.csv", [*rows[:START], *([*row[:4], ""] for row in rows[START:])])
        self.assertIn("no target yet", self.page("s.csv"))
        self.assertIn("infinite", self.page("s.csv", "--method", "aci", start=3))

    def test_its_size_does_not_grow_with_the_rows(self):
        few, many = stream(2_000, seed=2), stream(20_000, seed=2)
        drop = ["--drop", "a,c,late", "--method", "trailing"]
        self.write_rows("s.csv", few)
        small = len(self.page("s.csv", *drop))
        self.write_rows("s.csv", many)
        large = len(self.page("s.csv", *drop))
        self.assertLess(large, 1.15 * small, "the numbers are longer, not more")
        self.assertLess(large, 400_000)


if __name__ == "__main__":
    main()
