#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
# shellcheck disable=SC2086  # CMAKE_ARGS is a list
cmake -S . -B conda-build -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DTARE_BUILD_TESTS=OFF -DTARE_UNITY=ON -DTARE_WERROR=OFF
cmake --build conda-build -j "${CPU_COUNT:-2}"
cmake --install conda-build
