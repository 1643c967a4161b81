// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/light_boosting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "math/tame_weights.h"
#include "model/input/fit_input.h"
#include "model/tree/light_tree.h"
#include "model/tree/tree_ensemble.h"

namespace tare {
namespace {

constexpr std::size_t kFewRows = 40;      // too few rows to fit trees
constexpr std::size_t kLookedAt = 4'096;  // rows that show how a column is spread

/// At most `most` rows, at equal steps.
Matrix some_rows(MatrixView x, std::size_t most) {
  const std::size_t step = x.rows() <= most ? 1 : (x.rows() + most - 1) / most;
  Matrix some((x.rows() + step - 1) / step, x.cols());
  for (std::size_t i = 0; i < some.rows(); ++i) {
    std::ranges::copy(x.row(i * step), some.row(i).begin());
  }
  return some;
}

std::vector<float> with_mean_one(std::span<const double> weight, std::size_t rows) {
  std::vector<float> result(rows, 1.0F);
  if (weight.empty()) return result;
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    result[i] = single_weight(weight[i] * static_cast<double>(rows) / total);
  }
  return result;
}

/// Grows trees on some rows and follows their error on others. The rows are copied side by side:
/// kept ones in random order, so that any stretch of them is a random part, then those left out.
class LightBooster {
 public:
  LightBooster(const LightRows& rows, std::span<const float> y, std::span<const std::size_t> kept,
               std::span<const std::size_t> left, const LightBoostingOptions& options, Seed seed)
      : kept_(kept.size()), options_(options), rng_(seed), columns_(rows.binned.cols()) {
    std::vector<std::size_t> order(kept.size() + left.size());
    std::ranges::copy(left, std::ranges::copy(kept, order.begin()).out);
    bins_.resize(columns_ * order.size());
    for (std::size_t j = 0; j < columns_; ++j) {
      const auto bins = rows.binned.column(j);
      for (std::size_t k = 0; k < order.size(); ++k) bins_[j * order.size() + k] = bins[order[k]];
    }
    for (const std::size_t i : order) {
      y_.push_back(y[i]);
      weight_.push_back(rows.weight[i]);
    }
    errors_.push_back(error_left());
  }

  void add_tree() {
    const LightData seen = data();
    const std::size_t drawn = std::max<std::size_t>(
        1, static_cast<std::size_t>(options_.row_share * static_cast<double>(kept_)));
    const std::size_t first = rng_.below(kept_);
    const std::size_t last = std::min(kept_, first + drawn);
    LightTree tree =
        grower_.grow(seen, {LightRange{first, last}, LightRange{0, drawn - (last - first)}},
                     options_.min_leaf * options_.row_share);
    leaf_.resize(y_.size());
    find_leaves(tree, seen, 0, leaf_);
    set_leaves(tree);
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] -= tree.leaf[leaf_[i]];
    errors_.push_back(error_left());
    trees_.push_back(tree);
  }

  /// Of the rows left out, after each number of trees.
  std::span<const double> errors() const noexcept { return errors_; }
  std::span<const LightTree> trees() const noexcept { return trees_; }

  /// What the first `rounds` trees say about the rows left out.
  std::vector<float> about_left(std::size_t rounds) const {
    std::vector<float> sum(y_.size() - kept_, 0.0F);
    std::vector<std::uint8_t> leaf(sum.size());
    for (const LightTree& tree : trees().first(rounds)) {
      find_leaves(tree, data(), kept_, leaf);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += tree.leaf[leaf[i]];
    }
    return sum;
  }

 private:
  LightData data() const { return {bins_, columns_, y_, weight_}; }

  /// The splits come from the rows drawn, the leaves' values from all that are kept.
  void set_leaves(LightTree& tree) const {
    // Four of each, so that one sum need not wait for the last.
    std::array<std::array<double, 4>, 4> sums{};
    std::array<std::array<double, 4>, 4> weights{};
    for (std::size_t i = 0; i < kept_; ++i) {
      const auto w = static_cast<double>(weight_[i]);
      sums[i % 4][leaf_[i]] += w * static_cast<double>(y_[i]);
      weights[i % 4][leaf_[i]] += w;
    }
    std::array<double, 4> sum{};
    std::array<double, 4> weight{};
    for (std::size_t k = 0; k < sum.size(); ++k) {
      for (const auto& part : sums) sum[k] += part[k];
      for (const auto& part : weights) weight[k] += part[k];
    }
    for (std::size_t k = 0; k < sum.size(); ++k) {
      tree.leaf[k] =
          static_cast<float>(options_.learning_rate * sum[k] / (weight[k] + options_.shrink));
    }
  }

