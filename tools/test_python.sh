#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package into a fresh virtual environment, as a user would, and runs its tests there.
# usage: tools/test_python.sh BUILD   (BUILD: a build of tare; its library is linked, and its tool is tested against)
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
venv="$build/python-venv"
pip="$venv/bin/python -m pip --disable-pip-version-check --quiet"

rm -rf "$venv"
python3 -m venv "$venv"
if ! $pip download --no-deps --no-binary :none: --dest "$venv/probe" nanobind >"$venv/probe.log" 2>&1; then
  cat "$venv/probe.log"
  echo "skipped: no package index in reach, so the Python package's dependencies cannot be installed"
  exit 77
fi
$pip install "$source[test]" --config-settings=cmake.define.TARE_BUILD_FOLDER="$build"
# Libraries whose models are wrapped in the tests; a test of one that cannot be had here is skipped and says so.
for library in lightgbm xgboost-cpu "onnxruntime skl2onnx"; do
  # shellcheck disable=SC2086
  $pip install $library || echo "not tested: $library"
done
cd "$source/python/tests"  # and not beside the sources of the package, which are not what was installed
TARE_TOOL="$build/tare" "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$source" -c "$source/pyproject.toml" .
