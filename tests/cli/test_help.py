# SPDX-License-Identifier: BSD-3-Clause
"""How the tool explains itself."""
import os
import pty
import re
import subprocess

from harness import TOOL, USAGE, CliTest, main

COMMANDS = ["fit", "predict", "evaluate", "report", "inspect", "methods", "demo", "serve", "completion",
            "track", "update", "control-risk"]


class Help(CliTest):
    def test_version(self):
        result = self.ok("--version")
        self.assertRegex(result.out, r"^tare \d+\.\d+\.\d+\n$")
        self.assertEqual(result.err, "")

    def test_help_lists_every_command(self):
        text = self.ok("--help").out
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")

    def test_help_of_every_command_has_an_example(self):
        for command in COMMANDS:
            result = self.ok(command, "--help")
            self.assertRegex(result.out, rf"Examples?:\n(.*\n)*?.*tare {command}", command)
            self.assertEqual(result.err, "")

    def test_help_explains_every_option(self):
        for command in COMMANDS:
            lines = self.ok(command, "--help").out.splitlines()
            for i, line in enumerate(lines):
                if re.match(r"^  (-\w,)?--", line):
                    explained = (len(line) > 32 and line[30:].strip()) or lines[i + 1].startswith(" " * 20)
                    self.assertTrue(explained, f"{command}: {line}")

    def test_help_is_in_groups_and_fits_a_terminal(self):
        text = self.ok("fit", "--help").out
        places = [text.index(f"\n{group}:\n") for group in
                  ("Most used", "Your model", "Columns", "Rows", "Answers", "Point model and kernel", "Output", "General")]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("\nOptions:\n", text)  # each is in a group
        for command in COMMANDS:
            for line in self.ok(command, "--help").out.splitlines():
                if line.startswith(("  -", " " * 30)):
                    self.assertLessEqual(len(line), 100, f"{command}: {line}")

    def test_no_command(self):
        self.fails(USAGE, says=["a command is missing", *COMMANDS])
        self.fails(USAGE, "-q", says=["error: "])

    def test_unknown_command(self):
        self.fails(USAGE, "fti", "data.csv", says=["there is no command 'fti'"])
        self.fails(USAGE, "predicts", says=["'predicts'", "did you mean predict?"])
        self.fails(USAGE, "plot", says=["'plot'", *COMMANDS])

    def test_completion_is_a_script_that_completes(self):
        script = self.ok("completion", "bash").out
        self.assertEqual(self.ok("completion").out, script)
        self.write("tare.bash", script)
        subprocess.run(["bash", "-n", self.path("tare.bash")], check=True)
        for words, found in ((["tare", "pre"], "predict"), (["tare", "fit", "--tar"], "--target"),
                             (["tare", "predict", "--inter"], "--interval"), (["tare", "evaluate", "--fail"], "--fail-if")):
            line = f"source tare.bash; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _tare; " \
                   "echo ${COMPREPLY[@]}"
            done = subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), found)
        self.assertIn("bashcompinit", self.ok("completion", "zsh").out)
        self.fails(USAGE, "completion", "tcsh", says=["bash and zsh", "'tcsh'"])

    def test_completion_offers_every_option_of_the_help(self):
        script = self.ok("completion", "bash").out
        for command in COMMANDS:
            words = re.search(rf"(?m)^    {command}\) words='(.*)'", script).group(1).split()
            options = re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", self.ok(command, "--help").out)
            self.assertLessEqual(set(options), set(words), command)


class Terminal(CliTest):
    def errors_on_a_terminal(self, *args):
        """What the tool writes to a terminal on standard error."""
        mine, its = pty.openpty()
        process = subprocess.Popen([TOOL, *args], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=its)
        os.close(its)
        text = b""
        try:
            while chunk := os.read(mine, 4096):
                text += chunk
        except OSError:  # the terminal's other end is closed
            pass
        os.close(mine)
        self.assertEqual(process.wait(), 0)
        return text.decode()

    def test_progress_is_for_terminals_only(self):
        self.write_points("data.csv", 300)
        line = ["fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", "--method", "nrc_rf"]
        self.assertIn("[####", self.errors_on_a_terminal(*line))
        self.assertNotIn("[#", self.ok(*line).err)
        self.assertEqual(self.errors_on_a_terminal(*line, "--quiet"), "")

    def test_progress_is_wiped_before_the_last_words(self):
        self.write_points("data.csv", 300)
        text = self.errors_on_a_terminal("fit", "data.csv", "--target", "y", "-o", "m.tare", "--method", "nrc_rf")
        self.assertRegex(text, r"\r *\r[^\r\[]*m.tare: nrc_rf on 300 rows|\r +m.tare|\r *\rm.tare")


if __name__ == "__main__":
    main()
