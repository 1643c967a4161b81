#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of requests to an online model over loopback, with the journal on: a row is predicted, then its target is observed.

    python3 bench/serve_online.py build/tare                      # as in bench/RESULTS.md
    python3 bench/serve_online.py build/tare --seconds 2          # a quick look

Each client is a process with one connection that is kept. Ends with 1 where a request was refused, or where the service, killed at the
end, does not have every acknowledged row after its next start. The clients run on the same cores as the service.
"""
import argparse
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request


def rows(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        a, b, c, d = (rng.random() for _ in range(4))
        mean = 3 * a + b * c - d
        yield [round(value, 6) for value in (a, b, c, d, mean, mean + rng.gauss(0, 0.2 + a))]


class Client:
    """As little work as an HTTP client can do, so that the service is what is measured."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path, body):
        self.socket.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.receive()
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        while len(rest) < length:
            rest += self.receive()
        return head.startswith(b"HTTP/1.1 200"), rest

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise OSError("the service closed the connection")
        return data


def pairs(port, seed, seconds, by_id, results):
    client, done, wrong, times = Client(port), 0, 0, []
    stream = list(rows(20_000, seed))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        a, b, c, d, p, y = stream[done % len(stream)]
        cells = f'"x0":{a},"x1":{b},"x2":{c},"x3":{d},"p":{p}'
        began = time.perf_counter()
        good, body = client.ask("/v1/predict", f'{{"rows":[{{{cells}}}],"levels":[0.05,0.5,0.95]}}')
        if by_id:
            name = body[body.index(b'"ids":["') + 8:body.index(b'"]', body.index(b'"ids"'))].decode()
            told, body = client.ask("/v1/observe", f'{{"ids":["{name}"],"targets":[{y}]}}')
        else:
            told, body = client.ask("/v1/observe", f'{{"rows":[{{{cells},"y":{y}}}],"ids":["{seed}-{done}"]}}')
        times.append(time.perf_counter() - began)
        done += 1
        wrong += not good or not told or b'"learned":1,' not in body
    times.sort()
    results.put((done, wrong, times[len(times) // 2], times[len(times) * 99 // 100]))


class Service:
    def __init__(self, tool, model, *options):
        self.process = subprocess.Popen([tool, "serve", model, "--port", "0", "--log", "errors", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rsplit(":", 1)[1])

    def learned(self):
        with urllib.request.urlopen(self.url + "/v1/model", timeout=60) as answer:
            return json.load(answer)["online"]["rows"]

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)
        self.process.stdout.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=10_000, help="of the stream before the load")
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    args.tool, wrong = os.path.abspath(args.tool), 0
    with tempfile.TemporaryDirectory(prefix="tare-online-") as folder:
        data, model = os.path.join(folder, "data.csv"), os.path.join(folder, "online.tare")
        with open(data, "w", encoding="ascii") as file:
            file.write("x0,x1,x2,x3,p,y\n")
            file.writelines(",".join(map(str, row)) + "\n" for row in rows(args.rows, 0))
        subprocess.run([args.tool, "track", data, "--target", "y", "--prediction", "p", "--levels", "0.05,0.5,0.95", "--save", model,
                        "-o", os.path.join(folder, "answers.csv"), "-q"], check=True)
        print(f"{args.rows:,} rows before, 4 features, 3 levels: load average {os.getloadavg()[0]:.1f} at the start\n")
        print("| load | pairs | refused | pairs/s | median | 99 % | service's processor time |\n|---|---:|---:|---:|---:|---:|---|")
        for clients, by_id, options in ((1, False, ()), (4, False, ()), (4, True, ()), (4, False, ("--journal-sync",))):
            journal = os.path.join(folder, f"journal-{clients}-{by_id}-{len(options)}")
            service = Service(args.tool, model, "--journal", journal, *options)
            results, before = multiprocessing.Queue(), service.cpu_seconds()
            work = [multiprocessing.Process(target=pairs, args=(service.port, seed + 1, args.seconds, by_id, results)) for seed in range(clients)]
            began = time.monotonic()
            for process in work:
                process.start()
            found = [results.get() for _ in work]
            seconds, used = time.monotonic() - began, service.cpu_seconds() - before
            for process in work:
                process.join()
            service.kill()
            total = sum(result[0] for result in found)
            again = Service(args.tool, model, "--journal", journal)
            lost = args.rows + total - again.learned()
            again.kill()
            wrong += sum(result[1] for result in found) + (lost != 0)
            name = f"{clients} client{'s' if clients > 1 else ''}, {'by id' if by_id else 'rows'}{', ' + options[0] if options else ''}"
            print(f"| {name} | {total:,} | {sum(result[1] for result in found)} | {total / seconds:,.0f} | {1e3 * max(r[2] for r in found):.2f} ms "
                  f"| {1e3 * max(r[3] for r in found):.2f} ms | {1e6 * used / max(total, 1):.0f} us a pair; "
                  f"{lost} rows lost by SIGKILL |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
