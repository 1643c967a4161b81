// SPDX-License-Identifier: BSD-3-Clause
#include "model/natural/natural_boosting.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "data/rows.h"
#include "io/tensor_store.h"
#include "math/bounded.h"
#include "model/natural/natural_gradient.h"
#include "model/tree/binned_rows.h"
#include "model/tree/gradient_tree.h"
#include "model/tree/tree_training.h"

namespace tare {
namespace {

// A step of 2^-30 moves no parameter that matters.
constexpr int kMostHalvings = 30;

/// Rows and what is known about them so far.
struct NaturalRows {
  std::vector<float> x;  // row-major
  std::vector<double> y;
  std::vector<float> weight;
  std::vector<NormalParameters> theta;

  double score_after(std::size_t row, const NormalParameters& move) const {
    const NormalParameters& own = theta[row];
    return static_cast<double>(weight[row]) *
           log_score({own[0] + move[0], own[1] + move[1]}, y[row]);
  }
  double score(std::size_t row) const { return score_after(row, {0.0, 0.0}); }
};

/// One tree for each parameter; ends[p][i] is the node of row i.
struct NaturalStep {
  std::array<TreeNodes, 2> tree;
  std::array<std::vector<std::int32_t>, 2> ends;

  double value(std::size_t parameter, std::size_t row) const {
    const auto end = static_cast<std::size_t>(ends[parameter][row]);
    return static_cast<double>(tree[parameter].node[end].value);
  }
};

class NaturalTrainer {
 public:
  NaturalTrainer(NaturalRows training, NaturalRows left_out, std::size_t cols,
                 const NaturalBoostingOptions& options, Seed seed, const Execution& how)
      : rows_(std::move(training)),
        left_out_(std::move(left_out)),
        cols_(cols),
        options_(options),
        how_(how),
        rng_(seed),
        binned_(rows_.x, cols, how),
        used_(all_rows(rows_.y.size())) {}

  /// The trees of all rounds, or of the best one.
  std::array<TreeNodes, 2> train() {
    std::size_t best = 0;
    double lowest = left_out_score();
    for (std::size_t round = 1; round <= options_.rounds; ++round) {
      if (how_.stop != nullptr && how_.stop->load()) throw Stopped();
      if (!add_round()) break;
      if (how_.progress) {
        how_.progress("natural gradient boosting",
                      static_cast<double>(round) / static_cast<double>(options_.rounds));
      }
      if (left_out_.y.empty()) {
        best = round;
      } else if (const double now = left_out_score(); now < lowest) {
        lowest = now;
        best = round;
      } else if (round - best >= options_.patience) {
        break;
      }
    }
    for (TreeNodes& trees : trees_) {
      if (best >= trees.root.size()) continue;
      trees.node.resize(static_cast<std::size_t>(trees.root[best]));
      trees.root.resize(best);
    }
    return std::move(trees_);
  }

 private:
  double left_out_score() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < left_out_.y.size(); ++i) sum += left_out_.score(i);
    return sum;
  }

  void draw_batch() {
    if (options_.rows >= 1.0) return;
    const auto all = static_cast<double>(rows_.y.size());
    const auto wanted = static_cast<std::size_t>(options_.rows * all);
    used_ = random_permutation(rows_.y.size(), rng_);
    used_.resize(std::max<std::size_t>(1, wanted));
    std::ranges::sort(used_);  // sums are taken in the order of the rows
  }

  bool add_round() {
    draw_batch();
    NaturalStep step;
    std::vector<float> gradients[2];
    for (std::vector<float>& of_parameter : gradients) {
      of_parameter.assign(2 * rows_.y.size(), 0.0F);
    }
    for (const std::size_t i : used_) {
      const NormalParameters gradient = natural_gradient(rows_.theta[i], rows_.y[i]);
      for (std::size_t p = 0; p < 2; ++p) {
        const auto own = static_cast<float>(gradient[p]);
        gradients[p][2 * i] = rows_.weight[i] * own;
        gradients[p][2 * i + 1] = rows_.weight[i];
      }
    }
    parallel_for(how_, 2, [&](std::size_t p) {
      step.tree[p] =
          grow_tree(binned_, {gradients[p], 2}, used_, {options_.depth, options_.min_leaf});
      step.ends[p].resize(rows_.y.size());
      find_tree_ends(step.tree[p], 0, rows_.x, cols_, step.ends[p]);
      set_leaves(step.tree[p], step.ends[p], gradients[p]);
    });
    const double length = step_length(step);
    if (length == 0.0) return false;
    take(step, -options_.learning_rate * length);
    return true;
  }

