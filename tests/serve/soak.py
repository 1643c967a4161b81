#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The service under load for minutes: several clients, some hostile requests, and reloads of which a third are damaged
files. Every good request must be answered right, by the old model or the new one, and memory must not grow.

    TARE_TOOL=build/tare python3 tests/serve/soak.py --minutes 10 --hostile 0.05 --reloads 60

Prints a table; exits with 1 on a wrong answer, an unexpected end, or memory at the end that is more than 5 % above that
after a fifth of the time."""
import argparse
import collections
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_harness import CSV, HEADER, JSON, NDJSON, TOOL, Service, csv_text, points

TARGET = "/v1/predict?levels=0.1,0.5,0.9"
KINDS = (JSON, NDJSON, CSV)
SIZES = (1, 1, 1, 20, 400)  # rows of a request; most are small
MEMORY_GROWTH = 1.05


def bodies(rng):
    """Requests that the soak asks again and again: kind, body."""
    made = []
    for kind in KINDS:
        for size in SIZES:
            rows = [row[:3] for row in points(size, rng.randrange(10 ** 6))]
            objects = [dict(zip(HEADER, row)) for row in rows]
            body = {JSON: json.dumps({"rows": objects}), NDJSON: "\n".join(map(json.dumps, objects)), CSV: csv_text(HEADER[:3], rows)}[kind]
            made.append((kind, body.encode()))
    return made


def numbers(kind, body):
    """The part of an answer that depends on the model and the rows alone."""
    return json.loads(body)["rows"] if kind == JSON else body


class Soak:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="tare-soak-")
        self.rng = random.Random(options.seed)
        self.counts = collections.Counter()
        self.faults = []
        self.guard = threading.Lock()
        self.done = threading.Event()
        self.bodies = bodies(self.rng)
        self.expected = {}  # by model and body
        self.memory = []
        self.seconds = options.minutes * 60

    def path(self, name):
        return os.path.join(self.folder, name)

    def fault(self, text):
        with self.guard:
            self.faults.append(text)

    def count(self, what):
        with self.guard:
            self.counts[what] += 1

    def make_models(self):
        with open(self.path("data.csv"), "w", encoding="ascii") as file:
            file.write(csv_text(HEADER, points(400)))
        for name, bandwidth in (("one.tare", "1"), ("two.tare", "0.3")):
            subprocess.run([TOOL, "fit", "data.csv", "--target", "y", "--prediction", "p", "--method", "nrc", "--bandwidth", bandwidth,
                            "-o", name, "-q"], cwd=self.folder, check=True)

    def learn_answers(self):
        """From a service of its own for each model, before anything disturbs it."""
        for name in ("one.tare", "two.tare"):
            service = Service(name, "--log", "errors", cwd=self.folder)
            for i, (kind, body) in enumerate(self.bodies):
                answer = service.post(TARGET, body, kind)
                self.expected[answer.headers["tare-model"], i] = numbers(kind, answer.body)
            service.close()

    def ask(self, connection, rng):
        i = rng.randrange(len(self.bodies))
        kind, body = self.bodies[i]
        connection.request("POST", TARGET, body, {"Content-Type": kind})
        answer = connection.getresponse()
        data = answer.read()
        model = answer.getheader("Tare-Model")
        if answer.status != 200:
            self.fault(f"a good request was answered {answer.status}: {data[:200]}")
        elif numbers(kind, data) != self.expected.get((model, i)):
            self.fault(f"a wrong answer of model {model} to request {i}")
        else:
            self.count("good requests")

    def insult(self, rng):
        """A hostile request on a connection of its own; anything but 200 and 5xx other than 501 and 503 is fine."""
        host = b"Host: localhost\r\n"
        post = b"POST /v1/predict HTTP/1.1\r\n" + host + b"Content-Type: text/csv\r\n"
        data, kept = rng.choice((
            (b"\x16\x03\x01" + rng.randbytes(200) + b"\r\n\r\n", False),
            (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", False),
            (b"GET /" + b"a" * 30_000 + b" HTTP/1.1\r\n\r\n", False),
            (post + b"Transfer-Encoding: xchunked\r\n\r\nGET /livez HTTP/1.1\r\n\r\n", False),
            (post + b"Content-Length: 99999999999\r\n\r\n", False),
            (post + b"Content-Length: 500000\r\n\r\na,b,p" + b"," * 499_990, True),  # one byte short: it leaves in the middle
            (post + b"Content-Length: 300006\r\n\r\na,b,p\n" + b"," * 300_000, False),
            (post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", False),
            (post.replace(b"text/csv", b"application/json") + b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000, False),
            (post.replace(b"text/csv", b"application/json") + b"Content-Length: 40\r\n\r\n" + rng.randbytes(40), False),
            (post + b"Content-Length: 60005\r\n\r\na,b,p" + b"\n1,2,3" * 10_000, True),  # it does not read the answer
        ))
        connection = self.service.connect(timeout=60)
        try:
            connection.sendall(data)
            if not kept:
                status = connection.recv(100)[9:12]
                if status in (b"200", b"500"):
                    self.fault(f"a hostile request was answered {status}: {data[:80]}")
        except OSError:  # it may be cut off
            pass
        finally:
            connection.close()
        self.count("hostile requests")

    def client(self, seed):
        rng = random.Random(seed)
        connection = http.client.HTTPConnection(*self.service.address, timeout=60)
        try:
            while not self.done.is_set():
                try:
                    if rng.random() < self.options.hostile:
                        self.insult(rng)
                    else:
                        self.ask(connection, rng)
                except (OSError, http.client.HTTPException) as error:
                    self.fault(f"a good request was not answered: {error!r}")
                    connection.close()
                time.sleep(self.options.pause)
        finally:
            connection.close()

    def reload(self, number):
        """Every third file is damaged: a byte, the end, or all of it. It must be refused."""
        source = ("one.tare", "two.tare")[number % 2]
        before = {name: self.reloads(name) for name in ("switched", "same", "refused")}
        with open(self.path(source), "rb") as file:
            data = bytearray(file.read())
        damaged = number % 3 == 0
        if damaged:
            way = number // 3 % 3
            if way == 0:
                data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
            elif way == 1:
                del data[self.rng.randrange(len(data)):]
            else:
                data = bytearray(self.rng.randbytes(len(data)))
        with open(self.path("new.tmp"), "wb") as file:
            file.write(data)
        os.replace(self.path("new.tmp"), self.path("m.tare"))
        end = time.monotonic() + 30
        while time.monotonic() < end:
            after = {name: self.reloads(name) for name in before}
            if after != before:
                break
            time.sleep(0.1)
        outcome = [name for name in after if after[name] != before[name]]
        self.count("reloads")
        self.count("refused reloads" if outcome == ["refused"] else "accepted reloads")
        if (outcome == ["refused"]) != damaged:
            self.fault(f"reload {number}: {'a damaged' if damaged else 'a good'} file led to {outcome}")

    def reloads(self, result):
        for line in self.service.get("/metrics").text.splitlines():
            if line.startswith(f'tare_reloads_total{{result="{result}"}}'):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    def run(self):
        self.make_models()
        self.learn_answers()
        shutil.copy(self.path("one.tare"), self.path("m.tare"))
        self.service = Service("m.tare", "--log", "errors", "--timeout", "30", "--remember", "20000", cwd=self.folder)
        threads = [threading.Thread(target=self.client, args=(self.options.seed + i,)) for i in range(self.options.clients)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        done, next_look = 0, 0.0
        while (now := time.monotonic() - start) < self.seconds and self.service.process.poll() is None:
            if now >= next_look:
                self.memory.append((now, self.service.memory()))
                next_look = now + self.seconds / 120
            if done < self.options.reloads and now >= (done + 0.5) * self.seconds / self.options.reloads:
                done += 1
                self.reload(done)
            time.sleep(0.05)
        self.done.set()
        for thread in threads:
            thread.join()
        if self.service.process.poll() is not None:
            self.fault(f"the service ended with {self.service.process.returncode}")
        else:
            time.sleep(1)
            self.memory.append((time.monotonic() - start, self.service.memory()))
            if self.service.metric("tare_body_bytes_buffered") + self.service.metric("tare_answer_bytes_held") != 0:
                self.fault("bytes of requests that are over are still counted")
            code = self.service.stop(60)
            if code != 0:
                self.fault(f"it stopped with {code}")
        self.service.close()
        shutil.rmtree(self.folder)
        return self.report()

    def report(self):
        # Medians over a tenth of the time: while a model is loaded, memory holds two.
        settled = [size for at, size in self.memory if at >= self.seconds / 5]
        tenth = max(1, len(self.memory) // 10)
        first, last = (statistics.median(settled[:tenth]), statistics.median(settled[-tenth:])) if settled else (0, 0)
        print(f"| what | figure |\n|---|---|\n| minutes | {self.options.minutes:g} |")
        for name in ("good requests", "hostile requests", "reloads", "accepted reloads", "refused reloads"):
            print(f"| {name} | {self.counts[name]} |")
        print(f"| wrong or missing answers, and other faults | {len(self.faults)} |")
        print(f"| resident memory after a fifth of the time | {first / 2 ** 20:.1f} MiB |")
        print(f"| largest after that | {max(settled, default=0) / 2 ** 20:.1f} MiB |")
        print(f"| at the end | {last / 2 ** 20:.1f} MiB ({100 * (last / max(first, 1) - 1):+.1f} %) |")
        if last > MEMORY_GROWTH * first and self.options.memory:
            self.faults.append(f"memory grew from {first} to {last} bytes")
        for text in self.faults[:20]:
            print(text, file=sys.stderr)
        return 1 if self.faults or not self.counts["good requests"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--hostile", type=float, default=0.05, help="share of requests")
    parser.add_argument("--reloads", type=int, default=60, help="a third of them are damaged files")
    parser.add_argument("--clients", type=int, default=2, help="threads")
    parser.add_argument("--pause", type=float, default=0.01, help="seconds between two requests of a client")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="memory is only printed: a short run has not settled")
    return Soak(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
