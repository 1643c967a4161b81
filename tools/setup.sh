#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian packages that tare needs and that are missing.
# usage: tools/setup.sh build|test|spark|check|bench|r|packaging|deb|container
set -eu

packages="g++ cmake ninja-build libfmt-dev libeigen3-dev nlohmann-json3-dev libfast-float-dev libcli11-dev libxgboost-dev libhwy-dev libboost1.81-dev zlib1g-dev"
case "${1:-build}" in
  test | spark | check | bench) packages="$packages libgtest-dev libgmock-dev libbenchmark-dev python3 python3-venv python3-dev" ;;
esac
case "${1:-build}" in
  test | check) packages="$packages chromium fonts-dejavu-core" ;;  # opens what people see in a browser
esac
if [ "${1:-build}" = spark ]; then
  packages="$packages openjdk-17-jre-headless"
fi
if [ "${1:-build}" = check ]; then
  packages="$packages clang-19 libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format"
fi
if [ "${1:-build}" = bench ]; then
  packages="$packages libnanoflann-dev wrk"  # only measured against, or with
fi
if [ "${1:-build}" = r ] || [ "${1:-build}" = bench ]; then
  packages="$packages r-base-core r-cran-cpp11 r-cran-generics r-cran-ggplot2 r-cran-knitr r-cran-mgcv r-cran-ranger r-cran-rmarkdown r-cran-testthat"
  packages="$packages pandoc pkg-config python3 qpdf devscripts"  # vignettes, configure, the newcomer's test, and what R CMD check asks for
fi
if [ "${1:-build}" = bench ]; then
  packages="$packages r-cran-quantreg"
fi
if [ "${1:-build}" = packaging ] || [ "${1:-build}" = deb ]; then
  packages="$packages build-essential debhelper dpkg-dev fakeroot python3 ccache"  # in the container, too
fi
if [ "${1:-build}" = deb ]; then
  packages="$packages lintian"
fi
if [ "${1:-build}" = container ]; then
  packages="buildah mmdebstrap lintian systemd man-db python3"  # builds packaging/container/Containerfile and looks at what comes out
fi

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$state" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "tare needs these Debian packages, or what they are called here:$missing" >&2
  exit 1
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing:$missing"
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
