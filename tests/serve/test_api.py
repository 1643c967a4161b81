# SPDX-License-Identifier: BSD-3-Clause
"""What the service answers: the same numbers as the tool, in three formats, and what it says about itself."""
import datetime
import email.utils
import json
import re

from serve_harness import CSV, NDJSON, ServeTest, csv_text, main

ROWS = [{"a": 1.5, "b": 0.25, "p": 3.25}, {"a": 9.0, "b": -1.0, "p": 17.0}, {"a": 5, "b": 0, "p": 10}]


class Predict(ServeTest):
    def tool(self, *options):
        self.write("new.csv", csv_text(["a", "b", "p"], [row.values() for row in ROWS]))
        return self.ok("predict", "m.tare", "new.csv", *options)

    def test_json_equals_the_tool(self):
        answer = self.service.post("/v1/predict", {"rows": ROWS, "levels": [0.05, 0.5], "interval": [0.9, 0.5]})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.json()["rows"],
                         self.tool("--levels", "0.05,0.5", "--interval", "0.9,0.5", "--json").json_lines())
        self.assertEqual(answer.json()["warnings"], [])
        self.assertNotIn("tare-warnings", answer.headers)
        self.assertEqual([one["code"] for one in self.service.get("/v1/model").json()["warnings"]], ["no_guarantee"])

    def test_default_levels_and_one_interval(self):
        rows = self.service.post("/v1/predict", {"rows": ROWS}).json()["rows"]
        self.assertEqual(list(rows[0]), ["q0.05", "q0.5", "q0.95"])
        rows = self.service.post("/v1/predict", {"rows": ROWS, "interval": 0.8}).json()["rows"]
        self.assertEqual(list(rows[0]), ["lower_0.8", "upper_0.8"])

    def test_shortest_sets_equal_the_tool(self):
        asked = {"rows": ROWS, "interval": [0.5, 0.9], "set": "shortest"}
        rows = self.service.post("/v1/predict", asked).json()["rows"]
        self.assertEqual(rows, self.tool("--interval", "0.5,0.9", "--set", "shortest", "--json").json_lines())
        self.assertEqual(list(rows[0]), ["set_0.5", "set_0.9"])
        text = self.service.post("/v1/predict?set=shortest", csv_text(["a", "b", "p"], [row.values() for row in ROWS]), CSV).text
        self.assertEqual(text.splitlines()[0], "lower_0.9,upper_0.9,lower2_0.9,upper2_0.9")
        for wrong in ('"longest"', "1", "[]", "null"):
            self.refused(self.service.post("/v1/predict", f'{{"rows": [], "set": {wrong}}}'), 400, "shortest")

    def test_ndjson_equals_json(self):
        body = "\n".join(json.dumps(row) for row in ROWS) + "\n\n"
        answer = self.service.post("/v1/predict?interval=0.9", body, NDJSON)
        self.assertEqual(answer.headers["content-type"], NDJSON)
        expected = self.service.post("/v1/predict", {"rows": ROWS, "interval": 0.9}).json()["rows"]
        self.assertEqual([json.loads(line) for line in answer.text.splitlines()], expected)

    def test_csv_is_what_the_tool_writes(self):
        tool = self.tool("--levels", "0.1,0.9", "--keep", "all")
        answer = self.service.post("/v1/predict?levels=0.1,0.9&keep=all", self.read("new.csv"), CSV + "; charset=utf-8")
        self.assertEqual(answer.body, tool.bytes)
        # Cells that the model does not know are empty in both: this one has no bands.
        tool = self.tool("--interval", "0.9", "--levels", "0.5", "--diagnostics", "--keep", "p,a")
        answer = self.service.post("/v1/predict?levels=0.5&interval=0.9&diagnostics=true&keep=p,a", self.read("new.csv"), CSV)
        self.assertEqual(answer.body, tool.bytes)
        answer = self.service.post("/v1/predict?levels=0.1%2C0.9&keep=a", self.read("new.csv"), CSV)
        self.assertEqual(answer.text.splitlines()[0], "a,q0.1,q0.9")

    def test_actions_equal_the_tool(self):
        answer = self.service.post("/v1/predict", {"rows": ROWS, "cost": {"under": 4, "over": 1}}).json()
        self.assertEqual(answer["rows"], self.tool("--cost", "over=1,under=4", "--json").json_lines())
        self.assertEqual(list(answer["rows"][0]), ["action", "cost", "cost_of_mean"])
        tool = self.tool("--cost", "over=1,under=4", "--levels", "0.5", "--keep", "a")
        for cost in ("over=1,under=4", "over%3D1%2Cunder%3D4"):
            csv = self.service.post(f"/v1/predict?levels=0.5&keep=a&cost={cost}", self.read("new.csv"), CSV)
            self.assertEqual(csv.body, tool.bytes)

    def test_tables_of_costs_equal_the_tool(self):
        entries = [(a, y, max(a - y, 3 * (y - a))) for a in (0, 5, 10, 15) for y in (-50, 0, 5, 10, 15, 90)]
        self.write("costs.csv", csv_text(["action", "outcome", "cost"], entries))
        table = dict(zip(("action", "outcome", "cost"), map(list, zip(*entries))))
        answer = self.service.post("/v1/predict", {"rows": ROWS, "cost": table}).json()
        self.assertEqual(answer["rows"], self.tool("--cost", "costs.csv", "--json").json_lines())

    def test_wrong_costs_are_refused(self):
        pair, table = {"over": 1, "under": 4}, {"action": [1], "outcome": [2], "cost": [3]}
        cases = [({"over": 1}, 400, "'cost' has no 'under'"), ({**pair, **table}, 400, "either"), ({}, 400, "either"),
                 ({"action": [1], "cost": [2]}, 400, "has no 'outcome'"), ({"over": [1], "under": 4}, 400, "must be a number"),
                 ({**table, "cost": 3}, 400, "must be a list of numbers"), ({**table, "cost": [[3]]}, 400, "must be a list of numbers"),
                 ({**table, "cost": [None]}, 400, "must be a list of numbers"), ({**table, "cost": [3, 4]}, 422, "1 actions, 1 outcomes and 2 costs"),
                 ({"over": 0, "under": 1}, 400, "positive"), ({"ovr": 1}, 400, "there are: over, under"), (4, 400, "must be an object"),
                 ([1], 400, "must be an object"), ("over=1,under=4", 400, "must be an object"),
                 ({"action": [], "outcome": [], "cost": []}, 422, "no rows"),
                 ({"action": [1, 1], "outcome": [2, 2], "cost": [3, 3]}, 422, "two costs"),
                 ({"action": [1] * 10_001, "outcome": [2], "cost": [3]}, 413, "more than 10000 entries")]
        for cost, status, words in cases:
            with self.subTest(cost=str(cost)[:60]):
                self.refused(self.service.post("/v1/predict", {"rows": ROWS, "cost": cost}), status, words)
        twice = '{"cost": {"over": 1, "over": 2, "under": 3}, "rows": [{"a": 1, "b": 2, "p": 3}]}'
        self.refused(self.service.post("/v1/predict", twice), 400, "'over' twice")
        # A file of the service's machine is none of a client's business.
        for text in ("m.tare", "/etc/passwd", "over=1"):
            self.refused(self.service.post(f"/v1/predict?cost={text}", self.read("data.csv"), CSV), 400, "cost")

    def test_diagnostics_equal_the_tool(self):
        answer = self.service.post("/v1/predict", {"rows": ROWS, "interval": 0.5, "diagnostics": True})
        self.assertEqual(answer.json()["rows"],
                         self.tool("--interval", "0.5", "--diagnostics", "--json").json_lines())

    def test_order_and_extra_columns_do_not_matter(self):
        mixed = [{"note": "x", "p": row["p"], "extra": None, "b": row["b"], "a": row["a"]} for row in ROWS]
        self.assertEqual(self.service.post("/v1/predict", {"rows": mixed}).json()["rows"],
                         self.service.post("/v1/predict", {"rows": ROWS}).json()["rows"])

    def test_many_rows_and_one_by_one(self):
        many = [{"a": i % 11, "b": (i % 7) / 7, "p": 2 * (i % 11)} for i in range(3000)]
        rows = self.service.post("/v1/predict", {"rows": many}).json()["rows"]
        self.assertEqual(len(rows), 3000)
        for i in (0, 1234, 2999):
            self.assertEqual(self.service.post("/v1/predict", {"rows": [many[i]]}).json()["rows"], [rows[i]])


