// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/quantile_booster.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "math/pinball.h"
#include "model/tree/gradient_tree.h"

namespace tare {
namespace {

constexpr std::size_t kRoundsWithoutStop = 50;

enum class Weights { kEqual, kDiffer };

struct Weighted {
  float value = 0.0F;
  float weight = 1.0F;
};

/// The smallest value at which the weight reaches tau of all. Reorders the sample.
float quantile(std::vector<Weighted>& sample, const Level& tau, Weights weights) {
  const auto less = [](const Weighted& a, const Weighted& b) { return a.value < b.value; };
  if (weights == Weights::kEqual) {
    const auto place = sample.begin() + static_cast<std::ptrdiff_t>(tau.rank(sample.size())) - 1;
    std::nth_element(sample.begin(), place, sample.end(), less);
    return place->value;
  }
  std::stable_sort(sample.begin(), sample.end(), less);
  double total = 0.0;
  for (const Weighted& item : sample) total += static_cast<double>(item.weight);
  double reached = 0.0;
  for (const Weighted& item : sample) {
    reached += static_cast<double>(item.weight);
    if (reached >= tau.value() * total) return item.value;
  }
  return sample.back().value;
}

/// Which leaf of a tree a row ends in; leaves are counted in the order of the nodes.
class LeafFinder {
 public:
  explicit LeafFinder(const TreeNodes& tree) : node_(tree.node), number_(tree.node.size()) {
    for (std::size_t k = 0; k < node_.size(); ++k) {
      if (node_[k].feature < 0) number_[k] = leaves_++;
    }
  }
  std::size_t leaves() const noexcept { return leaves_; }
  std::size_t of(const float* row) const {
    std::size_t at = 0;
    while (node_[at].feature >= 0) {
      const TreeNode& node = node_[at];
      at = static_cast<std::size_t>(row[node.feature] < node.value ? node.left : node.right);
    }
    return number_[at];
  }

 private:
  std::span<const TreeNode> node_;
  std::vector<std::size_t> number_;
  std::size_t leaves_ = 0;
};

class Trainer {
 public:
  Trainer(const BoosterRows& rows, std::span<const Level> levels,
          const QuantileBoostingOptions& options, const BoosterMember& member)
      : rows_(rows), levels_(levels), options_(options), rng_(member.seed) {
    for (std::size_t i = 0; i < rows.y.size(); ++i) {
      (rows.part[i] == member.part ? held_out_ : kept_).push_back(i);
    }
    if (kept_.empty()) std::swap(kept_, held_out_);
    if (std::ranges::any_of(rows.weight, [](float w) { return w != 1.0F; })) {
      weights_ = Weights::kDiffer;
    }
    for (const Level& level : levels) {
      const double tau = level.value();
      const double unit = 1.0 / std::sqrt(tau * (1.0 - tau));
      above_.push_back(static_cast<float>(unit * (1.0 - tau)));
      below_.push_back(static_cast<float>(-unit * tau));
    }
    gradients_.assign(rows.y.size() * (levels.size() + 1), 0.0F);
    fitted_.resize(rows.y.size() * levels.size());
    start();
  }

  BoosterResult train(const Execution& how) {
    const bool blind = held_out_.empty();
    const std::size_t rounds =
        blind ? std::min(options_.rounds, kRoundsWithoutStop) : options_.rounds;
    std::size_t best = 0, best_leaves = 0;
    double lowest = held_out_loss();
    for (std::size_t round = 1; round <= rounds; ++round) {
      add_tree();
      if (how.progress) {
        how.progress("boosting quantiles",
                     static_cast<double>(round) / static_cast<double>(rounds));
      }
      const double now = held_out_loss();
      if (blind || now < lowest) {
        lowest = now;
        best = round;
        best_leaves = result_.leaf.size();
      } else if (round - best >= options_.patience) {
        break;
      }
    }
    TreeNodes& nodes = result_.nodes;
    if (best < nodes.root.size()) {
      nodes.node.resize(static_cast<std::size_t>(nodes.root[best]));
      nodes.root.resize(best);
    }
    result_.leaf.resize(best_leaves);
    return std::move(result_);
  }

 private:
  void start() {
    std::vector<Weighted> sample;
    for (const Level& level : levels_) {
      sample.clear();
      for (const std::size_t i : kept_) sample.push_back({rows_.y[i], rows_.weight[i]});
      const float base = quantile(sample, level, weights_);
      result_.base.push_back(static_cast<double>(base));
    }
    for (std::size_t i = 0; i < rows_.y.size(); ++i) {
      for (std::size_t k = 0; k < levels_.size(); ++k) {
        fitted_[i * levels_.size() + k] = static_cast<float>(result_.base[k]);
      }
    }
  }

