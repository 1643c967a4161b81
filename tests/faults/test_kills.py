# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL at random moments: the old file or the new one, no other file, and the next run gives the whole result."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

from faults import CLEAN, RIGHT, WRONG, FaultTest, main

from harness import TOOL

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from test_results import COMPARE, PLAN, REPRODUCE, without_seconds

from serve_harness import CSV, Service

# A nameless file cannot replace a named one in one step: for some microseconds it has this name.
HIDDEN = re.compile(r"(^|/)\.[^/]+\.part$")


class Kills(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=600)
        self.rng = random.Random(7)

    def snapshot(self):
        return {name: without_seconds(content) if content is not None else None for name, content in super().snapshot().items()}

    def begin(self, line):
        return subprocess.Popen([TOOL, *line], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def seconds_of(self, line):
        start = time.monotonic()
        self.assertEqual(self.begin(line).wait(), 0)
        return time.monotonic() - start

    def kill_once(self, line, longest):
        """True where it was still at work. The moments are random over the time that it takes, which is measured again and again, as the
        machine has other work."""
        process = self.begin(line)
        time.sleep(self.rng.uniform(0, longest))
        process.kill()
        return process.wait() != 0

    def hidden_removed(self, found):
        for name in [name for name in found if HIDDEN.search(name)]:
            os.remove(self.path(name))
            del found[name]
            self.between += 1

    def trials(self, command, line, count, is_good):
        self.between = 0
        longest = self.seconds_of(line)
        for trial in range(count):
            if trial % 25 == 24:
                longest = 0.5 * (longest + self.seconds_of(line))
            struck = self.kill_once(line, longest)
            found = self.snapshot()
            self.hidden_removed(found)
            good = is_good(found)
            self.tally.add("SIGKILL", command, (CLEAN if struck else RIGHT) if good else WRONG, f"trial {trial}: {sorted(found)}")
        self.nothing_wrong()
        self.assertLessEqual(self.between, 1 + count // 50, "hidden files are left rarely")

    def test_fit(self):
        line = ["fit", "data.csv", "--target", "y", "--method", "pure_kernel", "--seed", "9", "-o", "m.tare", "--force"]
        before = self.snapshot()
        self.ok(*line)
        whole = self.snapshot()
        self.restore(before)
        self.trials("fit -o OLD --force", line, self.some(4, 250), lambda found: found in (before, whole))

    def test_predict(self):
        line = ["predict", "m.tare", "data.csv", "-o", "out.csv", "--force"]
        self.write("out.csv", "the previous answer")
        before = self.snapshot()
        self.ok(*line)
        whole = self.snapshot()
        self.restore(before)
        self.trials("predict -o OLD --force", line, self.some(4, 250), lambda found: found in (before, whole))

    def continuing(self, command, line, output, count):
        """Commands that keep the trials that are done. Every tenth time the run is completed and must give what an undisturbed one gives."""
        before = self.snapshot()
        self.ok(*line)
        whole = self.snapshot()
        self.restore(before)
        state = {"trial": 0}

        def is_good(found):
            state["trial"] += 1
            if not set(found) <= set(whole):
                return False
            if state["trial"] % 10 == 0:
                self.ok(*line)
                good = self.snapshot() == whole
                shutil.rmtree(self.path(output), ignore_errors=True)
                if os.path.exists(self.path(output)):
                    os.remove(self.path(output))
                return good
            return True

        self.trials(command, line, count, is_good)

    def test_compare(self):
        self.write_points("data.csv", 60)
        self.continuing("compare --out", list(COMPARE), "r.csv", self.some(3, 200))

    def test_reproduce(self):
        self.write("small.json", json.dumps(PLAN))
        self.continuing("reproduce", list(REPRODUCE), "r", self.some(3, 200))

    def test_reload(self):
        """The writer of a served model is killed, and then the service while it reloads: the file is whole, and another service starts."""
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "0.3", output="other.tare")
        rows = b"a,b,p\n1.5,0.25,3.25\n"
        answers = []
        names = None
        service = self.serve()
        for source in ("m.tare", "other.tare"):
            answers.append(self.ok("predict", source, "-", stdin=rows).bytes)
        options = ["--target", "y", "--prediction", "p", "--method", "nrc", "-o", "m.tare", "--force", "-q"]
        lines = [["fit", "data.csv", *options, "--bandwidth", width] for width in ("1", "0.3")]
        names = set(self.snapshot())
        longest = self.seconds_of(lines[0])
        for trial in range(self.some(4, 100)):
            struck = self.kill_once(lines[trial % 2], longest)
            good = service.post("/v1/predict", rows, CSV).body in answers
            if trial % 2:
                service.signal(1)
                time.sleep(self.rng.uniform(0, 0.03))
                service.process.kill()
                service.process.wait()
                service = self.serve()
                good = good and service.post("/v1/predict", rows, CSV).body in answers
            found = dict.fromkeys(self.snapshot())
            self.between = 0
            self.hidden_removed(found)
            good = good and set(found) == names
            self.tally.add("SIGKILL", "fit onto a served model, serve in reload", (CLEAN if struck else RIGHT) if good else WRONG,
                           f"trial {trial}: {sorted(found)}")
        self.nothing_wrong()

    def serve(self):
        service = Service("m.tare", "--threads", "1", "--log", "errors", cwd=self.folder)
        self.addCleanup(service.log_file.close)
        self.addCleanup(service.close)
        return service


if __name__ == "__main__":
    main()
