# SPDX-License-Identifier: BSD-3-Clause
"""A service whose calls fail: a request may be refused or its connection closed; the next one is answered right."""
import errno
import http.client
import os
import shutil
import signal
import sys
import time

from faults import CLEAN, OUT_OF_MEMORY, PART, RIGHT, WRONG, Fault, FaultTest, failing, main, places, short

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from serve_harness import CSV, Service

NO_THREADS = Fault("thread: EAGAIN from the n-th on", "thread", errno.EAGAIN, ("thread",), {"span": 0})
HOURS = 3 * 3600


class Serve(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=100)
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "0.3", output="other.tare")
        self.rows = self.read("data.csv")
        self.one = b'{"rows": [{"a": 1.5, "b": 0.25, "p": 3.25}]}'

    def start(self, *options):
        # The child sets its own environment: the harness has no parameter for it.
        service = Service("m.tare", "--threads", "2", "--timeout", "3", "--log", "errors", *options, cwd=self.folder,
                          limits=lambda: os.environ.update(self.control.environment()))
        self.addCleanup(service.log_file.close)
        self.addCleanup(service.close)
        return service

    def ask(self, service, request, timeout=10):
        """Status and body; status 0 where the connection ended without an answer."""
        method, target, body, kind = request
        connection = http.client.HTTPConnection(*service.address, timeout=timeout)
        try:
            connection.request(method, target, body, {"Content-Type": kind} if kind else {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except TimeoutError:
            return -1, b""
        except (http.client.HTTPException, OSError):
            return 0, b""
        finally:
            connection.close()

    def requests(self):
        return {
            "POST /v1/predict, CSV": ("POST", "/v1/predict?interval=0.9", self.rows, CSV),
            "POST /v1/predict, 1 row": ("POST", "/v1/predict", b"a,b,p\n1.5,0.25,3.25\n", CSV),
            "GET /v1/model": ("GET", "/v1/model", None, None),
        }

    def outcome(self, service, fault, answer, right):
        status, body = answer
        if service.process.poll() is not None:
            return WRONG, f"the service ended with {service.process.returncode}: {service.log_text()[-400:]}"
        if status == 200:
            return (RIGHT, "") if body == right else (WRONG, "200 with other bytes")
        if fault is OUT_OF_MEMORY and status in (-1, 429):
            return CLEAN, ""  # its connection is closed when its time is over; memory for bodies is limited
        if status in (0, 503) or (status == 500 and any(text in body.decode() for text in fault.says)):
            return CLEAN, ""
        return WRONG, f"{status}: {body[:200]}" if status > 0 else "no answer"

    def sweep_request(self, service, fault, name, request, most, seed=1):
        self.control.disarm()
        for _ in range(3):  # what is made once is there then
            status, right = self.ask(service, request)
            self.assertEqual(status, 200)
        self.control.arm(fault.kind, 0)
        self.ask(service, request)
        time.sleep(0.01)
        count = max(1, self.control.count(fault.kind))
        for at in places(count, most, seed):
            self.control.arm(fault.kind, at, fault.value, seed=at, **fault.options)
            answer = self.ask(service, request)
            self.control.disarm()
            outcome, detail = self.outcome(service, fault, answer, right)
            if outcome != WRONG:
                after = self.ask(service, request)
                if after != (200, right):
                    outcome, detail = WRONG, f"the next request got {after[0]}: {after[1][:200]}"
            self.tally.add(fault.name, name, outcome, f"call {at} of {count}: {detail}")
            if service.process.poll() is not None:
                service = self.start()
        return service

    def test_requests(self):
        service = self.start()
        # No short sends: the kernel sends a part only where the socket is full, and Asio waits until it is not.
        faults = [(OUT_OF_MEMORY, self.some(12, 1500)), (short("receive"), 1), (short("receive", PART), 2),
                  (failing("receive", errno.EINTR), 3), (failing("send", errno.EINTR), 3), (failing("wait", errno.EINTR), 3),
                  (failing("receive", errno.ECONNRESET), 3), (failing("send", errno.EPIPE), 3), (failing("accept", errno.EMFILE), 3),
                  (failing("accept", errno.ECONNABORTED), 3), (failing("accept", errno.ENFILE, span=20), 1),
                  *((Fault(f"{clock}: {'+' if jump > 0 else '-'}3 h at the n-th call", clock, jump), self.some(1, 10))
                    for clock in ("real_time", "steady_time") for jump in (HOURS, -HOURS))]
        for fault, most in faults:
            for name, request in self.requests().items():
                service = self.sweep_request(service, fault, name, request, most)
        self.nothing_wrong()
        self.assertEqual(service.stop(60), 0)

    def test_second_connection(self):
        """A service that has answered once, and has no memory kept for more, goes on to accept."""
        request = self.requests()["GET /v1/model"]
        for at in range(1, self.some(5, 30)):
            service = self.start()
            status, right = self.ask(service, request)
            self.assertEqual(status, 200)
            self.control.arm("alloc", at)
            answer = self.ask(service, request)
            self.control.disarm()
            outcome, detail = self.outcome(service, OUT_OF_MEMORY, answer, right)
            after = self.ask(service, request)
            if after != (200, right):
                outcome, detail = WRONG, f"the next request got {after[0]}: {after[1][:200]}"
            self.tally.add("allocation fails", "the second connection", outcome, f"call {at}: {detail}")
            self.assertEqual(service.stop(20), 0)
        self.nothing_wrong()

    def test_reload(self):
        """Either model answers, and a reload without the fault then brings the new one."""
        service = self.start()
        request = self.requests()["POST /v1/predict, CSV"]
        answers = {}
        for name in ("m.tare", "other.tare"):
            answers[name] = self.ask(service, request)
            self.put("other.tare")
            service.signal(signal.SIGHUP)
            service.wait_for_log("model_switched")
        self.assertNotEqual(answers["m.tare"], answers["other.tare"])
        shutil.copy(self.path("other.tare"), self.path("second.tare"))
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "1", output="first.tare")
        self.control.arm("alloc", 0)
        self.reload(service, "first.tare")
        count = self.control.count("alloc")
        sides = ("second.tare", "first.tare")
        right = {"first.tare": self.ask(service, request), "second.tare": answers["other.tare"]}
        present = "first.tare"
        for number, at in enumerate(places(count, self.some(10, 400), 1)):
            other = sides[number % 2]
            self.control.arm("alloc", at)
            self.reload(service, other)
            self.control.disarm()
            if service.process.poll() is not None:
                self.tally.add("allocation fails", "reload", WRONG, f"call {at} of {count}: {service.log_text()[-400:]}",
                               stated=service.process.returncode == 1 and service.log_text().endswith("error: out of memory\n"))
                service = self.start()
                present = other
                continue
            answer = self.ask(service, request)
            if answer == right[other]:
                outcome = RIGHT
            elif answer == right[present]:
                outcome = CLEAN
            else:
                outcome = WRONG
            self.reload(service, other)
            if outcome != WRONG and self.ask(service, request) != right[other]:
                outcome = WRONG
            self.tally.add("allocation fails", "reload", outcome, f"call {at} of {count}: {answer[0]}")
            present = other
        self.nothing_wrong()
        self.assertEqual(service.stop(60), 0)

    def put(self, source):
        shutil.copy(self.path(source), self.path("new.tmp"))
        os.replace(self.path("new.tmp"), self.path("m.tare"))

    def reload(self, service, source):
        """A new file and the signal; the log says when it is done, or, without memory for that, nothing."""
        before = len(service.log_text())
        self.put(source)
        service.signal(signal.SIGHUP)
        end = time.monotonic() + 2
        while time.monotonic() < end and service.process.poll() is None:
            text = service.log_text()[before:]
            if any(event in text for event in ("model_switched", "model_unchanged", "model_refused", "handler_failed")):
                return
            time.sleep(0.005)

    def test_start(self):
        """It starts, or says why not; it does not hang."""
        for fault, most in ((OUT_OF_MEMORY, self.some(8, 400)), (NO_THREADS, 20), (failing("open", errno.EMFILE), self.some(2, 20))):
            self.control.arm(fault.kind, 0)
            service = self.start()
            self.assertEqual(service.stop(60), 0)
            count = self.control.count(fault.kind)
            for at in places(count, most, 1):
                self.control.arm(fault.kind, at, fault.value, **fault.options)
                outcome, detail = self.start_and_stop(fault, f"call {at} of {count}")
                self.tally.add(fault.name, "serve, start to stop", outcome, detail)
        self.nothing_wrong()

    def start_and_stop(self, fault, where):
        try:
            service = self.start()
        except AssertionError as error:  # it ended before it said its address
            text = str(error)
            if "error: " in text and any(says in text for says in fault.says):
                return CLEAN, ""
            return WRONG, f"{where}: {text[-300:]}"
        status, _ = self.ask(service, ("GET", "/livez", None, None))
        try:
            code = service.stop(20)
        except Exception:
            return WRONG, f"{where}: it does not stop"
        if code not in (0, 1):
            return WRONG, f"{where}: exit {code}: {service.log_text()[-300:]}"
        return (RIGHT, "") if status == 200 and code == 0 else (CLEAN, "")


if __name__ == "__main__":
    main()
