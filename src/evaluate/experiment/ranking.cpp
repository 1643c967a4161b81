// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "evaluate/experiment/runner.h"
#include "math/student_t.h"

namespace tare {
namespace {

constexpr double kRankConfidence = 0.95;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using ScoreByRepeat = std::map<std::size_t, double>;

double mean_of(const ScoreByRepeat& scores) {
  double sum = 0.0;
  for (const auto& [repeat, score] : scores) sum += score;
  return scores.empty() ? kInfinity : sum / static_cast<double>(scores.size());
}

/// One method's distance from the best.
void compare(const ScoreByRepeat& scores, const ScoreByRepeat& best, double test_over_train,
             RankedMethod& row) {
  std::vector<double> gap;
  for (const auto& [repeat, score] : scores) {
    const auto other = best.find(repeat);
    if (other != best.end()) gap.push_back(score - other->second);
  }
  const auto count = static_cast<double>(gap.size());
  for (const double value : gap) row.behind += value / count;
  row.behind_low = -kInfinity;
  row.behind_high = kInfinity;
  if (gap.size() > 1 && std::isfinite(row.behind)) {
    double squares = 0.0;
    for (const double value : gap) squares += (value - row.behind) * (value - row.behind);
    const double variance = squares / (count - 1.0) * (1.0 / count + test_over_train);
    const double reach =
        student_t_quantile(0.5 + kRankConfidence / 2.0, count - 1.0) * std::sqrt(variance);
    row.behind_low = row.behind - reach;
    row.behind_high = row.behind + reach;
  }
  row.tied = row.behind_low <= 0.0 && std::isfinite(row.score);
}

}  // namespace

std::vector<RankedMethod> rank_methods(const ExperimentPlan& plan, const ExperimentCase& one,
                                       const Results& results, const std::string& metric) {
  std::vector<RankedMethod> rows;
  std::map<std::pair<std::string, std::string>, ScoreByRepeat> scores;
  for (const ExperimentMethod& method : plan.methods) {
    ScoreByRepeat by_repeat;
    for (std::size_t repeat = 0; repeat < plan.repeats; ++repeat) {
      const auto found = results.find(trial_key(plan, one, method, repeat));
      if (found == results.end()) continue;
      for (const MetricValue& value : found->second.values) {
        if (value.metric == metric) by_repeat[repeat] = value.value;
      }
    }
    if (by_repeat.empty()) continue;
    rows.push_back({.method = method.method,
                    .options = method.params.text(),
                    .repeats = by_repeat.size(),
                    .score = mean_of(by_repeat)});
    scores[{rows.back().method, rows.back().options}] = std::move(by_repeat);
  }
  std::ranges::stable_sort(rows, {}, &RankedMethod::score);
  if (rows.empty()) return rows;
  const ScoreByRepeat& best = scores.at({rows[0].method, rows[0].options});
  for (RankedMethod& row : rows) {
    compare(scores.at({row.method, row.options}), best, plan.test_share / (1.0 - plan.test_share),
            row);
  }
  rows[0].tied = true;
  return rows;
}

}  // namespace tare
