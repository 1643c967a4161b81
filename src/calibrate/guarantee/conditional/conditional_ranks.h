// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "calibrate/guarantee/conditional/condition_features.h"
#include "calibrate/guarantee/conditional/imputed_path.h"
#include "calibrate/guarantee/conditional/score_scale.h"
#include "calibrate/guarantee/row_rule.h"

namespace tare {

/// Bounds that keep their level on average under every reweighting of rows by a function that is
/// not negative and that ConditionFeatures spans (Gibbs, Cherian, Candes 2023, the deterministic
/// form): for such an f, exchangeable rows, and an upper bound Q of level tau,
/// E[f(X) 1{y <= Q}] >= tau E[f(X)]; for a lower bound E[f(X) 1{y < Q}] <= tau E[f(X)]. An
/// indicator of a group is such an f, so that each level holds within each group, and groups may
/// overlap.
///
/// This holds where an answer may be infinite. A row whose features are so unusual that its own
/// dual variable cannot reach the level has an infinite bound; RowwiseGuarantee says what replaces
/// it, and `delivered` is then 0 (1 for a lower bound). An average over rows can then fall short of
/// that of `delivered` by at most 1 - tau times the share of such rows, since the proof counts them
/// as covered.
///
/// Rows that tie are set apart: scores are whole steps of ScoreScale, and each held-out row is
/// moved outwards by its own draw between a quarter and a half of a step. The bound is the last
/// whole step up to the threshold, so that it covers all that it covered with the move.
class ConditionalRanks final : public RowRule {
 public:
  static constexpr std::string_view kForm = "conditional";

  /// `scores` of the held-out rows, whose features are `rows`.
  ConditionalRanks(ConditionFeatures features, ScoreScale scale, const Rows& rows,
                   std::span<const RowScore> scores, Seed seed);

  void bounds(const Rows& rows, const QuantileModel& inner, std::span<const Level> levels,
              const Execution& how, std::span<RowBound> result) const override;
  void check(const Rows& rows) const override;
  bool is_proven() const override { return true; }
  void describe(GuaranteeDescription& description) const override;
  void save(const TensorWriter& out) const override;
  /// `inputs`: columns of x. Throws kCorruptFile.
  static std::unique_ptr<const ConditionalRanks> load(const TensorReader& in, std::size_t inputs);

 private:
  ConditionalRanks(ConditionFeatures features, ScoreScale scale)
      : features_(std::move(features)), scale_(std::move(scale)) {}
  /// The fits of levels, from the last ones that were asked for or made now; none for a level that
  /// n rows cannot keep.
  std::vector<std::shared_ptr<const ImputedPath>> paths_of(std::span<const Level> levels,
                                                           const Execution& how) const;
  std::shared_ptr<const ImputedPath> known_path(Level level) const;
  void keep_path(Level level, std::shared_ptr<const ImputedPath> path) const;
  CurvePlace place_of(double threshold, bool upper) const;

  ConditionFeatures features_;
  ScoreScale scale_;
  Matrix phi_;                 // of the held-out rows
  std::vector<double> upper_;  // scores, moved
  std::vector<double> lower_;  // the same, times -1: a lower bound is an upper one of these

  struct Fitted {
    double level;
    std::shared_ptr<const ImputedPath> path;
  };
  mutable std::mutex lock_;
  mutable std::vector<Fitted> fitted_;  // the last one that was asked for at the end
};

}  // namespace tare
