# SPDX-License-Identifier: BSD-3-Clause
"""Threads that the system does not start: the same answer on fewer threads."""
import errno

from faults import RIGHT, Fault, FaultTest, main

NO_THREADS = Fault("thread: EAGAIN from the n-th on", "thread", errno.EAGAIN, ("thread",), {"span": 0})
ONE_MISSING = Fault("thread: EAGAIN once", "thread", errno.EAGAIN, ("thread",))


class Threads(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=300)

    def test_fewer_threads_give_the_same_bytes(self):
        for fault in (NO_THREADS, ONE_MISSING):
            for command, line in (("fit --threads 4", ("fit", "data.csv", "--target", "y", "--method", "nrc_rf", "-o", "new.tare",
                                                       "--threads", "4")),
                                  ("predict --threads 4", ("predict", "m.tare", "data.csv", "-o", "out.csv", "--threads", "4"))):
                self.sweep(fault, command, line, self.some(2, 12))
        self.nothing_wrong()
        for row in self.tally.rows.values():
            self.assertEqual(row[RIGHT], sum(row.values()))


if __name__ == "__main__":
    main()
