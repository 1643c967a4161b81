// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tare/base/error.h"
#include "tare/data/given_form.h"

namespace tare {

/// A column of quantiles that a model gives, and their level.
struct QuantileColumn {
  std::string name;
  double level = 0.5;
};

/// The role of each column of the user's file, by name.
struct Roles {
  std::string target;
  std::string weight;                                // empty: none
  std::string prediction;                            // or a mean; empty: none
  std::string prediction_sd;                         // of that mean; empty: none
  std::vector<QuantileColumn> prediction_quantiles;  // instead of a prediction, by level
  std::vector<std::string> prediction_folds;         // instead of a prediction, one for each fold
  std::string split;  // a column that only selects the calibration rows; empty: none
  std::string group;  // the column of groups, feature or not; empty: none
  std::vector<std::string> features;  // empty: every other column
  std::vector<std::string> drop;
  std::vector<std::string> categorical;   // columns whose numbers are category codes
  std::vector<std::string> calibrate_on;  // columns of the kernel; empty: all features
};

/// Throws kInvalidArgument for a column with an invalid role.
[[noreturn]] void fail_role(const std::string& column, std::string_view problem,
                            std::vector<Remedy> remedies = {});

/// The columns that an outside model filled, in the order of their form.
std::vector<std::string> given_columns_of(const Roles& roles);
GivenForm given_form_of(const Roles& roles);
/// Throws kInvalidArgument for contradictions among these columns.
void check_given(const Roles& roles);

}  // namespace tare
