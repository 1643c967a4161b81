# SPDX-License-Identifier: BSD-3-Clause
"""Starting: what is refused before anything listens."""
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import urllib.request

from serve_harness import BAD_DATA, NOT_FOUND, OTHER, SANITIZED, TOOL, UNSUPPORTED, USAGE, WAIT, ServeTest, main


class Start(ServeTest):
    def test_models_that_cannot_serve(self):
        self.fails(NOT_FOUND, "serve", "none.tare", says=["none.tare: no such file"])
        self.write("bad.tare", "nothing of the kind")
        self.fails(BAD_DATA, "serve", "bad.tare", says=["bad.tare"])
        self.fails(BAD_DATA, "serve", ".", says=["a directory"])
        self.fit("data.csv", "--predictor", "cut -d, -f1 | tail -n +2", "--drop", "p", output="program.tare")
        self.fails(UNSUPPORTED, "serve", "program.tare", says=["program.tare", "cut -d,", "--prediction COL"])

    def test_options(self):
        self.fails(USAGE, "serve", "m.tare", "--port", "65536", says=["--port", "65535"])
        self.fails(USAGE, "serve", "m.tare", "--host", "nowhere", says=["'nowhere' is not an address"])
        self.fails(USAGE, "serve", "m.tare", "--watch", "1", says=["--watch 1"])
        self.fails(USAGE, "serve", "m.tare", "--max-rows", "0", says=["--max-rows"])
        self.fails(USAGE, "serve", "m.tare", "--timeout", "0", says=["seconds"])
        self.fails(USAGE, "serve", "m.tare", "--log", "some", says=["'some'"])
        self.fails(NOT_FOUND, "serve", "m.tare", "--token-file", "none", says=["none: no such file"])
        self.write("empty", "\nsecond\n")
        self.fails(BAD_DATA, "serve", "m.tare", "--token-file", "empty", says=["first line is empty"])

    def test_values_that_do_not_fit(self):
        """Beyond the units that they are converted to: a typing error, and never a small number."""
        for option, value in (("--timeout", "1e300"), ("--timeout", "86401"), ("--max-body", str(2 ** 54)), ("--max-rows", str(2 ** 64 - 1)),
                              ("--max-buffered", str(2 ** 44)), ("--max-connections", str(2 ** 63)), ("--remember", str(10 ** 18)),
                              ("--watch-window", str(10 ** 18)), ("--threads", "100000")):
            self.fails(USAGE, "serve", "m.tare", option, value, says=[option, "at most"])
        self.fails(USAGE, "serve", "m.tare", "--allow-host", "a b", says=["'a b' is not a host name"])

    def test_a_pipe_is_no_model(self):
        """Opening it does not wait for someone who writes."""
        os.mkfifo(self.path("pipe"))
        result = self.run_tool("serve", "pipe", timeout=WAIT)  # not fails(), which reads every file of the folder
        self.assertEqual(result.code, OTHER)
        self.assertIn("pipe: is not a regular file", result.err)
        os.replace(self.path("pipe"), self.path("m.tare"))
        self.service.signal(signal.SIGHUP)
        self.assertIn("not a regular file", self.service.wait_for_log("model_refused")[-1]["reason"])
        self.assertEqual(self.service.get("/livez").status, 200)

    def test_threads_that_cannot_be_started(self):
        if SANITIZED:
            self.skipTest("the sanitizers take all the address space")
        room = 2 << 30  # less than the stacks of 2,000 threads
        result = self.fails(OTHER, "serve", "m.tare", "--port", "0", "--threads", "1000", says=["cannot start a thread", "--threads"],
                            limits=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)))
        self.assertEqual(result.out, "", "it does not say that it listens")

    def test_what_is_printed(self):
        process = subprocess.Popen([TOOL, "serve", "m.tare", "--port", "0", "--json", "--log", "errors"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = json.loads(process.stdout.readline())
        self.assertEqual(line["url"], f"http://127.0.0.1:{line['port']}")
        for path, status in (("/livez", 200), ("/nope", 404)):
            connection = http.client.HTTPConnection("127.0.0.1", line["port"], timeout=WAIT)
            connection.request("GET", path)
            self.assertEqual(connection.getresponse().status, status)
            connection.close()
        process.terminate()
        out, err = process.communicate(timeout=WAIT)
        self.assertEqual((process.returncode, out), (0, b""))
        events = [json.loads(text) for text in err.splitlines()]
        self.assertEqual([event["event"] for event in events], ["listening", "request", "stopping", "stopped"])
        self.assertEqual(events[1]["status"], 404)

    def test_port_that_is_taken(self):
        port = self.service.address[1]
        self.fails(OTHER, "serve", "m.tare", "--port", port, says=[f"port {port}", "--port 0"])

    def test_loopback_is_where_it_listens(self):
        self.assertEqual(self.service.address[0], "127.0.0.1")
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("there is no IPv6 here")
        self.assertEqual(self.serve("--host", "::1").get("/livez").status, 200)

    def test_a_log_that_nobody_reads_any_more(self):
        """Its reader is gone: the service goes on, and ends as usual."""
        process = subprocess.Popen([TOOL, "serve", "m.tare", "--port", "0"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        url = process.stdout.readline().decode().strip()
        process.stderr.close()
        for _ in range(20):
            with urllib.request.urlopen(url + "/livez", timeout=WAIT) as answer:
                self.assertEqual(answer.status, 200)
        process.terminate()
        self.assertEqual(process.wait(WAIT), 0)


if __name__ == "__main__":
    main()
