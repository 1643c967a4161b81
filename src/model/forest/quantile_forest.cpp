// SPDX-License-Identifier: BSD-3-Clause
#include "model/forest/quantile_forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "base/strings.h"
#include "io/tensor_store.h"
#include "math/weighted_quantile.h"
#include "model/forest/forest_tree.h"
#include "model/tree/tree_training.h"

namespace tare {
namespace {

constexpr std::size_t kForestBlock = 256;
constexpr std::size_t kMostForestRows = std::numeric_limits<std::int32_t>::max();

/// How often each row was drawn.
std::vector<std::uint32_t> draw_times(std::size_t rows, std::size_t draws, Rng& rng) {
  std::vector<std::uint32_t> times(rows, 0);
  for (std::size_t k = 0; k < draws; ++k) ++times[rng.below(rows)];
  return times;
}

std::vector<float> drawn_weights(std::span<const float> weight,
                                 std::span<const std::uint32_t> times) {
  std::vector<float> drawn(weight.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    drawn[i] = weight[i] * static_cast<float>(times[i]);
  }
  return drawn;
}

std::vector<std::uint32_t> order_by_target(std::span<const double> y) {
  std::vector<std::uint32_t> order(y.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return y[a] < y[b]; });
  return order;
}

/// The rows of each leaf of one tree, as ranks of their targets, each as often as `times` says:
/// fills `rank`, leaf after leaf, and returns how many each leaf has, leaves in the order of the
/// nodes.
std::vector<std::int32_t> fill_leaves(const TreeNodes& tree, const TreeTraining& training,
                                      std::span<const std::uint32_t> by_target,
                                      std::span<const std::uint32_t> times,
                                      std::span<std::int32_t> rank) {
  std::vector<std::int32_t> end(by_target.size());
  find_tree_ends(tree, 0, training.x, training.columns.shift.size(), end);
  std::vector<std::int32_t> next(tree.node.size(), 0);
  for (std::size_t i = 0; i < end.size(); ++i) {
    next[static_cast<std::size_t>(end[i])] += static_cast<std::int32_t>(times[i]);
  }
  std::vector<std::int32_t> leaves;
  std::int32_t placed = 0;
  for (std::size_t k = 0; k < tree.node.size(); ++k) {
    if (tree.node[k].feature >= 0) continue;
    leaves.push_back(next[k]);
    placed += std::exchange(next[k], placed);
  }
  for (std::size_t r = 0; r < by_target.size(); ++r) {
    const std::uint32_t row = by_target[r];
    std::int32_t& place = next[static_cast<std::size_t>(end[row])];
    for (std::uint32_t k = 0; k < times[row]; ++k) {
      rank[static_cast<std::size_t>(place++)] = static_cast<std::int32_t>(r);
    }
  }
  return leaves;
}

}  // namespace

