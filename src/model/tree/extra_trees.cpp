// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/extra_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/stages.h"
#include "model/tree/tree_training.h"

namespace tare {
namespace {

constexpr std::size_t kDeepest = 64;  // more than rows of this many bits of difference need

/// Training rows, column by column.
struct TreeColumns {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> x;  // column after column
  const std::vector<float>* y = nullptr;
  const std::vector<float>* weight = nullptr;

  explicit TreeColumns(const TreeTraining& training)
      : rows(training.y.size()),
        cols(training.columns.shift.size()),
        x(training.x.size()),
        y(&training.y),
        weight(&training.weight) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) x[j * rows + i] = training.x[i * cols + j];
    }
  }
  std::span<const float> column(std::size_t j) const {
    return std::span(x).subspan(j * rows, rows);
  }
  float at(std::size_t row, std::size_t column) const { return x[column * rows + row]; }
};

/// Sums over one side of a split.
struct SideSums {
  double weight = 0.0;
  double target = 0.0;  // weighted
  std::size_t rows = 0;

  /// The larger, the smaller the squared error that is left.
  double score() const { return weight > 0.0 ? target * target / weight : 0.0; }
  SideSums operator-(const SideSums& other) const {
    return {weight - other.weight, target - other.target, rows - other.rows};
  }
};

struct Range {
  float low = 0.0F;
  float high = 0.0F;
};

/// In lanes: each comparison would otherwise wait for the one before.
Range range_of(std::span<const float> values) {
  constexpr std::size_t kRangeLanes = 8;
  std::array<float, kRangeLanes> low;
  std::array<float, kRangeLanes> high;
  low.fill(values[0]);
  high.fill(values[0]);
  const auto take = [&](std::size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
  };
  std::size_t k = 0;
  for (; k + kRangeLanes <= values.size(); k += kRangeLanes) {
    for (std::size_t lane = 0; lane < kRangeLanes; ++lane) take(lane, values[k + lane]);
  }
  for (; k < values.size(); ++k) take(0, values[k]);
  return {std::ranges::min(low), std::ranges::max(high)};
}

/// The rows of a node side by side: every column that is tried passes over them twice.
struct NodeRows {
  std::vector<double> weight;
  std::vector<double> target;  // weighted
  std::vector<float> x;        // of one column
  SideSums all;

  explicit NodeRows(std::size_t rows) : weight(rows), target(rows), x(rows) {}

  void load(std::span<const std::uint32_t> rows, const TreeColumns& columns) {
    all = {};
    all.rows = rows.size();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      weight[k] = static_cast<double>((*columns.weight)[rows[k]]);
      target[k] = weight[k] * static_cast<double>((*columns.y)[rows[k]]);
      all.weight += weight[k];
      all.target += target[k];
    }
  }
  void load_column(std::span<const std::uint32_t> rows, std::span<const float> column) {
    for (std::size_t k = 0; k < rows.size(); ++k) x[k] = column[rows[k]];
  }
  /// The rows below the threshold. A product in place of a branch, as half of the branches would be
  /// predicted wrong.
  SideSums below(float threshold) const {
    double weights = 0.0;
    double targets = 0.0;
    std::size_t count = 0;
    for (std::size_t k = 0; k < all.rows; ++k) {
      const int counts = x[k] < threshold ? 1 : 0;
      weights += counts * weight[k];
      targets += counts * target[k];
      count += static_cast<std::size_t>(counts);
    }
    return {weights, targets, count};
  }
};

struct RandomSplit {
  std::size_t column = 0;
  float threshold = 0.0F;
  double score = -1.0;
};

class TreeGrower {
 public:
  TreeGrower(const TreeColumns& columns, std::size_t min_leaf, std::size_t tried, Rng rng)
      : columns_(columns),
        min_leaf_(min_leaf),
        tried_(tried),
        rng_(rng),
        rows_(columns.rows),
        order_(columns.cols),
        node_(columns.rows) {
    std::iota(rows_.begin(), rows_.end(), 0U);
    std::iota(order_.begin(), order_.end(), 0U);
  }

