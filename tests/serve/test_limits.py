# SPDX-License-Identifier: BSD-3-Clause
"""What clients can make the service hold or do: bounded, and nobody else notices. Limits of one request without sockets
are in limits_test.cpp."""
import contextlib
import http.client
import resource
import signal
import threading
import time

from serve_harness import CSV, SANITIZED, WAIT, ServeTest, main, read_all

MEGABYTE = 1 << 20
LEVELS = ",".join(f"{(i + 1) / 481:.4f}" for i in range(480))


class Answers(ServeTest):
    OPTIONS = ("--max-buffered", 8, "--timeout", 2)

    def test_answers_that_nobody_reads(self):
        """Twelve clients ask for 7 MB each and read nothing: 8 MB are held, the others are told to come back, small
        requests are answered, and those who take nothing are cut off."""
        rows = b"a,b,p\n" + b"1,2,3\n" * 10_000
        levels = LEVELS[:40 * 7 - 1].encode()  # forty of them
        head = (b"POST /v1/predict?levels=%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                b"Content-Type: text/csv\r\nContent-Length: %d\r\n\r\n" % (levels, len(rows)))
        greedy = []
        for _ in range(12):
            connection = self.service.connect()
            connection.setsockopt(1, 8, 4096)  # SOL_SOCKET, SO_RCVBUF: little room on the way
            connection.sendall(head + rows)
            greedy.append(connection)
        self.wait_until(lambda: 'status="429"' in self.service.get("/metrics").text)
        self.assertLessEqual(self.service.metric("tare_answer_bytes_held"), 8 * MEGABYTE)
        self.assertEqual(self.service.post("/v1/predict", {"rows": [{"a": 1, "b": 2, "p": 3}]}).status, 200)
        self.wait_until(lambda: self.service.metric("tare_answer_bytes_held") == 0)
        for connection in greedy:
            connection.close()
        self.assertEqual(self.service.post("/v1/predict", rows, CSV).status, 200)

    def test_a_client_that_reads_slowly_gets_everything(self):
        rows = b"a,b,p\n" + b"1,2,3\n" * 50_000
        head = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n"
        with self.service.connect() as connection:
            connection.sendall(head % len(rows) + rows)
            data = b""
            for _ in range(8):
                time.sleep(0.3)  # more than --timeout in all
                data += connection.recv(400_000)
            data += read_all(connection)
        self.assertEqual(data.split(b"\r\n\r\n", 1)[1].count(b"\n"), 50_001)


class Work(ServeTest):
    """A model whose answers take long: 10 ms for a row at 480 levels."""

    OPTIONS = ("--timeout", 0.5, "--threads", 2)

    def make_model(self):
        self.write_points("data.csv", 100)
        self.fit("data.csv", "--method", "dgp", "--set", "epochs=1")

    def long_request(self):
        return self.service.post(f"/v1/predict?levels={LEVELS}", "a,b,p\n" + "1,2,3\n" * 4_000, CSV)

    def test_the_time_limit_holds_within_a_block(self):
        start = time.monotonic()
        self.refused(self.long_request(), 503, "time limit")
        self.is_within(2, start)

    def test_it_stops_in_time_with_all_workers_busy(self):
        """Also requests that wait for a worker are answered: their time began when they arrived."""
        answers = []

        def ask():
            with contextlib.suppress(ConnectionRefusedError):  # by a service that no longer listens
                answers.append(self.long_request().status)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        while self.service.metric("tare_requests_in_flight") < 3:
            pass
        start = time.monotonic()
        self.service.signal(signal.SIGTERM)
        self.assertEqual(self.service.process.wait(WAIT), 0)
        self.is_within(2, start)
        for thread in threads:
            thread.join()
        self.assertEqual(set(answers), {503})
        self.assertGreaterEqual(len(answers), 2)

    def test_told_twice_it_ends_at_once(self):
        self.service = self.serve("--timeout", 60, "--threads", 2)
        threads = [threading.Thread(target=self.ask_in_vain) for _ in range(2)]
        for thread in threads:
            thread.start()
        while self.service.metric("tare_requests_in_flight") < 3:
            pass
        start = time.monotonic()
        self.service.signal(signal.SIGTERM)
        self.service.wait_for_log("stopping")
        self.service.signal(signal.SIGTERM)
        self.assertEqual(self.service.process.wait(WAIT), 1)
        self.is_within(2, start)
        for thread in threads:
            thread.join()

    def ask_in_vain(self):
        try:
            self.long_request()
        except OSError:
            pass


class Windows(ServeTest):
    def make_model(self):
        self.write_points("data.csv", 300)
        self.fit("data.csv", "--method", "nrc", "--regressor", "ridge", "--window", "200", "--drop", "p")

    def test_windows_do_not_multiply_a_body(self):
        """200 KB would become 160 MB and more."""
        self.assertEqual(self.service.post("/v1/predict", "a,b\n" + "1,2\n" * 1_000, CSV).status, 200)
        answer = self.service.post("/v1/predict", "a,b\n" + "1,2\n" * 50_001, CSV)
        self.refused(answer, 413, "50001 rows become 400 numbers each", "20000000")


class Columns(ServeTest):
    def test_keep_all_with_many_columns(self):
        """Linear in the columns: it took 15 seconds when it was quadratic."""
        names = ",".join(f"c{i}" for i in range(40_000))
        start = time.monotonic()
        answer = self.service.post("/v1/predict?keep=all", f"a,b,p,{names}\n" + ("1,2,3" + ",7" * 40_000 + "\n") * 2, CSV)
        self.assertEqual(answer.status, 200)
        self.is_within(2, start)
        self.assertEqual(len(answer.text.splitlines()[2].split(",")), 40_006)

    def test_millions_of_columns(self):
        before = self.service.memory()
        answer = self.service.post("/v1/predict", "a,b,p" + "," * 8_000_000 + "\n1,2,3\n", CSV)
        self.refused(answer, 413, "more than 100000 columns")
        if not SANITIZED:
            self.assertLess(self.service.memory() - before, 40 * MEGABYTE)


class NoMemory(ServeTest):
    OPTIONS = ("--timeout", 1)

    def test_a_request_without_memory_is_refused_and_the_service_goes_on(self):
        if SANITIZED:
            self.skipTest("the sanitizers take memory of their own")
        pid = self.service.process.pid
        row = {"rows": [{"a": 1, "b": 2, "p": 3}]}
        expected = self.service.post("/v1/predict", row).json()["rows"]
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        large = "a,b,p\n" + "1,2,3\n" * 99_000
        statuses = set()

        def ask():
            try:
                statuses.add(self.service.post("/v1/predict", large, CSV).status)
            except (OSError, http.client.HTTPException):  # no memory even for saying so: that connection ends
                statuses.add(0)

        for room in (1, 3, 6, 12):
            resource.prlimit(pid, resource.RLIMIT_AS, (size + room * MEGABYTE, resource.RLIM_INFINITY))
            asking = threading.Thread(target=ask)
            asking.start()
            asking.join(2)  # without memory even for an end of the connection, it waits for memory
            resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            asking.join(30)
            self.assertFalse(asking.is_alive())
            self.assertEqual(self.service.post("/v1/predict", row).json()["rows"], expected)
        self.assertLessEqual(statuses, {0, 200, 429, 503})
        self.assertNotEqual(statuses, {200})
        # A connection that lacked memory may hold the stop for its grace time.
        self.service.signal(signal.SIGTERM)
        self.assertIn(self.service.process.wait(45), (0, 1))


if __name__ == "__main__":
    main()
