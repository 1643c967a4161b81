# SPDX-License-Identifier: BSD-3-Clause
"""A model that learns, whose journal cannot be written or whose memory runs out: a row is learned and written, or neither."""
import errno
import http.client
import json
import os
import sys
import time

from faults import CLEAN, OUT_OF_MEMORY, RIGHT, WRONG, FaultTest, failing, main, places, short

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from serve_harness import HEADER, Service, csv_text, points
from test_online import journal_rows

QUESTION = json.dumps({"rows": [{"a": 1, "b": 0.5, "p": 2.5}], "levels": [0.05, 0.5, 0.95]})


class Journal(FaultTest):
    def setUp(self):
        super().setUp()
        self.write("stream.csv", csv_text(HEADER, points(60, seed=3)))
        self.ok("track", "stream.csv", "--target", "y", "--prediction", "p", "--start", "20", "--save", "m.tare", "-o", "x.csv", "-q")
        self.rows = [dict(zip(HEADER, row)) for row in points(5000, seed=4)]
        self.next = 0

    def start(self, *options):
        service = Service("m.tare", "--journal", "j", "--threads", "2", "--timeout", "3", "--log", "errors", *options, cwd=self.folder,
                          limits=lambda: os.environ.update(self.control.environment()))
        self.addCleanup(service.log_file.close)
        self.addCleanup(service.close)
        return service

    def ask(self, service, target, body=None, connection=None):
        connection = connection or http.client.HTTPConnection(*service.address, timeout=10)
        try:
            connection.request("POST" if body else "GET", target, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (http.client.HTTPException, OSError, ValueError):
            return 0, {}
        finally:
            connection.close()

    def connected(self, service):
        """A connection that has been accepted, so that faults meet what comes after that."""
        connection = http.client.HTTPConnection(*service.address, timeout=10)
        connection.request("GET", "/livez")
        connection.getresponse().read()
        return connection

    def observe(self, service, count=1, connection=None):
        body = {"rows": self.rows[self.next:self.next + count], "ids": [f"r{self.next + i}" for i in range(count)]}
        return self.ask(service, "/v1/observe", json.dumps(body), connection)

    def judge(self, service, fault, status, body):
        """The rows of the model are those of the journal, and the refused ones can be sent again."""
        if service.process.poll() is not None:
            return WRONG, f"the service ended with {service.process.returncode}: {service.log_text()[-300:]}"
        if status not in (0, 200, 429, 503):
            return WRONG, f"{status}: {body}"
        if status == 503 and fault.says and fault is not OUT_OF_MEMORY and not any(text in body["detail"] for text in fault.says):
            return WRONG, f"{body['detail']} does not say {fault.says}"
        end = time.monotonic() + 10
        # A row that was written but not learned makes the service read the journal again.
        while service.process.poll() is None and self.ask(service, "/readyz")[0] != 200:
            if time.monotonic() > end:
                return WRONG, f"it does not mend itself: {service.log_text()[-300:]}"
            time.sleep(0.02)
        if service.process.poll() is not None:
            return WRONG, f"the service ended: {service.log_text()[-300:]}"
        answered, card = self.ask(service, "/v1/model")
        if answered != 200:
            return WRONG, f"/v1/model answers {answered}: {card}; the log: {service.log_text()[-300:]}"
        written, learned = len(journal_rows(self.read("j"))[1]), card["online"]["rows"] - 60
        if written != learned:
            return WRONG, f"{written} rows are written and {learned} learned"
        again = self.observe(service, 3)
        if again[0] != 200 or again[1]["learned"] + again[1]["repeated_ids"] != 3 or (status == 200 and again[1]["learned"]):
            return WRONG, f"sent again after {status}: {again}"
        return (RIGHT if status == 200 else CLEAN), ""

    def sweep(self, service, fault, most):
        connection = self.connected(service)
        self.control.arm(fault.kind, 0)
        self.observe(service, 3, connection)
        self.next += 3
        count = max(1, self.control.count(fault.kind))
        for at in places(count, most, 1):
            connection = self.connected(service)
            self.control.arm(fault.kind, at, fault.value, seed=at, **fault.options)
            status, body = self.observe(service, 3, connection)
            self.control.disarm()
            outcome, detail = self.judge(service, fault, status, body)
            self.next += 3
            # Where asio has no memory while it leaves a strand, the service ends with these words (README.md), and the journal has its rows.
            ended = service.process.poll() == 1 and service.log_text().endswith("error: out of memory\n")
            self.tally.add(fault.name, "POST /v1/observe", outcome, f"call {at} of {count}: {detail}", stated=ended)
            if service.process.poll() is not None:
                service = self.start()
        return service

    def check_restart(self, service):
        """The next service answers as this one."""
        before = self.ask(service, "/v1/predict", QUESTION)[1]["rows"]
        service.close()
        service = self.start()
        self.assertEqual(self.ask(service, "/v1/predict", QUESTION)[1]["rows"], before)
        service.close()

    def test_writes(self):
        service = self.start()
        for fault in (failing("write", errno.ENOSPC), failing("write", errno.EIO), failing("write", errno.EINTR), short("write")):
            service = self.sweep(service, fault, 4)
        self.nothing_wrong()
        self.check_restart(service)

    def test_the_disk(self):
        service = self.start("--journal-sync")
        for fault in (failing("sync", errno.EIO), failing("sync", errno.ENOSPC)):
            service = self.sweep(service, fault, 4)
        self.nothing_wrong()
        self.check_restart(service)

    def test_memory(self):
        service = self.start()
        service = self.sweep(service, OUT_OF_MEMORY, self.some(25, 2000))
        self.nothing_wrong()
        self.check_restart(service)


if __name__ == "__main__":
    main()
