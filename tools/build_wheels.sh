#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds wheels with the library and the tool of a release build, and repairs them with auditwheel: the shared libraries that a machine may
# lack go inside, and the platform tag says which glibc is needed.
# usage: tools/build_wheels.sh BUILD OUT [PYTHON...]
#   Without PYTHON: python3.10 and python3.11 for a wheel each, and the first of python3.12 to python3.14 for that of the stable ABI, as far
#   as they are on PATH; at least python3.
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ -x "$build/tare" ] || { echo "$build has no tool: make build first"; exit 1; }
wheel_venv "$build" || exit $?

# The tag that a wheel built by this interpreter gets, such as cp311-cp311 or cp312-abi3; nothing if it cannot be used.
tag_of() {
  "$1" -c 'import sys, sysconfig, os
version = sys.version_info[:2]
usable = version >= (3, 10) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
print(("cp312-abi3" if version >= (3, 12) else "cp3%d-cp3%d" % (version[1], version[1])) if usable else "")' 2>/dev/null || true
}

if [ $# -eq 0 ]; then
  set -- python3 python3.10 python3.11 python3.12 python3.13 python3.14
fi
rm -rf "$build/wheels"
mkdir -p "$build/wheels"
built=""
for python in "$@"; do
  tag=$(tag_of "$python")
  [ -n "$tag" ] || continue
  case " $built " in *" $tag "*) continue ;; esac
  built="$built $tag"
  "$venv/bin/uv" --no-progress build --wheel --python "$("$python" -c 'import sys; print(sys.executable)')" --out-dir "$build/wheels" "$source" \
    --config-setting="cmake.define.TARE_BUILD_FOLDER=$build" --config-setting="build-dir=$build/wheel-$tag"
done
[ -n "$built" ] || { echo "no Python from 3.10 on with its headers (Debian: python3-dev) is on PATH"; exit 1; }

rm -f "$out"/tare_quantiles-*.whl
for wheel in "$build"/wheels/*.whl; do
  PATH="$venv/bin:$PATH" "$venv/bin/auditwheel" repair --strip --wheel-dir "$out" "$wheel"
done
ls -l "$out"/tare_quantiles-*.whl
