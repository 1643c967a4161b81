// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/rowwise/fit_rowwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/stages.h"
#include "calibrate/guarantee/conditional/conditional_ranks.h"
#include "calibrate/guarantee/local/local_ranks.h"
#include "data/rows.h"

namespace tare {
namespace {

constexpr std::size_t kRowsForUnit = 500;  // of training, for the unit of far targets
constexpr std::size_t kLeastToTune = 150;  // held-out rows
constexpr std::size_t kMostToTune = 2000;
constexpr double kFarthestScore = 12.0;  // of a row that tunes: one far target must not decide

Rows rows_in(const FitInput& input) { return {input.x, input.given, input.group}; }

/// How far apart a model's quartiles usually are on training rows: the unit in which targets beyond
/// all of a row's quantiles are measured.
double unit_of(const QuantileModel& inner, const FitInput& training, const Execution& how) {
  static const std::array<Level, 2> kQuartiles = {Level(0.25), Level(0.75)};
  std::vector<std::size_t> some;
  const std::size_t step = training.x.rows() / kRowsForUnit + 1;
  for (std::size_t i = 0; i < training.x.rows(); i += step) some.push_back(i);
  const InputPart part(training, some);
  const FitInput rows = part.input();
  const Prediction own = inner.predict({rows.x, rows.given}, kQuartiles, how);
  std::vector<double> spread;
  std::vector<double> target(rows.y.begin(), rows.y.end());
  for (std::size_t i = 0; i < some.size(); ++i) {
    spread.push_back(own.quantiles(i, 1) - own.quantiles(i, 0));
  }
  const auto middle = [](std::vector<double>& values, double level) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(level * static_cast<double>(values.size() - 1))];
  };
  if (some.empty()) return 1.0;
  const double usual = middle(spread, 0.5);
  if (std::isfinite(usual) && usual > 0.0) return usual;
  // A model without spread: that of the targets.
  const double whole = middle(target, 0.75) - middle(target, 0.25);
  return std::isfinite(whole) && whole > 0.0 ? whole : 1.0;
}

/// Held-out rows that tune (first) and rows that are ranked.
Partition tuning_partition(std::size_t rows, Seed seed) {
  constexpr std::uint64_t kSeedPart = 3600;
  if (rows < kLeastToTune) return {{}, all_rows(rows)};
  Rng rng(split(seed, kSeedPart));
  std::vector<std::size_t> order = random_permutation(rows, rng);
  const auto count = static_cast<std::ptrdiff_t>(std::min(rows / 3, kMostToTune));
  Partition parts{{order.begin(), order.begin() + count}, {order.begin() + count, order.end()}};
  std::ranges::sort(parts.first);
  std::ranges::sort(parts.second);
  return parts;
}

std::vector<double> tuning_scores(std::span<const RowScore> scores, const ScoreScale& scale) {
  std::vector<double> result;
  for (const RowScore& score : scores) {
    const double middle = 0.5 * (scale.upper(score.upper) + scale.lower(score.lower));
    result.push_back(std::clamp(middle, -kFarthestScore, kFarthestScore));
  }
  return result;
}

RowwiseGuarantee::Parts fit_local(std::unique_ptr<const QuantileModel> inner,
                                  const FitInput& training, const FitInput& held_out,
                                  const GuaranteeRule& rule, const Execution& how) {
  constexpr std::uint64_t kSeedPart = 3650;
  const Execution silent = quietly(how);
  const Partition parts = tuning_partition(held_out.x.rows(), held_out.seed);
  const InputPart tuning_rows(held_out, parts.first);
  const InputPart ranked_rows(held_out, parts.second);
  LocalChoice choice;
  choice.kernel = rule.kernel;
  choice.bandwidth = std::numeric_limits<double>::infinity();
  choice.usual_rows = static_cast<double>(parts.second.size());
  if (!parts.first.empty()) {
    const FitInput tuning = tuning_rows.input();
    const ScoreScale scale(guarantee_levels(), unit_of(*inner, training, silent));
    const std::vector<double> score =
        tuning_scores(score_rows(*inner, guarantee_levels(), tuning, silent), scale);
    choice =
        choose_local(local_candidates(rows_in(tuning), *inner, silent), score, parts.second.size(),
                     rule.kernel, split(held_out.seed, kSeedPart), silent);
  }
  const FitInput ranked = ranked_rows.input();
  const std::vector<RowScore> scores = score_rows(*inner, guarantee_levels(), ranked, silent);
  const LocalRanks::Options options{split(held_out.seed, kSeedPart + 1), rule.fixed, rule.outer};
  RowwiseGuarantee::Parts result;
  result.rule = std::make_unique<const LocalRanks>(std::move(choice), options, rows_in(ranked),
                                                   *inner, scores, silent);
  result.overall = GuaranteeRanks(scores);
  result.inner = std::move(inner);
  return result;
}

RowwiseGuarantee::Parts fit_conditional(std::unique_ptr<const QuantileModel> inner,
                                        const FitInput& training, const FitInput& held_out,
                                        const GuaranteeRule& rule, const Execution& how) {
  const Execution silent = quietly(how);
  ConditionFeatures features = ConditionFeatures::fit(training, held_out, rule.conditions);
  const std::vector<RowScore> scores = score_rows(*inner, guarantee_levels(), held_out, silent);
  RowwiseGuarantee::Parts result;
  result.rule = std::make_unique<const ConditionalRanks>(
      std::move(features), ScoreScale(guarantee_levels(), unit_of(*inner, training, silent)),
      rows_in(held_out), scores, held_out.seed);
  result.overall = GuaranteeRanks(scores);
  result.inner = std::move(inner);
  return result;
}

bool are_equal(std::span<const double> weights) {
  return std::ranges::adjacent_find(weights, std::not_equal_to<>{}) == weights.end();
}

}  // namespace

void check_rowwise(const FitInput& input, const GuaranteeRule& rule, RowOrder order) {
  const bool local = rule.form == GuaranteeRule::Form::kLocal;
  const std::string form = local ? "local" : "conditional";
  if (order == RowOrder::kTime || input.window > 1) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "guarantee", .remedies = {use("guarantee", "split")}},
         "guarantee {} needs rows whose order does not matter, but these are in time order", form);
  }
  if (input.shift || !are_equal(input.weight)) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "guarantee",
          .remedies = {use("guarantee", "split"), advice("leave the weights out")}},
         "guarantee {} ranks rows of equal weight, but these rows have weights", form);
  }
  const bool uses_groups = std::ranges::find(rule.conditions, "groups") != rule.conditions.end();
  if (!input.group.empty() && !uses_groups) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "guarantee",
          .remedies = {use("guarantee", "conditional:groups"), use("guarantee", "split"),
                       advice("leave the groups out")}},
         "the rows have groups, and guarantee {} does not hold within them", form);
  }
}

std::unique_ptr<RowwiseGuarantee> fit_rowwise(std::unique_ptr<const QuantileModel> inner,
                                              const FitInput& training, const FitInput& held_out,
                                              const GuaranteeRule& rule, const Execution& how) {
  RowwiseGuarantee::Parts parts =
      rule.form == GuaranteeRule::Form::kLocal
          ? fit_local(std::move(inner), training, held_out, rule, how)
          : fit_conditional(std::move(inner), training, held_out, rule, how);
  parts.outer = rule.outer;
  parts.rows_depend = held_out.rows_depend;
  return std::make_unique<RowwiseGuarantee>(std::move(parts));
}

}  // namespace tare