class Errors(ServeTest):
    def test_rows_that_the_model_cannot_take(self):
        good = ROWS[0]
        for rows, says in (
                ([good, {"a": 1, "p": 2}], ["row 2", "has no column 'b'", "feature", "a, b, p"]),
                ([{"a": 1, "b": 2}], ["row 1", "has no column 'p'", "prediction"]),
                ([good, good, {**good, "b": None}], ["row 3", "column 'b'", "missing value", "impute"]),
                ([{**good, "p": None}], ["column 'p'", "missing", "not imputed"]),
                ([{**good, "a": "150"}], ["row 1", "column 'a'", '"150"', "without quotes"]),
                ([{**good, "a": True}], ["row 1", "column 'a'", "true", "1 or 0"]),
                ([{**good, "a": [1]}], ["row 1", "'a'", "a list or an object"]),
                ([{**good, "c": {"d": 1}}], ["row 1", "'c'", "a list or an object"]),
                ([], ["the request has no rows"])):
            self.refused(self.service.post("/v1/predict", {"rows": rows}), 422, *says)
        self.refused(self.service.post("/v1/predict", '{"rows":[{"a":1,"a":2,"b":1,"p":1}]}'), 422, "'a' occurs twice")

    def test_a_problem_names_the_cell_as_data(self):
        good = ROWS[0]
        gap = self.refused(self.service.post("/v1/predict", {"rows": [good, good, {**good, "b": None}]}), 422,
                           "row 3: column 'b': 'null' is a missing value, 1 of 3 rows", "missing=impute").json()
        self.assertEqual((gap["row"], gap["column"], gap["pointer"]), (3, "b", "/rows/2/b"))
        text = self.service.post("/v1/predict", {"rows": [good, {**good, "a": "150"}]}).json()
        self.assertEqual((text["row"], text["column"], text["pointer"]), (2, "a", "/rows/1/a"))
        absent = self.service.post("/v1/predict", {"rows": [{"a": 1, "b": 2}]}).json()
        self.assertEqual((absent["row"], absent["column"], absent["pointer"]), (1, "p", "/rows/0/p"))
        odd = self.service.post("/v1/predict", {"rows": [{**good, "c/d~e": []}]}).json()
        self.assertEqual((odd["column"], odd["pointer"]), ("c/d~e", "/rows/0/c~1d~0e"))
        for body, kind in (("a,b,p\n1,2,3\n1,x,3\n", CSV), ("a,b,p\n1,2,3\n1,,3\n", CSV),
                           ('{"a":1,"b":2,"p":3}\n{"a":1,"b":null,"p":3}\n', NDJSON)):
            problem = self.service.post("/v1/predict", body, kind).json()
            self.assertEqual((problem["row"], problem["column"]), (2, "b"))
            self.assertNotIn("pointer", problem)
        whole = self.service.post("/v1/predict", {"rows": []}).json()
        self.assertFalse({"row", "column", "pointer"} & set(whole))

    def test_a_client_is_not_told_of_the_tools_options(self):
        good = ROWS[0]
        answers = [self.service.post("/v1/predict", {"rows": [{**good, "b": None}]}),
                   self.service.post("/v1/predict", {"rows": [{**good, "p": None}]}),
                   self.service.post("/v1/predict", {"rows": ROWS, "levels": [2]}),
                   self.service.post("/v1/predict?keep=z", "a,b,p\n1,2,3\n", CSV),
                   self.service.post("/v1/predict?keep=all", "a,b,p,q0.5\n1,2,3,4\n", CSV),
                   self.service.post("/v1/predict", "a,b,p\n1,x,3\n", CSV),
                   self.service.post("/v1/predict", "a,b,p\n1,,3\n", CSV)]
        for answer in answers:
            self.assertIn(answer.status, (400, 422))
            self.assertNotIn("--", answer.json()["detail"])
            self.assertNotIn("missing=drop", answer.json()["detail"])

    def test_bodies_that_are_no_request(self):
        for body, says in (
                ('{"rows": [', ["not JSON", "line 1"]), ("", ["not JSON"]), ("[]", ["a list", "not an object"]),
                ("3", ["is 3, not an object"]), ('{"rows": [{"a": NaN}]}', ["not JSON", "NaN"]),
                ('{"rows": [{"a": 1e999}]}', ["not JSON", "1e999"]), ('{"row": []}', ["'row'", "did you mean rows"]),
                ("{}", ["no 'rows'"]), ('{"rows": {}}', ["'rows' contains an object"]), ('{"rows": [1]}', ["'rows' contains 1"]),
                ('{"rows": [], "rows": []}', ["'rows' twice"]), ('{"rows": [], "levels": 0.5}', ["'levels' contains 0.5"]),
                ('{"rows": []} x', ["not JSON"]), ('{"rows": [], "interval": "x"}', ["'interval'"])):
            self.refused(self.service.post("/v1/predict", body), 400, *says)

    def test_levels(self):
        for levels in ([0], [1], [-0.5], [1.5]):
            self.refused(self.service.post("/v1/predict", {"rows": ROWS, "levels": levels}), 400, "strictly between 0 and 1")
        self.refused(self.service.post("/v1/predict", {"rows": ROWS, "levels": [0.5, 0.5]}), 400, "'q0.5'", "twice")
        self.refused(self.service.post("/v1/predict", {"rows": ROWS, "levels": [i / 2000 for i in range(1, 1500)]}), 413)
        self.refused(self.service.post("/v1/predict?levels=0.1,x", {"rows": ROWS}), 400, "'x', which is not a number")
        self.refused(self.service.post("/v1/predict?level=0.1", {"rows": ROWS}), 400, "'level'", "levels")
        self.refused(self.service.post("/v1/predict?levels=%zz", {"rows": ROWS}), 400, "escape")

    def test_csv(self):
        for body, says in (
                ("a,b,p\n1,2\n", ["body:2"]), ("a,b\n1,2\n", ["no column 'p'"]), ("a,b,p\n1,x,3\n", ["body:2", "'b'", "'x'"]),
                ("a,b,p\n1,2,3\n1,,3\n", ["row 2", "'b'", "missing"]), ("a,b,p\n1,NaN,3\n", ["'NaN' is a missing value"]),
                ("a,b,p\n1,inf,3\n", ["'b'", "inf"]), ("a,b,p\n", ["no row"]), ("", ["body"]), ("a,a,b,p\n1,1,1,1\n", ["'a'"])):
            self.refused(self.service.post("/v1/predict", body, CSV), 422, *says)
        self.refused(self.service.post("/v1/predict?keep=z", "a,b,p\n1,2,3\n", CSV), 400, "'z'", "keep=all")
        self.refused(self.service.post("/v1/predict?keep=all", "a,b,p,q0.5\n1,2,3,4\n", CSV), 400, "'q0.5'", "two columns")

    def test_ndjson_names_the_line(self):
        self.refused(self.service.post("/v1/predict", '{"a":1,"b":2,"p":3}\n\n{"a":1,"b":2}\n', NDJSON), 422, "line 3", "'p'")
        self.refused(self.service.post("/v1/predict", '{"a":1,"b":2,"p":3}\n[1]\n', NDJSON), 400, "line 2")
        self.refused(self.service.post("/v1/predict", '{"a":1', NDJSON), 400, "line 1", "not JSON")

    def test_content_types(self):
        for kind in ("text/plain", "", "application/x-www-form-urlencoded"):
            self.refused(self.service.post("/v1/predict", {"rows": ROWS}, kind), 415, "application/json")

    def test_paths_and_methods(self):
        for path in ("/nope", "/v1/predict/", "//v1/predict", "/v1/../v1/model", "/%2e%2e/etc/passwd", "/../../etc/passwd",
                     "/v1/model%00", "/V1/MODEL", "/index.html", "*"):
            self.refused(self.service.get(path), 404, "there is no")
        answer = self.refused(self.service.get("/v1/predict"), 405, "POST")
        self.assertEqual(answer.headers["allow"], "POST")
        answer = self.refused(self.service.post("/v1/model", {}), 405, "GET")
        self.assertEqual(answer.headers["allow"], "GET, HEAD")
        self.refused(self.service.request("BREW", "/livez"), 405)
        self.assertEqual(self.service.get(f"{self.service.url}/livez").status, 200)

    def test_a_parameter_where_there_is_none(self):
        self.refused(self.service.get("/v1/model?x=1"), 400, "'x'", "takes none")


