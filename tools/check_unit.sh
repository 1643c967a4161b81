#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The systemd unit of a Debian package as 'systemd-analyze verify' sees it where the package is installed, and how exposed the service is.
# usage: tools/check_unit.sh TARE.deb WORK
set -eu
root="$2"
rm -rf "$root"
mkdir -p "$root/usr/lib/systemd/system" "$root/bin"
dpkg-deb -x "$1" "$root"
[ -d "$root/lib/systemd/system" ] && cp "$root/lib/systemd/system"/tare@.service "$root/usr/lib/systemd/system/"
# The targets that every unit needs, and the command that reloads.
cp -rn /lib/systemd/system/. "$root/usr/lib/systemd/system/"
cp /bin/kill "$root/bin/"
# What is wrong is only printed: the status is 0 for a line that is ignored.
said=$(systemd-analyze verify --root="$root" --man=no tare@model.service 2>&1) || { echo "$said"; exit 1; }
if [ -n "$said" ]; then
  echo "$said"
  exit 1
fi
echo "systemd-analyze verify: nothing to say about tare@.service"
# 0 is a service that can do nothing, 10 one without any restriction; the threshold is in tenths.
systemd-analyze security --root="$root" --offline=true --threshold=20 --no-pager tare@model.service | tail -1
