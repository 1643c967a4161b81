// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/conformal_bands.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "calibrate/guarantee/ranks/guarantee_mass.h"

namespace tare {
namespace {

constexpr double kSameLevel = 1e-12;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Level> make_knots() {
  std::vector<Level> all;
  for (const double tau : {0.001, 0.999}) all.emplace_back(tau);
  for (int k = 1; k < 200; ++k) all.emplace_back(k / 200.0);  // the double nearest to the decimal
  for (const Level& level : metric_levels()) {
    const auto same = [&](const Level& knot) {
      return std::abs(knot.value() - level.value()) < kSameLevel;
    };
    if (std::ranges::none_of(all, same)) all.push_back(level);
  }
  std::sort(all.begin(), all.end());
  assert(all.size() % 2 == 1 && all[all.size() / 2].value() == 0.5);
  return all;
}

/// Held-out rows' scores, and their weights where these differ.
struct Scores {
  std::vector<double> score;
  std::vector<double> weight;
};

void sort_scores(Scores& scores) {
  std::vector<std::size_t> order(scores.score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores.score[a] < scores.score[b]; });
  Scores sorted;
  for (const std::size_t i : order) {
    sorted.score.push_back(scores.score[i]);
    if (!scores.weight.empty()) sorted.weight.push_back(scores.weight[i]);
  }
  scores = std::move(sorted);
}

/// The score, of ascending ones, at which the mass reaches the share between tau and 1 - tau of all
/// mass, that of one more row as heavy as the largest included; the last one where only that row
/// could reach it. `weight` is in units of the largest.
double weighted_score(std::span<const double> score, std::span<const double> weight, Level tau) {
  const MassScale scale = MassScale::of_largest(1.0);
  Mass all = kLargestMass;
  for (const double w : weight) all += scale.of(w);
  const Mass target = tau.central_rank(all);
  Mass reached = 0;
  for (std::size_t i = 0; i < score.size(); ++i) {
    reached += scale.of(weight[i]);
    if (reached >= target) return score[i];
  }
  return score.back();
}

/// Of ascending scores; `weight` empty where all count the same.
double score_at(std::span<const double> score, std::span<const double> weight, Level tau) {
  if (!weight.empty()) return weighted_score(score, weight, tau);
  const std::uint64_t rank = tau.central_rank(score.size() + 1);
  return score[std::clamp<std::uint64_t>(rank, 1, score.size()) - 1];
}

/// As an earlier version had it: infinite where the rows are too few, and with weights the row to
/// come counts as an average one.
double earlier_score_at(std::span<const double> score, std::span<const double> weight, Level tau) {
  if (weight.empty()) {
    const std::uint64_t rank = tau.central_rank(score.size() + 1);
    return rank > score.size() ? kInfinity : score[std::max<std::uint64_t>(rank, 1) - 1];
  }
  const auto rows = static_cast<double>(score.size());
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  const double share = std::abs(1.0 - 2.0 * tau.value());
  // Sums round; a weight that falls short by no more than that has reached it.
  const double target = (share - kSameLevel) * total * (1.0 + 1.0 / rows);
  double reached = 0.0;
  for (std::size_t i = 0; i < score.size(); ++i) {
    reached += weight[i];
    if (reached >= target) return score[i];
  }
  return kInfinity;
}

/// In units of the largest, since sums of huge ones would overflow; none where all are equal, so
/// that ranks are counted in whole numbers.
std::vector<double> usable_weights(std::span<const double> weight) {
  std::vector<double> result(weight.begin(), weight.end());
  if (result.empty()) return result;
  const auto [least, most] = std::ranges::minmax(result);
  if (least == most) return {};
  for (double& w : result) w /= most;
  return result;
}

/// Where a level's answer comes from.
struct Place {
  std::size_t pair = 0;  // from the outermost inwards; the number of pairs: the median
  enum class Side { kLower, kUpper } side = Side::kLower;
  enum class Reach { kKnot, kBeyond } reach = Reach::kKnot;
};

Place place_of(Level level) {
  const std::span<const Level> knots = knot_levels();
  const auto below = [](const Level& knot, double value) { return knot.value() < value; };
  if (level.value() < 0.5 + kSameLevel) {
    const auto next =
        std::lower_bound(knots.begin(), knots.end(), level.value() + kSameLevel, below);
    if (next == knots.begin()) return {0, Place::Side::kLower, Place::Reach::kBeyond};
    return {static_cast<std::size_t>(next - knots.begin()) - 1, Place::Side::kLower};
  }
  const auto outer =
      std::lower_bound(knots.begin(), knots.end(), level.value() - kSameLevel, below);
  if (outer == knots.end()) return {0, Place::Side::kUpper, Place::Reach::kBeyond};
  return {static_cast<std::size_t>(knots.end() - outer) - 1, Place::Side::kUpper};
}

}  // namespace

