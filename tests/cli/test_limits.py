# SPDX-License-Identifier: BSD-3-Clause
"""Files that would take more memory or time than their size tells: refused, or read in bounded memory."""
import gzip
import os
import resource
import subprocess
import time
import unittest

from harness import BAD_DATA, DONE, OTHER, SANITIZED, TOOL, CliTest, csv_text, main

MIB = 1024  # in KiB, the unit of ru_maxrss


def gzip_of(*parts):
    """A small file of a long text: each part is a text and how often it comes, which is one member of the file each."""
    return b"".join(gzip.compress(text, 6) * count for text, count in parts)


class Limits(CliTest):
    def measured(self, *args):
        """Runs the tool, and returns its exit code, its standard error, its peak memory in KiB and its CPU seconds."""
        with open(self.path("err.txt"), "wb") as err, open(os.devnull, "r+b") as null:
            process = subprocess.Popen([TOOL, *args], cwd=self.folder, stdin=null, stdout=null, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, self.read("err.txt").decode(), usage.ru_maxrss, usage.ru_utime + usage.ru_stime

    def refused(self, says, most_mib, *args):
        code, err, peak, seconds = self.measured(*args)
        self.assertEqual(code, BAD_DATA, err)
        self.assertIn(says, err)
        if not SANITIZED:
            self.assertLess(peak, most_mib * MIB)
            self.assertLess(seconds, 10)

    def test_a_header_of_ten_million_columns(self):
        self.small_model(count=12)
        self.write("bomb.csv.gz", gzip_of((b"," * 1_000_000, 10)))
        self.assertLess(len(self.read("bomb.csv.gz")), 20_000)
        says = "bomb.csv.gz:1: the header has more than 200000 columns (remove columns"
        self.refused(says, 128, "fit", "bomb.csv.gz", "--target", "y", "-o", "n.tare")
        self.refused(says, 128, "predict", "m.tare", "bomb.csv.gz")
        self.refused(says, 128, "evaluate", "m.tare", "bomb.csv.gz")
        self.assertFalse(os.path.exists(self.path("n.tare")))

    def test_a_line_without_an_end(self):
        self.small_model(count=12)
        megabyte = b"7" * 1_000_000
        self.write("head.csv.gz", gzip_of((megabyte, 80)))
        self.refused("head.csv.gz:1: a line or quoted cell of more than 64 MiB", 200, "predict", "m.tare", "head.csv.gz")
        self.write("line.csv.gz", gzip_of((b'a,b,p\n1,2,3\n1,"', 1), (megabyte, 300)))
        self.refused("line.csv.gz:3: a line or quoted cell of more than 256 MiB", 600, "predict", "m.tare", "line.csv.gz")

    def test_a_hundred_thousand_columns_are_read(self):
        columns = 20_000 if SANITIZED else 100_000
        self.small_model(count=12)
        header = ",".join(f"column{j}" for j in range(columns)) + ",a,b,p\n"
        row = ",".join(["1"] * columns) + ",1,2,3\n"
        self.write("wide.csv", header + row * 40)
        code, err, peak, seconds = self.measured("predict", "m.tare", "wide.csv", "--keep", "all", "-o", "out.csv")
        self.assertEqual(code, DONE, err)
        self.assertEqual(self.read("out.csv").count(b","), 41 * (columns + 5))
        if not SANITIZED:
            self.assertLess(seconds, 6)  # a quadratic search took minutes
            self.assertLess(peak, 512 * MIB)

    def test_many_features_are_found_in_linear_time(self):
        columns = 2_000 if SANITIZED else 20_000
        names = [f"x{j}" for j in range(columns)]
        rows = [[str(i * j % 7) for j in range(columns)] + [str(i), str(i + i % 3)] for i in range(12)]
        self.write("wide.csv", csv_text([*names, "p", "y"], rows))
        self.fit("wide.csv", "--prediction", "p", "--bandwidth", "1", "--set", "bands=off")
        self.write("back.csv", csv_text(["p", *reversed(names)], [[row[columns], *reversed(row[:columns])] for row in rows]))
        code, err, _, seconds = self.measured("predict", "m.tare", "back.csv", "-o", "back.out")
        self.assertEqual(code, DONE, err)
        if not SANITIZED:
            self.assertLess(seconds, 6)
        self.assertEqual(self.read("back.out"), self.ok("predict", "m.tare", "wide.csv").bytes)

    @unittest.skipIf(SANITIZED, "the sanitizer's own memory grows")
    def test_windows_do_not_multiply_what_is_held(self):
        header = [f"x{j}" for j in range(8)] + ["y"]
        self.write("series.csv", csv_text(header, [[(t * (j + 3)) % 11 for j in range(9)] for t in range(400)]))
        self.fit("series.csv", "--method", "nrc", "--regressor", "ridge", "--window", "128", "--bandwidth", "infinite")
        self.write("long.csv", ",".join(header) + "\n" + "1,2,3,4,5,6,7,8,9\n" * 60_000)
        code, err, peak, _ = self.measured("predict", "m.tare", "long.csv")
        self.assertEqual(code, DONE, err)
        self.assertLess(peak, 256 * MIB)  # the windows of one batch of 32,768 rows alone would be as much

    @unittest.skipIf(SANITIZED, "the sanitizer's own memory grows")
    def test_long_cells_do_not_multiply_what_is_held(self):
        self.small_model(count=12)
        self.write("long.csv.gz", gzip_of((b"a,b,p,text\n", 1), ((b"1,2,3," + b"t" * 100_000 + b"\n") * 10, 400)))
        code, err, peak, _ = self.measured("predict", "m.tare", "long.csv.gz", "--keep", "text")
        self.assertEqual(code, DONE, err)
        self.assertLess(peak, 256 * MIB)

    @unittest.skipIf(SANITIZED, "the sanitizer needs memory of its own")
    def test_too_little_memory_is_not_blamed_on_the_file(self):
        lines = [",".join(str(i * j % 97) for j in range(1, 22)) for i in range(500)]
        self.write("data.csv", ",".join([f"x{j}" for j in range(20)] + ["y"]) + "\n" + "\n".join(lines * 80) + "\n")
        for mebibytes in (64, 52):  # XGBoost, which has all rows once more, is the first to have too little
            size = mebibytes << 20
            result = self.run_tool("fit", "data.csv", "--target", "y", "--method", "nrc", "--regressor", "boosting",
                                   "--threads", "1", "-q", "-o", "n.tare", "--force",
                                   limits=lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
            self.assertIn((result.code, result.err), ((DONE, ""), (OTHER, "error: out of memory\n")))

    def test_a_configuration_and_a_plan_without_an_end(self):
        self.write_points()
        os.symlink("/dev/zero", self.path("endless.json"))
        for line in (["fit", "data.csv", "--target", "y", "-o", "n.tare", "--config", "endless.json"],
                     ["reproduce", "endless.json"]):
            self.refused("endless.json: has more than 16 MiB", 256, *line)


class ModelsThatAreNotFiles(CliTest):
    def commands(self, model):
        return (["predict", model, "data.csv"], ["evaluate", model, "data.csv"], ["inspect", model],
                ["inspect", model, "--json"], ["report", model, "data.csv", "-o", "page.html"], ["serve", model, "--port", "0"])

    def test_a_pipe_or_a_device_is_refused_at_once(self):
        self.write_points()
        os.mkfifo(self.path("pipe"))
        for model in ("pipe", "/dev/zero", "/dev/null"):
            for line in self.commands(model):
                begin = time.monotonic()
                result = self.run_tool(*line, timeout=60)
                self.assertEqual(result.code, OTHER, result.err)
                self.assertIn(f"{model}: is not a regular file", result.err)
                self.assertLess(time.monotonic() - begin, 30)

    def test_a_hole_of_a_terabyte_is_refused_at_once(self):
        self.write_points()
        with open(self.path("hole.tare"), "wb") as file:
            file.truncate(1 << 40)
        for line in self.commands("hole.tare"):
            result = self.run_tool(*line, timeout=60)
            self.assertNotEqual(result.code, DONE)
            self.assertIn("hole.tare: ", result.err)


class ModelReplacedDuringAStream(CliTest):
    def stream(self, damage):
        """Predicts from a pipe, and damages the model when the first answers are there."""
        self.small_model(count=400)
        rows = b"".join(b"%d.5,%d,%d\n" % (i % 10, i % 3, i % 20) for i in range(60_000))
        expected = self.ok("predict", "m.tare", "-", stdin=b"a,b,p\n" + rows).bytes
        with open(self.path("out.csv"), "wb") as out:
            process = subprocess.Popen([TOOL, "predict", "m.tare", "-"], cwd=self.folder, stdin=subprocess.PIPE, stdout=out,
                                       stderr=subprocess.PIPE)
        cut = rows.index(b"\n", len(rows) // 2) + 1
        process.stdin.write(b"a,b,p\n" + rows[:cut])
        process.stdin.flush()
        for _ in range(2_000):
            if os.path.getsize(self.path("out.csv")) > 0:
                break
            time.sleep(0.01)
        damage(self.path("m.tare"))
        _, err = process.communicate(rows[cut:], timeout=100)
        self.assertEqual(process.returncode, DONE, err)
        self.assertEqual(self.read("out.csv"), expected)

    def test_emptied(self):
        self.stream(lambda path: os.truncate(path, 0))

    def test_written_over_with_zeros(self):
        def zeros(path):
            size = os.path.getsize(path)
            with open(path, "r+b") as file:
                file.write(b"\0" * size)
        self.stream(zeros)


if __name__ == "__main__":
    main()
