#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages tare, libtare0.1 and libtare-dev from this source. usage: packaging/build_deb.sh WORK OUT
# The source is what git tracks or would track, or all of it where there is no git; WORK is a folder for it, and OUT gets the packages.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$1"
mkdir -p "$1" "$2"
work=$(cd "$1" && pwd)
out=$(cd "$2" && pwd)
version=$(sed -n 's/^#define TARE_VERSION "\(.*\)"$/\1/p' "$root/include/tare/base/version_macros.h")
source="$work/tare-$version"
mkdir "$source"
cd "$root"
if git rev-parse --git-dir >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh |
    tar -c --null -T - | tar -x -C "$source"
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
else
  tar -c --exclude=./build --exclude='./build-*' . | tar -x -C "$source"
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}
fi
export SOURCE_DATE_EPOCH
cd "$source"
cp -r packaging/debian debian
cp packaging/systemd/tare@.service debian/tare@.service
cat > debian/changelog <<TEXT
tare ($version) unstable; urgency=medium

  * Built from the source of version $version; CHANGELOG.md has the changes.

 -- The tare authors <authors@tare.invalid>  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
TEXT
# ccache, where it is, as for the other builds: CMake finds it. Its cache stays the caller's: debhelper gives the build a home of its own.
if command -v ccache >/dev/null; then
  CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir)}
  export CCACHE_DIR
fi
dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes --jobs="${JOBS:-$(nproc)}"
rm -f "$out"/*.deb "$out"/*.changes
mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out"
ls -l "$out"
