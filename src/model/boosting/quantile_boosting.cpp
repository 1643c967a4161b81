// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/quantile_boosting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "io/tensor_store.h"
#include "model/boosting/quantile_booster.h"
#include "model/tree/tree_training.h"

namespace tare {
namespace {

constexpr std::size_t kPredictBlock = 256;
constexpr double kStopShare = 0.15;
constexpr std::size_t kMaxBoostedLevels = 100'000;

/// Which part of the rows each row is in; part m is held out by member m, part `members` by none.
std::vector<std::size_t> parts_of_rows(std::size_t rows, std::size_t members, Seed seed) {
  Rng rng(seed);
  const std::vector<std::size_t> order = random_permutation(rows, rng);
  std::vector<std::size_t> part(rows);
  const auto held_out = static_cast<std::size_t>(kStopShare * static_cast<double>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    part[order[i]] = members > 1 ? i % members : (i < held_out ? 0U : 1U);
  }
  return part;
}

}  // namespace

QuantileBoostingOptions QuantileBoostingOptions::parse(const Params& params) {
  QuantileBoostingOptions options;
  options.rounds = params.count("rounds", options.rounds, 1, 100'000);
  options.learning_rate = params.number("learning_rate", options.learning_rate, 1e-6, 1.0);
  if (params.text("depth", "auto") != "auto") options.depth = params.count("depth", 4, 1, 16);
  options.min_leaf = params.number("min_leaf", options.min_leaf, 0.0, 1e9);
  options.rows = params.number("rows", options.rows, 1e-6, 1.0);
  options.shrink = params.number("shrink", options.shrink, 0.0, 1e9);
  options.members = params.count("members", options.members, 1, 1000);
  options.patience = params.count("patience", options.patience, 1, 100'000);
  return options;
}

QuantileBoosting QuantileBoosting::fit(const RegressionData& data, std::span<const Level> levels,
                                       const QuantileBoostingOptions& options, Seed seed,
                                       const Execution& how, std::span<const std::uint8_t> stops) {
  check_fit_input("quantile boosting", data, {}, {});
  const TreeTraining training(data, how);
  QuantileBoosting model;
  model.mean_ = training.target.mean;
  model.scale_ = training.target.scale;
  model.base_.assign(levels.size(), 0.0);
  TreeNodes nodes;
  if (std::ranges::all_of(training.y, [](float y) { return y == 0.0F; })) {
    model.trees_ = std::make_unique<TreeEnsemble>(nodes, training.columns, TreeOutput{});
    return model;
  }

  QuantileBoostingOptions used = options;
  if (used.depth == 0) used.depth = std::min<std::size_t>(4, data.x.cols() + 1);
  const std::size_t members = std::min(options.members, std::max<std::size_t>(1, data.y.size()));
  std::vector<std::size_t> parts;
  for (const std::uint8_t stop : stops) parts.push_back(stop == 1 ? 0U : 1U);
  if (stops.empty()) parts = parts_of_rows(data.y.size(), members, split(seed, 0));
  const BoosterRows rows(training, std::move(parts), how);
  std::vector<BoosterResult> grown(members);
  const auto share = 1.0 / static_cast<double>(members);
  parallel_for(how, members, [&](std::size_t m) {
    // One member reports for all, since two must not report at once.
    grown[m] =
        boost_quantiles(rows, levels, used, {m, split(seed, 1 + m)}, m == 0 ? how : Execution{});
  });
  for (const BoosterResult& member : grown) {
    for (std::size_t k = 0; k < levels.size(); ++k) model.base_[k] += share * member.base[k];
    for (const float value : member.leaf) {
      model.leaf_.push_back(static_cast<float>(share) * value);
    }
    nodes.append(member.nodes);
  }
  model.trees_ = std::make_unique<TreeEnsemble>(std::move(nodes), training.columns, TreeOutput{});
  model.number_leaves();
  return model;
}

void QuantileBoosting::number_leaves() {
  std::int32_t leaves = 0;
  for (const TreeNode& node : trees_->nodes().node) {
    leaf_of_node_.push_back(node.feature < 0 ? leaves++ : -1);
  }
}

void QuantileBoosting::predict(MatrixView x, MatrixSpan out, const Execution& how) const {
  if (x.cols() != features() || out.rows() != x.rows() || out.cols() != levels()) {
    fail(ErrorCode::kShapeMismatch,
         "quantile boosting: {} x {} rows and columns and {} x {} places for {} features", x.rows(),
         x.cols(), out.rows(), out.cols(), features());
  }

  parallel_blocks(how, x.rows(), kPredictBlock, [&](std::size_t first, std::size_t last) {
    const std::size_t count = last - first;
    std::vector<std::int32_t> ends(count * trees());
    trees_->leaves(x.middle_rows(first, count), ends, {.threads = 1, .progress = {}});
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<double> row = out.row(first + i);
      std::ranges::copy(base_, row.begin());
      for (std::size_t t = 0; t < trees(); ++t) {
        const auto node = static_cast<std::size_t>(ends[i * trees() + t]);
        const float* leaf = leaf_.data() + static_cast<std::size_t>(leaf_of_node_[node]) * levels();
        for (std::size_t k = 0; k < row.size(); ++k) row[k] += static_cast<double>(leaf[k]);
      }
      for (double& value : row) value = mean_ + scale_ * value;
      std::ranges::sort(row);
    }
  });
}

void QuantileBoosting::save(const TensorWriter& out) const {
  trees_->save(out.part("trees"));
  out.tensor<float>("leaf", leaf_, {leaf_.size() / levels(), levels()});
  out.tensor("base", base_);
  out.value("mean", mean_);
  out.value("scale", scale_);
}

QuantileBoosting QuantileBoosting::load(const TensorReader& in) {
  QuantileBoosting model;
  std::unique_ptr<Regressor> trees = load_trees(in.part("trees"));
  // load_trees makes nothing else.
  model.trees_.reset(static_cast<TreeEnsemble*>(trees.release()));
  model.number_leaves();
  const auto leaves = static_cast<std::size_t>(
      std::ranges::count_if(model.leaf_of_node_, [](std::int32_t leaf) { return leaf >= 0; }));
  const Shape shape = {in.length("base")};
  if (shape[0] == 0 || shape[0] > kMaxBoostedLevels) {
    fail(ErrorCode::kCorruptFile, "the model file's boosted levels are not a list");
  }
  model.base_ = in.values<double>("base", shape);
  model.leaf_ = in.values<float>("leaf", {leaves, shape[0]});
  model.mean_ = in.get<double>("mean");
  model.scale_ = in.get<double>("scale");
  // No answer can be further from 0 than this, in units of the target; NaN anywhere makes it NaN.
  double base = 0.0, leaf = 0.0;
  for (const double value : model.base_) base += std::abs(value);
  for (const float value : model.leaf_) leaf += std::abs(static_cast<double>(value));
  if (!std::isfinite(std::abs(model.mean_) + std::abs(model.scale_) * (base + leaf)) ||
      !(model.scale_ > 0.0)) {
    fail(ErrorCode::kCorruptFile, "the model file's boosted quantiles are not finite");
  }
  return model;
}

}  // namespace tare
