// SPDX-License-Identifier: BSD-3-Clause
// The description of a guaranteed model.
#include <algorithm>
#include <string>

#include "calibrate/guarantee/guarantee.h"
#include "tare/calibrate/description.h"

namespace tare {

bool GuaranteedModel::keeps_interval(double confidence) const {
  const auto [low, high] = interval_levels(confidence);
  const Mass fresh = most_fresh(overall());
  return overall().keeps(low, fresh) && overall().keeps(high, fresh);
}

bool GuaranteedModel::is_infinite(double confidence) const {
  return outer_ == OuterLevels::kInfinite && !keeps_interval(confidence);
}

double GuaranteedModel::average_coverage(double confidence) const {
  if (is_infinite(confidence)) return 1.0;
  const auto [low, high] = interval_levels(confidence);
  if (levels_ == SplitLevels::kNear) {
    return std::max(0.0, delivered_by(overall(), high) - delivered_by(overall(), low));
  }
  const Mass fresh = most_fresh(overall());
  const Mass ranked = overall().mass();
  const Mass all = ranked + fresh;
  const Mass missed_below = std::max(low.rank_below(all), fresh);
  const Mass up_to = std::min(high.rank(all), ranked);
  return up_to > missed_below ? static_cast<double>(up_to - missed_below) / static_cast<double>(all)
                              : 0.0;
}

double GuaranteedModel::proven_coverage(double confidence) const {
  if (is_infinite(confidence)) return 1.0;
  const auto [low, high] = interval_levels(confidence);
  if (folds() == 1) {
    return std::max(0.0, delivered_by(overall(), high) - delivered_by(overall(), low));
  }
  // Each end misses at most this much.
  const std::size_t rows = overall().rows();
  const double least = 1.0 / static_cast<double>(rows + 1);
  const double missed = cross_miss_bound(rows, folds(), std::max(low.value(), least));
  return std::max(0.0, 1.0 - 2.0 * missed);
}

void GuaranteedModel::describe(Description& description) const {
  inner_.front()->describe(description);
  description.of_first_fold = folds() > 1;
  GuaranteeDescription own;
  own.form = folds() > 1 ? GuaranteeForm::kCross : GuaranteeForm::kSplit;
  own.rows = overall().rows();
  own.folds = folds();
  own.own_levels = levels_ != SplitLevels::kRanked;
  own.has_bound = knows_levels();
  for (const double confidence : {0.5, 0.8, 0.9, 0.95, 0.99}) {
    IntervalCoverage interval{.confidence = confidence,
                              .on_average = average_coverage(confidence),
                              .kept = keeps_interval(confidence),
                              .infinite = is_infinite(confidence)};
    if (own.has_bound) interval.proven = proven_coverage(confidence);
    own.intervals.push_back(interval);
  }
  for (std::size_t g = 0; g < group_rows_.size(); ++g) {
    own.groups.push_back({.name = std::to_string(g),
                          .rows = static_cast<std::size_t>(group_rows_[g]),
                          .has_own_ranks = has_ranks(static_cast<std::uint32_t>(g))});
  }
  own.rows_for_own_ranks = kRowsForNinety;
  if (shift_) own.shift_effective_rows = shift_->effective_rows();
  own.assumes_unseen_predictions = given() > 0;
  own.rows_depend = rows_depend_;
  if (folds() > 1) {
    own.seen_coverage = seen_coverage_;
  } else {
    own.cost = {.without = cost_.without, .with = cost_.with, .levels = cost_.levels};
    own.is_series = in_time_order_;
  }
  description.guarantee = std::move(own);
}

}  // namespace tare
