// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_folds.h"

#include <algorithm>

#include "base/fail.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"

namespace tare {
namespace {

/// Rows that are divided by themselves: each group that can have ranks of its own, and all others.
std::vector<std::vector<std::size_t>> strata_of(const FitInput& input,
                                                std::span<const std::size_t> rows,
                                                std::size_t folds) {
  std::vector<std::vector<std::size_t>> strata(1);
  if (input.group.empty()) {
    strata[0].assign(rows.begin(), rows.end());
    return strata;
  }
  std::vector<std::vector<std::size_t>> by_group(std::ranges::max(input.group) + std::size_t{1});
  for (const std::size_t i : rows) by_group[input.group[i]].push_back(i);
  for (std::vector<std::size_t>& own : by_group) {
    const bool enough = own.size() / folds * folds >= kRowsForNinety;
    if (enough) {
      strata.push_back(std::move(own));
    } else {
      strata[0].insert(strata[0].end(), own.begin(), own.end());
    }
  }
  std::ranges::sort(strata[0]);
  return strata;
}

/// Those of the rows that are ranked, one fold's after the other's.
std::vector<std::size_t> ranked_rows(const std::vector<std::size_t>& rows, std::size_t each,
                                     const FoldPlan& plan, Rng& rng) {
  std::vector<std::size_t> result = rows;
  const auto count = static_cast<std::ptrdiff_t>(each * plan.folds);
  if (plan.order == RowOrder::kTime) {
    result.erase(result.begin(), result.end() - count);  // the last ones resemble what comes
    return result;
  }
  shuffle(std::span(result), rng);
  result.resize(each * plan.folds);
  return result;
}

/// The folds that the caller has trained models for.
FoldPlan stated_folds(const FitInput& input) {
  FoldPlan plan{{input.fold.begin(), input.fold.end()}, input.given_form.folds, RowOrder::kNone};
  std::vector<std::size_t> rows(plan.folds, 0);
  for (const std::size_t fold : plan.fold_of_row) {
    if (fold >= plan.folds) {
      fail(ErrorCode::kInvalidArgument,
           "a row is in fold {}, but predictions are given for {} folds", fold, plan.folds);
    }
    ++rows[fold];
  }
  const auto [least, most] = std::ranges::minmax(rows);
  if (least != most || plan.fold_of_row.size() < kRowsForNinety) {
    fail(ErrorCode::kBadData,
         "the guarantee needs folds of equal size with at least {} rows in total, but the {} folds "
         "have from {} to {} rows",
         kRowsForNinety, plan.folds, least, most);
  }
  return plan;
}

}  // namespace

FoldPlan guarantee_folds(const FitInput& input, const GuaranteeRule& rule, RowOrder order) {
  constexpr std::uint64_t kSeedPart = 3002;
  if (!input.fold.empty()) return stated_folds(input);
  if (input.window > 1) order = RowOrder::kTime;  // rows at random would share steps with all folds
  const std::vector<std::size_t> candidates = rows_to_draw_from(input);
  FoldPlan plan{std::vector<std::size_t>(input.x.rows(), rule.folds), rule.folds, order};
  Rng rng(split(input.seed, kSeedPart));
  const double count = std::max(1.0, static_cast<double>(candidates.size()));
  const double share = std::min(1.0, static_cast<double>(kMostGuaranteeRows) / count);
  std::size_t ranked = 0;
  for (const auto& rows : strata_of(input, candidates, rule.folds)) {
    const auto most = static_cast<std::size_t>(share * static_cast<double>(rows.size()));
    const std::size_t each = most / rule.folds;
    const std::vector<std::size_t> chosen = ranked_rows(rows, each, plan, rng);
    for (std::size_t k = 0; k < chosen.size(); ++k) plan.fold_of_row[chosen[k]] = k / each;
    ranked += chosen.size();
  }
  if (ranked < kRowsForNinety) {
    const std::size_t enough = (kRowsForNinety + rule.folds - 1) / rule.folds * rule.folds;
    fail(ErrorCode::kBadData, {.remedies = {advice(fmt::format("give at least {} rows", enough))}},
         "the guarantee would rank {} of {} rows in {} folds of equal size, but a 90 % interval "
         "needs {}",
         ranked, candidates.size(), rule.folds, kRowsForNinety);
  }
  return plan;
}

double cross_miss_bound(std::size_t rows, std::size_t folds, double alpha) {
  const auto n = static_cast<double>(rows);
  const auto k = static_cast<double>(folds);
  const double by_fold_size = 2.0 * (1.0 - 1.0 / k) / (n / k + 1.0);
  const double by_folds = (1.0 - k / n) / (k + 1.0);
  return std::min(1.0, 2.0 * alpha + std::min(by_fold_size, by_folds));
}

}  // namespace tare
