#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Looks for races between threads (ThreadSanitizer): tests of the library that share work, the service under load with reloads, and the
# Python package from eight threads.
# usage: tools/check_threads.sh BUILD JOBS CMAKE_FLAG...   (the flags choose clang)
set -eu

build=$1
jobs=$2
shift 2
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
# XGBoost and its OpenMP are not compiled with the sanitizer, so that their own locks are unknown to it.
export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1"

cmake -S . -B "$build" -G Ninja -DTARE_UNITY=ON "$@" -DCMAKE_BUILD_TYPE=Debug -DTARE_SANITIZE=thread -DTARE_BUILD_SHARED=OFF \
  -DTARE_BUILD_TESTS=ON
cmake --build "$build" -j "$jobs" --target tare tare_base_tests tare_index_tests tare_apply_tests tare_capi_tests tare_serve_tests
ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error \
  -R '^(tare_(base|index|apply|capi|serve)_tests\.|serve\.|cli\.(predict|stream|guarantee)$)'

# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=$(cd "$build" && pwd)
kept_venv "$build/python-venv" "nanobind>=2.2" numpy || exit $?
python="$build/python-venv/bin/python"
cmake -S python -B "$build/python-module" -G Ninja "$@" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-fsanitize=thread -shared-libsan -O1 -g1" \
  -DTARE_BUILD_FOLDER="$build" -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)"
cmake --build "$build/python-module" -j "$jobs" --target _core
rm -rf "$build/python-package" && mkdir "$build/python-package"
cp -r python/tare "$build/python-package/tare"
cp "$build"/python-module/_core*.so "$build/python-package/tare/"
# The interpreter is not compiled with the sanitizer, whose runtime must be loaded before everything else.
LD_PRELOAD=$(clang++-19 -print-file-name="libclang_rt.tsan-$(uname -m).so") PYTHONPATH="$build/python-package" \
  "$python" "$source/python/tests/threads_stress.py" --seconds 20
