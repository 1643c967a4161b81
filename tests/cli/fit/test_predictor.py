# SPDX-License-Identifier: BSD-3-Clause
"""--predictor: a program gives the predictions, and whatever it does wrong is a clear error."""
import os
import signal
import subprocess
import sys
import time

from harness import BAD_DATA, SANITIZED, TOOL, USAGE, CliTest, csv_text, main, points

PYTHON = sys.executable
DOUBLE = f"{PYTHON} -c 'import csv,sys; [print(2*float(r[\"a\"])+float(r[\"b\"])) for r in csv.DictReader(sys.stdin)]'"


def running(mark):
    """Processes whose command line holds `mark`."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if mark in line and "ps -eo" not in line]


class Predictor(CliTest):
    def setUp(self):
        super().setUp()
        rows = [[r[0], r[1], r[3]] for r in points(60)]
        self.write("data.csv", csv_text(["a", "b", "y"], rows))
        self.write("given.csv", csv_text(["a", "b", "p", "y"], [[a, b, repr(2 * a + b), y] for a, b, y in rows]))

    def test_program_equals_a_column_with_its_predictions(self):
        self.fit("data.csv", "--predictor", DOUBLE)
        self.fit("given.csv", "--prediction", "p", output="given.tare")
        expected = self.ok("predict", "given.tare", "given.csv").bytes
        self.assertEqual(self.ok("predict", "m.tare", "data.csv", "--predictor", DOUBLE).bytes, expected)
        scores = [self.ok("evaluate", model, data, "--json", *more).json()
                  for model, data, more in (("m.tare", "data.csv", ["--predictor", DOUBLE]), ("given.tare", "given.csv", []))]
        self.assertEqual(*scores)

    def test_program_sees_the_features_as_they_were_written(self):
        self.write("data.csv", 'b,"the, name",y\n' + "1.50,u,1\n" * 12)
        self.fit("data.csv", "--predictor", "tee seen.csv | tail -n +2 | sed s/.*/7/")
        self.assertEqual(self.read("seen.csv").decode(), 'b,"the, name"\n' + "1.50,u\n" * 12)

    def test_model_does_not_start_a_program_by_itself(self):
        self.fit("data.csv", "--predictor", DOUBLE)
        for line in (["predict", "m.tare", "data.csv", "-o", "out.csv"], ["evaluate", "m.tare", "data.csv"]):
            self.fails(USAGE, *line, says=["does not start programs", "pass --predictor", DOUBLE])

    def test_program_for_a_model_that_needs_none(self):
        self.fit("given.csv", "--prediction", "p")
        self.fails(USAGE, "predict", "m.tare", "given.csv", "--predictor", "cat", says=["leave out --predictor"])

    def test_wrong_count(self):
        for command, lines in (("head -n 3", 3), ("cat", 61), ("true", 0), ("cat >/dev/null", 0)):
            self.fit_fails(BAD_DATA, "data.csv", "--predictor", command,
                           says=[f"the predictor '{command}' printed {lines} lines for 60 rows", "one number per row"])

    def test_failing_program(self):
        self.fit_fails(BAD_DATA, "data.csv", "--predictor", "cat >/dev/null; exit 3", says=["exited with status 3"])
        self.fit_fails(BAD_DATA, "data.csv", "--predictor", "exit 3", says=["exited with status 3"])
        self.fit_fails(BAD_DATA, "data.csv", "--predictor", "kill -9 $$", says=["killed by signal 9"])
        result = self.run_tool("fit", "data.csv", "--target", "y", "--predictor", "/no/such/program", "-o", "x.tare")
        self.assertEqual(result.code, BAD_DATA)
        self.assertIn("no such program", result.err)

    def test_output_that_is_not_numbers(self):
        for word in ("abc", "nan", "inf", "", "1,5"):
            command = f"tail -n +2 | sed '5s/.*/{word}/;5!s/.*/1/'"
            self.fit_fails(BAD_DATA, "data.csv", "--predictor", command, says=["line 5 of its output", f"'{word}'"])

    def hangs(self, command, mark):
        begin = time.monotonic()
        self.fit_fails(BAD_DATA, "data.csv", "--timeout", "0.5", "--predictor", command,
                       says=["gave no answer within 0.5 s", "--timeout"])
        self.assertLess(time.monotonic() - begin, 2 * (0.5 + 2))
        for _ in range(20):
            if not running(mark):
                return
            time.sleep(0.05)
        self.fail(f"left running: {running(mark)}")

    def test_hang_ends_in_time_and_leaves_no_process(self):
        mark = f"77{os.getpid()}"
        self.hangs(f"sleep {mark}; true", mark)
        self.hangs(f"(sleep {mark}; true) & wait", mark)
        self.hangs(f"tail -n +2 | sed s/.*/1/; sleep {mark}; true", mark)
        self.hangs(f"exec >&-; sleep {mark}; true", mark)
        self.hangs(f"sleep {mark} & tail -n +2 | sed s/.*/1/", mark)

    def test_endless_output_ends_in_time(self):
        begin = time.monotonic()
        result = self.run_tool("fit", "data.csv", "--target", "y", "-o", "x.tare", "--timeout", "0.5", "--predictor", "yes")
        self.assertLess(time.monotonic() - begin, 2.5 + (10 if SANITIZED else 0))
        self.assertEqual(result.code, BAD_DATA)

    def test_endless_output_is_refused_long_before_the_time_is_over(self):
        begin = time.monotonic()
        self.fit_fails(BAD_DATA, "data.csv", "--predictor", "yes 1",
                       says=["the predictor 'yes 1' printed more than 89536 bytes", "one number per row"])
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_tool_that_is_ended_by_a_signal_takes_its_program_with_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            mark = f"88{os.getpid()}{int(number)}"
            # The shell is replaced by sleep where it alone is killed: SIGKILL of the tool cannot be handled.
            command = f"exec sleep {mark}" if number == signal.SIGKILL else f"sleep {mark}; true"
            process = subprocess.Popen([TOOL, "fit", "data.csv", "--target", "y", "--predictor", command, "-o", "x.tare"],
                                       cwd=self.folder, stderr=subprocess.DEVNULL)
            for _ in range(200):
                if [line for line in running(f"sleep {mark}") if "tare" not in line and "sh -c" not in line]:
                    break
                time.sleep(0.05)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=30), -number)
            for _ in range(100):
                if not running(f"sleep {mark}"):
                    break
                time.sleep(0.05)
            self.assertEqual(running(f"sleep {mark}"), [])

    def test_program_that_prints_before_it_reads_does_not_block(self):
        count = 20_000 if SANITIZED else 200_000
        rows = "".join(f"{i % 50},{i % 9},{i % 7}\n" for i in range(count))
        command = f"yes 1 | head -n {count}; cat >/dev/null"
        self.ok("fit", "-", "--target", "y", "--predictor", command, "--bandwidth", "infinite", "-o", "m.tare",
                stdin=("a,b,y\n" + rows).encode())

    def test_program_that_reads_nothing_is_fine_when_its_answer_is(self):
        self.fit("data.csv", "--predictor", "yes 1 | head -n 60")

    def test_messages_of_the_program_reach_the_user(self):
        result = self.ok("fit", "data.csv", "--target", "y", "--predictor", f"echo hello >&2; {DOUBLE}", "-o", "m.tare")
        self.assertIn("hello", result.err)
        self.assertEqual(result.out, "")

    def test_prediction_in_batches(self):
        count = 1_000 if SANITIZED else 40_000
        self.fit("data.csv", "--predictor", DOUBLE, "--bandwidth", "1")
        rows = [(i % 100 / 10, i % 7) for i in range(count)]
        data = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
        out = self.ok("predict", "m.tare", "-", "--predictor", DOUBLE, "--levels", "0.5", stdin=data.encode())
        self.assertEqual(out.out.count("\n"), count + 1)


if __name__ == "__main__":
    main()
