#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Libraries for wheels, inside cibuildwheel's manylinux_2_34 image (AlmaLinux 9). Small ones come from EPEL; XGBoost, which is not
# there, is compiled at the version that Debian 12 has, so that wheels and the tool train the same models.
set -eu

dnf install -y -q epel-release
dnf config-manager --set-enabled crb
dnf install -y -q cmake ninja-build git eigen3-devel fmt-devel json-devel fast_float-devel highway-devel zlib-devel

xgboost=/tmp/xgboost
[ -d "$xgboost" ] || git clone -q --depth 1 --branch v1.7.4 --recurse-submodules --shallow-submodules https://github.com/dmlc/xgboost "$xgboost"
cmake -S "$xgboost" -B "$xgboost/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr/local
cmake --build "$xgboost/build"
cmake --install "$xgboost/build"
ldconfig