  double held_out_loss() const {
    double sum = 0.0;
    for (const std::size_t i : held_out_) {
      double row = 0.0;
      for (std::size_t k = 0; k < levels_.size(); ++k) {
        const double error = static_cast<double>(rows_.y[i] - fitted_[i * levels_.size() + k]);
        const double tau = levels_[k].value();
        row += pinball_of_error(error, tau);
      }
      sum += static_cast<double>(rows_.weight[i]) * row;
    }
    return sum;
  }

  /// The pinball loss's gradients, divided by their standard deviation at a correct quantile, so
  /// that outer levels have the same influence on splits.
  void set_gradients(std::span<const std::size_t> rows) {
    const std::size_t count = levels_.size();
    for (const std::size_t i : rows) {
      float* row = gradients_.data() + i * (count + 1);
      const float* fitted = fitted_.data() + i * count;
      const float y = rows_.y[i];
      const float weight = rows_.weight[i];
      for (std::size_t k = 0; k < count; ++k) {
        row[k] = weight * (y <= fitted[k] ? above_[k] : below_[k]);
      }
      row[count] = weight;
    }
  }

  void add_tree() {
    std::vector<std::size_t> drawn;
    for (const std::size_t i : kept_) {
      if (options_.rows >= 1.0 || rng_.uniform() < options_.rows) drawn.push_back(i);
    }
    set_gradients(drawn);
    const TreeNodes tree = grow_tree(rows_.binned, {gradients_, levels_.size() + 1},
                                     std::move(drawn), {options_.depth, min_leaf_drawn()});
    // The splits come from the rows drawn, the leaves' values from all: they are then less noisy.
    const LeafFinder finder(tree);
    const std::size_t cols = rows_.binned.cols();
    std::vector<std::vector<std::size_t>> kept(finder.leaves()), held_out(finder.leaves());
    const auto leaf_of = [&](std::size_t i) { return finder.of(rows_.x.data() + i * cols); };
    for (const std::size_t i : kept_) kept[leaf_of(i)].push_back(i);
    for (const std::size_t i : held_out_) held_out[leaf_of(i)].push_back(i);
    for (std::size_t leaf = 0; leaf < kept.size(); ++leaf) move_leaf(kept[leaf], held_out[leaf]);
    result_.nodes.append(tree);
  }

  /// The expected number of drawn rows in a leaf of min_leaf rows.
  double min_leaf_drawn() const { return options_.min_leaf * options_.rows; }

  void move_leaf(std::span<const std::size_t> kept, std::span<const std::size_t> held) {
    if (kept.empty()) {  // only where min_leaf is 0 and no row was drawn
      result_.leaf.resize(result_.leaf.size() + levels_.size(), 0.0F);
      return;
    }
    const std::size_t count = levels_.size();
    double weight = 0.0;
    for (const std::size_t i : kept) weight += static_cast<double>(rows_.weight[i]);
    for (std::size_t k = 0; k < count; ++k) {
      sample_.clear();
      for (const std::size_t i : kept) {
        sample_.push_back({rows_.y[i] - fitted_[i * count + k], rows_.weight[i]});
      }
      const double tau = levels_[k].value();
      // The information of a leaf about a level: its weight times the relative variance at the
      // level.
      const double evidence = 4.0 * tau * (1.0 - tau) * weight;
      const double share = options_.learning_rate * evidence / (evidence + options_.shrink);
      const auto step =
          static_cast<float>(share * static_cast<double>(quantile(sample_, levels_[k], weights_)));
      result_.leaf.push_back(step);
      for (const std::size_t i : kept) fitted_[i * count + k] += step;
      for (const std::size_t i : held) fitted_[i * count + k] += step;
    }
  }

  const BoosterRows& rows_;
  const std::span<const Level> levels_;
  const QuantileBoostingOptions& options_;
  Rng rng_;
  std::vector<std::size_t> kept_, held_out_;
  Weights weights_ = Weights::kEqual;
  std::vector<float> above_, below_;  // gradients of a row above and below its level, by level
  std::vector<float> gradients_;      // of each row: of each level, then the weight
  std::vector<float> fitted_;         // of each row, for each level
  std::vector<Weighted> sample_;
  BoosterResult result_;
};

}  // namespace

BoosterResult boost_quantiles(const BoosterRows& rows, std::span<const Level> levels,
                              const QuantileBoostingOptions& options, const BoosterMember& member,
                              const Execution& how) {
  return Trainer(rows, levels, options, member).train(how);
}

}  // namespace tare
