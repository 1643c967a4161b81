#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The files for packagers agree with the source, and the check of it finds what is wrong. usage: tools/check_packaging.sh [BUILD]
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=${1:-build}
build=$(mkdir -p "$build" && cd "$build" && pwd)

check_venv "$build" || exit $?
"$venv/bin/python" -B "$source/tests/tools/test_check_packaging.py"
