// SPDX-License-Identifier: BSD-3-Clause
// Dense kernels on one thread: nanoseconds per pair of query and calibration row, the share of the
// time that the distances take, and their speed beside the processor's peak.
//
//   dense_bench [rows dims queries [gaussian|laplace]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <vector>

#include "calibrate/snq/engine/dense_answer.h"
#include "fused_peak.h"
#include "index/dense/dense_weights.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// The best of several runs, in seconds of processor time: others may use the machine, too.
template <class Body>
double seconds(int runs, Body body) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    const std::clock_t start = std::clock();
    body();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

Matrix normal_matrix(std::size_t rows, std::size_t cols, Seed seed) {
  Rng rng(seed);
  Matrix values(rows, cols);
  for (double& value : values.values()) value = rng.normal();
  return values;
}

/// The distances of all pairs and nothing else, over the same blocks.
void distances_alone(const DenseAnswer& dense, const SnqOptions& options, MatrixView queries) {
  constexpr std::size_t kStep = 4;  // chunks
  const DenseRows& rows = dense.rows();
  DenseQueries block(rows, dense.metric(options));
  AlignedVector<float> nearest(rows.chunks() * kDenseBlock);
  for (std::size_t i = 0; i < queries.rows(); i += kDenseBlock) {
    const std::size_t count = std::min(kDenseBlock, queries.rows() - i);
    for (std::size_t lane = 0; lane < count; ++lane) block.set(lane, queries.row(i + lane));
    for (std::size_t chunk = 0; chunk < rows.chunks(); chunk += kStep) {
      dense_chunk_nearest(rows.view(), block.view(),
                          {chunk, std::min(rows.chunks(), chunk + kStep)},
                          {nullptr, nearest.data(), nullptr});
    }
  }
}

void run(std::size_t n, std::size_t dims, std::size_t m, KernelKind kernel) {
  const Matrix z = normal_matrix(n, dims, Seed{1});
  const Matrix queries = normal_matrix(m, dims, Seed{2});
  const Matrix u = normal_matrix(n, 1, Seed{3});
  const auto sample = std::make_shared<const LocalSample>(z, u.values(), std::span<const double>());
  const DenseAnswer dense(sample);
  SnqOptions options;
  options.kernel = kernel;
  options.bandwidth = std::sqrt(static_cast<double>(dims)) * 0.5774 *
                      std::pow(static_cast<double>(n), -1.0 / (static_cast<double>(dims) + 2.0));
  std::vector<Level> levels;
  for (int percent = 1; percent < 100; ++percent) levels.emplace_back(percent / 100.0);
  Prediction result;
  result.quantiles = Matrix(m, levels.size());
  result.effective_n.resize(m);
  result.nearest.resize(m);
  result.fallback.resize(m);

  std::size_t in_double = 0;
  const double all =
      seconds(5, [&] { in_double = dense.predict(queries, 0, m, options, levels, result); });
  const double distances = seconds(5, [&] { distances_alone(dense, options, queries); });
  double operations = 0.0;
  const double peak = seconds(20, [&] { operations = fused_operations(1'000'000); });

  const double pairs = static_cast<double>(n) * static_cast<double>(m);
  const DenseMetric metric = dense.metric(options);
  const bool product = metric == DenseMetric::kProduct;
  const double speed = 2.0 * static_cast<double>(dims) * pairs / distances * 1e-9;
  const double fastest = 2.0 * operations / peak * 1e-9;
  std::printf("%zu rows, %zu features, %zu queries, 99 levels, bandwidth %.3f\n", n, dims, m,
              options.bandwidth);
  std::printf("  all          %8.3f s   %.3f ns per pair, %zu queries in double precision\n", all,
              all / pairs * 1e9, in_double);
  std::printf("  distances    %8.3f s   %.0f %% of the time, by %s\n", distances,
              100.0 * distances / all,
              product                               ? "the product"
              : metric == DenseMetric::kDifferences ? "differences"
                                                    : "split differences");
  if (product) {
    std::printf("  product      %8.1f GFLOP/s, %.0f %% of %.1f (fused operations alone)\n", speed,
                100.0 * speed / fastest, fastest);
  }
}

}  // namespace
}  // namespace tare

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::size_t fallback) {
    return i < argc ? static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)) : fallback;
  };
  tare::run(argument(1, 100'000), argument(2, 30), argument(3, 10'000),
            tare::parse_kernel(argc > 4 ? argv[4] : "gaussian"));
}
