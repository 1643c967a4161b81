#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The libraries that tare is built with, for a system that is not Debian 12, such as cibuildwheel's manylinux images: Debian 12's own versions, so that
# every wheel trains the same models. Headers come from Debian's packages; fmt and Highway from its sources; XGBoost, at Debian's version,
# from its source distribution on PyPI. Each file is checked against the hash beside its name.
# usage: tools/wheel_dependencies.sh PREFIX   (needs curl, ar, tar, xz, sha256sum, cmake, a compiler)
set -eu

prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$prefix"
cd "$work"

# fetch HASH URL...: the first that answers, under the last part of its name.
fetch() {
  hash=$1
  shift
  for url in "$@"; do
    file=${url##*/}
    if curl --fail --silent --show-error --location --retry 3 -o "$file" "$url"; then
      echo "$hash  $file" | sha256sum --check --quiet
      return
    fi
  done
  echo "none of these answers: $*" >&2
  exit 1
}

# A release that is no longer supported moves to Debian's archive.
debian() {
  fetch "$1" "https://deb.debian.org/debian/pool/main/$2" "http://archive.debian.org/debian/pool/main/$2"
}

# headers HASH PATH: include files and CMake's description of a package; those for one architecture serve all. Boost's description, which
# names places of that architecture, is left out: CMake finds the headers without it.
headers() {
  debian "$1" "$2"
  rm -rf unpacked
  mkdir unpacked
  ar p "$file" data.tar.xz | tar -xJ -C unpacked
  cp -r unpacked/usr/include "$prefix/"
  for folder in unpacked/usr/share/cmake unpacked/usr/share/eigen3 unpacked/usr/lib/cmake; do
    [ ! -d "$folder" ] || { mkdir -p "$prefix/share" && cp -r "$folder" "$prefix/share/"; }
  done
}

# compile FOLDER FLAG...: builds and installs.
compile() {
  folder=$1
  shift
  # XGBoost 1.7 expects <cstdint> from other headers, which newer compilers no longer include; its CMake files name versions that
  # newer ones no longer accept.
  cmake -S "$folder" -B "$folder-build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DCMAKE_CXX_FLAGS="-include cstdint" "$@"
  cmake --build "$folder-build" -j "$(nproc)"
  cmake --install "$folder-build"
}

headers f1f6ee9ec053e0e0bcec47345e241b6a8ee006321248b4329e9ce88d2b4b64a8 c/cli11/libcli11-dev_2.1.2+ds-1_all.deb
headers 2ec2a50472c2e99e3b5fdc776c2dca645ca760bac24c6624cc2a220db1b7d16d f/fast-float/libfast-float-dev_3.9.0-1_amd64.deb
headers 1a167bb381acb90c1d8450a8f3e66a09d216dbc64b33ac8a082a0912513ef939 e/eigen3/libeigen3-dev_3.4.0-4_all.deb
headers ec57940def6b6186c30be0e0ee81d1e58f86d11a54a145b28686a1e3e4aae801 n/nlohmann-json3/nlohmann-json3-dev_3.11.2-2_all.deb
headers bfe6d942c9fa4d68c8455e712a16fe3911f85d92959a0753cb22e5c13c2067de b/boost1.81/libboost1.81-dev_1.81.0-5+deb12u1_amd64.deb

debian 84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583 f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
mkdir fmt && tar -xf "$file" -C fmt --strip-components 1
compile fmt -DFMT_DOC=OFF -DFMT_TEST=OFF

debian 566fc77315878473d9a6bd815f7de78c73734acdcb745c3dde8579560ac5440e h/highway/highway_1.0.3.orig.tar.gz
mkdir highway && tar -xf "$file" -C highway --strip-components 1
compile highway -DBUILD_TESTING=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF -DBUILD_SHARED_LIBS=OFF

fetch 7a2406562277d0f7f6ed08f1cda8fef0ed64956bc13a1ff1da1b4201b431e721 \
  https://files.pythonhosted.org/packages/5f/1f/ec8651b2c235c319e925918f355466294de8f3846d1a749898a70bfce01c/xgboost-1.7.4.tar.gz
mkdir xgboost && tar -xf "$file" -C xgboost --strip-components 1
compile xgboost/xgboost -DHIDE_CXX_SYMBOLS=ON
