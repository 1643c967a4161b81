# SPDX-License-Identifier: BSD-3-Clause
"""Standard streams that are closed, full or gone: an exit code, never an abort, and the files are right."""
import os
import subprocess

from harness import BAD_DATA, DONE, NOT_FOUND, OTHER, TOOL, USAGE, CliTest, main


class StandardStreams(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model()

    def shell(self, line, redirections):
        """The exit code of a command line with redirections, and what is left on standard error."""
        done = subprocess.run(["sh", "-c", f'exec "$0" {line} {redirections}', TOOL], cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                              check=False)
        return done.returncode, done.stderr.decode()

    # A command of each kind that talks on standard error, and its exit code.
    TALKING = (("fit data.csv --target y --prediction p --bandwidth 1 -o n.tare --force", DONE),
               ("predict m.tare none.csv", NOT_FOUND), ("evaluate m.tare m.tare", BAD_DATA), ("inspect none", NOT_FOUND),
               ("report m.tare data.csv -o page.html --force", DONE), ("demo --write d.csv --rows 100 --force", DONE),
               ("demo --problem none", NOT_FOUND), ("compare none.csv --target y", NOT_FOUND),
               ("tune none.csv --target y --methods nrc -o t.json", NOT_FOUND), ("reproduce none", NOT_FOUND),
               ("serve none.tare", NOT_FOUND), ("completion fish", USAGE), ("methods --nonsense", USAGE), ("nonsense", USAGE),
               ("evaluate m.tare data.csv --fail-if 'mace<2'", 6), ("", USAGE))

    def test_standard_error_that_cannot_be_written_changes_nothing(self):
        for line, code in self.TALKING:
            for way in ("2>/dev/full", "2>&-", "<&- 2>&-"):
                with self.subTest(line=line, way=way):
                    self.assertEqual(self.shell(line, f"{way} >/dev/null")[0], code)
        self.ok("predict", "n.tare", "data.csv")

    def test_reader_of_standard_error_that_has_gone_changes_nothing(self):
        for line, code in self.TALKING:
            with self.subTest(line=line):
                read, write = os.pipe()
                os.close(read)
                args = [word.strip("'") for word in line.split()]
                done = subprocess.run([TOOL, *args], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=write, timeout=120, check=False)
                os.close(write)
                self.assertEqual(done.returncode, code)

    def test_closed_standard_output_is_an_error_where_something_is_printed(self):
        for line in ("predict m.tare data.csv", "predict m.tare data.csv --json", "evaluate m.tare data.csv", "inspect m.tare",
                     "inspect m.tare --json", "methods", "methods --json", "--help", "--version", "completion bash",
                     "report m.tare data.csv -o -", "demo --rows 100 --test-rows 10 --regressor zero --plot ''"):
            for way in (">&-", "<&- >&-"):
                with self.subTest(line=line, way=way):
                    code, err = self.shell(line, way)
                    self.assertEqual(code, OTHER, err)
                    self.assertIn("standard output: cannot be written: Bad file descriptor", err)
        for way in (">&-", "<&- >&- 2>&-"):
            self.assertEqual(self.shell("predict m.tare data.csv -o out.csv --force", way)[0], DONE)
            self.assertEqual(self.read("out.csv"), self.ok("predict", "m.tare", "data.csv").bytes)

    def test_closed_standard_input_is_an_error_where_it_is_read(self):
        code, err = self.shell("predict m.tare -", "<&-")
        self.assertEqual(code, OTHER)
        self.assertIn("<stdin>: cannot be read", err)

    def test_messages_never_go_to_a_file_that_took_the_number_of_a_stream(self):
        self.shell("fit data.csv --target y --prediction p --bandwidth 1 -o n.tare --force", "<&- >&- 2>&-")
        self.assertEqual(self.ok("predict", "n.tare", "data.csv").bytes, self.ok("predict", "m.tare", "data.csv").bytes)
        code, _ = self.shell("predict m.tare data.csv --missing nonsense -o out.csv", "<&- >&- 2>&-")
        self.assertEqual(code, USAGE)
        self.assertFalse(os.path.exists(self.path("out.csv")))


if __name__ == "__main__":
    main()
