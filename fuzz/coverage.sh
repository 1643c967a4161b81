#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Line coverage of the parsers by the seeds, the former finds and a corpus: fuzz/coverage.sh [CORPUS]
# CORPUS is a folder with a folder for each target, as fuzz/run.py keeps it. The build goes to build-coverage.
set -e
cd "$(dirname "$0")/.."
corpus=${1:-build-address/fuzz/corpus}
build=${BUILD:-build-coverage}
llvm=${LLVM:-19}
jobs=${JOBS:-$(nproc)}

cmake -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang-$llvm -DCMAKE_CXX_COMPILER=clang++-$llvm -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DTARE_FUZZ_COVERAGE=ON -DTARE_BUILD_FUZZERS=ON -DTARE_BUILD_TESTS=OFF -DTARE_BUILD_SHARED=OFF \
  -DTARE_UNITY=ON -DTARE_WERROR=OFF > "$build.log"
cmake --build "$build" -j "$jobs" --target fuzzers >> "$build.log"

mkdir -p "$build/profiles"
rm -f "$build"/profiles/*
objects=
for program in "$build"/fuzz/fuzz_*; do
  name=${program##*/fuzz_}
  objects="$objects${objects:+ -object} $program"
  folders=
  for folder in fuzz/seeds/$name fuzz/regressions/$name "$corpus/$name"; do
    [ -d "$folder" ] && folders="$folders $folder"
  done
  [ "$name" = model ] && folders="$folders tests/cli/old_models tests/cli/old_models/0.1"
  # -runs=0 reads the inputs and stops.
  LLVM_PROFILE_FILE="$build/profiles/$name.profraw" "$program" -runs=0 -timeout=60 $folders > "$build/profiles/$name.log" 2>&1 ||
    echo "$name failed, see $build/profiles/$name.log" >&2
done
llvm-profdata-$llvm merge -sparse "$build"/profiles/*.profraw -o "$build/profiles/all.profdata"

# The files that read what comes from outside.
parsers="src/io/csv.cpp src/io/csv_columns.cpp src/io/csv_plain.cpp src/io/csv_scan.cpp src/io/csv_window.cpp
  src/io/files/byte_source.cpp src/io/files/journal_file.cpp src/io/json_text.cpp src/io/safetensors.cpp src/io/tensor_store.cpp
  src/data/schema.cpp src/data/encode.cpp src/data/group_column.cpp src/data/roles.cpp src/data/windows.cpp
  src/online/journal src/apply/model_journal.cpp src/apply/row_encoder.cpp src/apply/level_columns.cpp src/apply/fit_options.cpp src/apply/predict_options.cpp
  src/serve/rows src/serve/rows_request.cpp src/serve/answer.cpp src/serve/http src/serve/session.cpp
  src/calibrate/model_file.cpp src/calibrate/method_config.cpp src/calibrate/guarantee/guarantee_file.cpp
  src/base/params.cpp src/base/level.cpp src/evaluate/experiment/plan.cpp src/capi"
# shellcheck disable=SC2086
llvm-cov-$llvm export -summary-only -instr-profile "$build/profiles/all.profdata" $objects -sources $parsers |
  python3 -c '
import json, os, sys
rows = json.load(sys.stdin)["data"][0]["files"]
covered = total = 0
for row in sorted(rows, key=lambda one: one["filename"]):
    lines = row["summary"]["lines"]
    if lines["count"] == 0 or row["filename"].endswith("embedded.cpp"):
        continue
    covered += lines["covered"]
    total += lines["count"]
    name = os.path.relpath(row["filename"])
    print("%-50s %5d of %5d lines %6.1f %%" % (name, lines["covered"], lines["count"], lines["percent"]))
print("%-50s %5d of %5d lines %6.1f %%" % ("all", covered, total, 100.0 * covered / total))'
