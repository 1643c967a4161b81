# SPDX-License-Identifier: BSD-3-Clause
"""Clocks that jump: the same answers."""
import re

from faults import Fault, FaultTest, main

HOURS = 3 * 3600
FAULTS = tuple(Fault(f"{clock}: {'+' if jump > 0 else '-'}3 h from the n-th call on", clock, jump, ("gave no answer within",), {"span": 0})
               for clock in ("real_time", "steady_time") for jump in (HOURS, -HOURS))


class Clock(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=100)

    def same_text(self, text):
        return re.sub(rb"-?\d+(\.\d+)? ?s\b", b"", text)  # the seconds that a fit took

    def test_jumps(self):
        for fault in FAULTS:
            for command, line in (("fit", ("fit", "data.csv", "--target", "y", "--method", "pure_kernel", "-o", "new.tare")),
                                  ("fit --predictor", ("fit", "data.csv", "--target", "y", "--predictor", "cut -d, -f3 | tail -n +2", "--method",
                                                           "nrc", "-o", "new.tare"))):
                self.sweep(fault, command, line, self.some(1, 20))
        self.nothing_wrong()


if __name__ == "__main__":
    main()
