# SPDX-License-Identifier: BSD-3-Clause
"""Who may ask: names of the service, other sites, the token, and bodies whose end is not certain."""
import re

from serve_harness import CSV, ServeTest, main, read_all

BODY = b'{"rows": [{"a": 1, "b": 2, "p": 3}]}'
LOCAL = "Host: localhost"


def request(*fields, method="GET", target="/v1/model", body=b"", version="1.1"):
    lines = [f"{method} {target} HTTP/{version}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def post(*fields, body=BODY):
    return request(LOCAL, "Content-Type: application/json", *fields, method="POST", target="/v1/predict", body=body)


class Safety(ServeTest):
    def statuses(self, data):
        """The statuses of all answers to these bytes; the service must then close the connection."""
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", self.service.raw(data))]

    def status(self, *fields, **parts):
        return self.statuses(request(*fields, "Connection: close", **parts))


class Names(Safety):
    def test_only_names_of_the_service(self):
        """A page at another name that resolves to this address is told no, whatever it asks."""
        port = self.service.address[1]
        for host in ("localhost", f"localhost:{port}", "127.0.0.1", f"127.0.0.1:{port}", f"[::1]:{port}", "127.9.9.9"):
            self.assertEqual(self.status(f"Host: {host}"), [200], host)
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "10.0.0.1"):
            self.assertEqual(self.status(f"Host: {host}"), [403], host)
            for target in ("/", "/livez", "/metrics"):
                self.assertEqual(self.status(f"Host: {host}", target=target), [403], host)
        self.assertEqual(self.status(LOCAL, target="http://evil.example/v1/model"), [403])

    def test_host_is_there_once(self):
        self.assertEqual(self.status(), [400])
        self.assertEqual(self.status("Host: localhost", "Host: localhost"), [400])
        self.assertEqual(self.status("Host: a b"), [400])
        self.assertTrue(self.service.raw(request(version="1.0")).startswith(b"HTTP/1.0 200"))

    def test_other_sites(self):
        port = self.service.address[1]
        own = f"Host: localhost:{port}"
        self.assertEqual(self.status(own, f"Origin: http://localhost:{port}"), [200])
        for origin in ("http://evil.example", "null", "http://localhost:1", f"http://127.0.0.1:{port}"):
            self.assertEqual(self.status(own, f"Origin: {origin}"), [403], origin)

    def test_further_names(self):
        self.service = self.serve("--allow-host", "tare.example,Other")
        self.assertEqual(self.status("Host: tare.example:80"), [200])
        self.assertEqual(self.status("Host: other"), [200])
        self.assertEqual(self.status("Host: third"), [403])
        self.assertEqual(self.status(LOCAL, "Origin: https://tare.example"), [200])

    def test_on_the_network(self):
        """Without a token: addresses and allowed names. With one: any name."""
        self.service = self.serve("--host", "0.0.0.0")
        self.assertEqual(self.status("Host: 192.0.2.7"), [200])
        self.assertEqual(self.status("Host: evil.example"), [403])
        self.write("token", "secret")
        self.service = self.serve("--host", "0.0.0.0", "--token-file", "token")
        self.assertEqual(self.status("Host: any.example", "Authorization: bearer secret"), [200])
        self.assertEqual(self.status("Host: any.example"), [401])

    def test_every_answer_says_how_browsers_may_use_it(self):
        for target in ("/", "/v1/model", "/nope"):
            headers = self.service.get(target).headers
            self.assertIn("default-src 'none'", headers["content-security-policy"])
            self.assertIn("frame-ancestors 'none'", headers["content-security-policy"])
            self.assertNotIn("unsafe", headers["content-security-policy"])
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["referrer-policy"], "no-referrer")
        self.assertEqual(self.service.get("/v1/model").headers["cache-control"], "no-store")


class Framing(Safety):
    def test_a_body_whose_end_is_not_certain(self):
        """It is never read as the next request: one answer, and the connection ends."""
        hidden = request(LOCAL, target="/livez")
        chunked = b"0\r\n\r\n"
        for encoding in ("xchunked", "gzip", "gzip, chunked", "chunked, identity", "identity"):
            self.assertEqual(self.statuses(post(f"Transfer-Encoding: {encoding}", body=hidden)), [501], encoding)
        for fields in (("Transfer-Encoding: chunked", "Content-Length: 5"), ("Content-Length: 5", "Transfer-Encoding: chunked"),
                       ("Transfer-Encoding: gzip", "Content-Length: 5"), ("Content-Length: 5", "Content-Length: 5"),
                       ("Content-Length: 5", "Content-Length: 6"), ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
                       ("Content-Length: +5",), ("Content-Length: 0x5",), ("Content-Length : 5",)):
            self.assertEqual(self.statuses(post(*fields, body=chunked + hidden)), [400], fields)

    def test_chunks_are_read(self):
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        self.assertEqual(self.statuses(post("Transfer-Encoding: Chunked", "Connection: close", body=body)), [200])

    def test_a_body_that_no_path_wants(self):
        self.assertEqual(self.statuses(request(LOCAL, "Content-Length: 5", "Connection: close", body=b"hello")), [200])
        self.assertEqual(self.statuses(request(LOCAL, "Content-Length: 100000")), [413])
        chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        self.assertEqual(self.statuses(request(LOCAL, "Transfer-Encoding: chunked", body=chunk)), [413])


class Token(Safety):
    OPTIONS = ("--token-file", "token", "--max-buffered", 1, "--timeout", 5)

    def make_model(self):
        super().make_model()
        self.write("token", "secret\n")

    def test_it_is_asked_for_before_the_body(self):
        """Clients without one get 401 for the head alone, hold nothing, and are not in the way of the others."""
        strangers = []
        for _ in range(20):
            strangers.append(self.service.connect())
            strangers[-1].sendall(post("Content-Length: 900000", body=b" " * 10_000))
        for connection in strangers:
            self.assertTrue(connection.recv(1000).startswith(b"HTTP/1.1 401"))
        rows = "a,b,p\n" + "1,2,3\n" * 10_000
        answer = self.service.post("/v1/predict", rows, CSV, {"Authorization": "bearer secret"})
        self.assertEqual(answer.status, 200, answer.body)
        for connection in strangers:
            connection.close()

    def test_no_go_ahead_without_it(self):
        with self.service.connect() as connection:
            connection.sendall(post("Content-Length: 30", "Expect: 100-continue", body=b""))
            self.assertTrue(read_all(connection).startswith(b"HTTP/1.1 401"))

    def test_other_paths_and_methods_take_no_body_either(self):
        for method, target, status in (("POST", "/nope", 404), ("PUT", "/v1/predict", 405), ("POST", "/livez", 405)):
            data = request(LOCAL, "Content-Length: 900000", method=method, target=target)
            self.assertEqual(self.statuses(data), [status])

    def test_a_connection_goes_on_where_there_is_no_body(self):
        """The page asks without a token first."""
        ok = request(LOCAL, "Authorization: Bearer secret", "Connection: close")
        self.assertEqual(self.statuses(request(LOCAL) + ok), [401, 200])


if __name__ == "__main__":
    main()
