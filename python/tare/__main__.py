# SPDX-License-Identifier: BSD-3-Clause
"""``python -m tare``: the command ``tare`` of this package."""

import sys

from ._command import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
