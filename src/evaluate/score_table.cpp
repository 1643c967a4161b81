// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/score_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

using Value = std::optional<double>;

Value median_effective_n(const ScoredRows& r) {
  if (r.effective_n.empty()) return std::nullopt;
  std::vector<double> sorted(r.effective_n.begin(), r.effective_n.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

Value split_coverage_of(const ScoredRows& r) {
  const auto [low, high] = interval_levels(r.confidence);
  return split_coverage(r.y, r.lower, r.upper, low, high, r.jumps);
}

Value hit_share_of(const ScoredRows& r) {
  std::size_t hits = 0;
  for (std::size_t i = 0; i < r.y.size(); ++i) {
    hits += static_cast<std::size_t>(std::ranges::count(r.q.row(i), r.y[i]));
  }
  return static_cast<double>(hits) / static_cast<double>(r.y.size() * r.levels.size());
}

constexpr auto kFloor = ScoreRole::kFloor;
constexpr auto kWithTies = ScoreRole::kWithTies;

}  // namespace

std::span<const ScoreInfo> score_table() {
  static constexpr std::array kTable = {
      ScoreInfo{.name = "mace",
                .title = "MACE",
                .contest = "MACE",
                .meaning = "mean distance between observed and nominal levels; at or below the "
                           "perfect model's, no error was found",
                .perfect = "mace_floor",
                .measure = [](const ScoredRows& r) -> Value {
                  return mace(r.y, r.q, r.levels, r.jumps);
                }},
      ScoreInfo{.name = "mace_floor",
                .contest = "MACE_floor",
                .role = kFloor,
                .measure = [](const ScoredRows& r) -> Value {
                  return split_mace_floor(r.y, r.q, r.levels, r.jumps);
                }},
      ScoreInfo{.name = "agce",
                .title = "AGCE",
                .contest = "AGCE",
                .meaning = "the largest MACE of ten random tenths of the rows",
                .perfect = "agce_floor",
                .measure = [](const ScoredRows& r) -> Value {
                  return agce(r.y, r.q, r.levels, r.group_seed, r.jumps);
                }},
      ScoreInfo{.name = "agce_floor",
                .contest = "AGCE_floor",
                .role = kFloor,
                .measure = [](const ScoredRows& r) -> Value {
                  return split_agce_floor(r.y, r.q, r.levels, r.floor_seed, r.jumps);
                }},
      ScoreInfo{
          .name = "mace_counted",
          .title = "MACE, ties counted as below",
          .contest = "MACE_counted",
          .meaning = "larger than MACE even for a perfect model, because of its jumps",
          .role = kWithTies,
          .measure = [](const ScoredRows& r) -> Value { return mace_counted(r.y, r.q, r.levels); }},
      ScoreInfo{.name = "agce_counted",
                .title = "AGCE, ties counted as below",
                .contest = "AGCE_counted",
                .meaning = "larger than AGCE even for a perfect model",
                .role = kWithTies,
                .measure = [](const ScoredRows& r) -> Value {
                  return agce_counted(r.y, r.q, r.levels, r.group_seed);
                }},
      ScoreInfo{
          .name = "check_score",
          .title = "CheckScore",
          .contest = "CheckScore",
          .meaning = "mean pinball loss over 100 levels, in units of the target; measures "
                     "calibration and sharpness",
          .measure = [](const ScoredRows& r) -> Value { return check_score(r.y, r.q, r.levels); }},
      ScoreInfo{.name = "crps",
                .title = "CRPS",
                .contest = "CRPS",
                .meaning = "twice the integral of the pinball loss over all levels",
                .measure = [](const ScoredRows& r) -> Value { return r.crps; }},
      ScoreInfo{.name = "length_90",
                .title = "Length, 90 %",
                .contest = "Length",
                .at_confidence = "interval_length",
                .meaning = "mean width of the interval",
                .measure = [](const ScoredRows& r) -> Value {
                  return interval_length(r.lower, r.upper);
                }},
      ScoreInfo{.name = "coverage_90",
                .title = "Coverage, 90 %",
                .contest = "Coverage",
                .at_confidence = "coverage",
                .meaning = "share of rows in their interval; a tie with an end counts by the share "
                           "of its jump",
                .perfect = "0.9",
                .measure = split_coverage_of},
      ScoreInfo{.name = "coverage_90_counted",
                .title = "Coverage, 90 %, ends counted as inside",
                .contest = "Coverage_counted",
                .at_confidence = "coverage_counted",
                .meaning = "share of rows with their target in the closed interval",
                .role = kWithTies,
                .measure = [](const ScoredRows& r) -> Value {
                  return interval_coverage(r.y, r.lower, r.upper);
                }},
      ScoreInfo{.name = "winkler_90",
                .title = "Winkler score, 90 %",
                .contest = "Winkler",
                .at_confidence = "interval_score",
                .meaning = "length plus 20 times the distance of a target outside the interval",
                .measure = [](const ScoredRows& r) -> Value {
                  return winkler_score(r.y, r.lower, r.upper, r.confidence);
                }},
      ScoreInfo{.name = "effective_n_median", .measure = median_effective_n},
      ScoreInfo{.name = "fallback_rows",
                .title = "Fallback rows",
                .meaning = "rows without a calibration row within the bandwidth",
                .perfect = "0",
                .is_count = true,
                .measure = [](const ScoredRows& r) -> Value {
                  if (!r.fallback_rows) return std::nullopt;
                  return static_cast<double>(*r.fallback_rows);
                }},
      ScoreInfo{.name = "hit_share", .measure = hit_share_of},
  };
  return kTable;
}

}  // namespace tare
