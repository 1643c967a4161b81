# SPDX-License-Identifier: BSD-3-Clause
"""Faults in commands that continue from their results: a failed run may leave trials that are complete, and the next one gives the whole file."""
import errno
import json
import re

from faults import OUT_OF_MEMORY, FaultTest, failing, main, short

PLAN = {
    "name": "small",
    "repeats": 2,
    "cases": [{"name": "flat", "test": "law", "problem": "flat", "rows": 120, "test_rows": 20}],
    "methods": ["pure_kernel", "nrc regressor=ridge"],
}
COMPARE = ("compare", "data.csv", "--target", "y", "--drop", "p", "--methods", "pure_kernel,nrc", "--set", "regressor=ridge", "--repeats",
           "2", "--out", "r.csv", "--threads", "1", "-q")
REPRODUCE = ("reproduce", "small.json", "--out", "r", "-q", "--threads", "1")
FAULTS = (
    failing("write", errno.ENOSPC),
    failing("write", errno.EINTR, period=2),
    short("write"),
    failing("read", errno.EIO),
    failing("read", errno.EINTR, period=2),
    failing("open", errno.EMFILE),
    failing("sync", errno.EIO),
    failing("link", errno.ENOSPC),
    failing("rename", errno.EIO),
    failing("close", errno.EIO),
)


def without_seconds(text):
    """Results without the seconds, which no two runs share: of a line, and the last cell of a table's row."""
    text = re.sub(rb"(,\d+\.\d+\.\d+),\d+\.\d{3},", rb"\1,,", text)
    text = re.sub(rb"<td>[^<]*</td></tr>", b"</tr>", text)
    return re.sub(rb"(?m)\| [^|\n]* \|$", b"|", text)


class Results(FaultTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 60)
        self.write("small.json", json.dumps(PLAN))

    def snapshot(self):
        found = super().snapshot()
        return {name: without_seconds(content) if content is not None else None for name, content in found.items()}

    def same_text(self, text):
        """A table without its last column, the seconds, whose width may differ, too."""
        return re.sub(rb"[- ]+", b" ", re.sub(rb"(?m) +\S+$", b"", text))

    def is_sound(self, after, before, whole):
        """No other file, and the next run continues and gives all results."""
        if not set(after) <= {*before, *whole}:
            return False
        self.control.disarm()
        code, _, _err = self.run_with(self.line)
        return code == 0 and self.snapshot() == whole

    def fail_each(self, command, line, fault, most):
        self.line = line
        self.sweep(fault, command, line, most)

    def test_compare(self):
        for number, fault in enumerate((*FAULTS, OUT_OF_MEMORY)):
            if self.some(number % 4 == 0, True):
                self.fail_each("compare --out", COMPARE, fault, self.some(1, 200))
        self.nothing_wrong()

    def test_reproduce(self):
        for number, fault in enumerate((*FAULTS, OUT_OF_MEMORY)):
            if self.some(number % 4 == 1, True):
                self.fail_each("reproduce", REPRODUCE, fault, self.some(1, 200))
        self.nothing_wrong()

    def test_results_are_kept_where_they_cannot_be_read(self):
        """A read error must not look like the end of the file: what is behind it would be lost."""
        self.assertEqual(self.run_with(COMPARE)[0], 0)
        whole = self.snapshot()
        self.line = COMPARE
        self.control.arm("read", 0)
        self.run_with(COMPARE)
        for at in range(1, self.control.count("read") + 1):
            self.control.arm("read", at, errno.EIO)
            code, _, err = self.run_with(COMPARE)
            self.assertIn(code, (0, 1), err)
            self.assertEqual(self.snapshot(), whole)


if __name__ == "__main__":
    main()
