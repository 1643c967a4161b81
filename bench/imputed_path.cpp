// SPDX-License-Identifier: BSD-3-Clause
// What a row of a conditional guarantee costs: the fit of a level, and the path of a new row, by
// the number of held-out rows and of functions of a row.
#include <chrono>
#include <cstdio>
#include <vector>

#include "calibrate/guarantee/conditional/imputed_path.h"
#include "calibrate/guarantee/conditional/span_basis.h"
#include "tare/base/rng.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void draw_functions(tare::Rng& rng, std::span<double> row) {
  row[0] = 1.0;
  for (std::size_t j = 1; j < row.size(); ++j) row[j] = rng.normal();
}

void measure(std::size_t rows, std::size_t functions, double tau) {
  tare::Rng rng(tare::Seed{rows + functions});
  tare::Matrix raw(rows, functions);
  std::vector<double> score(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    draw_functions(rng, raw.row(i));
    score[i] = rng.normal() * (1.0 + 0.5 * raw(i, 1));
  }
  const tare::SpanBasis basis{raw.view()};
  tare::Matrix phi(rows, basis.dims());
  for (std::size_t i = 0; i < rows; ++i) basis.apply(raw.row(i), phi.row(i));
  const auto start = Clock::now();
  const tare::ImputedPath path(phi, score, tau);
  const double fit = seconds_since(start);
  constexpr std::size_t kQueries = 1000;
  tare::Matrix fresh(kQueries, basis.dims());
  std::vector<double> row(functions);
  for (std::size_t k = 0; k < kQueries; ++k) {
    draw_functions(rng, row);
    basis.apply(row, fresh.row(k));
  }
  tare::ImputedPath::Effort effort;
  const auto answered = Clock::now();
  for (std::size_t k = 0; k < kQueries; ++k) path.threshold(fresh.row(k), &effort);
  const double each = seconds_since(answered) / kQueries;
  std::printf("| %zu | %zu | %.2f | %.1f | %.2f | %.1f | %.0f |\n", rows, functions, tau, 1e3 * fit,
              1e6 * each, static_cast<double>(effort.pivots) / kQueries,
              static_cast<double>(effort.rows) / kQueries);
}

}  // namespace

int main() {
  std::printf("| held-out rows | functions | level | fit, ms | a row, us | pivots | rows seen |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const std::size_t rows : {1000U, 10000U, 50000U}) {
    for (const std::size_t functions : {2U, 7U, 15U, 30U}) measure(rows, functions, 0.95);
  }
}
