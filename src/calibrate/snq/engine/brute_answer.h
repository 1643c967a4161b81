// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "calibrate/snq/engine/engine.h"
#include "calibrate/snq/engine/mask_answer.h"
#include "calibrate/snq/window/rank_rule.h"

namespace tare {

/// SNQ's answers from all rows: one query at a time in double precision, or by masks where these
/// serve.
class BruteAnswer final : public SnqEngine {
 public:
  BruteAnswer(std::shared_ptr<const LocalSample> sample, const SnqOptions& options);

  static SnqEngineInfo info();
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const override;
  double query_cost() const override { return query_cost_; }

 private:
  std::shared_ptr<const LocalSample> sample_;
  std::unique_ptr<const MaskAnswer> masks_;  // where they serve
  double query_cost_;
};

/// The answer of row i of the result from all rows, in double precision: what other engines do with
/// a query that they cannot answer.
void answer_in_double(const LocalSample& sample, std::span<const double> query, std::size_t i,
                      const SnqOptions& options, RankRule& rule, Prediction& result);

}  // namespace tare
