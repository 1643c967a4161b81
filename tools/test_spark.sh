#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests of tare on Spark, in a virtual environment of their own: Spark needs an older pandas than the other tests, and Java 17 or later.
# usage: tools/test_spark.sh BUILD   (BUILD: a build of tare, whose library is linked)
# Ends with 77, which means "skipped", where no package index or no Java is in reach.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/python_venv.sh
. "$source/tools/python_venv.sh"
build=$(cd "$1" && pwd)
venv="$build/spark-venv"
if ! command -v java >/dev/null && [ -z "${JAVA_HOME:-}" ]; then
  echo "skipped: no Java; install openjdk-17-jre-headless"
  exit 77
fi
# The extra 'spark' of pyproject.toml, and xgboost, whose Spark model stands in front of tare in the documentation.
kept_venv "$venv" "scikit-build-core>=0.11" "nanobind>=2.2" numpy pytest "scikit-learn>=1.6" "pyspark>=4.0,<5" "pandas>=2.2,<3" "pyarrow>=15" \
  "xgboost-cpu>=3.0" || exit $?
"$venv/bin/python" -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --force-reinstall "$source" \
  --config-settings="cmake.define.TARE_BUILD_FOLDER=$build" --config-settings="build-dir=$build/spark-module"
cd "$source/tests/spark"
OMP_NUM_THREADS=1 "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$source" -c "$source/pyproject.toml" .