  /// Each leaf predicts the mean gradient of its rows.
  void set_leaves(TreeNodes& tree, std::span<const std::int32_t> ends,
                  std::span<const float> gradients) const {
    std::vector<double> sum(tree.node.size(), 0.0), weight(tree.node.size(), 0.0);
    for (const std::size_t i : used_) {
      const auto end = static_cast<std::size_t>(ends[i]);
      sum[end] += static_cast<double>(gradients[2 * i]);
      weight[end] += static_cast<double>(gradients[2 * i + 1]);
    }
    for (std::size_t k = 0; k < tree.node.size(); ++k) {
      if (tree.node[k].feature >= 0 || !(weight[k] > 0.0)) continue;
      tree.node[k].value = static_cast<float>(sum[k] / weight[k]);
    }
  }

  /// 1, 1/2, 1/4, ...: the first that lowers the score; 0 where none does.
  double step_length(const NaturalStep& step) const {
    double before = 0.0;
    for (const std::size_t i : used_) before += rows_.score(i);
    double length = 1.0;
    for (int halving = 0; halving <= kMostHalvings; ++halving, length *= 0.5) {
      double after = 0.0;
      for (const std::size_t i : used_) {
        after += rows_.score_after(i, {-length * step.value(0, i), -length * step.value(1, i)});
      }
      if (after < before) return length;
    }
    return 0.0;
  }

  /// Leaves are floats in the model, so the rows move by floats as well.
  void take(NaturalStep& step, double factor) {
    for (std::size_t p = 0; p < 2; ++p) {
      for (TreeNode& node : step.tree[p].node) {
        if (node.feature < 0) {
          node.value = static_cast<float>(factor * static_cast<double>(node.value));
        }
      }
      for (std::size_t i = 0; i < rows_.y.size(); ++i) rows_.theta[i][p] += step.value(p, i);
      std::vector<std::int32_t> ends(left_out_.y.size());
      find_tree_ends(step.tree[p], 0, left_out_.x, cols_, ends);
      for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = static_cast<std::size_t>(ends[i]);
        left_out_.theta[i][p] += static_cast<double>(step.tree[p].node[end].value);
      }
      trees_[p].append(step.tree[p]);
    }
  }

  NaturalRows rows_, left_out_;
  const std::size_t cols_;
  const NaturalBoostingOptions& options_;
  const Execution& how_;
  Rng rng_;
  const BinnedRows binned_;
  std::vector<std::size_t> used_;  // the rows of a round
  std::array<TreeNodes, 2> trees_;
};

/// Rows of the training in the units of `target`, which start as N(0, 1).
NaturalRows natural_rows(const RegressionData& data, std::span<const std::size_t> rows,
                         const FloatColumns& columns, const Standard& target) {
  NaturalRows some;
  some.x = columns.convert_all(take_rows(data.x, rows));
  double total = 0.0;
  for (const std::size_t i : rows) total += data.weight.empty() ? 1.0 : data.weight[i];
  for (const std::size_t i : rows) {
    some.y.push_back(standardised(data.y[i], target));
    const double share =
        data.weight.empty() ? 1.0 : data.weight[i] / total * static_cast<double>(rows.size());
    some.weight.push_back(static_cast<float>(std::max(share, 1e-30)));
  }
  some.theta.assign(rows.size(), {0.0, 0.0});
  return some;
}

}  // namespace

