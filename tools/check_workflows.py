#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the workflow files of the forge: they parse, call only make targets that the Makefile has and scripts that are here, and use no
actions but the forge's own, at a major version.

    tools/check_workflows.py [ROOT]

It needs PyYAML: tools/check_workflows.sh runs it in the environment of tools/check_python.sh. Ends with 1 and a line for each fault.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import yaml

ACTIONS = {"actions/checkout", "actions/cache", "actions/upload-artifact"}
PINNED = re.compile(r"(?P<name>[\w./-]+)@v\d+")
MAKE = re.compile(r"(?:^|[;&|]\s*)make((?:\s+[^\s;&|]+)*)", re.MULTILINE)
SCRIPT = re.compile(r"(?:^|\s)(tools/[\w./-]+|\.ci/[\w./-]+)")
TARGET = re.compile(r"^([A-Za-z][\w -]*):(?!=)", re.MULTILINE)


def targets_of(makefile: str) -> set[str]:
    return {name for names in TARGET.findall(makefile) for name in names.split()}


def commands(text: str) -> Iterator[str]:
    """The targets that a shell text makes."""
    for call in MAKE.findall(text):
        words = re.sub(r"\s-[jCf]\s+\S+", "", call).split()  # options with a value
        named = [word for word in words if not word.startswith("-") and "=" not in word]
        yield from named or ["(the default)"]


def check_step(root: pathlib.Path, where: str, step: dict[str, Any], targets: set[str]) -> Iterator[str]:
    if ("uses" in step) == ("run" in step):
        yield f"{where}: a step has either 'uses' or 'run'"
    if "uses" in step:
        pinned = PINNED.fullmatch(str(step["uses"]))
        if pinned is None or pinned["name"] not in ACTIONS:
            yield f"{where}: {step['uses']} is none of {', '.join(sorted(ACTIONS))} at a major version such as @v4"
    text = str(step.get("run", ""))
    for target in commands(text):
        if target not in targets:
            yield f"{where}: 'make {target}' is not a target of the Makefile"
    for script in SCRIPT.findall(text):
        if not os.access(root / script, os.X_OK):
            yield f"{where}: {script} is not there, or cannot be executed"


def check_file(root: pathlib.Path, path: pathlib.Path, targets: set[str]) -> Iterator[str]:
    name = str(path.relative_to(root))
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        yield f"{name}: {error}"
        return
    # YAML 1.1 reads the key 'on' as true.
    if not isinstance(content, dict) or not content.get(True, content.get("on")):
        yield f"{name}: it does not say when it runs ('on')"
        return
    if content.get("permissions") != {"contents": "read"}:
        yield f"{name}: permissions are not 'contents: read' alone"
    jobs = content.get("jobs") or {}
    if not jobs:
        yield f"{name}: it has no jobs"
    for job_name, job in jobs.items():
        where = f"{name}, job {job_name}"
        if not isinstance(job, dict) or "runs-on" not in job or not job.get("steps"):
            yield f"{where}: it lacks 'runs-on' or 'steps'"
            continue
        needed = job.get("needs", [])
        for other in [needed] if isinstance(needed, str) else needed:
            if other not in jobs:
                yield f"{where}: it needs {other}, which is not a job"
        for number, step in enumerate(job["steps"], 1):
            yield from check_step(root, f"{where}, step {number}", step, targets)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    targets = targets_of((root / "Makefile").read_text(encoding="utf-8"))
    files = sorted((root / ".github" / "workflows").glob("*.y*ml"))
    faults = [fault for path in files for fault in check_file(root, path, targets)]
    if not files:
        faults.append(".github/workflows has no files")
    print("\n".join(faults) if faults else f"workflows: {len(files)} files call what is here")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
