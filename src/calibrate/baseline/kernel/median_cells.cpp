// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/median_cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.h"
#include "base/parallel.h"

namespace tare {
namespace {

/// Where a box can be halved in one column, and how much the targets of the halves differ.
struct Halving {
  double gain = -1.0;  // below 0: nowhere
  double cut = 0.0;
};

/// `rows` are in the order of their targets.
Halving halve(MatrixView x, std::span<const double> y, std::span<const std::size_t> rows,
              std::size_t column, std::size_t least) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::size_t i : rows) values.push_back(x(i, column));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  Halving result;
  result.cut = *middle;
  std::size_t below = 0;
  for (const std::size_t i : rows) below += x(i, column) <= result.cut ? 1U : 0U;
  const std::size_t above = rows.size() - below;
  if (std::min(below, above) < std::max<std::size_t>(least, 1)) return {};

  std::size_t first = 0, second = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    ++(x(rows[k], column) <= result.cut ? first : second);
    if (k + 1 < rows.size() && y[rows[k]] == y[rows[k + 1]]) continue;
    const double difference = static_cast<double>(first) / static_cast<double>(below) -
                              static_cast<double>(second) / static_cast<double>(above);
    result.gain = std::max(result.gain, std::abs(difference));
  }
  return result;
}

}  // namespace

MedianCells::MedianCells(MatrixView x, std::span<const double> y, std::size_t depth,
                         std::size_t least, const Execution& how) {
  struct Box {
    std::vector<std::size_t> rows;
    std::size_t depth;
    std::int32_t parent;  // whose second half this is; -1: none
  };
  std::vector<std::size_t> all(y.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::ranges::stable_sort(all, {}, [&](std::size_t i) { return y[i]; });
  std::vector<Box> open;
  open.push_back({std::move(all), depth, -1});
  while (!open.empty()) {
    Box box = std::move(open.back());
    open.pop_back();
    const auto node = static_cast<std::int32_t>(column_.size());
    if (box.parent >= 0) right_[static_cast<std::size_t>(box.parent)] = node;
    column_.push_back(-1);
    cut_.push_back(0.0);
    right_.push_back(0);
    if (box.depth == 0 || box.rows.size() < 2 * least) continue;

    std::vector<Halving> halvings(x.cols());
    parallel_for(how, x.cols(),
                 [&](std::size_t j) { halvings[j] = halve(x, y, box.rows, j, least); });
    const auto best = std::ranges::max_element(halvings, {}, &Halving::gain);
    if (best == halvings.end() || best->gain < 0.0) continue;
    const auto column = static_cast<std::size_t>(best - halvings.begin());
    Box first{{}, box.depth - 1, -1}, second{{}, box.depth - 1, node};
    for (const std::size_t i : box.rows) {
      (x(i, column) <= best->cut ? first : second).rows.push_back(i);
    }
    column_.back() = static_cast<std::int32_t>(column);
    cut_.back() = best->cut;
    open.push_back(std::move(second));
    open.push_back(std::move(first));  // taken next, so that it follows its parent
  }
  number_cells();
}

void MedianCells::number_cells() {
  cell_.assign(column_.size(), 0);
  cells_ = 0;
  for (std::size_t node = 0; node < column_.size(); ++node) {
    if (column_[node] < 0) cell_[node] = cells_++;
  }
}

std::size_t MedianCells::cell_of(std::span<const double> x) const {
  if (cells_ == 1) return 0;
  std::size_t node = 0;
  while (column_[node] >= 0) {
    const bool first = x[static_cast<std::size_t>(column_[node])] <= cut_[node];
    node = first ? node + 1 : static_cast<std::size_t>(right_[node]);
  }
  return cell_[node];
}

void MedianCells::save(const TensorWriter& out) const {
  out.tensor("column", column_);
  out.tensor("cut", cut_);
  out.tensor("right", right_);
}

MedianCells MedianCells::load(const TensorReader& in, std::size_t features) {
  MedianCells loaded;
  const Shape shape = {in.length("column")};
  loaded.column_ = in.values<std::int32_t>("column", shape);
  loaded.cut_ = in.values<double>("cut", shape, Must::kBeFinite);
  loaded.right_ = in.values<std::int32_t>("right", shape);
  const std::size_t nodes = loaded.column_.size();
  bool sound = nodes > 0;
  for (std::size_t node = 0; node < nodes && sound; ++node) {
    const std::int64_t column = loaded.column_[node];
    if (column < 0) continue;
    // Both children come later, so that every path ends.
    const std::int64_t right = loaded.right_[node];
    sound = static_cast<std::size_t>(column) < features &&
            right > static_cast<std::int64_t>(node) + 1 && static_cast<std::size_t>(right) < nodes;
  }
  if (!sound) fail(ErrorCode::kCorruptFile, "the cells of the model file are not a partition");
  loaded.number_cells();
  return loaded;
}

}  // namespace tare
