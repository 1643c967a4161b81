#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package into a virtual environment and runs its tests there.
# usage: tools/test_python.sh BUILD [--all | --install | --run]   (BUILD: a build of tare; its library is linked, and its tool is tested against)
#   Without an option the tests marked slow are left out, and environment and compiled module are kept for the next run.
#   --all: every test, in a fresh environment, installed by pip as a user would, with the libraries whose models are wrapped, and those of
#   TARE_MORE_LIBRARIES
#   --install: only installs
#   --run: only runs the tests, with what --install has installed
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=$(cd "$1" && pwd)
form=${2:-}
linked="cmake.define.TARE_BUILD_FOLDER=$build"

if [ "$form" = --all ]; then
  venv="$build/python-venv-all"
  pip="$venv/bin/python -m pip --disable-pip-version-check --quiet"
  rm -rf "$venv"
  kept_venv "$venv" pytest-xdist || exit $?
  $pip install "$source[test]" --config-settings="$linked"
  # A test of a library that cannot be had here is skipped and says so.
  for library in lightgbm xgboost-cpu catboost "onnxruntime onnx skl2onnx" skpro sktime "mlflow httpx" "mapie[conditional]" crepes \
    quantile-forest ngboost mypy ${TARE_MORE_LIBRARIES:-}; do
    # shellcheck disable=SC2086
    "$venv/bin/uv" --quiet pip install --python "$venv/bin/python" $library || $pip install $library || echo "not tested: $library"
  done
  chosen="slow or not slow"
else
  venv="$build/python-venv"
  # What [build-system] requires, and the extra 'test', of pyproject.toml.
  if [ "$form" = --run ] && [ ! -f "$venv/packages" ]; then
    echo "skipped: nothing is installed"
    exit 77
  fi
  kept_venv "$venv" "scikit-build-core>=0.11" "nanobind>=2.2" numpy pytest pytest-xdist "scikit-learn>=1.6" pandas polars pyarrow \
    matplotlib array-api-strict "dask[dataframe,distributed]>=2025.1" duckdb || exit $?
  [ "$form" = --run ] ||
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --force-reinstall "$source" \
      --config-settings="$linked" --config-settings="build-dir=$build/python-module"
  [ "$form" != --install ] || exit 0
  chosen="not slow"
fi

cd "$source/python/tests"  # and not beside the sources of the package, which are not what was installed
# One thread for each of two processes: a library that shares its work among threads waits for the slowest, which on a busy machine takes
# longer than the work.
OMP_NUM_THREADS=1 TARE_TOOL="$build/tare" "$venv/bin/python" -m pytest -q -p no:cacheprovider -n "${TARE_PYTEST_WORKERS:-2}" --dist worksteal \
  -m "$chosen" --rootdir "$source" -c "$source/pyproject.toml" .
