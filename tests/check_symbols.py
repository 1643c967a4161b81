# SPDX-License-Identifier: BSD-3-Clause
"""What libtare.so shows: every function of tare/c.h, and besides only namespace tare. usage: check_symbols.py LIBRARY HEADER"""

import re
import subprocess
import sys

library, header = sys.argv[1:]
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
shown = {line.split()[-1].split("@")[0] for line in lines}
with open(header, encoding="utf-8") as file:
    declared = set(re.findall(r"TARE_C_API [^;(]*?\b(tare_\w+)\(", file.read()))

c_functions = {name for name in shown if not name.startswith("_Z")}
foreign = sorted(name for name in shown if name.startswith("_Z") and "4tare" not in name)
internal = sorted(name for name in shown if re.search(r"4tare(5serve|3cli|4capi)", name))
problems = []
if c_functions != declared:
    problems.append(f"in C: shown and not declared {sorted(c_functions - declared)}, declared and not shown {sorted(declared - c_functions)}")
if foreign:
    problems.append(f"not of tare: {foreign[:5]}")
if internal:
    problems.append(f"internal: {internal[:5]}")
print(f"{len(c_functions)} functions of C, {len(shown) - len(c_functions)} symbols of C++")
sys.exit("\n".join(problems) if problems else 0)
