# SPDX-License-Identifier: BSD-3-Clause
"""Standard streams that are closed or full: an exit code, no abort, and no text of the tool in another file."""
import os
import resource
import subprocess

from faults import CLEAN, RIGHT, WRONG, Fault, FaultTest, main

from harness import TOOL

FULL_DISK = Fault("standard output: full after n bytes", "none", 0, ("standard output", "File too large"))


class Streams(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=60)
        self.commands = {
            "fit": ("fit", "data.csv", "--target", "y", "--prediction", "p", "--method", "nrc", "-o", "new.tare"),
            "predict -o": ("predict", "m.tare", "data.csv", "-o", "new.csv"),
            "predict": ("predict", "m.tare", "data.csv"),
            "evaluate": ("evaluate", "m.tare", "data.csv"),
            "inspect": ("inspect", "m.tare"),
            "demo --write": ("demo", "--write", "new.csv", "--rows", "30"),
            "--help": ("--help",),
            "wrong usage": ("fit", "data.csv", "--target", "nothing", "-o", "new.tare"),
        }

    def run_closed(self, line, closed):
        """Without these descriptors, and with an own program in between: Python's subprocess would open them."""
        redirect = " ".join({0: "0<&-", 1: ">&-", 2: "2>&-"}[number] for number in closed)
        done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirect}', TOOL, *line], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr.decode()

    def test_closed(self):
        for command, line in self.commands.items():
            before = self.snapshot()
            code, out, err = self.run_closed(line, ())
            whole = self.snapshot()
            for closed in ((1,), (2,), (1, 2), (0, 1, 2)) if self.some(0, 1) else ((1,), (0, 1, 2)):
                self.restore(before)
                got, text, words = self.run_closed(line, closed)
                after = self.snapshot()
                name = "closed: " + ", ".join(("stdin", "stdout", "stderr")[number] for number in closed)
                silent = 1 in closed and out == b""
                if got < 0 or got > 6 or after not in (before, whole):
                    outcome = WRONG
                elif got == code and after == whole and (silent or 1 not in closed):
                    outcome = RIGHT if 1 in closed or text == out else WRONG
                elif 1 in closed and got != 0 and (2 in closed or "standard output" in words or err in words):
                    outcome = CLEAN
                else:
                    outcome = WRONG
                self.tally.add(name, command, outcome, f"exit {got}, files {sorted(after)}: {words}")
            self.restore(before)
        self.nothing_wrong()

    def test_full(self):
        """A file that takes n bytes is standard output."""
        for command in ("predict", "inspect", "evaluate", "--help"):
            line = self.commands[command]
            before = self.snapshot()
            whole = self.run_with(line)[1]
            for most in sorted({0, 1, len(whole) // 2, len(whole) - 1, len(whole)}):
                with open(self.path("out"), "wb") as file:
                    result = self.run_with(line, stdout=file, limits=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                text = self.read("out")
                os.remove(self.path("out"))
                outcome, detail = self.judge(FULL_DISK, (result[0], text, result[2]), before, before, whole)
                if most >= len(whole) and outcome != RIGHT:
                    outcome = WRONG
                self.tally.add(FULL_DISK.name, command, outcome, f"{most} of {len(whole)} bytes: {detail}")
        self.nothing_wrong()


if __name__ == "__main__":
    main()
