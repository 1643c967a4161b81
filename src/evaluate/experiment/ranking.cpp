// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/ranking.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "evaluate/experiment/runner.h"
#include "math/holm.h"
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

/// How far one method is behind another, on the repeats that both have.
struct Distance {
  double mean = 0.0;
  double low = -kInfinity, high = kInfinity;            // 95 %
  double p = std::numeric_limits<double>::quiet_NaN();  // two-sided; NaN: cannot be tested
};

Distance distance_between(const ScoreByRepeat& scores, const ScoreByRepeat& best,
                          double test_over_train) {
  std::vector<double> gap;
  for (const auto& [repeat, score] : scores) {
    const auto other = best.find(repeat);
    if (other != best.end()) gap.push_back(score - other->second);
  }
  const auto count = static_cast<double>(gap.size());
  Distance out;
  for (const double value : gap) out.mean += value / count;
  if (gap.size() < 2 || !std::isfinite(out.mean)) return out;
  double squares = 0.0;
  for (const double value : gap) squares += (value - out.mean) * (value - out.mean);
  const double error = std::sqrt(squares / (count - 1.0) * (1.0 / count + test_over_train));
  const double reach = student_t_quantile(0.5 + kRankConfidence / 2.0, count - 1.0) * error;
  out.low = out.mean - reach;
  out.high = out.mean + reach;
  out.p = error > 0.0 ? 2.0 * student_t_cdf(-std::fabs(out.mean) / error, count - 1.0)
                      : (out.mean == 0.0 ? 1.0 : 0.0);
  return out;
}

void place_behind(const Distance& distance, RankedMethod& row) {
  row.behind = distance.mean;
  row.behind_low = distance.low;
  row.behind_high = distance.high;
  row.tied = row.behind_low <= 0.0 && std::isfinite(row.score);
  if (!std::isnan(distance.p)) row.p = distance.p;
}

}  // namespace

Ranking rank_methods(const ExperimentPlan& plan, const ExperimentCase& one, const Results& results,
                     const std::string& metric) {
  Ranking ranking;
  std::vector<RankedMethod>& rows = ranking.methods;
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
  if (rows.empty()) return ranking;
  const double test_over_train = plan.test_share / (1.0 - plan.test_share);
  const auto scores_of = [&](const RankedMethod& row) -> const ScoreByRepeat& {
    return scores.at({row.method, row.options});
  };
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b) {
      const Distance d = distance_between(scores_of(rows[b]), scores_of(rows[a]), test_over_train);
      ranking.pair_p.push_back(d.p);
      if (a == 0) place_behind(d, rows[b]);
    }
  }
  place_behind(distance_between(scores_of(rows[0]), scores_of(rows[0]), test_over_train), rows[0]);
  rows[0].tied = true;
  Ranking* const only[] = {&ranking};
  correct_comparisons(only);
  return ranking;
}

void correct_comparisons(std::span<Ranking* const> rankings) {
  std::vector<double> tested;
  for (const Ranking* ranking : rankings) {
    std::ranges::copy_if(ranking->pair_p, std::back_inserter(tested),
                         [](double p) { return !std::isnan(p); });
  }
  const std::vector<double> adjusted = holm_adjusted(tested);
  std::size_t next = 0;
  for (Ranking* ranking : rankings) {
    ranking->comparisons = tested.size();
    for (std::size_t pair = 0; pair < ranking->pair_p.size(); ++pair) {
      const bool with_best = pair + 1 < ranking->methods.size();  // the first pairs are with it
      RankedMethod* row = with_best ? &ranking->methods[pair + 1] : nullptr;
      if (row != nullptr) row->adjusted = 1.0;
      if (std::isnan(ranking->pair_p[pair])) continue;
      if (row != nullptr) row->adjusted = adjusted[next];
      ++next;
    }
  }
}

}  // namespace tare
