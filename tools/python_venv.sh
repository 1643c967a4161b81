# SPDX-License-Identifier: BSD-3-Clause
# Virtual environments that are kept between runs, for scripts that read this file: . tools/python_venv.sh
# shellcheck shell=sh

# kept_venv FOLDER PACKAGE...: makes a virtual environment with these packages, or takes the one that an earlier run made with the same
# packages and the same Python. Gives 77 where no package index is in reach.
#
# uv installs in seconds what takes pip a minute; pip is taken where uv cannot be had or does not reach the index.
kept_venv() {
  kept_folder=$1
  shift
  kept_wanted="$(python3 --version) $*"
  if [ "$(cat "$kept_folder/packages" 2>/dev/null)" = "$kept_wanted" ]; then
    return 0
  fi
  rm -rf "$kept_folder"
  python3 -m venv "$kept_folder"
  if ! "$kept_folder/bin/python" -m pip --disable-pip-version-check --quiet install uv >"$kept_folder/log" 2>&1; then
    cat "$kept_folder/log"
    echo "skipped: no package index in reach"
    return 77
  fi
  if ! "$kept_folder/bin/uv" --quiet pip install --python "$kept_folder/bin/python" "$@" >"$kept_folder/log" 2>&1; then
    "$kept_folder/bin/python" -m pip --disable-pip-version-check --quiet install "$@"
  fi
  echo "$kept_wanted" >"$kept_folder/packages"
}

# check_venv BUILD: the environment of the checks, with the versions of check-requirements.txt, as $venv.
check_venv() {
  venv="$1/check-venv"
  # shellcheck disable=SC2046
  kept_venv "$venv" $(grep -v '^#' "$source/tools/check-requirements.txt")
}

# wheel_venv BUILD: the environment that builds and checks wheels, with the versions of wheel-requirements.txt, as $venv.
wheel_venv() {
  venv="$1/wheel-venv"
  # shellcheck disable=SC2046
  kept_venv "$venv" $(grep -v '^#' "$source/tools/wheel-requirements.txt")
}

# docs_venv BUILD: the environment that builds the site, with the versions of docs-requirements.txt, as $venv.
docs_venv() {
  venv="$1/docs-venv"
  # shellcheck disable=SC2046
  kept_venv "$venv" "scikit-build-core>=0.11" "nanobind>=2.2" numpy $(grep -v '^#' "$source/tools/docs-requirements.txt")
}
