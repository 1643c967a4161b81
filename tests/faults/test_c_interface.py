# SPDX-License-Identifier: BSD-3-Clause
"""The C interface without memory: a status, and no exception through it (c_interface.c)."""
import os
import subprocess

from faults import FaultTest, main

PROGRAM = os.environ.get("TARE_C_FAULTS", "")


class CInterface(FaultTest):
    def test_every_function(self):
        if not PROGRAM:
            self.skipTest("TARE_C_FAULTS names no program")
        self.write_points("data.csv", 60)
        done = subprocess.run([PROGRAM, "data.csv", str(self.some(40, 3000))], cwd=self.folder, capture_output=True, text=True,
                              timeout=3000, check=False)
        print(done.stdout, end="", flush=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == "__main__":
    main()
