// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/competition.h"

#include <algorithm>

#include "base/stages.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/bounds/bounds.h"
#include "data/partition.h"
#include "data/rows.h"

namespace tare::automatic {

JudgingRows::JudgingRows(const RegressionData& data, std::size_t most, Seed seed)
    : rows(limit_rows(data.y.size(), most, 1, seed)),
      y(take_rows(data.y, rows)),
      weight(take_rows(data.weight, rows)),
      levels(metric_levels()) {}

Competition compete(std::span<const Candidate> candidates, const CrossFit& fit,
                    const JudgingRows& judges, std::span<const std::size_t> x_columns,
                    std::span<const double> masses, const SnqOptions& kernel, Seed seed,
                    const Execution& how) {
  constexpr std::size_t kContestGroups = 10;
  const std::size_t rows = fit.rows().y.size();
  const std::size_t group_count = std::min(kContestGroups, rows / 2);
  const Folds groups = fit.folds().in_time() ? Folds::stretches(rows, group_count, fit.folds().gap)
                                             : Folds::random(rows, group_count, split(seed, 4));
  Contest contest = judges.contest();
  Competition result;
  for (const Candidate& candidate : candidates) {
    if (how.progress) how.progress("calibrating " + candidate.name, 1.0);
    const Seed own = split(seed, 100 + result.laws.size());
    SnqOptions options = kernel;
    // Expected ranks answer between two values, where a shared value can be the only right answer.
    if (candidate.center && masses.empty()) options.ranks = Ranks::kExpected;
    const LocalLaw& law =
        result.laws.emplace_back(LocalLaw::fit(candidate, fit, x_columns, options, own, how));
    contest.quantiles.push_back(law.predict_left_out(fit, groups, judges.rows, judges.levels, how));
    result.trail.push_back({candidate.name, mean_pinball_loss(contest.quantiles.back(), contest),
                            law.choice().bandwidth, 0.0});
  }
  result.averaging = average_in_bags(contest, kMostPicks, split(seed, 6), how);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    result.trail[c].share = result.averaging.share[c];
    if (masses.empty() || candidates[c].center) continue;
    result.of_target.push_back({c, std::move(contest.quantiles[c])});
  }
  return result;
}

Guided choose_guide(const Matrix& average, std::span<const Competition::TargetAnswers> of_target,
                    const JudgingRows& judges, std::span<const double> masses) {
  constexpr double kNoHarm = 1.001;
  const Contest contest = judges.contest();
  Guided result{mean_pinball_loss(average, contest), {}};
  double most = kNoHarm * result.loss;
  for (const auto& [candidate, quantiles] : of_target) {
    Matrix guided = average;
    for (std::size_t i = 0; i < guided.rows(); ++i) {
      keep_point_masses(quantiles.row(i), masses, masses, guided.row(i));
    }
    const double loss = mean_pinball_loss(guided, contest);
    if (loss > most) continue;
    most = loss;
    result.loss = loss;
    result.guide = candidate;
  }
  return result;
}

}  // namespace tare::automatic
