#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the Python code: ruff on everything, ruff's format on the package and tools/, mypy --strict on the package, tools/ and the code
# of the tutorials. What is checked is in pyproject.toml.
# usage: tools/check_python.sh [BUILD] [--lint]   (BUILD: a build of tare, where the stub of the compiled module is, or is made; build)
#        --lint: without types, for which nothing has to be built
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=build
types=yes
for argument in "$@"; do
  case "$argument" in
    --lint) types=no ;;
    *) build=$argument ;;
  esac
done
build=$(mkdir -p "$build" && cd "$build" && pwd)

check_venv "$build" || exit $?
cd "$source"
failed=0
"$venv/bin/ruff" check --no-cache --quiet . || failed=1
"$venv/bin/ruff" format --no-cache --check --quiet python/tare tools || {
  echo "format them with: $venv/bin/ruff format python/tare tools"
  failed=1
}
[ "$types" = yes ] || exit $failed

# The types of the compiled module come from the module. The package and its stub are put side by side in the build folder, so that
# nothing is written into the sources.
stub="$build/python-module/_core.pyi"
if [ ! -f "$stub" ] || [ -n "$(find python/src python/CMakeLists.txt -newer "$stub" -type f | head -n 1)" ]; then
  tools/test_python.sh "$build" --install || exit $?
fi
types="$build/python-types"
rm -rf "$types"
mkdir -p "$types"
cp -r python/tare "$types/tare"
cp "$stub" "$types/tare/"
cp python/tests/types_for_users.py python/tests/threads_stress.py "$types/"
python3 tools/doc_blocks.py docs/tutorial.md >"$types/tutorial.py"
python3 tools/doc_blocks.py docs/tutorial-online.md >"$types/tutorial_online.py"
if ! (cd "$types" && "$venv/bin/mypy" --config-file "$source/pyproject.toml" --cache-dir "$build/mypy-cache" --no-error-summary \
  tare types_for_users.py threads_stress.py tutorial.py tutorial_online.py >found 2>&1); then
  sed 's#^tare/#python/tare/#; s#^\(types_for_users\|threads_stress\)#python/tests/\1#; s#^tutorial.py#docs/tutorial.md#; s#^tutorial_online.py#docs/tutorial-online.md#' "$types/found"
  failed=1
fi
"$venv/bin/mypy" --cache-dir "$build/mypy-cache" --no-error-summary tools || failed=1
[ $failed -ne 0 ] || echo "Python: types and lint are clean"
exit $failed
