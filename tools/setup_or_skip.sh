#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/setup.sh, which ends with 77 where packages are missing and no package index is in reach. usage: tools/setup_or_skip.sh MODE
tools="$(dirname "$0")"
"$tools/setup.sh" "$1" && exit 0
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
if $sudo apt-get update -qq -o APT::Update::Error-Mode=any >/dev/null 2>&1; then
  exit 1
fi
echo "skipped: Debian packages for '$1' are missing, and no package index is in reach" >&2
exit 77