class About(ServeTest):
    def test_health(self):
        self.assertEqual(self.service.get("/livez").json(), {"status": "live"})
        self.assertEqual(self.service.get("/readyz").json(), {"status": "ready"})
        head = self.service.request("HEAD", "/livez")
        self.assertEqual((head.status, head.body, head.headers["content-length"]), (200, b"", "18"))

    def test_model_card(self):
        card = self.service.get("/v1/model").json()
        self.assertEqual((card["method"], card["target"], card["rows"]), ("nrc", "y", 200))
        self.assertEqual([column["name"] for column in card["inputs"]], ["a", "b"])
        self.assertLess(card["inputs"][0]["low"], card["inputs"][0]["typical"])
        self.assertLess(card["inputs"][0]["typical"], card["inputs"][0]["high"])
        self.assertEqual(card["predictions"][0]["name"], "p")
        self.assertRegex(card["version"], "^[0-9a-f]{8}$")
        self.assertIsNone(card["guarantee_details"])

    def test_date(self):
        sent = email.utils.parsedate_to_datetime(self.service.get("/livez").headers["date"])
        self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - sent).total_seconds()), 60)

    def test_request_ids(self):
        one, two = self.service.get("/livez"), self.service.get("/livez")
        self.assertNotEqual(one.headers["x-request-id"], two.headers["x-request-id"])
        own = self.service.get("/livez", headers={"X-Request-Id": "my.id-7"})
        self.assertEqual(own.headers["x-request-id"], "my.id-7")
        for bad in ("x" * 65, "a b", 'q"', "ä".encode("latin1").decode("latin1")):
            self.assertNotEqual(self.service.get("/livez", headers={"X-Request-Id": bad}).headers["x-request-id"], bad)

    def test_log_is_json_and_has_what_happened(self):
        self.service.post("/v1/predict", {"rows": ROWS}, headers={"X-Request-Id": "seen"})
        self.service.get("/nope", headers={"X-Request-Id": "lost"})
        self.service.wait_for_log("request", 2)
        lines = {line.get("id"): line for line in self.service.log()}
        self.assertEqual((lines["seen"]["status"], lines["seen"]["rows"], lines["seen"]["level"]), (200, 3, "info"))
        self.assertEqual((lines["lost"]["status"], lines["lost"]["level"]), (404, "warning"))
        self.assertIn("there is no", lines["lost"]["problem"])
        self.assertRegex(lines["seen"]["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_metrics(self):
        self.service.post("/v1/predict", {"rows": ROWS})
        self.service.post("/v1/predict", "x")
        text = self.service.get("/metrics").text
        self.assertIn('tare_requests_total{path="/v1/predict",status="200"} 1\n', text)
        self.assertIn('tare_requests_total{path="/v1/predict",status="400"} 1\n', text)
        self.assertIn('tare_request_seconds_count{path="/v1/predict"} 2\n', text)
        self.assertIn("tare_rows_total 3\n", text)
        names = set()
        for line in text.splitlines():
            if line.startswith("# TYPE"):
                names.add(line.split()[2])
            elif not line.startswith("#"):
                self.assertRegex(line, r'^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (-?[\d.e+-]+)$')
                self.assertIn(re.sub("_(bucket|sum|count)$", "", re.match("[a-z_]+", line)[0]), names)


class Token(ServeTest):
    def setUp(self):
        super(ServeTest, self).setUp()
        self.make_model()
        self.write("token", "open sesame\nnot this\n")
        self.service = self.serve("--token-file", "token")

    def test_token(self):
        right = {"Authorization": "Bearer open sesame"}
        self.assertEqual(self.service.post("/v1/predict", {"rows": ROWS}, headers=right).status, 200)
        self.assertEqual(self.service.get("/metrics", headers=right).status, 200)
        for wrong in ({}, {"Authorization": "open sesame"}, {"Authorization": "Bearer open sesam"},
                      {"Authorization": "Bearer open sesamE"}, {"Authorization": "Bearer open sesameopen sesame"},
                      {"Authorization": "Bearer "}, {"Authorization": "Basic open sesame"}):
            for path in ("/v1/model", "/v1/coverage", "/metrics"):
                answer = self.refused(self.service.get(path, headers=wrong), 401, "Bearer TOKEN")
                self.assertEqual(answer.headers["www-authenticate"], "Bearer")
        for path in ("/livez", "/readyz", "/", "/openapi.json", "/app.js", "/style.css", "/icon.svg"):
            self.assertEqual(self.service.get(path).status, 200, path)
        self.assertNotIn("sesame", self.service.log_text())


class Categories(ServeTest):
    def make_model(self):
        rows = [["red" if i % 2 else "blue", i % 4, i % 10, (100 if i % 2 else 0) + i % 7] for i in range(200)]
        self.write("data.csv", csv_text(["colour", "code", "n", "y"], rows))
        self.fit("data.csv", "--method", "pure_kernel", "--bandwidth", "0.5", "--categorical", "code", "--missing", "impute")

    def test_texts_numbers_and_missing_values(self):
        self.write("new.csv", "colour,code,n\nred,1,5\nblue,2,\n,3,1\nNA,0,1\n")
        tool = self.ok("predict", "m.tare", "new.csv", "--json").json_lines()
        rows = [{"colour": "red", "code": 1, "n": 5}, {"colour": "blue", "code": "2", "n": None},
                {"colour": None, "code": 3, "n": 1}, {"colour": "NA", "code": 0, "n": 1.0}]
        answer = self.service.post("/v1/predict", {"rows": rows}).json()
        self.assertEqual(answer["rows"], tool)
        self.assertEqual(answer["warnings"], [{"code": "imputed_values", "rows": 3, "text": "3 missing values were imputed"}])

    def test_unseen_category_is_a_warning(self):
        answer = self.service.post("/v1/predict", {"rows": [{"colour": "green", "code": 1, "n": 5}]}).json()
        self.assertEqual((answer["warnings"][0]["code"], answer["warnings"][0]["rows"]), ("unseen_category", 1))
        self.assertIn("1 cells hold a category", answer["warnings"][0]["text"])

    def test_card_lists_categories(self):
        columns = {column["name"]: column for column in self.service.get("/v1/model").json()["inputs"]}
        self.assertEqual(columns["colour"]["categories"], ["blue", "red"])
        self.assertIn(columns["colour"]["typical"], ["blue", "red"])


class Series(ServeTest):
    def make_model(self):
        self.write_points(count=120)
        self.fit("data.csv", "--method", "nrc", "--regressor", "ridge", "--window", "3", "--drop", "p")

    def test_rows_of_a_request_are_a_series(self):
        rows = [{"a": i, "b": i / 10} for i in range(5)]
        answer = self.service.post("/v1/predict", {"rows": rows}).json()
        self.assertEqual(len(answer["rows"]), 3)
        self.assertIn("2 rows at the start", answer["warnings"][0]["text"])
        self.refused(self.service.post("/v1/predict", {"rows": rows[:2]}), 422, "3 consecutive rows of a series")


class RowwiseGuarantees(ServeTest):
    """Models whose ranks differ from row to row answer as the tool does, and say what they are."""

    def make_model(self):
        rows = [["uv"[i % 2], i % 10, ((i * 7) % 13) * (1 + i % 10)] for i in range(900)]
        self.write("data.csv", csv_text(["g", "n", "y"], rows))
        self.fit("data.csv", "--method", "pure_kernel", "--guarantee", "conditional:groups,n", "--group", "g", "--bounds", "none")

    def test_answers_are_those_of_the_tool(self):
        self.write("new.csv", "g,n\nu,1\nv,2\nw,3\n")
        tool = self.ok("predict", "m.tare", "new.csv", "--interval", "0.9", "--diagnostics", "--json").json_lines()
        rows = [{"g": "u", "n": 1}, {"g": "v", "n": 2}, {"g": "w", "n": 3}]
        answer = self.service.post("/v1/predict", {"rows": rows, "interval": [0.9], "diagnostics": True}).json()
        self.assertEqual(answer["rows"], tool)
        self.assertEqual([row["delivered_0.9"] for row in tool][2], 0)
        details = self.service.get("/v1/model").json()["guarantee_details"]
        self.assertEqual((details["form"], details["conditions"], details["functions"]), ("conditional", ["groups", "n"], 3))


class Groups(ServeTest):
    def make_model(self):
        rows = [["uv"[i % 2], i % 10, (i * 7) % 13] for i in range(300)]
        self.write("data.csv", csv_text(["g", "n", "y"], rows))
        self.fit("data.csv", "--method", "pure_kernel", "--guarantee", "split,strict", "--group", "g", "--drop", "g",
                 "--bounds", "none")

    def test_groups_and_infinite_ends(self):
        self.write("new.csv", "g,n\nu,1\nv,2\nw,3\n")
        levels = ["--levels", "0.0001,0.5", "--diagnostics"]
        tool = self.ok("predict", "m.tare", "new.csv", *levels, "--json").json_lines()
        rows = [{"g": "u", "n": 1}, {"g": "v", "n": 2}, {"g": "w", "n": 3}]
        answer = self.service.post("/v1/predict", {"rows": rows, "levels": [0.0001, 0.5], "diagnostics": True}).json()
        self.assertEqual(answer["rows"], tool)
        self.assertIsNone(answer["rows"][0]["q0.0001"])
        self.assertIn("1 rows have a value of 'g'", answer["warnings"][0]["text"])

    def test_warnings_are_those_of_the_tool(self):
        self.write("new.csv", "g,n\nu,1\nv,2000\nw,3\n")
        rows = [{"g": "u", "n": 1}, {"g": "v", "n": 2000}, {"g": "w", "n": 3}]
        for diagnostics in (False, True):
            options = ["--levels", "0.0001,0.5"] + ["--diagnostics"] * diagnostics
            lines = self.run_tool("predict", "m.tare", "new.csv", *options).err.splitlines()
            tool = [re.search(r"(\d+) of 3 rows .*\[(\w+)\]$", line) for line in lines]
            tool = {found[2]: int(found[1]) for found in tool if found}
            body = {"rows": rows, "levels": [0.0001, 0.5], "diagnostics": diagnostics}
            served = self.service.post("/v1/predict", body)
            warned = {one["code"]: one["rows"] for one in served.json()["warnings"]}
            self.assertEqual(warned.pop("unseen_group"), 1)
            self.assertEqual(warned, tool)
            self.assertEqual("outside" in warned, diagnostics)
            csv = self.service.post(f"/v1/predict?levels=0.0001,0.5&diagnostics={str(diagnostics).lower()}", self.read("new.csv"), CSV)
            header = dict(part.split("=") for part in csv.headers["tare-warnings"].split(", "))
            self.assertEqual({code: int(count) for code, count in header.items()}, {"unseen_group": 1, **warned})
        self.assertEqual(self.service.get("/v1/model").json()["warnings"], [])


if __name__ == "__main__":
    main()
