# SPDX-License-Identifier: BSD-3-Clause
"""A model that learns from /v1/observe: what it answers, what it keeps over restarts, and what it refuses."""
import json
import os
import resource
import signal
import struct
import threading
import time
import zlib

from serve_harness import BAD_DATA, CSV, HEADER, NDJSON, OTHER, PATIENCE, USAGE, WAIT, ServeTest, Service, csv_text, main, points

START = 60  # rows that the model file has learned
QUESTION = {"rows": [{"a": a, "b": b, "p": 2 * a + b} for a, b in ((1, 0.5), (7, -1), (4, 0))], "levels": [0.05, 0.5, 0.95], "interval": 0.8}


def rows_of(first, count):
    """Rows of the stream after those of the model file."""
    return [dict(zip(HEADER, row)) for row in points(START + first + count, seed=3)[START + first:]]


def journal_rows(data, features=2):
    """An independent reading of the journal: (sequence, id, prediction, x, target) of each row."""
    magic, version, length, check = struct.unpack("<8sIII", data[:20])
    assert (magic, version, check) == (b"TAREJRNL", 1, zlib.crc32(data[:16]))
    header = json.loads(data[20:20 + length])
    assert struct.unpack("<I", data[20 + length:24 + length])[0] == zlib.crc32(data[20:20 + length])
    at, rows = 24 + length, []
    while at < len(data):
        size, check = struct.unpack("<II", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert check == zlib.crc32(data[at:at + 4])
        assert struct.unpack("<I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(body)
        sequence, prediction, target, _answer, id_length = struct.unpack("<QdddB", body[:33])
        x = struct.unpack(f"<{features}d", body[33 + id_length:])
        rows.append((sequence, body[33:33 + id_length].decode(), prediction, list(x), target))
        at += 12 + size
    return header, rows


class OnlineTest(ServeTest):
    OPTIONS = ("--journal", "j")

    def make_model(self):
        self.write("stream.csv", csv_text(HEADER, points(START, seed=3)))
        self.ok("track", "stream.csv", "--target", "y", "--prediction", "p", "--start", "20", "--levels", "0.05,0.25,0.5,0.75,0.95", "--save",
                "m.tare", "-o", "answers.csv", "-q")
        self.write("first.tare", self.read("m.tare"))

    def answer(self, service=None):
        return (service or self.service).post("/v1/predict", QUESTION).json()["rows"]

    def observe(self, body, kind="application/json", target="/v1/observe", service=None):
        answer = (service or self.service).post(target, body, kind)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def learned(self, outcome):
        return outcome["learned"], outcome["repeated_ids"], outcome["unknown_ids"]

    def rows(self, service=None):
        return (service or self.service).get("/v1/model").json()["online"]["rows"]

    def restart(self, *options, kill=False):
        if kill:
            self.service.process.kill()
            self.service.process.wait(WAIT)
        else:
            self.assertEqual(self.service.stop(), 0)
        self.service = self.serve(*(options or self.OPTIONS))
        return self.service

    def oracle(self, rows):
        """What a model answers that `tare update` taught these rows in one go."""
        self.write("o.tare", self.read("first.tare"))
        if rows:
            self.write("o.csv", csv_text(HEADER, [[row[name] for name in HEADER] for row in rows]))
            self.ok("update", "o.tare", "o.csv", "-q")
        self.write("q.csv", csv_text(HEADER[:3], [[row[name] for name in HEADER[:3]] for row in QUESTION["rows"]]))
        return self.ok("predict", "o.tare", "q.csv", "--levels", "0.05,0.5,0.95", "--interval", "0.8", "--json").json_lines()

    def refuses_to_start(self, code, *says, model="m.tare", options=None):
        result = self.run_tool("serve", model, "--port", "0", *(options or self.OPTIONS))
        self.assertEqual(result.code, code, result.err)
        for text in says:
            self.assertIn(text, result.err)


class Online(OnlineTest):
    def test_answers_are_those_of_a_model_that_was_taught_in_one_go(self):
        self.assertEqual(self.answer(), self.oracle([]))
        rows = rows_of(0, 90)
        self.assertEqual(self.learned(self.observe({"rows": rows[:1]})), (1, 0, 0))
        self.assertEqual(self.answer(), self.oracle(rows[:1]))
        self.observe({"rows": rows[1:20]})
        self.observe("\n".join(map(json.dumps, rows[20:50])), NDJSON)
        self.observe(csv_text(HEADER, [[row[name] for name in HEADER] for row in rows[50:]]), CSV)
        self.assertEqual(self.answer(), self.oracle(rows))
        self.assertEqual(self.rows(), START + 90)

    def test_no_look_ahead(self):
        """Rows after a row change nothing of its answer: each is answered before it is learned."""
        rows = rows_of(0, 30)
        answers = []
        for changed in (False, True):
            self.write("m.tare", self.read("first.tare"))
            self.service = self.serve()
            seen = []
            for i, row in enumerate(rows):
                seen.append(self.service.post("/v1/predict", {"rows": [{**row, "y": 0}], "interval": 0.9}).json()["rows"])
                y = row["y"] + (100 if changed and i >= 15 else 0)
                self.assertEqual(self.observe({"rows": [{**row, "y": y}]})["learned"], 1)
            answers.append(seen)
        self.assertEqual(answers[0][:16], answers[1][:16])
        self.assertNotEqual(answers[0][17:], answers[1][17:])

    def test_a_kill_loses_nothing_and_the_answers_are_the_same_bits(self):
        rows = rows_of(0, 40)
        for i in range(0, 40, 10):
            self.observe({"rows": rows[i:i + 10], "ids": [f"r{i + k}" for k in range(10)]})
            before = self.answer()
            self.restart(kill=i % 20 == 0)
            self.assertEqual(self.answer(), before)
            again = self.observe({"rows": rows[i:i + 10], "ids": [f"r{i + k}" for k in range(10)]})
            self.assertEqual(self.learned(again), (0, 10, 0))
        self.assertEqual(self.answer(), self.oracle(rows))
        found = self.service.wait_for_log("journal")[-1]
        self.assertEqual((found["skipped"], found["replayed"], found["rows"]), (0, 40, START + 40))

    def test_the_journal_has_each_row_before_it_is_acknowledged(self):
        rows = rows_of(0, 12)
        for i, row in enumerate(rows):
            self.observe({"rows": [row], "ids": [f"é{i}"]})
            header, found = journal_rows(self.read("j"))
            self.assertEqual(found[-1], (START + i, f"é{i}", row["p"], [row["a"], row["b"]], row["y"]))
        self.assertEqual(len(found), 12)
        self.assertEqual((header["rows"], header["target"], header["columns"], header["levels"]),
                         (START, "y", ["a", "b"], [0.05, 0.25, 0.5, 0.75, 0.95]))
        self.assertEqual(self.service.metric("tare_journal_bytes"), os.path.getsize(self.path("j")))

    def test_targets_that_come_late_and_out_of_order(self):
        rows = rows_of(0, 20)
        ids = self.service.post("/v1/predict", {"rows": rows}).json()["ids"]
        order = [13, 2, 19, 0, 7]
        outcome = self.observe({"ids": [ids[i] for i in order], "targets": [rows[i]["y"] for i in order]})
        self.assertEqual((self.learned(outcome), outcome["counted"]), ((5, 0, 0), 5))
        right = self.oracle([rows[i] for i in order])
        self.assertEqual(self.answer(), right, "the order is that of the targets")
        again = self.observe({"ids": [ids[2], ids[2], "x", ids[0] + "0000"], "targets": [1, 1, 1, 1]})
        self.assertEqual(self.learned(again), (0, 2, 2))
        self.restart(kill=True)
        self.assertEqual(self.answer(), right)
        outcome = self.observe({"ids": [ids[13], ids[5]], "targets": [0, 0]})
        self.assertEqual(self.learned(outcome), (0, 1, 1), "learned ids are known, waiting rows are forgotten")

    def test_ids_in_every_format(self):
        rows = rows_of(0, 9)
        outcome = self.observe({"rows": rows[:3], "ids": ["a", "", "b"]})
        self.assertEqual(self.learned(outcome), (3, 0, 0))
        named = [{**row, "key": key} for row, key in zip(rows[3:6], ("b", "c", None))]
        self.assertEqual(self.learned(self.observe("\n".join(map(json.dumps, named)), NDJSON, "/v1/observe?id=key")), (2, 1, 0))
        self.assertEqual(self.learned(self.observe({"rows": [{**rows[6], "key": 17}]}, target="/v1/observe?id=key")), (1, 0, 0))
        lines = csv_text([*HEADER, "key"], [[*(row[name] for name in HEADER), key] for row, key in zip(rows[6:], ("17", "d", '"e,f"'))])
        self.assertEqual(self.learned(self.observe(lines, CSV, "/v1/observe?id=key")), (2, 1, 0))
        self.assertEqual([row[1] for row in journal_rows(self.read("j"))[1]], ["a", "", "b", "c", "", "17", "d", "e,f"])

    def test_hostile_ids(self):
        row = rows_of(0, 1)[0]
        for name in ("\u0000", "a\nb", "'; drop", "\U0001F600" * 16, "x" * 64, "../../etc", "-0", f"{2 ** 64}"):
            self.assertEqual(self.learned(self.observe({"rows": [row], "ids": [name]})), (1, 0, 0), name)
            self.assertEqual(self.learned(self.observe({"rows": [row], "ids": [name]})), (0, 1, 0), name)
        for body, status, says in (
                ({"rows": [row], "ids": ["x" * 65]}, 422, "65 bytes, but at most 64"),
                ({"rows": [row, row], "ids": ["x", "\U0001F600" * 17]}, 422, "row 2: its id has 68 bytes"),
                ({"rows": [row], "ids": ["x", "y"]}, 422, "2 ids but 1 rows"), ({"rows": [row], "ids": [7]}, 400, "a list of texts"),
                ({"rows": [row], "ids": [None]}, 400, "a list of texts"), ({"rows": [row], "targets": [1]}, 400, "either"),
                ({"rows": [row], "ids": ["x"], "targets": [1]}, 400, "either")):
            self.refused(self.service.post("/v1/observe", body), status, says)
        self.refused(self.service.post("/v1/observe?id=nokey", "a,b,p,y\n1,2,3,4\n", CSV), 400, "no column 'nokey'")
        self.refused(self.service.post("/v1/observe?id=key", {"rows": [row]}), 422, "has no column 'key'")
        self.assertEqual(self.rows(), START + 8)

    def test_a_refused_row_teaches_nothing(self):
        rows = rows_of(0, 3)
        for wrong in ({"y": None}, {"a": "x"}, {"y": 1.7e308, "p": -1.7e308}):
            self.assertEqual(self.service.post("/v1/observe", {"rows": [rows[0], {**rows[1], **wrong}]}).status, 422)
        self.assertEqual(self.rows(), START)
        self.assertEqual(journal_rows(self.read("j"))[1], [])

    def test_folding_the_journal_into_the_model(self):
        rows = rows_of(0, 50)
        self.observe({"rows": rows[:30], "ids": [f"r{i}" for i in range(30)]})
        self.ok("update", "m.tare", "--journal", "j", "-q")
        self.service.wait_for_log("model_switched")  # the file changed, and continues the stream
        self.assertEqual(self.answer(), self.oracle(rows[:30]))
        self.assertEqual(self.service.get("/v1/coverage").json()["total"], 30, "it is the same model")
        self.observe({"rows": rows[30:40]})
        before = self.answer()
        self.restart(kill=True)
        found = self.service.wait_for_log("journal")[-1]
        self.assertEqual((found["skipped"], found["replayed"]), (30, 10))
        self.assertEqual(self.answer(), before)
        self.assertEqual(self.learned(self.observe({"rows": rows[:1], "ids": ["r0"]})), (0, 1, 0))
        self.assertEqual(self.service.stop(), 0)
        self.assertIn("10 rows of the journal learned, 30 were known; the model has followed 100", self.ok("update", "m.tare", "--journal", "j").err)
        self.assertEqual(self.answer(self.serve("--journal", "j")), before)
        os.remove(self.path("j"))  # another name is free as well
        self.service = self.serve("--journal", "k")
        self.assertEqual(self.answer(), before)
        self.observe({"rows": rows[40:]})
        self.assertEqual(self.answer(), self.oracle(rows))

    def test_reload_of_another_stream_is_refused(self):
        rows = rows_of(0, 10)
        self.observe({"rows": rows})
        before = self.answer()
        self.write("more.csv", csv_text(HEADER, points(5, seed=77)))
        self.ok("update", "m.tare", "more.csv", "-q")
        self.service.wait_for_log("model_refused")
        self.service.signal(signal.SIGHUP)
        self.assertIn("not of this model", self.service.wait_for_log("model_refused", 2)[-1]["reason"])
        self.fit("stream.csv", "--prediction", "p", "--bandwidth", "1")
        self.assertIn("does not learn", self.service.wait_for_log("model_refused", 3)[-1]["reason"])
        self.assertEqual(self.answer(), before)
        self.assertEqual(self.observe({"rows": rows_of(10, 1)})["learned"], 1)
        self.assertEqual(self.answer(), self.oracle(rows_of(0, 11)))

    def test_start_is_refused(self):
        self.refuses_to_start(OTHER, "another process writes to this journal")
        self.observe({"rows": rows_of(0, 4)})
        self.assertEqual(self.service.stop(), 0)
        whole = self.read("j")
        damaged = bytearray(whole)
        damaged[-150] ^= 1
        self.write("j", bytes(damaged))
        self.refuses_to_start(BAD_DATA, "j: the journal is damaged at byte")
        header = 24 + struct.unpack("<I", whole[12:16])[0]
        first = 12 + struct.unpack("<I", whole[header:header + 4])[0]
        self.write("j", whole[:header] + whole[header + first:])
        self.refuses_to_start(BAD_DATA, "has number 61 instead of 60")
        self.write("j", whole)
        self.fit("stream.csv", "--prediction", "p", "--bandwidth", "1", output="plain.tare")
        self.refuses_to_start(USAGE, "does not learn", model="plain.tare")
        self.ok("track", "stream.csv", "--target", "y", "--prediction", "p", "--start", "20", "--save", "other.tare", "-o", "x.csv", "-q")
        self.refuses_to_start(BAD_DATA, "its levels is [0.05,0.25,0.5,0.75,0.95]", model="other.tare")
        self.assertEqual(self.read("j"), whole)
        self.write("j", whole[:-5])
        self.service = self.serve(*self.OPTIONS)
        self.assertGreater(self.service.wait_for_log("journal_cut")[0]["bytes"], 50)
        self.assertEqual(self.answer(), self.oracle(rows_of(0, 3)))

    def test_a_full_disk_refuses_and_keeps_in_step(self):
        self.service.stop()
        size = os.path.getsize(self.path("j"))
        self.service = self.serve(*self.OPTIONS, "--log", "errors", limits=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size + 700,) * 2))
        rows, learned = rows_of(0, 20), 0
        while learned < 20:
            answer = self.service.post("/v1/observe", {"rows": [rows[learned]], "ids": [f"r{learned}"]})
            if answer.status != 200:
                break
            learned += 1
        self.refused(answer, 503, "was not learned", "File too large")
        self.assertGreater(learned, 3)
        several = self.service.post("/v1/observe", {"rows": rows})
        self.refused(several, 503, "was not learned")
        self.assertEqual((self.rows(), len(journal_rows(self.read("j"))[1])), (START + learned, learned))
        self.assertEqual(self.answer(), self.oracle(rows[:learned]), "it goes on answering")
        self.service.close()
        self.service = self.serve(*self.OPTIONS)
        self.assertEqual(self.observe({"rows": rows[learned:learned + 1], "ids": [f"r{learned}"]})["learned"], 1)
        self.assertEqual(self.answer(), self.oracle(rows[:learned + 1]))

    def test_a_removed_journal_refuses(self):
        os.remove(self.path("j"))
        self.refused(self.service.post("/v1/observe", {"rows": rows_of(0, 1)}), 503, "was removed")
        self.assertEqual(self.rows(), START)

    def test_limit_of_the_journal(self):
        self.restart("--journal", "j", "--max-journal", "1")
        rows = rows_of(0, 1) * 1000  # 61 bytes each
        for _ in range(25):
            answer = self.service.post("/v1/observe", {"rows": rows})
            if answer.status != 200:
                break
        self.refused(answer, 503, "limit of 1 MiB", "rows of this request were learned before")
        self.assertLessEqual(os.path.getsize(self.path("j")), 2 ** 20)
        self.assertEqual(self.rows(), START + len(journal_rows(self.read("j"))[1]))

    def test_predictions_and_teaching_at_once(self):
        rows, wrong = rows_of(0, 120), []

        def ask():
            while not done.is_set():
                answer = self.service.post("/v1/predict", QUESTION)
                if answer.status != 200 or any(row["q0.05"] > row["q0.95"] for row in answer.json()["rows"]):
                    wrong.append(answer.body)

        done = threading.Event()
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for i in range(0, 120, 6):
            self.observe({"rows": rows[i:i + 6]})
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(self.answer(), self.oracle(rows))

    def test_a_long_lesson_does_not_hold_up_predictions(self):
        lesson = threading.Thread(target=self.observe, args=({"rows": rows_of(0, 100) * 40},))
        lesson.start()
        slowest, asked = 0.0, 0
        while lesson.is_alive():
            began = time.monotonic()
            self.answer()
            slowest, asked = max(slowest, time.monotonic() - began), asked + 1
        lesson.join()
        self.assertGreater(asked, 5)
        self.assertLess(slowest, 0.5 * PATIENCE)  # a row at a time is locked, for a tenth of a millisecond: the rest is for busy machines

    def test_sync(self):
        self.restart("--journal", "j", "--journal-sync")
        rows = rows_of(0, 10)
        self.observe({"rows": rows})
        self.restart("--journal", "j", kill=True)
        self.assertEqual(self.answer(), self.oracle(rows))

    def test_drift_is_seen_everywhere(self):
        calm = self.service.get("/v1/model").json()
        self.assertEqual((calm["method"], calm["online"]["source"], calm["online"]["drift"]["alarm"]), ("online", "column", None))
        self.assertEqual(self.service.metric("tare_drift_alarm"), 0)
        rows = rows_of(0, 900)
        far = [{**row, "y": row["p"] + 5 * (row["y"] - row["p"])} for row in rows[500:]]
        self.observe({"rows": rows[:500] + far})
        card = self.service.get("/v1/model").json()
        alarm = card["online"]["drift"]["alarm"]
        self.assertGreater(alarm["row"], START + 500)
        self.assertAlmostEqual(alarm["change"], START + 500, delta=60)
        self.assertGreater(alarm["scale"], 1.5)
        self.assertEqual(self.service.metric("tare_drift_alarm"), 1)
        self.assertGreaterEqual(self.service.metric("tare_drift_log_e"), card["online"]["drift"]["threshold"])
        self.assertEqual(self.service.metric("tare_online_rows"), START + 900)
        interval = card["online"]["intervals"][0]
        self.assertEqual(interval["confidence"], 0.9)
        self.assertLessEqual(abs(interval["coverage"] - 0.9), interval["bound"])
        self.assertEqual(self.service.metric('tare_online_coverage{interval="0.9"}'), interval["coverage"])

    def test_without_a_journal_it_says_so(self):
        service = self.serve()
        self.assertEqual(service.wait_for_log("learns_in_memory_only")[0]["rows"], START)
        self.assertEqual(self.observe({"rows": rows_of(0, 5)}, service=service)["learned"], 5)
        self.assertEqual(self.answer(service), self.oracle(rows_of(0, 5)))
        service.signal(signal.SIGHUP)
        service.wait_for_log("model_unchanged")
        self.assertEqual(self.rows(service), START + 5)