QuantileForestOptions QuantileForestOptions::parse(const Params& params) {
  QuantileForestOptions options;
  options.trees = params.count("trees", options.trees, 1, 100'000);
  options.min_leaf = params.count("min_leaf", options.min_leaf, 1, 1'000'000'000);
  options.columns = params.number("columns", options.columns, 1e-6, 1.0);
  options.rows = params.number("rows", options.rows, 1e-6, 1.0);
  const std::string kept = params.text("leaf_rows", "drawn");
  if (canonical_name(kept) == "all") {
    options.leaf_rows = LeafRowsRule::kAll;
  } else if (canonical_name(kept) != "drawn") {
    fail_option("leaf_rows", kept, "leaf_rows is drawn or all");
  }
  return options;
}

QuantileForest QuantileForest::fit(const RegressionData& data, const QuantileForestOptions& options,
                                   Seed seed, const Execution& how) {
  check_fit_input("quantile forest", data, {}, {});
  const std::size_t rows = data.y.size();
  if (rows > kMostForestRows) {
    fail(ErrorCode::kInvalidArgument, "quantile forest: {} rows, at most {} are possible", rows,
         kMostForestRows);
  }
  const TreeTraining training(data, how);
  const std::vector<std::uint32_t> by_target = order_by_target(data.y);
  QuantileForest forest;
  for (const std::uint32_t row : by_target) forest.target_.push_back(data.y[row]);
  if (std::ranges::any_of(training.weight, [&](float w) { return w != training.weight[0]; })) {
    for (const std::uint32_t row : by_target) forest.weight_.push_back(training.weight[row]);
  }
  // A tree without a split would be repeated.
  const std::size_t trees = training.trivial() ? 1 : options.trees;
  const auto share_of = [](double share, std::size_t all) {
    const double wanted = std::round(share * static_cast<double>(all));
    return std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
  };
  const std::size_t draws = share_of(options.rows, rows);
  const bool keep_all = training.trivial() || options.leaf_rows == LeafRowsRule::kAll;
  const std::vector<std::uint32_t> once(rows, 1);
  forest.kept_ = keep_all ? rows : draws;
  std::vector<TreeNodes> grown(trees);
  std::vector<std::vector<std::int32_t>> leaf_rows(trees);
  std::vector<std::int32_t> rank(trees * forest.kept_);
  if (training.trivial()) {
    grown[0] = {{TreeNode{}}, {0}};
    leaf_rows[0] = fill_leaves(grown[0], training, by_target, once, rank);
  } else {
    const SortedColumns columns(training.x, data.x.cols(), how);
    const ForestTreeShape shape{options.min_leaf, share_of(options.columns, data.x.cols())};
    ParallelProgress progress(how, "quantile forest", trees);
    parallel_for(how, trees, [&](std::size_t t) {
      Rng rng(split(seed, t));
      const std::vector<std::uint32_t> times = draw_times(rows, draws, rng);
      grown[t] =
          grow_forest_tree(columns, training.y, drawn_weights(training.weight, times), shape, rng);
      leaf_rows[t] = fill_leaves(grown[t], training, by_target, keep_all ? once : times,
                                 std::span(rank).subspan(t * forest.kept_, forest.kept_));
      progress.report(t, 1.0);
    });
  }
  TreeNodes all;
  for (const TreeNodes& tree : grown) all.append(tree);
  forest.trees_ = std::make_unique<TreeEnsemble>(std::move(all), training.columns, TreeOutput{});
  forest.rank_ = Buffer<std::int32_t>(std::move(rank));
  forest.keep_rows(leaf_rows);
  forest.weigh_leaves();
  return forest;
}

void QuantileForest::keep_rows(const std::vector<std::vector<std::int32_t>>& leaf_rows) {
  const TreeNodes& nodes = trees_->nodes();
  leaf_.resize(nodes.node.size());
  for (std::size_t t = 0; t < nodes.root.size(); ++t) {
    std::uint32_t placed = 0;
    auto node = static_cast<std::size_t>(nodes.root[t]);
    for (const std::int32_t count : leaf_rows[t]) {
      while (nodes.node[node].feature >= 0) ++node;
      leaf_[node] = {placed, static_cast<std::uint32_t>(count)};
      placed += static_cast<std::uint32_t>(count);
      ++node;
    }
  }
}

void QuantileForest::weigh_leaves() {
  if (weight_.empty()) return;
  unit_.resize(leaf_.size());
  const std::vector<std::int32_t>& root = trees_->nodes().root;
  std::size_t tree = 0;
  for (std::size_t node = 0; node < leaf_.size(); ++node) {
    if (tree + 1 < root.size() && node == static_cast<std::size_t>(root[tree + 1])) ++tree;
    double sum = 0.0;
    for (std::size_t k = 0; k < leaf_[node].count; ++k) {
      const std::int32_t rank = rank_[tree * kept_ + leaf_[node].first + k];
      sum += static_cast<double>(weight_[static_cast<std::size_t>(rank)]);
    }
    unit_[node] = sum > 0.0 ? 1.0 / sum : 0.0;
  }
}

/// Answers of one thread, row after row; what they need is kept between them.
class QuantileForest::Answers {
 public:
  Answers(const QuantileForest& forest, std::span<const Level> levels)
      : forest_(forest),
        leaf_ranks_(forest.trees()),
        weight_(forest.target_.size(), 0.0),
        touched_(weight_.size() / 64 + 1, 0) {
    // Each tree's weights sum to 1.
    const auto total = static_cast<double>(forest.trees());
    for (const Level& level : levels) {
      reach_.push_back(level_target(level, total, WeightType::kReal));
    }
  }

  /// `ends`: the node in which the row ends in each tree.
  void answer(std::span<const std::int32_t> ends, std::span<double> out) {
    // Leaves lie far apart: all of them are on their way before the first is read.
    for (std::size_t t = 0; t < ends.size(); ++t) {
      const LeafRows leaf = forest_.leaf_[static_cast<std::size_t>(ends[t])];
      leaf_ranks_[t] = forest_.rank_.span().subspan(t * forest_.kept_ + leaf.first, leaf.count);
      __builtin_prefetch(leaf_ranks_[t].data());
    }
    for (std::size_t t = 0; t < ends.size(); ++t) {
      if (forest_.weight_.empty()) {
        const double each = 1.0 / static_cast<double>(leaf_ranks_[t].size());
        for (const std::int32_t rank : leaf_ranks_[t]) add(static_cast<std::size_t>(rank), each);
      } else {
        const double unit = forest_.unit_[static_cast<std::size_t>(ends[t])];
        for (const std::int32_t rank : leaf_ranks_[t]) {
          const auto at = static_cast<std::size_t>(rank);
          add(at, unit * static_cast<double>(forest_.weight_[at]));
        }
      }
    }
    collect(out);
  }

 private:
  void add(std::size_t rank, double weight) {
    weight_[rank] += weight;
    touched_[rank / 64] |= std::uint64_t{1} << (rank % 64);
  }

  /// Goes through the targets that have a weight, in order, and takes the weights back.
  void collect(std::span<double> out) {
    double reached = 0.0;
    double last = forest_.target_.front();
    std::size_t answered = 0;
    for (std::size_t group = 0; group < touched_.size(); ++group) {
      std::uint64_t left = std::exchange(touched_[group], 0);
      for (; left != 0; left &= left - 1) {
        const std::size_t rank = group * 64 + static_cast<std::size_t>(std::countr_zero(left));
        reached += std::exchange(weight_[rank], 0.0);
        last = forest_.target_[rank];
        while (answered < out.size() && reached >= reach_[answered]) out[answered++] = last;
      }
    }
    // Rounding can leave a level out of reach of the last row.
    while (answered < out.size()) out[answered++] = last;
  }

  const QuantileForest& forest_;
  std::vector<std::span<const std::int32_t>> leaf_ranks_;  // of the query's leaf in each tree
  std::vector<double> weight_;          // of each target, in order; 0 between two answers
  std::vector<std::uint64_t> touched_;  // a bit for each target: whether it has a weight
  std::vector<double> reach_;           // the cumulative weight that each level asks for
};

void QuantileForest::predict(MatrixView x, std::span<const Level> levels, MatrixSpan out,
                             const Execution& how) const {
  if (x.cols() != features() || out.rows() != x.rows() || out.cols() != levels.size()) {
    fail(ErrorCode::kShapeMismatch,
         "quantile forest: {} x {} rows and columns and {} x {} places for {} features", x.rows(),
         x.cols(), out.rows(), out.cols(), features());
  }

  parallel_blocks(how, x.rows(), kForestBlock, [&](std::size_t first, std::size_t last) {
    std::vector<std::int32_t> ends((last - first) * trees());
    trees_->leaves(x.middle_rows(first, last - first), ends, one_thread());
    Answers answers(*this, levels);
    for (std::size_t i = first; i < last; ++i) {
      answers.answer(std::span<const std::int32_t>(ends).subspan((i - first) * trees(), trees()),
                     out.row(i));
    }
  });
}

void QuantileForest::save(const TensorWriter& out) const {
  trees_->save(out.part("trees"));
  out.tensor("target", target_);
  out.tensor("weight", weight_);
  std::vector<std::int32_t> leaf_rows;
  for (const LeafRows& leaf : leaf_) {
    if (leaf.count > 0) leaf_rows.push_back(static_cast<std::int32_t>(leaf.count));
  }
  out.tensor("leaf_rows", leaf_rows);
  out.tensor<std::int32_t>("rank", rank_.span(), {trees(), kept_});
}

QuantileForest QuantileForest::load(const TensorReader& in) {
  QuantileForest forest;
  std::unique_ptr<Regressor> trees = load_trees(in.part("trees"));
  // load_trees makes nothing else.
  forest.trees_.reset(static_cast<TreeEnsemble*>(trees.release()));
  forest.target_ = in.list<double>("target", Must::kAscend);
  forest.weight_ = in.list<float>("weight", Must::kBePositive);
  const std::size_t rows = forest.target_.size();
  if (forest.trees() == 0 || rows == 0 || rows > kMostForestRows ||
      (!forest.weight_.empty() && forest.weight_.size() != rows)) {
    fail(ErrorCode::kCorruptFile, "the model file's forest has {} trees, {} targets, {} weights",
         forest.trees(), rows, forest.weight_.size());
  }
  const Shape shape = in.shape("rank");
  if (shape.size() != 2 || shape[0] != forest.trees() || shape[1] == 0 ||
      shape[1] > kMostForestRows) {
    fail(ErrorCode::kCorruptFile, "the model file's leaves are not those of {} trees",
         forest.trees());
  }
  forest.kept_ = shape[1];
  forest.rank_ = in.tensor<std::int32_t>("rank", shape);
  for (const std::int32_t rank : forest.rank_.span()) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= rows) {
      fail(ErrorCode::kCorruptFile, "the model file's forest names target {} of {}", rank, rows);
    }
  }

  const std::vector<std::int32_t> counts = in.list<std::int32_t>("leaf_rows", Must::kBePositive);
  const TreeNodes& nodes = forest.trees_->nodes();
  std::vector<std::vector<std::int32_t>> leaf_rows(forest.trees());
  std::size_t next = 0;
  for (std::size_t t = 0; t < leaf_rows.size(); ++t) {
    const bool is_last = t + 1 == leaf_rows.size();
    const auto end = is_last ? nodes.node.size() : static_cast<std::size_t>(nodes.root[t + 1]);
    std::size_t placed = 0;
    for (auto k = static_cast<std::size_t>(nodes.root[t]); k < end; ++k) {
      if (nodes.node[k].feature >= 0) continue;
      if (next == counts.size()) break;
      leaf_rows[t].push_back(counts[next]);
      placed += static_cast<std::size_t>(counts[next++]);
    }
    if (placed != forest.kept_ || (is_last && next != counts.size())) {
      fail(ErrorCode::kCorruptFile, "the model file's tree {} has {} rows of {} in its leaves", t,
           placed, forest.kept_);
    }
  }
  forest.keep_rows(leaf_rows);
  forest.weigh_leaves();
  return forest;
}

}  // namespace tare
