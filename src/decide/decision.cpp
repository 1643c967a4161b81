// SPDX-License-Identifier: BSD-3-Clause
#include "tare/decide/decision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "decide/row_law.h"

namespace tare {
namespace {

constexpr double kMassOutside = 0.01;  // that is worth a notice

std::vector<Level> make_law_levels() {
  std::vector<Level> levels;
  for (const double tau : {1e-6, 1e-5, 1e-4, 2e-4, 5e-4}) levels.emplace_back(tau);
  // Quotients of whole numbers are the doubles nearest to the decimals, on both sides of 0.5.
  for (int k = 1; k < 10; ++k) levels.emplace_back(k / 1000.0);
  for (int k = 4; k < 20; ++k) levels.emplace_back(k / 400.0);
  for (int k = 10; k < 191; ++k) levels.emplace_back(k / 200.0);
  for (int k = 381; k < 397; ++k) levels.emplace_back(k / 400.0);
  for (int k = 991; k < 1000; ++k) levels.emplace_back(k / 1000.0);
  for (const double tau : {0.9995, 0.9998, 0.9999, 0.99999, 0.999999}) levels.emplace_back(tau);
  return levels;
}

const Cost::ActionCosts& best_for(const Cost& cost, double outcome) {
  return *std::ranges::min_element(
      cost.actions(), {}, [&](const Cost::ActionCosts& one) { return Cost::at(one, outcome); });
}

}  // namespace

std::span<const Level> law_levels() {
  static const std::vector<Level> kLevels = make_law_levels();
  return kLevels;
}

Decider::Decider(Cost cost) : cost_(std::move(cost)) {
  levels_.assign(law_levels().begin(), law_levels().end());
  if (cost_.best_level()) {
    const auto place = std::lower_bound(levels_.begin(), levels_.end(), *cost_.best_level());
    best_ = static_cast<std::size_t>(place - levels_.begin());
    if (place == levels_.end() || !(*place == *cost_.best_level())) {
      levels_.insert(place, *cost_.best_level());
    }
  } else {
    lowest_ = std::numeric_limits<double>::infinity();
    highest_ = -lowest_;
    for (const Cost::ActionCosts& one : cost_.actions()) {
      lowest_ = std::min(lowest_, one.outcomes.front());
      highest_ = std::max(highest_, one.outcomes.back());
    }
  }
  double before = 0.0;
  for (const Level& level : levels_) {
    widths_.push_back(level.value() - before);
    before = level.value();
  }
  widths_.push_back(1.0 - before);
}

double Decider::action_for(double outcome) const {
  if (!cost_.is_table() || std::isnan(outcome)) return outcome;
  return best_for(cost_, outcome).action;
}

double Decider::realised_cost(double action, double outcome) const {
  if (!cost_.is_table()) return cost_.at(action, outcome);
  const auto found = std::ranges::find(cost_.actions(), action, &Cost::ActionCosts::action);
  if (found == cost_.actions().end()) return std::numeric_limits<double>::quiet_NaN();
  return Cost::at(*found, outcome);
}

Decision Decider::decide(std::span<const double> quantiles) const {
  if (quantiles.size() != levels_.size()) {
    fail(ErrorCode::kShapeMismatch, "a decision needs {} quantiles of a row, got {}",
         levels_.size(), quantiles.size());
  }

  const RowLaw law(quantiles, widths_);
  Decision result;
  result.infinite_tail = law.infinite_tail;
  result.mean = law.mean;
  if (!cost_.is_table()) {
    result.action = quantiles[best_];
    result.cost = expected_cost(law, cost_, result.action);
    result.action_of_mean = law.mean;
    result.cost_of_mean = expected_cost(law, cost_, law.mean);
    return result;
  }
  if (law.pieces.empty()) {
    result.action = result.cost = result.action_of_mean = result.cost_of_mean = law.mean;
    return result;
  }
  result.cost = std::numeric_limits<double>::infinity();
  const Cost::ActionCosts& of_mean = best_for(cost_, law.mean);
  for (const Cost::ActionCosts& one : cost_.actions()) {
    const double expected = expected_cost(law, one);
    if (&one == &of_mean) result.cost_of_mean = expected;
    if (!(expected < result.cost)) continue;
    result.cost = expected;
    result.action = one.action;
  }
  result.action_of_mean = of_mean.action;
  result.outside_table = mass_outside(law, lowest_, highest_) > kMassOutside;
  return result;
}

}  // namespace tare
