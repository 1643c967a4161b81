# SPDX-License-Identifier: BSD-3-Clause
"""System calls that fail while files are read and written: the system's reason, and the old file or the new one."""
import errno

from faults import PART, FaultTest, failing, main, short

FAULTS = (
    *(failing("write", number) for number in (errno.ENOSPC, errno.EIO, errno.EDQUOT)),
    *(failing("open", number) for number in (errno.EMFILE, errno.ENFILE, errno.EINTR)),
    failing("read", errno.EIO),
    failing("sync", errno.EIO),
    failing("sync", errno.ENOSPC),
    failing("link", errno.ENOSPC),
    failing("link", errno.EIO),
    failing("rename", errno.EIO),
    failing("rename", errno.ENOSPC),
    failing("close", errno.EIO),
    failing("map", errno.ENOMEM),
)
# Nobody may notice these: every second call is interrupted, or moves a part of the bytes.
HARMLESS = (
    failing("read", errno.EINTR, period=2),
    failing("write", errno.EINTR, period=2),
    short("read"),
    short("read", PART),
    short("write", PART),
)
COMMANDS = {
    "fit -o NEW": ("fit", "data.csv", "--target", "y", "--prediction", "p", "-o", "new.tare"),
    "fit -o OLD --force": ("fit", "data.csv", "--target", "y", "--prediction", "p", "-o", "m.tare", "--force"),
    "predict -o": ("predict", "m.tare", "data.csv", "-o", "out.csv", "--force"),
    "predict to stdout": ("predict", "m.tare", "data.csv"),
    "inspect --json": ("inspect", "m.tare", "--json"),
}


class Files(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=150)
        self.write("out.csv", "the previous answer")

    def test_errors(self):
        for fault in FAULTS:
            for command in self.chosen(COMMANDS, fault):
                self.sweep(fault, command, COMMANDS[command], self.some(1, 40))
        self.nothing_wrong()

    def test_harmless(self):
        for fault in HARMLESS:
            for command in self.chosen(COMMANDS, fault):
                self.sweep(fault, command, COMMANDS[command], self.some(1, 3))
        self.nothing_wrong()
        for (_, _), row in self.tally.rows.items():
            self.assertGreater(sum(row.values()), 0)

    def chosen(self, commands, fault):
        """All commands, or one that depends on the fault."""
        names = list(commands)
        return names if self.some(0, 1) else [names[sum(fault.name.encode()) % len(names)]]


if __name__ == "__main__":
    main()
