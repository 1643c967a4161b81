// SPDX-License-Identifier: BSD-3-Clause
// Whether LightGrower and grow_tree could be one: trees of four leaves for one output by both, and
// how long each takes (docs/decisions/0026-two-growers-on-histograms.md).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <vector>

#include "model/tree/gradient_tree.h"
#include "model/tree/light_tree.h"
#include "tare/base/rng.h"

namespace {

using namespace tare;

constexpr std::size_t kColumns = 8;
constexpr double kMinLeaf = 20.0;
constexpr int kTrees = 100;  // in a measurement
constexpr int kRepeats = 9;  // of which the quickest counts

/// Microseconds for a tree.
template <class Grow>
double time_of(const Grow& grow) {
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kTrees; ++k) grow();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / kTrees);
  }
  return best;
}

void compare(std::size_t rows) {
  Rng rng(Seed{1});
  std::vector<float> x(rows * kColumns), y(rows), weight(rows, 1.0F), gradients(2 * rows);
  std::vector<std::uint8_t> bins;
  for (float& value : x) value = static_cast<float>(rng.normal());
  for (std::size_t i = 0; i < rows; ++i) {
    y[i] = x[i * kColumns] * x[i * kColumns + 1] + static_cast<float>(rng.normal());
    gradients[2 * i] = y[i];
    gradients[2 * i + 1] = 1.0F;
  }
  const BinnedRows binned(x, kColumns, {});
  for (std::size_t j = 0; j < kColumns; ++j) {
    bins.insert(bins.end(), binned.column(j).begin(), binned.column(j).end());
  }
  std::vector<std::size_t> all(rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const LightData data{bins, kColumns, y, weight};
  LightGrower grower;
  std::size_t nodes = 0;
  const double light = time_of([&] {
    nodes += grower.grow(data, {LightRange{0, rows}, LightRange{}}, kMinLeaf).root.bin;
  });
  const double gradient = time_of([&] {
    nodes += grow_tree(binned, {gradients, 2}, all, {.depth = 2, .min_leaf = kMinLeaf}).node.size();
  });
  fmt::print("{:>6} rows: LightGrower {:6.1f} us a tree, grow_tree {:6.1f} us, {:.2f} times{}\n",
             rows, light, gradient, gradient / light, nodes == 0 ? " (no trees)" : "");
}

}  // namespace

int main() {
  for (const std::size_t rows : {4'000U, 10'000U, 50'000U}) compare(rows);
}
