# SPDX-License-Identifier: BSD-3-Clause
"""A process that is killed in the middle of its work leaves the previous file as it was, and no other."""
import os
import random
import subprocess
import time

from harness import EVERY_CASE, TOOL, CliTest, main

TRIALS = 60 if EVERY_CASE else 12


def has_nameless_files(folder):
    """Where a file system has no O_TMPFILE, the tool must use a hidden file, which a kill leaves."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


class Killed(CliTest):
    def setUp(self):
        super().setUp()
        if not has_nameless_files(self.folder):
            self.skipTest("the file system of the temporary folder has no nameless files")
        self.small_model(count=1500)
        self.model = self.read("m.tare")

    def start(self, line):
        return subprocess.Popen([TOOL, *line], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def trials(self, line, output, accept, seed):
        """Kills the command at random moments; the output file is afterwards the old one or the whole new one."""
        names = set(self.snapshot())
        between = 0
        begin = time.monotonic()
        self.assertEqual(self.start(line).wait(), 0)
        longest = time.monotonic() - begin
        rng = random.Random(seed)
        killed = 0
        for _ in range(TRIALS):
            process = self.start(line)
            time.sleep(rng.uniform(0, 1.05 * longest))
            process.kill()
            killed += process.wait() != 0
            self.assertIn(self.read(output), accept)
            # A nameless file cannot replace a named one in one step: for some microseconds it has a hidden name.
            for name in os.listdir(self.folder):
                if name.startswith(f".{output}.{process.pid}.") and name.endswith(".part"):
                    between += 1
                    os.remove(self.path(name))
            self.assertEqual(set(self.snapshot()), names)
        self.assertLessEqual(between, 1)
        self.assertGreater(killed, TRIALS // 4, "the trials must hit the command at work")

    def test_fit(self):
        line = ["fit", "data.csv", "--target", "y", "--method", "pure_kernel", "--seed", "9", "-o", "m.tare", "--force"]
        self.fit("data.csv", "--method", "pure_kernel", "--seed", "9", output="other.tare")
        self.trials(line, "m.tare", [self.model, self.read("other.tare")], seed=1)
        self.ok("predict", "m.tare", "data.csv")

    def test_predict(self):
        line = ["predict", "m.tare", "data.csv", "-o", "out.csv", "--force"]
        whole = self.ok("predict", "m.tare", "data.csv").bytes
        self.write("out.csv", "the previous answer")
        self.trials(line, "out.csv", [b"the previous answer", whole], seed=2)
        self.assertEqual(self.read("m.tare"), self.model)

    def test_new_file_appears_whole_or_not_at_all(self):
        whole = self.ok("predict", "m.tare", "data.csv").bytes
        rng = random.Random(3)
        for _ in range(TRIALS // 2):
            process = self.start(["predict", "m.tare", "data.csv", "-o", "new.csv"])
            time.sleep(rng.uniform(0, 0.1))
            process.kill()
            process.wait()
            found = set(self.snapshot())
            self.assertLessEqual(found, {"data.csv", "m.tare", "new.csv"})
            if "new.csv" in found:
                self.assertEqual(self.read("new.csv"), whole)
                os.remove(self.path("new.csv"))

    def test_killed_while_it_waits_for_input(self):
        self.write("out.csv", "the previous answer")
        head = self.read("data.csv")
        process = subprocess.Popen([TOOL, "predict", "m.tare", "-", "-o", "out.csv", "--force"], cwd=self.folder,
                                   stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdin.write(head)
        process.stdin.flush()
        time.sleep(0.2)
        process.kill()
        process.wait()
        process.stdin.close()
        self.assertEqual(self.read("out.csv"), b"the previous answer")
        self.assertEqual(set(self.snapshot()), {"data.csv", "m.tare", "out.csv"})


if __name__ == "__main__":
    main()
