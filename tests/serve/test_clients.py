# SPDX-License-Identifier: BSD-3-Clause
"""Clients that are careless or hostile: the right refusal, bounded memory, and the service goes on for the others."""
import json
import resource
import threading
import time

from serve_harness import CSV, PATIENCE, SANITIZED, ServeTest, main, read_all

ROW = {"a": 1.5, "b": 0.25, "p": 3.25}
BODY = json.dumps({"rows": [ROW]}).encode()
MEGABYTE = 1 << 20


def head(length=None, *fields):
    lines = ["POST /v1/predict HTTP/1.1", "Host: localhost", "Content-Type: application/json", *fields]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Clients(ServeTest):
    def still_serves(self):
        answer = self.service.post("/v1/predict", BODY)
        self.assertEqual(answer.status, 200)

    def status_of(self, data):
        """The status of the first answer in these bytes; 0 where there is none."""
        return int(data.split(b" ", 2)[1]) if data.startswith(b"HTTP/1.1 ") else 0


class Sizes(Clients):
    OPTIONS = ("--max-body", 64, "--max-rows", 100)

    def test_body_that_is_too_large(self):
        self.refused(self.service.post("/v1/predict", b" " * (65 * 1024)), 413, "65536 bytes")
        self.assertEqual(self.service.post("/v1/predict", b" " * (64 * 1024 - len(BODY)) + BODY).status, 200)
        # Announced: refused before it is sent. In chunks: refused when it is too much.
        self.assertEqual(self.status_of(self.service.raw(head(10 ** 15))), 413)
        chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        self.assertEqual(self.status_of(self.service.raw(head(None, "Transfer-Encoding: chunked") + chunk * 4)), 413)
        self.still_serves()

    def test_too_many_rows(self):
        self.assertEqual(self.service.post("/v1/predict", {"rows": [ROW] * 100}).status, 200)
        self.refused(self.service.post("/v1/predict", {"rows": [ROW] * 101}), 413, "100 rows")
        self.refused(self.service.post("/v1/predict", "a,b,p\n" + "1,2,3\n" * 101, CSV), 413, "100 rows")

    def test_header_bombs(self):
        long = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * MEGABYTE
        many = b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 100_000
        address = b"GET /" + b"a" * MEGABYTE + b" HTTP/1.1\r\n\r\n"
        for bomb in (long, many, address):
            self.assertEqual(self.status_of(self.service.raw(bomb)), 431)
        self.still_serves()

    def test_what_is_not_http(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"hello\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"\x00" * 1000 + b"\r\n\r\n", b"GET /livez HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nNo colon\r\n\r\n", b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            self.assertEqual(self.status_of(self.service.raw(data)), 400, data[:60])
        self.still_serves()

    def test_requests_one_behind_the_other(self):
        one = head(len(BODY)) + BODY
        data = self.service.raw(one * 20 + b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        self.assertEqual(data.count(b"HTTP/1.1 200 OK"), 21)

    def test_a_client_that_asks_before_it_sends(self):
        with self.service.connect() as connection:
            connection.sendall(head(len(BODY), "Expect: 100-continue", "Connection: close"))
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 100 Continue"))
            connection.sendall(BODY)
            self.assertEqual(self.status_of(read_all(connection)), 200)

    def test_a_client_that_leaves_in_the_middle(self):
        for data in (b"", b"POST /v1", head(1000), head(1000) + b"{", head(len(BODY)) + BODY):
            connection = self.service.connect()
            connection.sendall(data)
            connection.close()
        self.still_serves()

    def test_old_clients(self):
        data = self.service.raw(b"GET /livez HTTP/1.0\r\n\r\n")
        self.assertTrue(data.startswith(b"HTTP/1.0 200 OK"), data)


class Slow(Clients):
    OPTIONS = ("--timeout", 0.5)

    def test_slow_requests_are_cut_off_while_others_are_answered(self):
        beginnings = [head(1000), head(1000) + b'{"rows":', b"POST /v1/predict HT", b"G",
                      head(None, "Transfer-Encoding: chunked") + b"5\r\nab"]
        connections = []
        start = time.monotonic()
        for data in beginnings * 20:
            connections.append(self.service.connect())
            connections[-1].sendall(data)
        self.still_serves()
        for connection in connections:
            self.assertEqual(self.status_of(read_all(connection)), 408)
            connection.close()
        self.is_within(5, start)

    def test_a_drop_at_a_time_does_not_help(self):
        with self.service.connect() as connection:
            connection.sendall(head(10_000))
            start = time.monotonic()
            try:
                for _ in range(40):
                    connection.sendall(b" ")
                    time.sleep(0.05)
            except OSError:
                pass
            self.assertEqual(self.status_of(read_all(connection)), 408)
            self.is_within(5, start)

    def test_an_idle_connection_is_no_slow_request(self):
        with self.service.connect() as connection:
            time.sleep(0.8)
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertEqual(self.status_of(read_all(connection)), 200)


class Crowds(Clients):
    OPTIONS = ("--max-connections", 200)

    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.many = min(10_000, hard - 200)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        super().setUp()

    def test_ten_thousand_connections(self):
        self.still_serves()
        before = self.service.memory()
        kept = self.service.connect()  # was there before the crowd
        kept.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.status_of(kept.recv(1000)), 200)
        crowd = []
        for i in range(self.many):
            connection = self.service.connect()
            crowd.append(connection)
            if i % 3 == 0:
                try:
                    connection.sendall(b"POST /v1/predict HTTP/1.1\r\nContent-Le")
                except OSError:  # cut off already
                    pass
        kept.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.status_of(kept.recv(1000)), 200)
        if not SANITIZED:
            self.assertLess(self.service.memory() - before, 60 * MEGABYTE)
        answer = self.service.raw(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertIn(self.status_of(answer), (0, 429))
        for connection in crowd:
            connection.close()
        kept.close()
        self.wait_until(lambda: self.try_status() == 200)

    def try_status(self):
        try:
            return self.service.get("/livez").status
        except OSError:
            return 0

    def test_one_too_many_is_told_so(self):
        crowd = [self.service.connect() for _ in range(200)]
        for connection in crowd:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(self.status_of(connection.recv(1000)), 200)
        answer = self.refused(self.service.get("/livez"), 429, "too many connections")
        self.assertEqual(answer.headers["retry-after"], "1")
        crowd[0].sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.status_of(crowd[0].recv(1000)), 200)
        for connection in crowd:
            connection.close()
        self.wait_until(lambda: self.try_status() == 200)


