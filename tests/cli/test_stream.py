# SPDX-License-Identifier: BSD-3-Clause
"""Prediction streams: memory does not grow with the file, and where a batch ends does not show."""
import os
import subprocess
import threading
import unittest

from harness import HEADER, SANITIZED, TOOL, CliTest, csv_text, main, points

ROWS = 50_000 if SANITIZED else 500_000
BOUND_MIB = 64


class Stream(CliTest):
    def peak_kib(self, rows, *args):
        """Predicts that many rows through pipes and returns the tool's peak resident memory."""
        process = subprocess.Popen([TOOL, "predict", "m.tare", "-", *args], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        block = csv_text(HEADER, points(5000)).split("\n", 1)[1].encode()

        def feed():
            process.stdin.write((",".join(HEADER) + "\n").encode())
            for _ in range(rows // 5000):
                process.stdin.write(block)
            process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        lines = 0
        while chunk := process.stdout.read(1 << 20):
            lines += chunk.count(b"\n")
        feeder.join()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(lines, rows + 1)
        return usage.ru_maxrss

    @unittest.skipIf(SANITIZED, "the sanitizer's own memory grows")
    def test_memory_does_not_grow_with_the_rows(self):
        self.small_model(count=12)
        few = self.peak_kib(ROWS)
        many = self.peak_kib(4 * ROWS)
        self.assertLess(many, BOUND_MIB * 1024)
        self.assertLess(many, 1.1 * few + 2048)

    @unittest.skipIf(SANITIZED, "the sanitizer's own memory grows")
    def test_memory_does_not_grow_with_columns_kept_and_json(self):
        self.small_model(count=12)
        # Batches grow to 65,536 rows, which 200,000 rows see at least once.
        few = self.peak_kib(ROWS * 2 // 5, "--keep", "all", "--diagnostics")
        many = self.peak_kib(ROWS * 8 // 5, "--keep", "all", "--diagnostics")
        self.assertLess(many, BOUND_MIB * 1024)
        self.assertLess(many, 1.1 * few + 2048)

    def test_pieces_equal_the_whole(self):
        rows = 4_000 if SANITIZED else 40_000
        self.write("data.csv", csv_text(["a", "c", "p", "y"],
                                        [[i % 101, "uvw"[i % 3], i % 7, (i * 13) % 29] for i in range(60)]))
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "0.3")
        lines = [f"{i % 997 / 9},{'uvwx'[i % 4]},{i % 11}\n" for i in range(rows)]
        whole = self.ok("predict", "m.tare", "-", "--diagnostics", "--keep", "a,c",
                        stdin=("a,c,p\n" + "".join(lines)).encode())
        out = []
        step = rows // 4 + 17
        for first in range(0, rows, step):
            piece = "a,c,p\n" + "".join(lines[first:first + step])
            text = self.ok("predict", "m.tare", "-", "--diagnostics", "--keep", "a,c", stdin=piece.encode()).out
            out.append(text if first == 0 else text.split("\n", 1)[1])
        self.assertEqual("".join(out), whole.out)
        self.assertEqual(whole.out.count("\n"), rows + 1)
        self.assertIn(f"{rows // 4} cells hold a category that was not there", whole.err)

    def test_fault_late_in_the_file_leaves_no_output(self):
        self.small_model(count=12)
        lines = ["a,b,p\n"] + ["1,2,3\n"] * 40_000 + ["1,x,3\n"]
        self.write("big.csv", "".join(lines))
        self.fails(4, "predict", "m.tare", "big.csv", "-o", "out.csv", says=["big.csv:40002: column 'b': 'x'"])

    def test_reader_that_goes_away_ends_the_tool_quietly(self):
        self.small_model(count=12)
        self.write("big.csv", "a,b,p\n" + "1,2,3\n" * 100_000)
        process = subprocess.Popen([TOOL, "predict", "m.tare", "big.csv"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        process.stderr.close()
        process.wait(timeout=30)
        self.assertEqual(error, b"")

    def test_rows_come_out_before_the_input_ends(self):
        self.small_model(count=12)
        process = subprocess.Popen([TOOL, "predict", "m.tare", "-"], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        process.stdin.write(b"a,b,p\n" + b"1,2,3\n" * 20_000)
        process.stdin.flush()
        first = process.stdout.readline()
        process.kill()
        process.wait()
        watchdog.cancel()
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(first, b"q0.05,q0.5,q0.95\n")


if __name__ == "__main__":
    main()
