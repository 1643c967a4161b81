// SPDX-License-Identifier: BSD-3-Clause
// How fast delimited text is read and written, from memory, so that no disk is measured.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/csv.h"
#include "io/files/byte_source.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

constexpr std::size_t kColumns = 10;
constexpr std::size_t kRows = 50'000;

/// Full precision in every second column, short decimals in the others.
std::string numeric_text() {
  Rng rng(Seed{7});
  std::string text = "x0";
  for (std::size_t j = 1; j < kColumns; ++j) text.append(",x").append(std::to_string(j));
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      text += j == 0 ? '\n' : ',';
      append_csv_number(
          text, j % 2 == 0 ? rng.normal() : static_cast<double>(rng.below(100'000)) / 100.0);
    }
  }
  return text + '\n';
}

void read_as(benchmark::State& state, const ColumnRequest& request) {
  const std::string text = numeric_text();
  for (auto _ : state) {
    CsvReader reader(bytes_in_memory("numbers.csv", text));
    reader.select(std::vector<ColumnRequest>(kColumns, request));
    benchmark::DoNotOptimize(read_all(reader));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void BM_ReadNumbers(benchmark::State& state) { read_as(state, {ColumnKind::kAuto, false}); }
void BM_ReadNumbersAndRaw(benchmark::State& state) { read_as(state, {ColumnKind::kAuto, true}); }
void BM_ReadTexts(benchmark::State& state) { read_as(state, {ColumnKind::kText, false}); }
void BM_ReadNothing(benchmark::State& state) { read_as(state, {ColumnKind::kSkip, false}); }
BENCHMARK(BM_ReadNumbers)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadNumbersAndRaw)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadTexts)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadNothing)->Unit(benchmark::kMillisecond);

void BM_WriteNumbers(benchmark::State& state) {
  Rng rng(Seed{7});
  std::vector<double> values(10'000);
  for (double& value : values) value = rng.normal();
  std::string out;
  for (auto _ : state) {
    out.clear();
    for (const double value : values) append_csv_number(out, value);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values.size()));
}
BENCHMARK(BM_WriteNumbers);

}  // namespace
}  // namespace tare

BENCHMARK_MAIN();
