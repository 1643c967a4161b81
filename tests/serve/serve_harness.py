# SPDX-License-Identifier: BSD-3-Clause
"""What every test of the service needs: a model, the service on a free port, and a client that sees everything."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import BAD_DATA, HEADER, NOT_FOUND, OTHER, SANITIZED, TOOL, UNSUPPORTED, USAGE, CliTest, csv_text, main, points  # noqa: F401  (the tests take all of them from here, because this file knows the folder)

# How much longer than on a quiet machine anything may take: these tests look for hangs and for work that grows with the square of
# its input, not for speed, and a busy machine must not fail them.
PATIENCE = 10 if SANITIZED else 3
WAIT = 30 * PATIENCE

JSON, NDJSON, CSV = "application/json", "application/x-ndjson", "text/csv"


class Answer:
    """Status, headers (by lower-case name) and body."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


class Service:
    """A running `tare serve`, stopped by close()."""

    def __init__(self, model, *options, cwd=None, limits=None):
        # Not in the test's folder, whose files are compared before and after.
        self.log_file = tempfile.NamedTemporaryFile(prefix="tare-serve-", suffix=".log")
        self.process = subprocess.Popen([TOOL, "serve", model, "--port", "0", *map(str, options)], cwd=cwd,
                                        stdout=subprocess.PIPE, stderr=self.log_file, preexec_fn=limits)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            self.process.wait(WAIT)
            raise AssertionError(f"the service did not start: {self.log_text()}")
        parts = urllib.parse.urlparse(self.url)
        self.address = (parts.hostname, parts.port)

    def request(self, method, target, body=None, headers=None, timeout=WAIT):
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def get(self, target, **options):
        return self.request("GET", target, **options)

    def post(self, target, body, kind=JSON, headers=None, **options):
        if not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        return self.request("POST", target, body, {"Content-Type": kind, **(headers or {})}, **options)

    def connect(self, timeout=WAIT):
        return socket.create_connection(self.address, timeout=timeout)

    def raw(self, data, timeout=WAIT):
        """Sends bytes as they are and returns all that comes back until the service closes."""
        with self.connect(timeout) as connection:
            try:
                connection.sendall(data)
            except OSError:  # it may answer and close before it has read everything
                pass
            return read_all(connection)

    def metric(self, name):
        for line in self.get("/metrics").text.splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        raise KeyError(name)

    def memory(self):
        """Bytes of memory that the process holds."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise KeyError("VmRSS")

    def log_text(self):
        with open(self.log_file.name, encoding="utf-8") as file:
            return file.read()

    def log(self):
        return [json.loads(line) for line in self.log_text().splitlines()]

    def wait_for_log(self, event, count=1, seconds=WAIT):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [line for line in self.log() if line["event"] == event]
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"no '{event}' in the log: {self.log_text()}")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, seconds=WAIT):
        """SIGTERM, and the exit code."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT)
        self.process.stdout.close()


def read_all(connection):
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data


class ServeTest(CliTest):
    """A test with a small model that serves."""

    OPTIONS = ()

    def setUp(self):
        super().setUp()
        self.make_model()
        self.service = self.serve(*self.OPTIONS)

    def make_model(self):
        self.small_model(count=200)

    def serve(self, *options, model="m.tare", **more):
        service = Service(model, *options, cwd=self.folder, **more)
        self.addCleanup(service.log_file.close)
        self.addCleanup(self.check_log, service)
        self.addCleanup(service.close)
        return service

    def check_log(self, service):
        text = service.log_text()
        for sign in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "terminate called"):
            self.assertNotIn(sign, text)

    def is_within(self, seconds, start):
        """Since `start` at most these seconds of a quiet machine have passed."""
        self.assertLess(time.monotonic() - start, seconds * PATIENCE)

    def wait_until(self, condition, seconds=WAIT):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it never came")
            time.sleep(0.05)

    def refused(self, answer, status, *says):
        """The answer must be a problem of this status whose detail holds all of `says`."""
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers["content-type"], "application/problem+json")
        problem = answer.json()
        self.assertEqual(problem["status"], status)
        self.assertEqual(problem["request_id"], answer.headers["x-request-id"])
        for text in says:
            self.assertIn(text, problem["detail"])
        return answer