NaturalBoostingOptions NaturalBoostingOptions::parse(const Params& params) {
  NaturalBoostingOptions options;
  options.rounds = params.count("rounds", options.rounds, 1, 100'000);
  options.learning_rate = params.number("learning_rate", options.learning_rate, 1e-6, 1.0);
  options.depth = params.count("depth", options.depth, 1, 16);
  options.min_leaf = params.number("min_leaf", options.min_leaf, 0.0, 1e9);
  options.rows = params.number("rows", options.rows, 1e-6, 1.0);
  options.validation = params.number("validation", options.validation, 0.0, 0.9);
  options.patience = params.count("patience", options.patience, 1, 100'000);
  return options;
}

NaturalBoosting NaturalBoosting::fit(const RegressionData& data,
                                     const NaturalBoostingOptions& options, Seed seed,
                                     const Execution& how) {
  check_fit_input("natural boosting", data, {}, {});
  Rng rng(split(seed, 0));
  std::vector<std::size_t> order = random_permutation(data.y.size(), rng);
  const auto held =
      static_cast<std::size_t>(options.validation * static_cast<double>(order.size()));
  std::vector<std::size_t> left_out(order.begin(),
                                    order.begin() + static_cast<std::ptrdiff_t>(held));
  std::vector<std::size_t> kept(order.begin() + static_cast<std::ptrdiff_t>(held), order.end());
  std::ranges::sort(left_out);
  std::ranges::sort(kept);

  const std::vector<double> weight = take_rows(data.weight, kept);
  const Standard target = standardise(
      kept.size(), [&](std::size_t i) { return data.y[kept[i]]; }, weight);
  const FloatColumns columns = FloatColumns::learn(take_rows(data.x, kept), how);
  const bool constant =
      std::ranges::all_of(kept, [&](std::size_t i) { return data.y[i] == data.y[kept.front()]; });
  std::array<TreeNodes, 2> trees;
  if (!constant && data.x.cols() > 0) {
    trees = NaturalTrainer(natural_rows(data, kept, columns, target),
                           natural_rows(data, left_out, columns, target), data.x.cols(), options,
                           split(seed, 1), how)
                .train();
  }
  NaturalBoosting model;
  model.unit_ = constant ? 0.0 : target.scale;
  model.mean_ = std::make_unique<TreeEnsemble>(std::move(trees[0]), columns,
                                               TreeOutput{target.mean, target.scale, 0.0});
  model.log_sd_ = std::make_unique<TreeEnsemble>(std::move(trees[1]), columns, TreeOutput{});
  return model;
}

Gaussians NaturalBoosting::predict(MatrixView x, const Execution& how) const {
  Gaussians laws{std::vector<double>(x.rows()), std::vector<double>(x.rows())};
  mean_->predict(x, laws.mean, how);
  log_sd_->predict(x, laws.sd, how);
  for (double& mean : laws.mean) mean = bounded(mean);
  for (double& sd : laws.sd) sd = bounded(unit_ * std::exp(limited_log_sd(sd)));
  return laws;
}

void NaturalBoosting::save(const TensorWriter& out) const {
  out.value("unit", unit_);
  mean_->save(out.part("mean"));
  log_sd_->save(out.part("log_sd"));
}

NaturalBoosting NaturalBoosting::load(const TensorReader& in) {
  NaturalBoosting model;
  model.unit_ = in.get<double>("unit");
  // load_trees makes nothing else.
  model.mean_.reset(static_cast<TreeEnsemble*>(load_trees(in.part("mean")).release()));
  model.log_sd_.reset(static_cast<TreeEnsemble*>(load_trees(in.part("log_sd")).release()));
  if (model.mean_->features() != model.log_sd_->features() ||
      model.mean_->trees() != model.log_sd_->trees() || !(model.unit_ >= 0.0)) {
    fail(ErrorCode::kCorruptFile,
         "the model file has {} trees on {} features for means, {} on {} for sds, in units of {}",
         model.mean_->trees(), model.mean_->features(), model.log_sd_->trees(),
         model.log_sd_->features(), model.unit_);
  }
  return model;
}

}  // namespace tare