  /// Nodes in the order in which they were split: children come after their parent.
  TreeNodes grow() {
    TreeNodes tree;
    tree.root.push_back(0);
    tree.node.emplace_back();
    std::vector<Part> open = {{0, columns_.rows, 0, 0}};
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      const RandomSplit split = choose(part);
      if (split.score < 0.0) {
        tree.node[part.node].value = leaf_value(part);
        continue;
      }
      const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(part.first);
      const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(part.last);
      const auto middle = std::partition(first, last, [&](std::uint32_t row) {
        return columns_.at(row, split.column) < split.threshold;
      });
      const auto cut = static_cast<std::size_t>(middle - rows_.begin());
      const std::size_t left = tree.node.size();
      tree.node[part.node] = {static_cast<std::int32_t>(split.column), split.threshold,
                              static_cast<std::int32_t>(left), static_cast<std::int32_t>(left + 1)};
      tree.node.resize(left + 2);
      open.push_back({part.first, cut, left, part.depth + 1});
      open.push_back({cut, part.last, left + 1, part.depth + 1});
    }
    return tree;
  }

 private:
  struct Part {
    std::size_t first, last;  // of rows_
    std::size_t node;
    std::size_t depth;
  };

  std::span<const std::uint32_t> rows_of(const Part& part) const {
    return std::span<const std::uint32_t>(rows_).subspan(part.first, part.last - part.first);
  }

  float leaf_value(const Part& part) {
    node_.load(rows_of(part), columns_);
    return static_cast<float>(node_.all.target / node_.all.weight);
  }

  bool is_pure(const Part& part) const {
    const float first = (*columns_.y)[rows_[part.first]];
    return std::ranges::all_of(rows_of(part),
                               [&](std::uint32_t row) { return (*columns_.y)[row] == first; });
  }

  /// The best random split; a score below 0 means none.
  RandomSplit choose(const Part& part) {
    RandomSplit best;
    if (part.last - part.first < 2 * min_leaf_ || part.depth >= kDeepest || is_pure(part)) {
      return best;
    }
    node_.load(rows_of(part), columns_);
    // Columns are drawn until enough of them could be split.
    std::size_t looked_at = 0;
    for (std::size_t k = 0; k < columns_.cols && looked_at < tried_; ++k) {
      std::swap(order_[k], order_[k + rng_.below(columns_.cols - k)]);
      const std::size_t column = order_[k];
      node_.load_column(rows_of(part), columns_.column(column));
      const auto [low, high] = range_of(std::span(node_.x).first(node_.all.rows));
      if (!(low < high)) continue;
      ++looked_at;
      const RandomSplit split = {column, threshold_between(low, high), 0.0};
      if (const double score = score_of(split); score > best.score) {
        best = split;
        best.score = score;
      }
    }
    return best;
  }

  /// Above `low` and at most `high`, so that both sides have rows.
  float threshold_between(float low, float high) {
    const double at = rng_.uniform(static_cast<double>(low), static_cast<double>(high));
    const auto threshold = static_cast<float>(at);
    return threshold > low ? threshold : high;
  }

  double score_of(const RandomSplit& split) const {
    const SideSums left = node_.below(split.threshold);
    const SideSums right = node_.all - left;
    if (left.rows < min_leaf_ || right.rows < min_leaf_) return -1.0;
    return left.score() + right.score();
  }

  const TreeColumns& columns_;
  std::size_t min_leaf_;
  std::size_t tried_;
  Rng rng_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> order_;
  NodeRows node_;
};

}  // namespace

std::unique_ptr<Regressor> fit_extra_trees(const RegressionData& data, const Params& params,
                                           Seed seed, const Execution& how) {
  check_fit_input("extra_trees", data, params, kExtraTreesOptions);
  const std::size_t trees = params.count("trees", 100, 1, 100'000);
  const std::size_t min_leaf = params.count("min_leaf", 2, 1, 1'000'000'000);
  const double column_share = params.number("columns", 0.7, 1e-6, 1.0);
  const TreeTraining training(data, how);
  if (training.trivial()) return training.constant();
  const TreeColumns columns(training);
  const double wanted = std::round(column_share * static_cast<double>(columns.cols));
  const std::size_t tried = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));

  std::vector<TreeNodes> grown(trees);
  ParallelProgress progress(how, "extra trees", trees);
  parallel_for(how, trees, [&](std::size_t t) {
    grown[t] = TreeGrower(columns, min_leaf, tried, Rng(split(seed, t))).grow();
    progress.report(t, 1.0);
  });
  TreeNodes all;
  for (const TreeNodes& tree : grown) all.append(tree);
  const TreeOutput output{training.target.mean, training.target.scale / static_cast<double>(trees),
                          0.0};
  return std::make_unique<TreeEnsemble>(std::move(all), training.columns, output);
}

}  // namespace tare
