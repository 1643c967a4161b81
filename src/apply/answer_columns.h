// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apply/level_columns.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/calibrate/shortest_sets.h"
#include "tare/decide/decision.h"

namespace tare {

/// The columns of an answer, the same for every front end: quantiles; the parts of shortest sets;
/// with a cost action, cost and cost_of_mean; with diagnostics effective_n, nearest, fallback,
/// outside and the two ends of each quantile's band; and with a guarantee the levels that it keeps.
class AnswerColumns {
 public:
  AnswerColumns() = default;
  struct Parts {
    bool decision = false;
    bool diagnostics = false;
    std::vector<double> sets = {};  // coverages of shortest sets
  };
  AnswerColumns(const QuantileModel& model, const LevelColumns& levels, Parts parts);

  /// Columns of these names, none of them a flag, for AnswerText.
  explicit AnswerColumns(std::vector<std::string> names);

  const std::vector<std::string>& names() const noexcept { return names_; }
  std::size_t size() const noexcept { return names_.size(); }
  /// A column of 0 and 1.
  bool is_flag(std::size_t column) const { return flag_[column] != 0; }

  /// The numbers of row i of a prediction, whose first quantiles are at the columns' levels.
  /// Numbers that the model does not provide are NaN. Those of a decision are left as they are.
  void fill(const Prediction& prediction, std::size_t i, std::span<double> out) const;
  void fill_decision(const Decision& decision, std::span<double> out) const;
  /// Those of row i of some sets; fill() leaves them as they are.
  void fill_sets(const ShortestSets& sets, std::size_t i, std::span<double> out) const;
  /// The name in JSON of the set whose first column this is: "set_0.9"; empty for other columns.
  std::string set_at(std::size_t column) const;

 private:
  void add(std::string name, bool flag = false);

  std::vector<std::string> names_;
  std::vector<std::uint8_t> flag_;
  std::size_t levels_ = 0;
  Parts parts_;
  std::size_t set_delivered_ = 0;  // the first column of the coverage that sets keep; 0: none
  std::vector<LevelColumns::Delivered> delivered_;  // empty without a guarantee
};

}  // namespace tare
