#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The R package against an installed copy of a build: builds it with its vignette, and fails on an error or a warning of R CMD check.
# usage: tools/check_r.sh BUILD        Leaves the log at BUILD/r/00check.log and the vignette at BUILD/r/tare.html.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
work="$build/r"
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/installed" >/dev/null
cd "$work"
export TARE_HOME="$work/installed"
# No clock and no repository outside is asked; suggested packages that Debian lacks are none.
export _R_CHECK_SYSTEM_CLOCK_=0 _R_CHECK_CRAN_INCOMING_=false R_CHECK_CONSTANTS=5
R CMD build "$root/r"
# The PDF manual would need LaTeX; the help pages are checked without it.
R CMD check --as-cran --no-manual tare_*.tar.gz || true
cp tare.Rcheck/00check.log .
tar -xzOf tare_*.tar.gz tare/inst/doc/tare.html > tare.html
if ! grep -q '^Status: ' 00check.log || grep -Eq '^Status:.*(ERROR|WARNING)' 00check.log; then
  find tare.Rcheck -name '*.fail' -exec cat {} +
  exit 1
fi

# What the documentation says, with the package that was checked.
for page in README.md docs/index.md docs/r.md; do
  awk '/^ *```r$/ { on = 1; next } /^ *```/ { on = 0 } on' "$root/$page" > page.R
  [ -s page.R ] || { echo "$page has no block of R"; exit 1; }
  (echo 'options(tare.threads = 2)'; cat page.R) > "page_$(basename "$page" .md).R"
  echo "the R code of $page"
  R_LIBS="$work/tare.Rcheck" Rscript "page_$(basename "$page" .md).R" > page.log 2>&1 || { cat page.log; exit 1; }
done

# The newcomer's steps in R (docs/newcomer.md), on the pages as they are written.
R_LIBS="$work/tare.Rcheck" python3 -B "$root/tests/site/test_newcomer.py" --documents 2>&1 | tee newcomer.log
grep -q '^OK$' newcomer.log || exit 1  # "OK (skipped=1)" is none: the package is here
