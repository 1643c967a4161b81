# SPDX-License-Identifier: BSD-3-Clause
"""The OpenAPI file against the service: real requests and answers of every path must be what it says."""
import json
import re

from serve_harness import CSV, HEADER, JSON, NDJSON, ServeTest, main, points

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int,
         "null": type(None)}


class Wrong(Exception):
    """A value that its schema does not allow."""


class Validator:
    """As much of JSON Schema as the file uses. A keyword that is not known here is an error, so that nothing in the
    file goes unchecked."""

    IGNORED = {"description", "example", "title"}

    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        while "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def check(self, value, schema, at="$"):
        if "$ref" in schema:
            self.check(value, self.resolve(schema), at)
        for keyword, wanted in schema.items():
            if keyword in self.IGNORED or keyword == "$ref":
                continue
            method = getattr(self, "check_" + keyword, None)
            if method is None:
                raise KeyError(f"the validator does not know '{keyword}' ({at})")
            method(value, wanted, schema, at)

    def fail(self, value, at, why):
        raise Wrong(f"{at}: {json.dumps(value)[:200]} {why}")

    def check_type(self, value, wanted, _schema, at):
        names = wanted if isinstance(wanted, list) else [wanted]
        fits = any(isinstance(value, TYPES[name]) and (isinstance(value, bool) == (name == "boolean")) for name in names)
        if not fits:
            self.fail(value, at, f"is not {names}")

    def check_const(self, value, wanted, _schema, at):
        if value != wanted:
            self.fail(value, at, f"is not {wanted}")

    def check_enum(self, value, wanted, _schema, at):
        if value not in wanted:
            self.fail(value, at, f"is none of {wanted}")

    def check_minimum(self, value, wanted, _schema, at):
        if value is not None and value < wanted:
            self.fail(value, at, f"is below {wanted}")

    def check_maximum(self, value, wanted, _schema, at):
        if value is not None and value > wanted:
            self.fail(value, at, f"is above {wanted}")

    def check_exclusiveMinimum(self, value, wanted, _schema, at):
        if value <= wanted:
            self.fail(value, at, f"is not above {wanted}")

    def check_exclusiveMaximum(self, value, wanted, _schema, at):
        if value >= wanted:
            self.fail(value, at, f"is not below {wanted}")

    def check_minProperties(self, value, wanted, _schema, at):
        if len(value) < wanted:
            self.fail(value, at, "has too few properties")

    def check_required(self, value, wanted, _schema, at):
        for name in wanted:
            if isinstance(value, dict) and name not in value:
                self.fail(value, at, f"has no '{name}'")

    def check_properties(self, value, wanted, _schema, at):
        for name, schema in wanted.items():
            if isinstance(value, dict) and name in value:
                self.check(value[name], schema, f"{at}.{name}")

    def check_patternProperties(self, value, wanted, _schema, at):
        for name in value:
            for pattern, schema in wanted.items():
                if re.search(pattern, name):
                    self.check(value[name], schema, f"{at}.{name}")

    def check_additionalProperties(self, value, wanted, schema, at):
        if not isinstance(value, dict):
            return
        for name in value:
            if name in schema.get("properties", {}):
                continue
            if any(re.search(pattern, name) for pattern in schema.get("patternProperties", {})):
                continue
            if wanted is False:
                self.fail(value, at, f"has '{name}', which is not in the file")
            if isinstance(wanted, dict):
                self.check(value[name], wanted, f"{at}.{name}")

    def check_items(self, value, wanted, _schema, at):
        if isinstance(value, list):
            for i, item in enumerate(value):
                self.check(item, wanted, f"{at}[{i}]")

    def check_minItems(self, value, wanted, _schema, at):
        if isinstance(value, list) and len(value) < wanted:
            self.fail(value, at, f"has fewer than {wanted} items")

    def check_maxItems(self, value, wanted, _schema, at):
        if isinstance(value, list) and len(value) > wanted:
            self.fail(value, at, f"has more than {wanted} items")

    def check_oneOf(self, value, wanted, _schema, at):
        fits, reasons = 0, []
        for schema in wanted:
            try:
                self.check(value, schema, at)
                fits += 1
            except Wrong as wrong:
                reasons.append(str(wrong))
        if fits != 1:
            self.fail(value, at, f"fits {fits} of oneOf: {reasons}")