class Memory(Clients):
    OPTIONS = ("--max-body", 32 * 1024, "--timeout", 5, "--max-rows", 1_000_000)

    def test_bodies_together_are_bounded(self):
        """Twenty clients with 30 MB each that never end: 256 MB are held, the others are told to come back."""
        if SANITIZED:
            self.skipTest("the sanitizers' own memory is measured along")
        before = self.service.memory()
        piece = b" " * MEGABYTE
        statuses = []

        def client():
            with self.service.connect() as connection:
                try:
                    connection.sendall(head(31 * MEGABYTE))
                    for _ in range(30):
                        connection.sendall(piece)
                except OSError:
                    pass
                statuses.append(self.status_of(read_all(connection)))

        threads = [threading.Thread(target=client) for _ in range(20)]
        for thread in threads:
            thread.start()
        most = 0
        while any(thread.is_alive() for thread in threads):
            most = max(most, self.service.memory() - before)
            time.sleep(0.02)
        self.assertIn(429, statuses)
        self.assertLessEqual(set(statuses), {429, 408})
        self.assertLess(most, 700 * MEGABYTE)
        self.assertEqual(self.service.metric("tare_body_bytes_buffered"), 0)
        self.still_serves()


class Queue(Clients):
    OPTIONS = ("--timeout", 120, "--max-rows", 1_000_000)

    def test_large_requests_wait_and_small_ones_do_not(self):
        rows = "a,b,p\n" + "1,2,3\n" * (20_000 if SANITIZED else 200_000)
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.service.post("/v1/predict", rows, CSV).status))
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        slowest = 0.0
        while any(thread.is_alive() for thread in threads):
            start = time.monotonic()
            self.still_serves()
            slowest = max(slowest, time.monotonic() - start)
        self.assertEqual(results, [200] * 6)
        self.assertLess(slowest, 2 * PATIENCE)


if __name__ == "__main__":
    main()
