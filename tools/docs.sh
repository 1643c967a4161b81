#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the site in BUILD/site: makes the pages that are made (tools/site), runs the notebooks of the gallery, and has MkDocs build.
# usage: tools/docs.sh BUILD [--test]   (BUILD: a build of tare; its library and tool are used)
#   --test: then runs the code of every page, checks every link and opens pages in a browser
# Ends with 77 where no package index is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=$(cd "$1" && pwd)
form=${2:-}
made="$build/docs"

docs_venv "$build" || exit $?
"$venv/bin/python" -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --force-reinstall "$source" \
  --config-settings="cmake.define.TARE_BUILD_FOLDER=$build" --config-settings="build-dir=$build/python-module"

cd "$source"
export TARE_TOOL="$build/tare" TARE_DOCS_MADE="$made" OMP_NUM_THREADS=1 NO_MKDOCS_2_WARNING=1
mkdir -p "$made"
rm -rf "$made"/*.md "$made"/decisions
"$venv/bin/python" tools/site/header_reference.py "$made"
"$venv/bin/python" tools/site/leaderboard.py "$made"
"$venv/bin/python" tools/site/decisions.py "$made"
"$venv/bin/python" tools/site/method_pictures.py "$made"
"$venv/bin/python" tools/site/gallery.py "$made"
"$venv/bin/mkdocs" --quiet build --strict --clean --site-dir "$build/site"
"$venv/bin/python" tools/site/check_links.py "$build/site"
echo "the site: $build/site/index.html"
[ "$form" = --test ] || exit 0

# The code of every page, Python and shell. What needs packages that are not installed here is run by `tools/test_python.sh BUILD --all`.
cd "$source/python/tests"
"$venv/bin/python" -m pytest -q -p no:cacheprovider -n "${TARE_PYTEST_WORKERS:-2}" --dist worksteal --rootdir "$source" -c "$source/pyproject.toml" \
  -m "slow or not slow" test_docs.py
cd "$source"
export TARE_SITE="$build/site" TARE_SCREENSHOTS="$build/site-screenshots"
for test in tests/site/test_*.py; do
  "$venv/bin/python" -B "$test"
done