class OpenApi(ServeTest):
    OPTIONS = ("--max-rows", 50, "--max-body", 64)

    def setUp(self):
        super().setUp()
        self.document = self.service.get("/openapi.json").json()
        self.validator = Validator(self.document)
        self.seen = set()

    def operation(self, method, path):
        return self.document["paths"][path][method.lower()]

    def check(self, method, target, body=None, kind=None, status=200):
        """Sends the request; its body and the answer must be what the file says of them."""
        operation = self.operation(method, target.split("?")[0])
        if body is not None:
            content = operation["requestBody"]["content"]
            if status == 200:
                self.assertIn(kind, content)
                if kind == JSON:
                    self.validator.check(body, content[kind]["schema"])
            answer = self.service.post(target, body, kind)
        else:
            answer = self.service.request(method, target)
        self.assertEqual(answer.status, status, answer.body)
        self.assertIn(str(status), operation["responses"], f"{target} gives {status}, which is not in the file")
        response = self.validator.resolve(operation["responses"][str(status)])
        for name, header in response.get("headers", {}).items():
            if self.validator.resolve(header).get("required", True):  # those that come now and then say so
                self.assertIn(name.lower(), answer.headers, f"{target} {status}")
            elif name.lower() not in answer.headers:
                continue
            if self.validator.resolve(header)["schema"]["type"] == "integer":
                int(answer.headers[name.lower()])
        answered = answer.headers["content-type"].split(";")[0]
        self.assertIn(answered, response["content"], f"{target} {status}")
        if answered.endswith("json") and answered != NDJSON:
            self.validator.check(answer.json(), response["content"][answered]["schema"])
        self.seen.add((method, target.split("?")[0]))
        return answer

    def test_every_path_answers_as_it_says(self):
        rows = [dict(zip(HEADER, row)) for row in points(20)]
        for path, item in self.document["paths"].items():
            if "get" in item:
                self.check("GET", path)
        self.check("GET", "/metrics?x=1", status=400)
        self.check("POST", "/v1/predict", {"rows": rows}, JSON)
        self.check("POST", "/v1/predict", {"rows": rows, "levels": [0.001, 0.5], "interval": 0.9}, JSON)
        self.check("POST", "/v1/predict", {"rows": rows, "cost": {"over": 1, "under": 4}}, JSON)
        self.check("POST", "/v1/predict", {"rows": rows, "interval": [0.5, 0.9], "set": "shortest", "diagnostics": True}, JSON)
        table = {"action": [1, 1, 2], "outcome": [0, 9, 0], "cost": [0, 9, 4]}
        told = self.check("POST", "/v1/predict", {"rows": rows, "interval": 0.9, "cost": table}, JSON).json()["warnings"]
        self.assertIn("outside_cost_table", [one["code"] for one in told])
        ids = self.check("POST", "/v1/predict", {"rows": rows, "interval": [0.5, 0.99], "diagnostics": True}, JSON).json()["ids"]
        lines = self.check("POST", "/v1/predict?levels=0.05,1e-6&diagnostics=true", "\n".join(map(json.dumps, rows)), NDJSON)
        for line in lines.text.splitlines():
            self.validator.check(json.loads(line), {"$ref": "#/components/schemas/AnswerRow"})
        self.check("POST", "/v1/predict?keep=a&interval=0.9", "a,b,p\n1,2,3\n", CSV)
        self.check("POST", "/v1/observe", {"ids": ids, "targets": [0.0] * 20}, JSON)
        self.check("POST", "/v1/observe", {"rows": rows}, JSON)
        self.check("POST", "/v1/observe", "\n".join(map(json.dumps, rows)), NDJSON)
        self.check("GET", "/v1/coverage")
        for target in ("/v1/predict", "/v1/observe"):
            self.check("POST", target, "{", JSON, 400)
            self.check("POST", target, {"rows": [{}]}, JSON, 422)
            self.check("POST", target, {"rows": rows * 3}, JSON, 413)
            self.check("POST", target, " " * 100_000, JSON, 413)
            self.check("POST", target, "x", "text/plain", 415)
        there = {(method.upper(), path) for path, item in self.document["paths"].items() for method in item}
        self.assertEqual(self.seen, there, "every path was tried")

    def test_an_online_model_answers_as_it_says(self):
        self.ok("track", "data.csv", "--target", "y", "--prediction", "p", "--start", "20", "--save", "online.tare", "-o", "x.csv", "-q")
        self.service = self.serve("--journal", "j", model="online.tare")
        rows = [dict(zip(HEADER, row)) for row in points(400, seed=2)]
        self.check("GET", "/v1/model")
        ids = self.check("POST", "/v1/predict", {"rows": rows[:2], "diagnostics": True}, JSON).json()["ids"]
        self.check("POST", "/v1/observe", {"ids": ids, "targets": [1.0, 2.0]}, JSON)
        self.check("POST", "/v1/observe", {"rows": rows[2:4], "ids": ["a", ""]}, JSON)
        self.check("POST", "/v1/observe?id=a", "a,b,p,y\n1,2,3,4\n", CSV)
        self.check("POST", "/v1/observe?id=b", "\n".join(map(json.dumps, rows[4:])), NDJSON)
        far = [{**row, "y": row["p"] + 9 * (row["y"] - row["p"])} for row in rows[:200]]
        self.check("POST", "/v1/observe", {"rows": far}, JSON)
        card = self.check("GET", "/v1/model").json()
        self.assertIsNotNone(card["online"]["drift"]["alarm"])

    def test_the_token_is_as_it_says(self):
        self.write("token", "secret")
        self.service = self.serve("--token-file", "token")
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                free = operation.get("security") == []
                body = "{}" if method == "post" else None
                answer = self.service.request(method.upper(), path, body, {"Content-Type": JSON})
                self.assertEqual(answer.status == 401, not free, path)
                self.assertEqual("401" in operation["responses"], not free, path)

    def test_parameters_are_those_that_are_taken(self):
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                names = [parameter["name"] for parameter in operation.get("parameters", [])]
                body = "a,b,p\n1,2,3\n" if method == "post" else None
                values = {"levels": "0.5", "interval": "0.9", "set": "shortest", "cost": "over=1,under=4", "diagnostics": "true", "keep": "all"}
                for name in names:
                    if path == "/v1/observe":
                        continue  # for an online model: test_an_online_model_answers_as_it_says
                    answer = self.service.request(method.upper(), f"{path}?{name}={values[name]}", body, {"Content-Type": CSV})
                    self.assertEqual(answer.status, 200, answer.body)
                wrong = self.refused(self.service.request(method.upper(), f"{path}?nonsense=1", body), 400, "nonsense")
                for name in names:
                    self.assertIn(name, wrong.json()["detail"])

    def test_the_file_is_in_order(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        self.assertIn(f"tare {self.document['info']['version']}", self.ok("--version").out)
        names = [operation["operationId"] for item in self.document["paths"].values() for operation in item.values()]
        self.assertEqual(len(names), len(set(names)))
        text = json.dumps(self.document)
        for reference in set(re.findall(r'"\$ref": "([^"]+)"', text)):
            self.assertIsInstance(self.validator.resolve({"$ref": reference}), dict)
        used = set(re.findall(r"#/components/schemas/(\w+)", text)) | {"PredictAnswer"}
        self.assertLessEqual(set(self.document["components"]["schemas"]), used)

    def test_the_validator_finds_what_is_wrong(self):
        schema = {"$ref": "#/components/schemas/PredictAnswer"}
        good = {"model": "x", "rows": [{"q0.5": 1.0, "lower_0.9": None}], "ids": [],
                "warnings": [{"code": "fallback", "rows": 1, "text": "t"}]}
        self.validator.check(good, schema)
        for bad in ({**good, "more": 1}, {**good, "rows": [{"q0.5": "1"}]}, {**good, "rows": [{"other": 1}]},
                    {**good, "ids": [1]}, {key: good[key] for key in ("model", "rows", "ids")}, {**good, "rows": [{}]}, []):
            with self.assertRaises(Wrong):
                self.validator.check(bad, schema)


if __name__ == "__main__":
    main()
