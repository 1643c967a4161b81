// SPDX-License-Identifier: BSD-3-Clause
// What a query costs with each index, single thread, processor time: the figures behind the
// constants of src/calibrate/snq/snq_index.cpp. usage: index_costs [ROWS]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

namespace {

using namespace tare;

Matrix normal_rows(std::size_t rows, std::size_t dims, Rng& rng) {
  Matrix z(rows, dims);
  for (double& value : z.values()) value = rng.normal();
  return z;
}

/// The radius within which `share` of the rows lie around a query, on average over some.
double radius_of(MatrixView z, MatrixView queries, double share) {
  std::vector<double> r2;
  for (std::size_t q = 0; q < 20; ++q) {
    for (std::size_t i = 0; i < z.rows(); i += 7) {
      double sum = 0.0;
      for (std::size_t j = 0; j < z.cols(); ++j) {
        sum += (z(i, j) - queries(q, j)) * (z(i, j) - queries(q, j));
      }
      r2.push_back(sum);
    }
  }
  const auto nth = r2.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(r2.size()));
  std::nth_element(r2.begin(), nth, r2.end());
  return std::sqrt(*nth);
}

double nanoseconds_per_row(const Snq& snq, MatrixView queries, std::span<const Level> levels) {
  Execution how;
  how.threads = 1;
  how.diagnostics = false;
  const std::clock_t start = std::clock();
  snq.predict(queries, levels, how);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return 1e9 * seconds / static_cast<double>(queries.rows()) / static_cast<double>(snq.rows());
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::size_t count = 400;
  std::vector<Level> levels;
  for (int j = 1; j < 100; ++j) levels.emplace_back(j / 100.0);
  fmt::print("{} rows, {} queries, 99 levels: nanoseconds for a row and query\n", rows, count);
  fmt::print("{:>4} {:>6} {:<13} {:>8} {:>8} {:>8}  auto\n", "d", "share", "kernel", "brute",
             "tree", "dense");
  for (const std::size_t dims : {2U, 4U, 8U, 20U, 64U}) {
    Rng rng(Seed{dims});
    const Matrix z = normal_rows(rows, dims, rng);
    const Matrix queries = normal_rows(count, dims, rng);
    std::vector<double> u(rows);
    for (double& value : u) value = rng.normal();
    for (const double share : {0.005, 0.1}) {
      for (const KernelKind kernel :
           {KernelKind::kNaive, KernelKind::kEpanechnikov, KernelKind::kGaussian}) {
        const bool dense = kernel == KernelKind::kGaussian;
        SnqOptions options{.kernel = kernel};
        options.bandwidth = radius_of(z, queries, share) * (dense ? 0.5 : 1.0);
        fmt::print("{:>4} {:>6} {:<13}", dims, share, kernel_name(kernel));
        for (const std::string index : {"brute", "tree", "dense"}) {
          if (index == "dense" && !dense) {
            fmt::print(" {:>8}", "-");
            continue;
          }
          options.index = index;
          fmt::print(" {:>8.2f}", nanoseconds_per_row(Snq(z, u, {}, options), queries, levels));
        }
        options.index = "auto";
        fmt::print("  {}\n", Snq(z, u, {}, options).index());
      }
    }
  }
}