std::span<const Level> knot_levels() {
  static const std::vector<Level> kKnots = make_knots();
  return kKnots;
}

ConformalBands::ConformalBands(MatrixView quantiles, std::span<const double> y,
                               std::span<const double> weight) {
  const std::span<const Level> knots = knot_levels();
  const std::size_t rows = quantiles.rows();
  if (quantiles.cols() != knots.size() || y.size() != rows ||
      (!weight.empty() && weight.size() != rows)) {
    fail(ErrorCode::kShapeMismatch,
         "conformal step: {} rows of {} quantiles, {} targets and {} weights, for {} levels", rows,
         quantiles.cols(), y.size(), weight.size(), knots.size());
  }
  if (rows == 0) {
    fail(ErrorCode::kBadData,
         {.remedies = {advice("give more rows"), {"a larger", "split", "", ""}}},
         "no row is left for the conformal step");
  }

  const std::vector<double> row_weight = usable_weights(weight);
  for (std::size_t pair = 0; pair < knots.size() / 2; ++pair) {
    Scores scores{std::vector<double>(rows), row_weight};
    for (std::size_t i = 0; i < rows; ++i) {
      const std::span<const double> q = quantiles.row(i);
      scores.score[i] = std::max(q[pair] - y[i], y[i] - q[knots.size() - 1 - pair]);
    }
    if (pair == 0 || !row_weight.empty()) {
      sort_scores(scores);
      shift_.push_back(score_at(scores.score, scores.weight, knots[pair]));
    } else {
      const std::uint64_t rank =
          std::clamp<std::uint64_t>(knots[pair].central_rank(rows + 1), 1, rows);
      const auto place = scores.score.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
      std::nth_element(scores.score.begin(), place, scores.score.end());
      shift_.push_back(*place);
    }
    if (pair == 0) {
      outer_score_ = std::move(scores.score);
      outer_weight_ = std::move(scores.weight);
    }
  }
}

double ConformalBands::outer_shift(Level level) const {
  return ranks_ == Ranks::kFinite ? score_at(outer_score_, outer_weight_, level)
                                  : earlier_score_at(outer_score_, outer_weight_, level);
}

void ConformalBands::answer(std::span<const double> knots, std::span<const Level> levels,
                            std::span<double> out) const {
  const std::size_t pairs = shift_.size();
  assert(knots.size() == 2 * pairs + 1 && out.size() == levels.size());
  std::vector<double> lower(pairs + 1, knots[pairs]);
  std::vector<double> upper = lower;
  for (std::size_t pair = pairs; pair-- > 0;) {
    lower[pair] = std::min(lower[pair + 1], knots[pair] - shift_[pair]);
    upper[pair] = std::max(upper[pair + 1], knots[2 * pairs - pair] + shift_[pair]);
  }

  for (std::size_t j = 0; j < levels.size(); ++j) {
    const Place place = place_of(levels[j]);
    const bool low = place.side == Place::Side::kLower;
    out[j] = low ? lower[place.pair] : upper[place.pair];
    if (place.reach == Place::Reach::kKnot) continue;
    const double shift = outer_shift(levels[j]);
    out[j] = low ? std::min(out[j], knots.front() - shift) : std::max(out[j], knots.back() + shift);
  }
}

void ConformalBands::save(const TensorWriter& out) const {
  if (ranks_ == Ranks::kFinite) out.value("ranks", "finite");
  out.tensor("shift", shift_);
  out.tensor("outer_score", outer_score_);
  out.tensor("outer_weight", outer_weight_);
}

ConformalBands ConformalBands::load(const TensorReader& in) {
  const Shape shape = {in.length("outer_score")};
  ConformalBands bands;
  bands.ranks_ = in.has_value("ranks") ? Ranks::kFinite : Ranks::kEarlier;
  bands.shift_ = in.values<double>("shift", {knot_levels().size() / 2});
  bands.outer_score_ = in.values<double>("outer_score", shape, Must::kAscend);
  if (in.length("outer_weight") > 0) {
    bands.outer_weight_ = in.values<double>("outer_weight", shape, Must::kNotBeNegative);
  }
  const bool earlier = bands.ranks_ == Ranks::kEarlier;
  const bool shifts_ok = std::ranges::all_of(bands.shift_, [&](double shift) {
    return std::isfinite(shift) || (earlier && shift == kInfinity);
  });
  // In units of the largest; the smallest may have become 0 by that.
  const bool weights_ok =
      bands.outer_weight_.empty() || std::ranges::max(bands.outer_weight_) == 1.0;
  if (!shifts_ok || bands.outer_score_.empty() || !weights_ok) {
    fail(ErrorCode::kCorruptFile, "the model file's conformal step is damaged");
  }
  return bands;
}

}  // namespace tare
