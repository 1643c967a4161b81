#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Load on `tare serve` over loopback: single rows, batches, and reloads while requests come. Needs wrk.

    tools/setup.sh bench
    python3 bench/serve_load.py build/tare                        # as in bench/RESULTS.md
    python3 bench/serve_load.py build/tare --rows 20000 --seconds 2 --reloads 5   # a quick look

Ends with 1 where a request was dropped or refused. wrk runs on the same cores as the service.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

SINGLE = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local r = math.random
request = function()
  return wrk.format(nil, "/v1/predict", nil, string.format(
    '{"rows":[{"x0":%.4f,"x1":%.4f,"x2":%.4f,"x3":%.4f,"p":1.5}],"levels":[0.05,0.5,0.95]}', r(), r(), r(), r()))
end
"""
BATCH = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "KIND"
local r, bodies, next = math.random, {}, 0
for k = 1, 8 do
  local rows = {}
  for i = 1, 1000 do rows[i] = string.format(ROW, r(), r(), r(), r()) end
  bodies[k] = FIRST .. table.concat(rows, BETWEEN) .. LAST
end
request = function()
  next = next % 8 + 1
  return wrk.format(nil, "/v1/predict?levels=0.05,0.5,0.95", nil, bodies[next])
end
"""
FORMATS = {
    "json": ("application/json", """'{"x0":%.4f,"x1":%.4f,"x2":%.4f,"x3":%.4f,"p":1.5}'""", """'{"rows":['""", "','", "']}'"),
    "csv": ("text/csv", "'%.4f,%.4f,%.4f,%.4f,1.5'", "'x0,x1,x2,x3,p\\n'", "'\\n'", "'\\n'"),
}


def write_data(path, rows, seed):
    rng = random.Random(seed)
    uniform, normal = rng.random, rng.gauss
    with open(path, "w", encoding="ascii") as file:
        file.write("x0,x1,x2,x3,p,y\n")
        for _ in range(rows):
            a, b, c, d = uniform(), uniform(), uniform(), uniform()
            mean = 3 * a + b * c - d
            file.write(f"{a:.6f},{b:.6f},{c:.6f},{d:.6f},{mean:.6f},{mean + normal(0, 0.2 + a):.6f}\n")


def fit(args, folder, name, seed):
    data, model = os.path.join(folder, "data.csv"), os.path.join(folder, name)
    write_data(data, args.rows, seed)
    subprocess.run([args.tool, "fit", data, "--target", "y", "--prediction", "p", "--method", "nrc", "--kernel", args.kernel,
                    "--bandwidth", args.bandwidth, "-o", model, "-q"], check=True)
    os.remove(data)
    return model


class Wrk:
    """A run of wrk in the background."""

    def __init__(self, folder, url, script, connections, seconds):
        path = os.path.join(folder, "load.lua")
        with open(path, "w", encoding="ascii") as file:
            file.write(script)
        self.process = subprocess.Popen(["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "10", "--latency",
                                         "-s", path, url], stdout=subprocess.PIPE, text=True)

    def result(self, stop=False):
        if stop:
            self.process.send_signal(signal.SIGINT)  # it then prints what it has
        text = self.process.communicate()[0]
        wrong = sum(int(count) for line in re.findall(r"Socket errors: (.*)|Non-2xx or 3xx responses: (\d+)", text)
                    for count in re.findall(r"\d+", " ".join(line)))
        return {"requests": int(re.search(r"(\d+) requests in", text)[1]), "wrong": wrong,
                "per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
                "p50": re.search(r"\n\s+50%\s+(\S+)", text)[1], "p99": re.search(r"\n\s+99%\s+(\S+)", text)[1]}


class Service:
    def __init__(self, tool, model):
        self.process = subprocess.Popen([tool, "serve", model, "--port", "0", "--log", "errors"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def ask(self, body):
        request = urllib.request.Request(self.url + "/v1/predict", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def switched(self):
        return int(re.search(r'tare_reloads_total\{result="switched"\} (\d+)', self.get("/metrics"))[1])

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) // 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def reload_under_load(args, folder, service, models):
    """Puts the two models in turn in the served one's place while wrk asks for single rows."""
    served = os.path.join(folder, "served.tare")
    load = Wrk(folder, service.url, SINGLE, args.connections, 3600)
    start = time.monotonic()
    for count in range(1, args.reloads + 1):
        shutil.copy(models[count % 2], served + ".new")
        os.replace(served + ".new", served)
        service.process.send_signal(signal.SIGHUP)
        while service.switched() < count:
            time.sleep(0.02)
    seconds = time.monotonic() - start
    return {**load.result(stop=True), "seconds": seconds}


def line(name, result, rows=1, more=""):
    rate = result["per_second"] * rows
    print(f"| {name} | {result['requests']:,} | {result['wrong']} | {rate:,.0f} | {result['p50']} | {result['p99']} | {more} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=1_000_000, help="calibration rows")
    parser.add_argument("--kernel", default="naive")
    parser.add_argument("--bandwidth", default="0.35", help="of scaled features; 0.35 is a window of about 500 of a million rows")
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--reloads", type=int, default=200)
    args = parser.parse_args()
    args.tool = os.path.abspath(args.tool)
    with tempfile.TemporaryDirectory(prefix="tare-load-") as folder:
        models = [fit(args, folder, f"model{seed}.tare", seed) for seed in (1, 2)]
        served = os.path.join(folder, "served.tare")
        shutil.copy(models[0], served)
        service = Service(args.tool, served)
        service.ask({"rows": [{"x0": 0.5, "x1": 0.5, "x2": 0.5, "x3": 0.5, "p": 1}], "diagnostics": True})
        print(f"{args.rows:,} calibration rows, 4 features, 3 levels, kernel {args.kernel}, bandwidth {args.bandwidth}: "
              f"load average {os.getloadavg()[0]:.1f} at the start\n")
        print("| load | requests | dropped or refused | rows/s | median | 99 % | service's processor time |\n|---|---:|---:|---:|---:|---:|---|")
        wrong = 0
        runs = [("single rows", SINGLE, args.connections, 1)]
        for name, (kind, row, first, between, last) in FORMATS.items():
            script = BATCH.replace("KIND", kind).replace("ROW", row).replace("FIRST", first).replace("BETWEEN", between)
            runs.append((f"batches of 1,000, {name}", script.replace("LAST", last), 4, 1000))
        for name, script, connections, rows in runs:
            before = service.cpu_seconds()
            result = Wrk(folder, service.url, script, connections, args.seconds).result()
            used = service.cpu_seconds() - before
            wrong += result["wrong"]
            line(f"{name}, {connections} connections", result, rows, f"{1e6 * used / (result['requests'] * rows):.1f} us a row")
        if args.reloads:
            result = reload_under_load(args, folder, service, models)
            wrong += result["wrong"]
            line(f"single rows during {args.reloads} reloads", result, 1, f"a reload takes {result['seconds'] / args.reloads:.2f} s")
        memory = service.memory_mb()
        code = service.stop()
        print(f"\nresident memory at the end {memory} MB; exit code after SIGTERM {code}; load average {os.getloadavg()[0]:.1f}")
        return 1 if wrong or code else 0


if __name__ == "__main__":
    sys.exit(main())
