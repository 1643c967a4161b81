# SPDX-License-Identifier: BSD-3-Clause
"""The end: every request that has begun is answered, and then the exit code is 0."""
import json
import signal
import socket
import threading
import time

from serve_harness import CSV, WAIT, ServeTest, main, read_all

ROW = {"a": 1.5, "b": 0.25, "p": 3.25}
BODY = json.dumps({"rows": [ROW] * 20}).encode()
REQUEST = (b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)) + BODY


def read_answer(connection):
    """One whole answer, or what there was of it when the connection ended."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return data
        data += chunk
    head, body = data.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        chunk = connection.recv(65536)
        if not chunk:
            break
        body += chunk
    return head + b"\r\n\r\n" + body


class Stop(ServeTest):
    def test_at_once_where_nothing_is_there(self):
        start = time.monotonic()
        self.assertEqual(self.service.stop(), 0)
        self.is_within(2, start)
        self.assertEqual([line["event"] for line in self.service.log()], ["listening", "stopping", "stopped"])

    def test_interrupt_is_the_same(self):
        self.service.signal(signal.SIGINT)
        self.assertEqual(self.service.process.wait(WAIT), 0)

    def test_in_the_middle_of_load_every_request_is_answered(self):
        """Clients on connections that stay. A request that was sent is answered whole; only a connection that the
        service has closed after an answer, or refused, may be without one."""
        unanswered, answered = [], []

        def client():
            with self.service.connect() as connection:
                while True:
                    try:
                        connection.sendall(REQUEST)
                        data = read_answer(connection)
                    except OSError as error:
                        data = repr(error).encode()
                    if not data.startswith(b"HTTP/1.1 200") or not data.endswith(b"]}\n"):
                        unanswered.append(data)
                        return
                    answered.append(1)
                    if b"connection: close" in data.lower():
                        return

        threads = [threading.Thread(target=client) for _ in range(16)]
        for thread in threads:
            thread.start()
        while len(answered) < 200:
            time.sleep(0.01)
        self.assertEqual(self.service.stop(), 0)
        for thread in threads:
            thread.join()
        self.assertEqual(unanswered, [])

    def test_a_large_request_under_way_and_a_slow_one_are_answered(self):
        results = []
        rows = "a,b,p\n" + "1,2,3\n" * 90_000
        large = threading.Thread(target=lambda: results.append(self.service.post("/v1/predict", rows, CSV)))
        large.start()
        while large.is_alive() and self.service.metric("tare_requests_in_flight") < 2:  # the large one, and this question itself
            pass
        with self.service.connect() as slow:
            slow.sendall(REQUEST[:-5])
            self.service.metric("tare_requests_in_flight")  # a connection made later is answered: the slow one has been accepted
            self.service.signal(signal.SIGTERM)
            self.service.wait_for_log("stopping")
            slow.sendall(REQUEST[-5:])
            self.assertTrue(read_all(slow).startswith(b"HTTP/1.1 200"))
        large.join()
        self.assertEqual(results[0].status, 200)
        self.assertEqual(results[0].text.count("\n"), 90_001)
        self.assertEqual(self.service.process.wait(WAIT), 0)

    def test_requests_one_behind_the_other_are_all_answered(self):
        with self.service.connect() as connection:
            connection.sendall(REQUEST * 20 + REQUEST[:-1])
            self.service.signal(signal.SIGTERM)
            self.service.wait_for_log("stopping")
            connection.sendall(REQUEST[-1:])
            self.assertEqual(read_all(connection).count(b"HTTP/1.1 200"), 21)
        self.assertEqual(self.service.process.wait(WAIT), 0)

    def test_connections_that_were_made_just_before_are_answered(self):
        for _ in range(5):
            service = self.serve()
            connections = [service.connect() for _ in range(40)]
            for connection in connections:
                connection.sendall(REQUEST)
            service.signal(signal.SIGTERM)
            for connection in connections:
                self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 200"))
                connection.close()
            self.assertEqual(service.process.wait(WAIT), 0)

    def test_idle_connections_do_not_hold_it_up(self):
        with self.service.connect() as idle:
            idle.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200 OK", idle.recv(1000))
            start = time.monotonic()
            self.assertEqual(self.service.stop(), 0)
            self.is_within(2, start)
            self.assertEqual(idle.recv(1000), b"")

    def test_nobody_new_is_taken_and_it_is_not_ready(self):
        with self.service.connect() as slow, self.service.connect() as asking:
            slow.sendall(REQUEST[:-1])
            asking.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200 OK", asking.recv(1000))
            self.service.signal(signal.SIGTERM)
            self.service.wait_for_log("stopping")
            asking.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"503", asking.recv(1000))
            time.sleep(0.1)
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(self.service.address, timeout=5)
            slow.sendall(REQUEST[-1:])
            self.assertTrue(read_all(slow).startswith(b"HTTP/1.1 200"))
        self.assertEqual(self.service.process.wait(WAIT), 0)


if __name__ == "__main__":
    main()
