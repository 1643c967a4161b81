# SPDX-License-Identifier: BSD-3-Clause
"""Targets that arrive later, and the alarm when coverage leaves its band."""
import json

from serve_harness import CSV, HEADER, NDJSON, ServeTest, csv_text, main, points


class Observe(ServeTest):
    OPTIONS = ("--watch", 0.8, "--watch-window", 100, "--remember", 50)

    def predict(self, count=10):
        rows = [dict(zip(HEADER[:3], row)) for row in points(count, seed=5)]
        return self.service.post("/v1/predict", {"rows": rows, "interval": 0.8}).json()

    def test_by_id(self):
        answer = self.predict()
        targets = [row["lower_0.8"] if i % 2 else row["upper_0.8"] + 1 for i, row in enumerate(answer["rows"])]
        outcome = self.service.post("/v1/observe", {"ids": answer["ids"], "targets": targets}).json()
        self.assertEqual((outcome["counted"], outcome["unknown_ids"], outcome["repeated_ids"]), (10, 0, 0))
        self.assertEqual((outcome["coverage"]["inside"], outcome["coverage"]["observations"]), (5, 10))
        again = self.service.post("/v1/observe", {"ids": [*answer["ids"], "x"], "targets": [*targets, 1]}).json()
        self.assertEqual((again["counted"], again["unknown_ids"], again["repeated_ids"]), (0, 1, 10))
        coverage = self.service.get("/v1/coverage").json()
        self.assertEqual([point["at"] for point in coverage.pop("history")], list(range(1, 11)))
        self.assertEqual(coverage, again["coverage"])

    def test_ids_of_other_formats_follow_the_first(self):
        answer = self.service.post("/v1/predict?interval=0.8", "a,b,p\n1,0,2\n2,0,4\n", CSV)
        prefix, number = answer.headers["tare-first-id"].rsplit("-", 1)
        ids = [f"{prefix}-{int(number) + i}" for i in range(2)]
        self.assertEqual(self.service.post("/v1/observe", {"ids": ids, "targets": [2, 4]}).json()["counted"], 2)

    def test_too_long_ago_is_unknown(self):
        first = self.predict(10)["ids"]
        self.predict(45)
        outcome = self.service.post("/v1/observe", {"ids": first, "targets": [0] * 10}).json()
        self.assertEqual((outcome["unknown_ids"], outcome["counted"]), (5, 5))

    def test_rows_with_targets_in_every_format(self):
        rows = points(30, seed=9)
        self.write("new.csv", csv_text(HEADER, rows))
        quantiles = self.ok("predict", "m.tare", "new.csv", "--interval", "0.8").numbers()
        inside = sum(low <= row[3] <= high for (low, high), row in zip(quantiles, rows))
        objects = [dict(zip(HEADER, row)) for row in rows]
        for body, kind in (({"rows": objects}, "application/json"), (self.read("new.csv"), CSV),
                           ("\n".join(map(json.dumps, objects)), NDJSON)):
            before = self.service.get("/v1/coverage").json()
            outcome = self.service.post("/v1/observe", body, kind).json()
            self.assertEqual(outcome["counted"], 30)
            self.assertEqual(outcome["coverage"]["inside"] - before["inside"], inside)

    def test_alarm(self):
        rows = [dict(zip(HEADER, row)) for row in points(100, seed=9)]
        self.assertEqual(self.service.post("/v1/observe", {"rows": rows}).json()["coverage"]["alarm"], "none")
        self.assertEqual(self.service.metric("tare_coverage_alarm"), 0)
        far = [{**row, "y": 1000} for row in rows[:60]]
        coverage = self.service.post("/v1/observe", {"rows": far}).json()["coverage"]
        self.assertEqual(coverage["alarm"], "below")
        self.assertLess(coverage["coverage"], coverage["band"]["low"])
        self.assertEqual(self.service.metric("tare_coverage_alarm"), -1)
        self.assertEqual(len(self.service.get("/v1/coverage").json()["history"]), 160)

    def test_errors(self):
        good = dict(zip(HEADER, points(1)[0]))
        for body, status, says in (
                ({"ids": ["x"]}, 400, "'ids' and 'targets'"), ({"targets": [1]}, 400, "either 'rows'"), ({}, 400, "either"),
                ({"ids": [], "targets": [], "rows": []}, 400, "either"), ({"ids": ["x"], "targets": []}, 422, "1 ids but 0 targets"),
                ({"ids": [1], "targets": [1]}, 400, "a list of texts"), ({"ids": ["x"], "targets": [None]}, 400, "list of numbers"),
                ({"rows": [{**good, "y": None}]}, 422, "a target is not imputed"),
                ({"rows": [{k: v for k, v in good.items() if k != "y"}]}, 422, "has no column 'y', the model's target"),
                ({"rows": [good], "levels": [0.5]}, 400, "'levels'"), ({"rows": []}, 422, "no row")):
            self.refused(self.service.post("/v1/observe", body), status, says)
        self.assertEqual(self.service.get("/v1/coverage").json()["total"], 0)


if __name__ == "__main__":
    main()
