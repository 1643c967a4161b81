#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a file of src/ or include/tare/ includes a layer that its own layer must not know."""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "base": set(),
    "math": {"base"},
    "io": {"base"},
    "data": {"io", "math", "base"},
    "index": {"math", "base"},
    "model": {"data", "io", "math", "base"},
    "calibrate": {"index", "model", "data", "io", "math", "base"},
    "evaluate": {"calibrate", "model", "data", "io", "math", "base"},
    "report": {"evaluate", "io", "base"},
    "serve": {"calibrate", "index", "model", "data", "io", "math", "base"},
}
INCLUDE = re.compile(r'^\s*#include "(?:tare/)?(\w+)/')


def violations(root):
    files = [*(root / "src").rglob("*"), *(root / "include/tare").rglob("*")]
    for path in sorted(f for f in files if f.suffix in {".h", ".cpp"}):
        parts = path.relative_to(root).parts
        layer = parts[1] if parts[0] == "src" else parts[2]
        if layer == "tare.h":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found[1] != layer and found[1] not in MAY_INCLUDE[layer]:
                yield f"{path.relative_to(root)}:{number}: {layer} must not include {found[1]}"


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    wrong = list(violations(root))
    print("\n".join(wrong) if wrong else "layers: every include points the right way")
    sys.exit(1 if wrong else 0)