class OtherSources(OnlineTest):
    """Around a model of `tare fit`, and with a model of its own."""

    OPTIONS = ()

    def test_around_a_model(self):
        self.fit("stream.csv", "--method", "nrc", "--regressor", "ridge", output="m.tare")
        self.write("first.tare", self.read("m.tare"))
        self.ok("update", "m.tare", self.write("a.csv", csv_text(HEADER, points(30, seed=8))), "-q")
        service = Service("m.tare", "--journal", "j", cwd=self.folder)
        self.addCleanup(service.log_file.close)
        self.addCleanup(service.close)
        rows = rows_of(0, 25)
        ids = service.post("/v1/predict", {"rows": rows}).json()["ids"]
        self.observe({"ids": ids[:10], "targets": [row["y"] for row in rows[:10]]}, service=service)
        self.observe({"rows": rows[10:]}, service=service)
        answer = self.answer(service)
        service.close()
        self.assertEqual(self.answer(self.serve("--journal", "j")), answer)
        self.write("b.csv", csv_text(HEADER, [[row[name] for name in HEADER] for row in rows]))
        self.ok("update", "m.tare", "b.csv", "-o", "o.tare", "-q")
        self.assertEqual(answer, self.answer(self.serve(model="o.tare")))

    def test_before_two_targets_are_known_nothing_is_answered(self):
        self.fit("stream.csv", "--method", "nrc", "--regressor", "ridge", output="m.tare")
        self.ok("update", "m.tare", self.write("one.csv", csv_text(HEADER, points(1, seed=8))), "-q")
        service = self.serve("--journal", "j", model="m.tare")
        self.refused(service.post("/v1/predict", QUESTION), 422, "/v1/observe")
        # The model keeps other levels than the monitored interval, whose ends are then interpolated.
        outcome = self.observe({"rows": rows_of(0, 1)}, service=service)
        self.assertEqual((outcome["learned"], outcome["counted"]), (1, 0))
        self.assertEqual(self.observe({"rows": rows_of(1, 1)}, service=service)["counted"], 1)
        for row in self.answer(service):
            self.assertLess(row["q0.05"], row["q0.95"])

    def test_with_a_model_of_its_own(self):
        self.ok("track", "stream.csv", "--target", "y", "--start", "20", "--save", "own.tare", "-o", "x.csv", "-q")
        service = Service("own.tare", "--journal", "j", cwd=self.folder)
        self.addCleanup(service.log_file.close)
        self.addCleanup(service.close)
        rows = rows_of(0, 60)  # it is fitted after 100 rows, and again after 110 and 120
        for i in range(0, 60, 20):
            self.observe({"rows": rows[i:i + 20]}, service=service)
        answer = self.answer(service)
        service.close()
        self.assertEqual(self.answer(self.serve("--journal", "j", model="own.tare")), answer)
        self.write("b.csv", csv_text(HEADER, [[row[name] for name in HEADER] for row in rows]))
        self.ok("update", "own.tare", "b.csv", "-o", "o.tare", "-q")
        self.assertEqual(answer, self.answer(self.serve(model="o.tare")))

    def test_columns_that_are_known_later(self):
        self.ok("track", "stream.csv", "--target", "y", "--prediction", "p", "--known-later", "b", "--start", "20", "--save", "late.tare",
                "-o", "x.csv", "-q")
        service = self.serve("--journal", "j", model="late.tare")
        rows = rows_of(0, 3)
        ids = service.post("/v1/predict", {"rows": rows}).json()["ids"]
        self.refused(service.post("/v1/observe", {"ids": ids, "targets": [1, 2, 3]}), 422, "known only with the target")
        self.assertEqual(self.observe({"rows": rows}, service=service)["learned"], 3)

    def test_ids_need_a_model_that_learns(self):
        self.small_model(output="plain.tare")
        service = self.serve(model="plain.tare")
        row = rows_of(0, 1)[0]
        self.refused(service.post("/v1/observe", {"rows": [row], "ids": ["x"]}), 400, "a model that learns")
        self.refused(service.post("/v1/observe?id=a", {"rows": [row]}), 400, "a model that learns")
        outcome = service.post("/v1/observe", {"rows": [row]}).json()
        self.assertNotIn("learned", outcome)


if __name__ == "__main__":
    main()
