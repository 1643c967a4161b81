# SPDX-License-Identifier: BSD-3-Clause
"""report, and --report of evaluate: what the page and its JSON say against a plain recomputation."""
import os
import random
import re

from harness import BAD_DATA, NOT_FOUND, SANITIZED, USAGE, CliTest, csv_text, main, points

HEADER = ["a", "b", "colour", "site", "y"]


def rows(count, seed):
    """Noise that a model of 'a' alone cannot know: three times as large where the colour is red."""
    rng = random.Random(seed)
    made = []
    for a, b, _, _ in points(count, seed):
        colour = rng.choice(["red", "green", "blue"])
        noise = rng.gauss(0, 3 if colour == "red" else 1)
        made.append([a, b, colour, rng.choice(["north", "", "söuth"]), round(2 * a + noise, 3)])
    return made


class Report(CliTest):
    def setUp(self):
        super().setUp()
        self.write("train.csv", csv_text(HEADER, rows(600, 1)))
        self.test_rows = rows(400, 2)
        self.write("test.csv", csv_text(HEADER, self.test_rows))
        self.fit("train.csv", "--method", "nrc", "--regressor", "ridge", "--drop", "site", "--calibrate-on", "a")

    def report(self, *args):
        return self.ok("report", "m.tare", "test.csv", "-o", "r.html", "--force", *args)

    def test_leaves_one_page_and_a_line(self):
        done = self.ok("report", "m.tare", "test.csv", "-o", "r.html")
        self.assertEqual(done.out, "")
        self.assertRegex(done.err, r"^report: r.html \(400 rows; \d+ of \d+ regions tested are off by more than chance\)\n$")
        page = self.read("r.html").decode()
        self.assertTrue(page.startswith("<!doctype html>"))
        for part in ("Where calibration is worst", "Along features and groups", "Row by row", "How the model was chosen",
                     "Metrics", "The test rows", "The model", "ridge", "m.tare"):
            self.assertIn(part, page)
        self.assertEqual(self.ok("report", "m.tare", "test.csv", "-o", "-", "-q").bytes, self.read("r.html"))

    def test_the_same_bytes_whatever_the_threads(self):
        self.report("--threads", "1")
        one = self.read("r.html")
        self.report("--threads", "3")
        self.assertEqual(self.read("r.html"), one)

    def test_slices_are_those_of_predict(self):
        json = self.report("--json", "--group", "site").json()
        ends = self.ok("predict", "m.tare", "test.csv", "--interval", "0.9").numbers()
        columns = {column["column"]: column for column in json["columns"]}
        self.assertEqual(list(columns), ["site", "a", "b", "colour", "predicted median", "width of the interval",
                                         "place in the file"])
        for name, place, key in (("colour", 2, lambda cell: cell), ("site", 3, lambda cell: cell or "(empty)")):
            self.assertEqual(len(columns[name]["slices"]), 3)
            for part in columns[name]["slices"]:
                held = [i for i, row in enumerate(self.test_rows) if key(row[place]) == part["value"]]
                below = sum(self.test_rows[i][4] < ends[i][0] for i in held)
                above = sum(self.test_rows[i][4] > ends[i][1] for i in held)
                self.assertEqual((part["rows"], part["below"], part["above"]), (len(held), below, above))
                self.assertAlmostEqual(part["coverage"], 1 - (below + above) / len(held))
                self.assertTrue(part["coverage_low"] < part["coverage"] <= part["coverage_high"])
        for part in columns["a"]["slices"]:
            held = [i for i, row in enumerate(self.test_rows) if part["from"] <= row[0] <= part["to"]]
            widths = sorted(ends[i][1] - ends[i][0] for i in held)
            self.assertEqual(part["rows"], len(held))
            self.assertAlmostEqual(part["width"], widths[len(held) // 2], places=9)
        self.assertEqual(sum(part["rows"] for part in columns["a"]["slices"]), 400)

    def test_finds_the_place_that_is_wrong(self):
        json = self.report("--json").json()
        worst = json["worst"][0]
        self.assertEqual(worst["where"], "colour = red")
        self.assertLess(worst["share"], 0.9)
        self.assertLess(worst["p_corrected"], 0.001)
        self.assertGreater(json["found"], 0)
        self.assertFalse(next(f for f in json["findings"] if "varies between regions" in f["text"])["fine"])
        evaluated = self.ok("evaluate", "m.tare", "test.csv", "--json").json()
        self.assertEqual(json["warnings"], evaluated.pop("warnings"))
        self.assertEqual(json["scores"], evaluated)

    def test_a_calibrated_model_raises_no_alarm(self):
        rng = random.Random(7)
        self.write("good.csv", csv_text(["x", "y"], [[i % 7, rng.gauss(0, 1)] for i in range(8000)]))
        self.fit("good.csv", "--method", "nrc", "--regressor", "ridge", "--bandwidth", "infinite", output="g.tare")
        self.write("new.csv", csv_text(["x", "y"], [[i % 7, rng.gauss(0, 1)] for i in range(400)]))
        done = self.ok("report", "g.tare", "new.csv", "-o", "g.html", "--json").json()
        self.assertEqual(done["found"], 0)
        self.assertTrue(all(finding["fine"] for finding in done["findings"]), done["findings"])

    def test_evaluate_writes_the_same_page(self):
        self.report("-q")
        plain = self.ok("evaluate", "m.tare", "test.csv")
        done = self.ok("evaluate", "m.tare", "test.csv", "--report", "e.html")
        self.assertEqual(done.out, plain.out)
        self.assertEqual(self.read("e.html"), self.read("r.html"))
        self.fails(USAGE, "evaluate", "m.tare", "test.csv", "--report", "e.html", says=["e.html", "--force"])
        self.ok("evaluate", "m.tare", "test.csv", "--report", "e.html", "--force")

    def test_the_group_of_a_guarantee_is_shown_without_being_asked_for(self):
        self.fit("train.csv", "--method", "nrc", "--regressor", "ridge", "--drop", "site", "--guarantee", "split",
                 "--group", "site")
        json = self.report("--json").json()
        self.assertEqual((json["columns"][0]["column"], json["columns"][0]["kind"]), ("site", "group"))
        self.assertIn(b"guarantee", self.read("r.html"))

    def test_missing_values_and_unseen_categories_are_told(self):
        self.write("holes.csv", "a,b,colour,y\n1,0,red,2\n2,,green,4\n3,0,violet,6\n")
        self.fails(BAD_DATA, "report", "m.tare", "holes.csv", "-o", "h.html", says=["holes.csv:3", "'b'"])
        done = self.ok("report", "m.tare", "holes.csv", "-o", "h.html", "--missing", "drop")
        self.assertIn("1 rows with a missing value were left out", done.err)
        page = self.read("h.html").decode()
        self.assertRegex(page, r"rows left out for a missing value</th><td>1<")
        self.assertRegex(page, r"category that was not there at fit</th><td>1<")
        self.assertIn("(not seen at fit)", page)
        self.write("all.csv", "a,b,colour,y\n1,,red,2\n")
        self.fails(BAD_DATA, "report", "m.tare", "all.csv", "-o", "x.html", "--missing", "drop", says=["no row is left to score"])

    def test_groups_in_any_encoding_and_number(self):
        lines = [b"a,b,colour,site,y"]
        lines += [f"{a},{b},{c},".encode() + (b"caf\xe9" if i % 2 else str(i).encode()) + f",{y}".encode()
                  for i, (a, b, c, _, y) in enumerate(self.test_rows)]
        self.write("latin.csv", b"\n".join(lines) + b"\n")
        json = self.ok("report", "m.tare", "latin.csv", "-o", "l.html", "--group", "site", "--json").json()
        values = [part["value"] for part in json["columns"][0]["slices"]]
        self.assertEqual((len(values), values[0], values[-1]), (15, "caf\ufffd", "187 other values"))
        self.read("l.html").decode()

    def test_slips(self):
        self.fails(USAGE, "report", "m.tare", "test.csv", says=["--output"])
        self.fails(NOT_FOUND, "report", "none.tare", "test.csv", "-o", "r.html", says=["none.tare"])
        self.fails(NOT_FOUND, "report", "m.tare", "none.csv", "-o", "r.html", says=["none.csv"])
        self.fails(NOT_FOUND, "report", "m.tare", "test.csv", "-o", "no/where/r.html", says=["no/where"])
        self.fails(NOT_FOUND, "report", "m.tare", "test.csv", "-o", "r.html", "--group", "sites",
                   says=["test.csv: has no column 'sites'", "did you mean site?"])
        self.fails(NOT_FOUND, "report", "m.tare", "test.csv", "-o", "r.html", "--group", "all", says=["'all'"])
        self.write("empty.csv", "a,b,colour,y\n")
        self.fails(BAD_DATA, "report", "m.tare", "empty.csv", "-o", "r.html", says=["no data rows"])
        self.write("text.csv", "a,b,colour,y\n1,x,red,2\n")
        self.fails(BAD_DATA, "report", "m.tare", "text.csv", "-o", "r.html", says=["text.csv:2", "'b'", "'x'"])
        self.report("-q")
        self.fails(USAGE, "report", "m.tare", "test.csv", "-o", "r.html", says=["r.html", "--force"])

    def test_a_series_says_that_rows_are_not_independent(self):
        self.write("series.csv", csv_text(["x", "y"], [[i % 11, (i * 7) % 13] for i in range(300)]))
        self.fit("series.csv", "--method", "nrc", "--regressor", "ridge", "--window", "3")
        done = self.ok("report", "m.tare", "series.csv", "-o", "s.html", "--json").json()
        self.assertEqual(done["scores"]["rows"], 298)
        self.assertTrue(any("a series" in finding["text"] for finding in done["findings"]))
        self.assertRegex(self.read("s.html").decode(), r"want of a full window</th><td>2<")

    def test_a_long_file_stays_a_small_page(self):
        count = 3000 if SANITIZED else 100_000
        rng = random.Random(4)
        self.write("long.csv", csv_text(["p", "y"], [[i % 97, round(i % 97 + rng.gauss(0, 1), 3)] for i in range(count)]))
        self.write("short.csv", csv_text(["p", "y"], [[i % 97, round(i % 97 + rng.gauss(0, 1), 3)] for i in range(300)]))
        self.fit("short.csv", "--prediction", "p", output="s.tare")
        done = self.ok("report", "s.tare", "long.csv", "-o", "long.html")
        self.assertIn(f"{count} rows", done.err)
        self.assertLess(os.path.getsize(self.path("long.html")), 1_000_000)
        self.assertRegex(self.read("long.html").decode(), rf"160 of {count:,} rows are drawn")

    def test_every_tag_is_closed(self):
        self.report("-q", "--group", "site")
        text = self.read("r.html").decode()
        body = re.sub(r"<(script|style)>.*?</\1>|<meta[^>]*>|<!doctype html>", "", text, flags=re.S)
        open_tags = []
        for close, name, alone in re.findall(r"<(/?)([a-zA-Z0-9]+)[^<>]*?(/?)>", body):
            if close:
                self.assertEqual(open_tags.pop(), name)
            elif not alone:
                open_tags.append(name)
        self.assertEqual(open_tags, [])


if __name__ == "__main__":
    main()
