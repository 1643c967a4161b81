#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL at random moments while an online model is taught. After each restart every acknowledged row is there exactly once, and the
answers are those of a model that was taught the same rows without an interruption.

    tests/serve/online_kills.py --kills 1000

A client sends rows with ids, one to eight at a time; another one asks for predictions. The request that was open at a kill is sent again:
its rows are then learned or known as repeated. The rows' order is read from the journal, by a reader of its own. Now and then the journal
is folded into the model file, the fold is killed as well, and the journal is removed afterwards. Ends with 1 where anything is wrong.
"""
import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from serve_harness import HEADER, TOOL, WAIT, Service, csv_text, points
from test_online import journal_rows

START = 60
QUESTION = json.dumps({"rows": [{"a": 1, "b": 0.5, "p": 2.5}, {"a": 8, "b": -1, "p": 15}], "levels": [0.05, 0.5, 0.95]})


class Kills:
    def __init__(self, options):
        self.options, self.rng = options, random.Random(options.seed)
        self.folder = tempfile.mkdtemp(prefix="tare-kills-")
        self.rows = [dict(zip(HEADER, row)) for row in points(options.kills * 200 + START, seed=5)]
        self.sent = 0  # rows that the client has taken from the stream
        self.acknowledged = []  # ids, in their order
        self.open = None  # the request without an answer: ids and rows
        self.counts = {"kills": 0, "acknowledged rows": 0, "rows of a killed request that were there": 0, "predictions": 0, "folds": 0,
                       "killed folds": 0, "torn records": 0}
        self.faults = []
        self.base = 0  # rows that were folded into the file and whose journal is gone

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *args, **options):
        return subprocess.Popen([TOOL, *args], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)

    def start(self, *options, model="m.tare"):
        return Service(model, "--log", "errors", "--threads", "2", *options, cwd=self.folder)

    def ask(self, service, target, body):
        connection = http.client.HTTPConnection(*service.address, timeout=WAIT)
        try:
            connection.request("POST", target, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def next_request(self):
        count = self.rng.randint(1, 8)
        rows = self.rows[START + self.sent:START + self.sent + count]
        ids = [f"row-{self.sent + i}" for i in range(count)]
        self.sent += count
        return ids, rows

    def teach(self, service, stop):
        """Sends requests until the service is gone; what is not answered stays open."""
        connection = http.client.HTTPConnection(*service.address, timeout=WAIT)
        try:
            while not stop.is_set() and START + self.sent + 8 < len(self.rows):
                self.open = self.next_request()
                body = json.dumps({"ids": self.open[0], "rows": self.open[1]})
                connection.request("POST", "/v1/observe", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                outcome = json.loads(answer.read())
                if answer.status != 200 or outcome["learned"] != len(self.open[0]):
                    self.faults.append(f"{answer.status}: {outcome}")
                    return
                self.acknowledged += self.open[0]
                self.open = None
        except (http.client.HTTPException, OSError):
            pass
        finally:
            connection.close()

    def predict(self, service, stop):
        try:
            while not stop.is_set():
                self.ask(service, "/v1/predict", QUESTION)
                self.counts["predictions"] += 1
        except (http.client.HTTPException, OSError, ValueError):
            pass

    def kill_under_load(self, service):
        stop = threading.Event()
        threads = [threading.Thread(target=work, args=(service, stop)) for work in (self.teach, self.predict)]
        for thread in threads:
            thread.start()
        time.sleep(self.rng.expovariate(1 / self.options.mean_seconds))
        service.process.kill()
        service.process.wait(WAIT)
        stop.set()
        for thread in threads:
            thread.join()
        service.close()
        service.log_file.close()
        self.counts["kills"] += 1

    def check(self, service, mirror):
        """The rows of the journal, against what was acknowledged; then the answers."""
        with open(self.path("j"), "rb") as file:
            header, found = journal_rows(file.read())
        if header["rows"] != START + self.base:
            self.faults.append(f"the journal begins at {header['rows']} and not at {START + self.base}")
        if [row[0] for row in found] != list(range(START + self.base, START + self.base + len(found))):
            self.faults.append("the journal's rows are not in sequence")
        wanted = self.acknowledged[self.base:]
        open_ids = self.open[0] if self.open else []
        ids = [row[1] for row in found]
        if ids[:len(wanted)] != wanted or ids[len(wanted):] != open_ids[:len(ids) - len(wanted)]:
            self.faults.append(f"acknowledged ..{wanted[-5:]} with {open_ids} open, found ..{ids[-10:]}")
        self.counts["rows of a killed request that were there"] += len(ids) - len(wanted)
        if self.open:
            status, outcome = self.ask(service, "/v1/observe", json.dumps({"ids": self.open[0], "rows": self.open[1]}))
            there = len(ids) - len(wanted)
            if status != 200 or (outcome["learned"], outcome["repeated_ids"]) != (len(open_ids) - there, there):
                self.faults.append(f"sent again: {status} {outcome}, {there} were there")
            self.acknowledged += self.open[0]
            self.open = None
        if mirror is None:
            return
        taught = self.acknowledged[self.mirrored:]
        if taught:
            rows = [self.rows[START + int(name.removeprefix("row-"))] for name in taught]
            status, outcome = self.ask(mirror, "/v1/observe", json.dumps({"rows": rows}))
            if status != 200 or outcome["learned"] != len(rows):
                self.faults.append(f"the model without interruption: {status} {outcome}")
            self.mirrored = len(self.acknowledged)
        answers = [self.ask(one, "/v1/predict", QUESTION)[1]["rows"] for one in (service, mirror)]
        if answers[0] != answers[1]:
            self.faults.append(f"after {len(self.acknowledged)} rows: {answers[0]} in place of {answers[1]}")

    def fold(self):
        """With the service stopped: folds the journal, killed at a random moment or not, and then removes it."""
        killed = self.tool("update", "m.tare", "--journal", "j", "-q")
        time.sleep(self.rng.uniform(0, 0.03))
        killed.kill()
        self.counts["killed folds"] += killed.wait(WAIT) != 0
        if self.tool("update", "m.tare", "--journal", "j", "-q").wait(60) != 0:
            self.faults.append("a fold failed")
        os.remove(self.path("j"))
        self.base = len(self.acknowledged)
        self.counts["folds"] += 1

    def run(self):
        with open(self.path("stream.csv"), "w", encoding="ascii") as file:
            file.write(csv_text(HEADER, [[row[name] for name in HEADER] for row in self.rows[:START]]))
        self.tool("track", "stream.csv", "--target", "y", "--prediction", "p", "--start", "20", "--save", "m.tare", "-o", "x.csv").wait(60)
        shutil.copy(self.path("m.tare"), self.path("first.tare"))
        mirror, self.mirrored = self.start(model="first.tare"), 0
        service = self.start("--journal", "j")
        began = time.monotonic()
        try:
            while self.counts["kills"] < self.options.kills and len(self.faults) < 5:
                self.kill_under_load(service)
                service = self.start("--journal", "j")
                self.counts["torn records"] += "journal_cut" in service.log_text()
                self.check(service, mirror)
                if self.counts["kills"] % self.options.fold == 0:
                    service.stop()
                    service.close()
                    service.log_file.close()
                    self.fold()
                    service = self.start("--journal", "j")
            self.check_in_one_go(service)
        finally:
            for one in (service, mirror):
                one.close()
                one.log_file.close()
            shutil.rmtree(self.folder)
        self.counts["acknowledged rows"] = len(self.acknowledged)
        for name, count in self.counts.items():
            print(f"| {name} | {count:,} |")
        print(f"| faults | {len(self.faults)} |\n| seconds | {time.monotonic() - began:.0f} |")
        for text in self.faults:
            print(text, file=sys.stderr)
        return 1 if self.faults or not self.acknowledged else 0

    def check_in_one_go(self, service):
        """`tare update` with all rows at once, and its answers."""
        rows = [self.rows[START + int(name.removeprefix("row-"))] for name in self.acknowledged]
        with open(self.path("all.csv"), "w", encoding="ascii") as file:
            file.write(csv_text(HEADER, [[row[name] for name in HEADER] for row in rows]))
        if self.tool("update", "first.tare", "all.csv", "-o", "all.tare", "-q").wait(600) != 0:
            self.faults.append("teaching in one go failed")
            return
        whole = self.start(model="all.tare")
        answers = [self.ask(one, "/v1/predict", QUESTION)[1]["rows"] for one in (service, whole)]
        whole.close()
        whole.log_file.close()
        if answers[0] != answers[1]:
            self.faults.append(f"in one go: {answers[1]}, with kills: {answers[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--mean-seconds", type=float, default=0.05, help="time from the start of the load to the kill, on average")
    parser.add_argument("--fold", type=int, default=25, help="kills between two folds")
    parser.add_argument("--seed", type=int, default=1)
    return Kills(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
