#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds wheels and the source distribution, checks them, and uses each wheel where there is nothing but a Python: a folder that chroot enters,
# without compiler, shell, package index or any library of tare's (tools/bare_root.py).
# usage: tools/test_wheel.sh BUILD OUT [--debian SUITE NAME]   (BUILD: a release build; OUT: where the files are left)
#   --debian: one more Python, from Debian's packages, such as: --debian sid python3.14
# Ends with 77, which CTest takes for "skipped", where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
cd "$source"
tools/build_wheels.sh "$build" "$out" >"$build/wheel-log" 2>&1 || {
  status=$?
  cat "$build/wheel-log"
  exit $status
}
wheel_venv "$build" || exit $?
rm -f "$out"/tare_quantiles-*.tar.gz
"$venv/bin/uv" --quiet build --sdist --out-dir "$out" "$source"
tools/check_wheel.py "$out"/tare_quantiles-*
"$venv/bin/twine" --no-color check --strict "$out"/tare_quantiles-*
for wheel in "$out"/*.whl; do
  # The file says no more than what auditwheel finds in it.
  tag=$(basename "$wheel" .whl)
  PATH="$venv/bin:$PATH" "$venv/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -q "tag: \"${tag##*-}\"" || {
    echo "$wheel: auditwheel does not agree with its platform tag"
    exit 1
  }
done
for wheel in "$out"/*-abi3-*.whl; do
  [ ! -e "$wheel" ] || "$venv/bin/abi3audit" --strict --verbose "$wheel"
done

# there COMMAND...: runs a command inside the folder $build/wheel-root. It has a /proc, as every machine: a program asks it where it lies.
there() {
  # shellcheck disable=SC2016
  unshare "$names" --mount sh -c 'mount --rbind /proc "$0/proc" && exec env -i HOME=/tmp PATH=/nothing "$(command -v chroot)" "$0" "$@"' \
    "$build/wheel-root" "$@"
}
names=--fork
[ "$(id -u)" -eq 0 ] || names=--map-root-user
unshare "$names" --mount true || {
  echo "the wheels cannot be used in a folder of their own: unshare is not permitted here (in a container: run it with --privileged)"
  exit 1
}

# Uses the wheel that fits the Python at $1 of that folder, of version $2 such as 312.
use_there() {
  rm -rf "$build/wheel-house"
  wheel=$(find "$out" -name "tare_quantiles-*-cp$2-*.whl")
  [ -n "$wheel" ] || wheel=$(find "$out" -name 'tare_quantiles-*-abi3-*.whl')
  "$venv/bin/python" -m pip --quiet download --only-binary :all: --python-version "$2" --no-deps --dest "$build/wheel-house" pip numpy
  cp "$wheel" "$build/wheel-house/"
  cp -r "$build/wheel-house" "$build/wheel-root/wheels"
  cp python/tests/wheel_smoke.py "$build/wheel-root/tmp/"
  pip=$(cd "$build/wheel-house" && ls pip-*.whl)
  if there /usr/bin/env 2>/dev/null || there /bin/sh -c 1 2>/dev/null; then
    echo "the folder has more than a Python in it"
    exit 1
  fi
  started=$(date +%s%N)
  there "$1" "/wheels/$pip/pip" --quiet install --root-user-action ignore --break-system-packages --no-warn-script-location --no-index --find-links /wheels tare-quantiles
  echo "installed in $((($(date +%s%N) - started) / 1000000)) ms: $(basename "$wheel")"
  there "$1" /tmp/wheel_smoke.py
}

for version in 3.10 3.11 3.12 3.13 3.14; do
  number=3${version#3.}
  python="python$version"
  "$python" -c 1 2>/dev/null || { echo "not tested with Python $version, which is not here"; continue; }
  [ -n "$(find "$out" -name "tare_quantiles-*-cp$number-*.whl")" ] || [ "$number" -ge 312 ] || continue
  use_there "$(tools/bare_root.py "$build/wheel-root" --python "$python")" "$number"
done
if [ "${1:-}" = --debian ]; then
  use_there "$(tools/bare_root.py "$build/wheel-root" --debian "$2" "$3")" "3${3#python3.}"
fi
rm -rf "$build/wheel-root" "$build/wheel-house"