  double error_left() const {
    std::array<double, 4> sums{};
    for (std::size_t i = kept_; i < y_.size(); ++i) {
      sums[i % 4] += static_cast<double>(weight_[i] * y_[i] * y_[i]);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  std::size_t kept_;
  LightBoostingOptions options_;
  Rng rng_;
  std::size_t columns_;
  std::vector<std::uint8_t> bins_;
  std::vector<float> y_;  // what is left of it
  std::vector<float> weight_;
  std::vector<double> errors_;
  std::vector<LightTree> trees_;
  std::vector<std::uint8_t> leaf_;  // of each row in the last tree
  LightGrower grower_;
};

/// Rows of folds, and of each fold's complement; the last complement is all rows. At most `most` of
/// a complement, and of each fold all.
struct Folds {
  std::vector<std::vector<std::size_t>> left;
  std::vector<std::vector<std::size_t>> kept;

  Folds(std::size_t rows, std::size_t folds, std::size_t most, Seed seed) {
    left.resize(folds);
    kept.resize(folds + 1);
    Rng rng(seed);
    const std::vector<std::size_t> order = random_permutation(rows, rng);
    for (std::size_t k = 0; k < rows; ++k) {
      left[k % folds].push_back(order[k]);
      for (std::size_t f = 0; f <= folds; ++f) {
        if (f != k % folds && kept[f].size() < most) kept[f].push_back(order[k]);
      }
    }
  }
};

struct Rounds {
  std::size_t count = 0;
  double error = std::numeric_limits<double>::infinity();
};

/// The number of trees with the lowest error of rows left out.
Rounds best_rounds(std::span<const LightBooster> boosters) {
  Rounds best;
  for (std::size_t r = 0; r < boosters.front().errors().size(); ++r) {
    double sum = 0.0;
    for (const LightBooster& booster : boosters) sum += booster.errors()[r];
    if (sum < best.error) best = {r, sum};
  }
  return best;
}

/// One for each fold, and one that keeps all rows.
std::vector<LightBooster> make_boosters(const LightRows& rows, std::span<const float> y,
                                        const Folds& folds, const LightBoostingOptions& options,
                                        Seed seed) {
  std::vector<LightBooster> boosters;
  boosters.reserve(options.folds + 1);
  for (std::size_t f = 0; f <= options.folds; ++f) {
    const bool whole = f == options.folds;
    boosters.emplace_back(rows, y, folds.kept[f],
                          whole ? std::span<const std::size_t>{} : folds.left[f], options,
                          split(seed, f + 1));
  }
  return boosters;
}

/// Grows trees of all boosters in parallel while the out-of-fold error falls. Returns how many to
/// use.
std::size_t grow_while_it_pays(std::span<LightBooster> boosters, std::size_t most,
                               const LightBoostingOptions& options, const Execution& how) {
  const auto of_folds = boosters.first(options.folds);
  Rounds best = best_rounds(of_folds);
  for (std::size_t grown = 0; grown < most; grown += options.patience) {
    parallel_for(how, boosters.size(), [&](std::size_t f) {
      const std::size_t more = std::min(options.patience, most - grown);
      for (std::size_t k = 0; k < more; ++k) boosters[f].add_tree();
    });
    const double before = best.error;
    best = best_rounds(of_folds);
    if (!(best.error < (1.0 - options.worth_it) * before)) break;
  }
  return best.count;
}

/// For each row, what the booster of its fold says.
std::vector<float> out_of_fold(std::span<const LightBooster> boosters, const Folds& folds,
                               std::size_t rows, std::size_t rounds, const Execution& how) {
  std::vector<float> predicted(rows, 0.0F);
  parallel_for(how, folds.left.size(), [&](std::size_t f) {
    const std::vector<float> of_fold = boosters[f].about_left(rounds);
    for (std::size_t k = 0; k < of_fold.size(); ++k) predicted[folds.left[f][k]] = of_fold[k];
  });
  return predicted;
}

/// Whether the squared errors of rows left out fall by more than a standard error.
bool is_better(std::span<const float> y, std::span<const float> weight,
               std::span<const float> predicted) {
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto error = static_cast<double>(y[i] - predicted[i]);
    const double saved = static_cast<double>(weight[i]) *
                         (static_cast<double>(y[i]) * static_cast<double>(y[i]) - error * error);
    sum += saved;
    squares += saved * saved;
  }
  return sum > 0.0 && sum * sum > squares;
}

}  // namespace

LightRows::LightRows(MatrixView x, std::span<const double> weights, const Execution& how)
    : columns(FloatColumns::learn(some_rows(x, kLookedAt), how)),
      binned(columns.convert_all(x), x.cols(), how, kLookedAt),
      given_weight(weights.begin(), weights.end()),
      weight(with_mean_one(weights, x.rows())) {}

LightBoosting fit_light_boosting(const LightRows& rows, std::span<const double> y,
                                 const LightBoostingOptions& options, Seed seed,
                                 const Execution& how) {
  LightBoosting result;
  const std::size_t count = y.size();
  result.out_of_fold.assign(count, 0.0);
  const Standard target = standardise(
      count, [&](std::size_t i) { return y[i]; }, rows.given_weight);
  std::vector<float> scaled(count);
  for (std::size_t i = 0; i < count; ++i) {
    scaled[i] = static_cast<float>((y[i] - target.mean) / target.scale);
  }
  if (count < kFewRows || rows.binned.cols() == 0) return result;
  const Folds folds(count, options.folds, options.rows, split(seed, 0));
  std::vector<LightBooster> boosters = make_boosters(rows, scaled, folds, options, seed);
  const std::size_t rounds =
      grow_while_it_pays(boosters, options.rounds + count / 1'000, options, how);
  const std::vector<float> predicted = out_of_fold(boosters, folds, count, rounds, how);
  if (!is_better(scaled, rows.weight, predicted)) return result;

  result.rounds = rounds;
  for (std::size_t i = 0; i < count; ++i) {
    result.out_of_fold[i] = target.mean + target.scale * static_cast<double>(predicted[i]);
  }
  TreeNodes nodes;
  for (const LightTree& tree : boosters.back().trees().first(result.rounds)) {
    nodes.append(tree.nodes(rows.binned));
  }
  result.model = std::make_unique<TreeEnsemble>(std::move(nodes), rows.columns,
                                                TreeOutput{target.mean, target.scale, 0.0});
  return result;
}

}  // namespace tare
