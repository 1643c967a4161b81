// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tare {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

Mass mass_at(std::span<const Mass> cumulative, std::size_t knot) {
  return cumulative[knot] - (knot > 0 ? cumulative[knot - 1] : 0);
}

}  // namespace

double moved(double quantile, double beyond) {
  return std::isinf(beyond) ? beyond : quantile + beyond;
}

FoldRanks::FoldRanks(std::vector<GuaranteeRanks> folds) : folds_(std::move(folds)) {
  for (const GuaranteeRanks& fold : folds_) {
    rows_ += fold.rows();
    mass_ += fold.mass();
    largest_ = std::max(largest_, fold.largest());
  }
}

bool FoldRanks::finite(Level level, Mass fresh) const {
  if (level.value() >= 0.5) return upper_target(level, mass_, fresh) <= mass_;
  return lower_target(level, mass_, fresh) >= 1;
}

void FoldMerge::mark_knots(const GuaranteeRanks& ranks, std::span<std::uint8_t> flag) {
  const GuaranteeRanks::Counts counts = ranks.counts();
  for (std::size_t k = 0; k < flag.size(); ++k) {
    if (mass_at(counts.upper, k) > 0 || mass_at(counts.lower, k) > 0) flag[k] = 1;
  }
  if (!counts.above.empty()) flag.back() = 1;
  if (!counts.below.empty()) flag.front() = 1;
}

FoldMerge::FoldMerge(const FoldRanks& ranks, std::span<const std::vector<std::size_t>> knots)
    : mass_(ranks.mass()) {
  for (std::size_t f = 0; f < ranks.folds().size(); ++f) {
    const GuaranteeRanks::Counts counts = ranks.folds()[f].counts();
    Fold fold;
    for (const GuaranteeRanks::Outside& row : counts.below) {
      fold.lower.push_back({0, row.beyond, row.mass});
    }
    for (std::size_t j = 0; j < knots[f].size(); ++j) {
      const Mass up = mass_at(counts.upper, knots[f][j]);
      const Mass down = mass_at(counts.lower, knots[f][j]);
      if (up > 0) fold.upper.push_back({j, 0.0, up});
      if (down > 0) fold.lower.push_back({j, 0.0, down});
    }
    for (const GuaranteeRanks::Outside& row : counts.above) {
      fold.upper.push_back({knots[f].size() - 1, row.beyond, row.mass});
    }
    folds_.push_back(std::move(fold));
  }
}

/// Goes up along the values of all folds, the smallest first.
class FoldMerge::Walk {
 public:
  Walk(std::span<const Fold> folds, std::vector<Step> Fold::*side,
       std::span<const std::span<const double>> quantiles) {
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const std::vector<Step>& steps = folds[f].*side;
      if (!steps.empty()) heads_.push_back({0.0, steps, quantiles[f]});
    }
    for (Head& head : heads_) head.value = head.first_value();
  }

  /// The value at which the mass reaches `target`; targets ascend and are not more than all mass.
  double value_at(Mass target) {
    while (reached_ < target && !heads_.empty()) {
      const auto least = std::ranges::min_element(heads_, {}, &Head::value);
      value_ = least->value;
      reached_ += least->left.front().mass;
      least->left = least->left.subspan(1);
      if (least->left.empty()) {
        heads_.erase(least);
      } else {
        least->value = least->first_value();
      }
    }
    return value_;
  }

 private:
  struct Head {
    double value;
    std::span<const Step> left;
    std::span<const double> quantiles;

    double first_value() const {
      return moved(quantiles[left.front().column], left.front().beyond);
    }
  };

  std::vector<Head> heads_;
  Mass reached_ = 0;
  double value_ = -kNoBound;
};

void FoldMerge::answer(std::span<const std::span<const double>> quantiles,
                       std::span<const Level> levels, Mass fresh, std::span<double> out) const {
  Walk up(folds_, &Fold::upper, quantiles);
  Walk down(folds_, &Fold::lower, quantiles);
  const auto upper_value = [&](Level level) {
    const Mass target = upper_target(level, mass_, fresh);
    return target > mass_ ? kNoBound : up.value_at(target);
  };
  static const Level kMedian(0.5);
  const double middle = upper_value(kMedian);
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (levels[j].value() >= 0.5) {
      out[j] = upper_value(levels[j]);
      continue;
    }
    const Mass target = lower_target(levels[j], mass_, fresh);
    out[j] = target < 1 ? -kNoBound : std::min(down.value_at(target), middle);
  }
}

}  // namespace tare
