# SPDX-License-Identifier: BSD-3-Clause
"""Another model while requests come: none is dropped, and a bad file changes nothing."""
import http.client
import json
import os
import shutil
import signal
import threading
import time

from serve_harness import WAIT, ServeTest, main

ROW = {"a": 1.5, "b": 0.25, "p": 3.25}


class Reload(ServeTest):
    OPTIONS = ("--log", "errors")

    def make_model(self):
        self.small_model(count=200)
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "0.3", output="other.tare")

    def answers(self):
        return self.service.post("/v1/predict", {"rows": [ROW]}).json()

    def put(self, source):
        """The usual way: a new file under the old name."""
        shutil.copy(self.path(source), self.path("new.tmp"))
        os.replace(self.path("new.tmp"), self.path("m.tare"))

    def test_a_file_in_its_place(self):
        before = self.answers()
        self.put("other.tare")
        self.service.wait_for_log("model_switched")
        after = self.answers()
        self.assertNotEqual(before["model"], after["model"])
        self.assertNotEqual(before["rows"], after["rows"])
        self.assertEqual(self.service.get("/v1/model").json()["version"], after["model"])

    def test_the_signal(self):
        self.service.signal(signal.SIGHUP)
        self.service.wait_for_log("model_unchanged")

    def test_a_bad_file_leaves_the_old_one_serving_and_says_so(self):
        before = self.answers()
        good = self.read("m.tare")
        for count, bad in enumerate((b"", b"garbage", good[:len(good) // 2], good[:-1] + bytes([good[-1] ^ 1])), 1):
            self.write("m.tare", bad)  # over the old one, in place
            self.service.signal(signal.SIGHUP)
            line = self.service.wait_for_log("model_refused", count)[-1]
            self.assertIn("m.tare", line["reason"])
            self.assertEqual(line["still_serving"], before["model"])
            self.assertEqual(self.answers()["rows"], before["rows"])
            time.sleep(0.02)
        os.remove(self.path("m.tare"))
        self.service.signal(signal.SIGHUP)
        self.assertIn("no such file", self.service.wait_for_log("model_refused", count + 1)[-1]["reason"])
        self.assertEqual(self.answers()["rows"], before["rows"])
        self.assertGreaterEqual(self.service.get("/metrics").text.count('result="refused"'), 1)

    def test_a_model_with_other_columns_is_refused(self):
        self.write("renamed.csv", self.read("data.csv").replace(b"a,b,p", b"aa,b,p"))
        self.fit("renamed.csv", "--prediction", "p", "--bandwidth", "1", output="renamed.tare")
        self.put("renamed.tare")
        line = self.service.wait_for_log("model_refused")[-1]
        self.assertIn("'aa'", line["reason"])
        self.assertIn("restart", line["reason"])

    def test_reloads_under_load_drop_nothing(self):
        """Each answer is wholly that of one of the two models."""
        expected = {}
        for name in ("m.tare", "other.tare"):
            shutil.copy(self.path(name), self.path(f"keep-{name}"))
            service = self.serve(model=name)
            answer = service.post("/v1/predict", {"rows": [ROW] * 30}).json()
            expected[answer["model"]] = answer["rows"]
        body = json.dumps({"rows": [ROW] * 30})
        done = threading.Event()
        seen, problems = set(), []

        def client():
            connection = http.client.HTTPConnection(*self.service.address, timeout=WAIT)
            try:
                while not done.is_set():
                    connection.request("POST", "/v1/predict", body, {"Content-Type": "application/json"})
                    answer = json.loads(connection.getresponse().read())
                    seen.add(answer["model"])
                    if answer["rows"] != expected[answer["model"]]:
                        problems.append("another model's rows")
            except Exception as error:  # pylint: disable=broad-except
                problems.append(repr(error))
            finally:
                connection.close()

        threads = [threading.Thread(target=client) for _ in range(4)]
        for thread in threads:
            thread.start()
        for count in range(1, 41):
            self.put("keep-other.tare" if count % 2 else "keep-m.tare")
            self.service.signal(signal.SIGHUP)
            self.service.wait_for_log("model_switched", count)
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        self.assertEqual(seen, set(expected))


if __name__ == "__main__":
    main()
