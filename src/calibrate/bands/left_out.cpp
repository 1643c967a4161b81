// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/left_out.h"

#include <algorithm>
#include <utility>

#include "calibrate/bands/level_curve.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "math/normal.h"

namespace tare {
namespace {

/// At most `most` rows of `count` that are not among `rows`, which ascend.
std::vector<std::size_t> rows_outside(std::span<const std::size_t> rows, std::size_t count,
                                      std::size_t most, Seed seed) {
  std::vector<std::size_t> outside;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::ranges::binary_search(rows, i)) outside.push_back(i);
  }
  if (outside.size() <= most) return outside;
  Rng rng(seed);
  const std::vector<std::size_t> order = random_permutation(outside.size(), rng);
  std::vector<std::size_t> some;
  for (std::size_t k = 0; k < most; ++k) some.push_back(outside[order[k]]);
  return some;
}

/// Adds a target's weight to the levels whose quantile is above it. A target at a mass, which
/// several levels have as their quantile, lies at each of them alike.
void add_below(std::span<const double> curve, double y, double weight, std::span<double> below) {
  const auto first = static_cast<std::size_t>(std::ranges::lower_bound(curve, y) - curve.begin());
  const auto past = static_cast<std::size_t>(std::ranges::upper_bound(curve, y) - curve.begin());
  for (std::size_t k = first; k < past; ++k) {
    below[k] += weight * (static_cast<double>(k - first) + 0.5) / static_cast<double>(past - first);
  }
  for (std::size_t k = past; k < curve.size(); ++k) below[k] += weight;
}

/// Levels as normal scores of their ranks among all of them; equal ones share the middle rank.
class RankScores {
 public:
  /// Levels and weights. At least one weight is not 0.
  explicit RankScores(std::vector<std::pair<double, double>> levels) {
    std::ranges::sort(levels);
    for (std::size_t k = 0; k < levels.size();) {
      const double level = levels[k].first;
      double weight = 0.0;
      for (; k < levels.size() && levels[k].first == level; ++k) weight += levels[k].second;
      level_.push_back(level);
      middle_.push_back(all_ + 0.5 * weight);
      all_ += weight;
    }
  }

  double operator()(double level) const {
    constexpr double kLeast = 1e-6;  // for a row of weight 0 below all others
    const auto at = std::ranges::lower_bound(level_, level) - level_.begin();
    const double rank = middle_[static_cast<std::size_t>(at)] / all_;
    return normal_quantile(std::clamp(rank, kLeast, 1.0 - kLeast));
  }

 private:
  std::vector<double> level_, middle_;  // different levels, and the weight up to each one's middle
  double all_ = 0.0;
};

RankScores rank_all(const FitInput& input, std::span<const LeftOut> of_fits) {
  std::vector<std::pair<double, double>> levels;
  for (const LeftOut& one : of_fits) {
    for (std::size_t k = 0; k < one.rows.size(); ++k) {
      levels.emplace_back(one.level[k], input.weight.empty() ? 1.0 : input.weight[one.rows[k]]);
    }
  }
  return RankScores(std::move(levels));
}

}  // namespace

LeftOut ask_left_out(const QuantileModel& fit, const FitInput& input,
                     std::span<const std::size_t> rows, Seed seed, const Execution& how) {
  constexpr std::size_t kMostAsked = 2'000;
  LeftOut left;
  left.rows = rows_outside(rows, input.x.rows(), kMostAsked, seed);
  left.below.resize(curve_levels().size());
  const InputPart part(input, left.rows);
  const FitInput asked = part.input();
  const Matrix quantiles = fit.predict({asked.x, asked.given}, curve_levels(), how).quantiles;
  for (std::size_t i = 0; i < left.rows.size(); ++i) {
    const double weight = asked.weight.empty() ? 1.0 : asked.weight[i];
    add_below(quantiles.row(i), asked.y[i], weight, left.below);
    left.level.push_back(curve_level(quantiles.row(i), asked.y[i]));
    left.weight += weight;
  }
  return left;
}

std::vector<double> mean_shares(std::span<const LeftOut> of_fits) {
  std::vector<double> shares(curve_levels().size());
  double all = 0.0;
  for (const LeftOut& one : of_fits) {
    for (std::size_t k = 0; k < shares.size(); ++k) shares[k] += one.below[k];
    all += one.weight;
  }
  for (double& share : shares) share = std::min(1.0, share / all);
  // Rounding may turn two neighbours that are equal.
  for (std::size_t k = 1; k < shares.size(); ++k) shares[k] = std::max(shares[k], shares[k - 1]);
  return shares;
}

LocalError find_local_error(const FitInput& input, std::span<const LeftOut> of_fits, Seed seed,
                            const Execution& how) {
  const RankScores score_of = rank_all(input, of_fits);
  std::vector<double> sum(input.x.rows());
  std::vector<double> count(input.x.rows());
  for (const LeftOut& one : of_fits) {
    for (std::size_t k = 0; k < one.rows.size(); ++k) {
      sum[one.rows[k]] += score_of(one.level[k]);
      count[one.rows[k]] += 1.0;
    }
  }
  std::vector<std::size_t> rows;
  std::vector<double> score;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (count[i] == 0.0) continue;
    rows.push_back(i);
    score.push_back(sum[i] / count[i]);
  }
  const InputPart part(input, rows);
  const FitInput asked = part.input();
  return LocalError::fit(columns_for_trees({asked.x, asked.given}), score, asked.weight, seed, how);
}

Matrix columns_for_trees(const Rows& rows) {
  Matrix columns(rows.x.rows(), rows.x.cols() + rows.given.cols());
  for (std::size_t i = 0; i < columns.rows(); ++i) {
    const auto past = std::ranges::copy(rows.x.row(i), columns.row(i).begin()).out;
    if (rows.given.cols() > 0) std::ranges::copy(rows.given.row(i), past);
  }
  return columns;
}

}  // namespace tare
