// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/cost_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "math/compensated_sum.h"

namespace tare {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kRowsAtOnce = 2'048;  // 4 MB of quantiles
constexpr std::size_t kRowsForMargin = 2'000;
constexpr int kPercentiles = 100;

struct MeanAndError {
  double mean = 0.0;
  double error = 0.0;
};

MeanAndError mean_and_error(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  CompensatedSum sum;
  for (const double value : values) sum.add(value);
  MeanAndError result{sum.value() / n, 0.0};
  CompensatedSum squares;
  for (const double value : values) {
    squares.add((value - result.mean) * (value - result.mean));
  }
  result.error = std::sqrt(squares.value() / (n - 1.0) / n);
  return result;
}

RuleCost rule_cost(std::span<const double> costs, std::span<const double> of_best) {
  std::vector<double> differences(costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i) differences[i] = costs[i] - of_best[i];
  const MeanAndError all = mean_and_error(costs);
  const MeanAndError extra = mean_and_error(differences);
  return {all.mean, all.error, extra.mean, extra.error};
}

std::string costs_text(const Cost& cost) {
  if (cost.is_table()) {
    const std::size_t count = cost.actions().size();
    return fmt::format("a table with {} action{}", count, count == 1 ? "" : "s");
  }
  return fmt::format("over={},under={}", cost.over(), cost.under());
}

/// A row without any finite quantile has no action: it counts as one that costs without end.
double cost_or_infinite(double cost) {
  return std::isnan(cost) ? std::numeric_limits<double>::infinity() : cost;
}

}  // namespace

CostTally::CostTally(Cost cost) : decider_(std::move(cost)) {}

void CostTally::add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
                    const Execution& how) {
  if (rows.x.rows() != y.size()) {
    fail(ErrorCode::kShapeMismatch, "costs: {} rows of features, {} targets", rows.x.rows(),
         y.size());
  }
  Execution quantiles_only = how;
  quantiles_only.diagnostics = false;
  for (std::size_t first = 0; first < y.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, y.size() - first);
    const Rows some = {rows.x.middle_rows(first, count),
                       rows.given.cols() > 0 ? rows.given.middle_rows(first, count) : rows.given,
                       rows.group.empty() ? rows.group : rows.group.subspan(first, count)};
    const Matrix q = model.predict(some, decider_.levels(), quantiles_only).quantiles;
    std::vector<Decision> made(count);
    parallel_for(how, count, [&](std::size_t i) { made[i] = decider_.decide(q.row(i)); });
    for (std::size_t i = 0; i < count; ++i) {
      const double target = y[first + i];
      y_.push_back(target);
      mean_.push_back(made[i].mean);
      expected_.push_back(made[i].cost);
      action_cost_.push_back(cost_or_infinite(decider_.realised_cost(made[i].action, target)));
      mean_cost_.push_back(
          cost_or_infinite(decider_.realised_cost(made[i].action_of_mean, target)));
    }
  }
}

double CostTally::margin_of(std::span<const std::size_t> rows) const {
  std::vector<double> residuals;
  for (const std::size_t i : rows) {
    if (!std::isnan(mean_[i])) residuals.push_back(y_[i] - mean_[i]);
  }
  if (residuals.empty()) return 0.0;
  std::ranges::sort(residuals);
  if (decider_.cost().is_table()) return margin_of_table(rows, residuals);
  // The empirical quantile is where the sum of costs is least.
  return residuals[decider_.cost().best_level()->rank(residuals.size()) - 1];
}

double CostTally::margin_of_table(std::span<const std::size_t> rows,
                                  std::span<const double> ascending) const {
  const std::size_t step = (rows.size() + kRowsForMargin - 1) / kRowsForMargin;
  double best = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kPercentiles; ++k) {
    const double margin =
        k == 0 ? 0.0
               : ascending[static_cast<std::size_t>(k) * (ascending.size() - 1) / kPercentiles];
    CompensatedSum sum;
    for (std::size_t i = 0; i < rows.size(); i += step) {
      const double action = decider_.action_for(mean_[rows[i]] + margin);
      const double cost = decider_.realised_cost(action, y_[rows[i]]);
      if (!std::isnan(cost)) sum.add(cost);
    }
    if (sum.value() < least) {
      least = sum.value();
      best = margin;
    }
  }
  return best;
}

CostComparison CostTally::finish(Seed seed) const {
  const std::size_t n = y_.size();
  if (n == 0) fail(ErrorCode::kInvalidArgument, "costs: there are no rows");
  CostComparison result;
  result.costs = costs_text(decider_.cost());
  result.rows = n;
  result.expected = mean_and_error(expected_).mean;
  result.action = rule_cost(action_cost_, action_cost_);
  result.mean = rule_cost(mean_cost_, action_cost_);
  if (n == 1) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    result.margin = {kNone, kNone, kNone, kNone};
    return result;
  }
  Rng rng(seed);
  const std::vector<std::size_t> order = random_permutation(n, rng);
  const std::size_t folds = std::min(kFolds, n);
  std::vector<double> costs(n);
  result.margin_low = std::numeric_limits<double>::infinity();
  result.margin_high = -result.margin_low;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < n; ++k) {
      if (k % folds != fold) others.push_back(order[k]);
    }
    const double margin = margin_of(others);
    result.margin_low = std::min(result.margin_low, margin);
    result.margin_high = std::max(result.margin_high, margin);
    for (std::size_t k = fold; k < n; k += folds) {
      const std::size_t i = order[k];
      const double action = decider_.action_for(mean_[i] + margin);
      costs[i] = cost_or_infinite(decider_.realised_cost(action, y_[i]));
    }
  }
  result.margin = rule_cost(costs, action_cost_);
  return result;
}

}  // namespace tare
