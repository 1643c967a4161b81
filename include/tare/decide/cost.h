// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/io/table.h"

namespace TARE_PUBLIC tare {

/// The cost of an action, given the outcome: the value that the target turns out to have.
///
/// Either `over` for each unit by which the action, a number in units of the target, is more than
/// the outcome, and `under` for each unit by which it is less. Or a table for a few actions, in
/// which the cost of an action is the straight line between neighbouring outcomes, and that of the
/// nearest outcome below the lowest and above the highest one.
class Cost {
 public:
  struct Entry {
    double action = 0.0;
    double outcome = 0.0;
    double cost = 0.0;
  };

  /// Of one action of a table: the cost at ascending outcomes.
  struct ActionCosts {
    double action = 0.0;
    std::vector<double> outcomes;
    std::vector<double> costs;
  };

  /// Throws kInvalidArgument unless both are positive and finite, and if one is so much larger that
  /// best_level() would not lie strictly between 0 and 1.
  static Cost over_under(double over, double under);

  /// The order of entries does not matter, but for ties between actions: the first one is chosen.
  /// Throws kBadData for an empty table, a number that is not finite, and a repeated pair of action
  /// and outcome.
  static Cost table(std::span<const Entry> entries);

  /// The columns action, outcome and cost of a table. Throws kNotFound for a column that is not
  /// there, and kBadData for a text or a missing value in one.
  static Cost from_table(const Table& table);

  /// "over=1,under=4", or the path of a file for from_table(read_csv(path)).
  static Cost parse(std::string_view text);
  /// The first form alone: reads no file.
  static Cost parse_over_under(std::string_view text);

  bool is_table() const noexcept { return !level_.has_value(); }
  double over() const noexcept { return over_; }
  double under() const noexcept { return under_; }
  /// The level of the quantile with the least expected cost, under / (over + under), rounded to 15
  /// digits: 0.07 / (0.03 + 0.07) is 0.7. None for a table.
  const std::optional<Level>& best_level() const noexcept { return level_; }
  /// In the order of their first entry; empty without a table.
  std::span<const ActionCosts> actions() const noexcept { return actions_; }

  /// The cost of an action of actions() at an outcome.
  static double at(const ActionCosts& action, double outcome);
  /// The cost of any number as the action; only without a table.
  double at(double action, double outcome) const;

 private:
  Cost() = default;

  double over_ = 0.0;
  double under_ = 0.0;
  std::optional<Level> level_;
  std::vector<ActionCosts> actions_;
};

}  // namespace tare
