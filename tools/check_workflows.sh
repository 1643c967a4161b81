#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs tools/check_workflows.py and its tests with a Python that has PyYAML: the system's, or that of tools/check_python.sh.
# usage: tools/check_workflows.sh BUILD
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
python=python3
if ! "$python" -c 'import yaml' 2>/dev/null; then
  check_venv "$1" || exit $?
  python="$venv/bin/python"
fi
"$python" "$source/tools/check_workflows.py" "$source"
"$python" -B "$source/tests/tools/test_check_workflows.py"
