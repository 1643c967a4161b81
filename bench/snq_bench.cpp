// SPDX-License-Identifier: BSD-3-Clause
// SNQ on one thread: time per query for each kernel, sample size and dimension; and the choice of a
// bandwidth.
#include <benchmark/benchmark.h>

#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

Execution one_thread() { return {.threads = 1, .progress = {}}; }

void predict(benchmark::State& state) {
  const auto kernel = static_cast<KernelKind>(state.range(0));
  const auto rows = static_cast<std::size_t>(state.range(1));
  const auto dims = static_cast<std::size_t>(state.range(2));
  const Problem problem = known_law_problem(LawShape::kNormal, dims, 1);
  const Sample data = draw(problem, rows, Seed{1});
  const Sample queries = draw(problem, 256, Seed{2});
  const double bandwidth = rate_bandwidth(kernel, rows, dims, 0.0);
  const Snq snq(data.x, data.y, {}, {.kernel = kernel, .bandwidth = bandwidth});
  const auto levels = metric_levels();
  for (auto _ : state) {
    benchmark::DoNotOptimize(snq.predict(queries.x, levels, one_thread()).quantiles(0, 0));
  }
  state.SetItemsProcessed(state.iterations() * 256);
  state.SetLabel(std::string(kernel_name(kernel)) + ", 100 levels");
}

void choose(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0));
  const Sample data = draw(find_problem("hetero_5"), rows, Seed{1});
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        choose_bandwidth(data.x, data.y, {}, {}, Seed{1}, one_thread()).bandwidth);
  }
  state.SetLabel("gaussian, path of 24");
}

void all_kernels(benchmark::internal::Benchmark* bench) {
  for (const KernelKind kernel : kAllKernels) bench->Args({static_cast<int>(kernel), 10'000, 4});
  for (const int rows : {1'000, 100'000})
    bench->Args({static_cast<int>(KernelKind::kGaussian), rows, 4});
  for (const int dims : {1, 16, 64})
    bench->Args({static_cast<int>(KernelKind::kGaussian), 10'000, dims});
}

BENCHMARK(predict)
    ->Apply(all_kernels)
    ->ArgNames({"kernel", "rows", "dims"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(choose)->Arg(1'000)->Arg(4'000)->ArgName("rows")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tare

BENCHMARK_MAIN();
