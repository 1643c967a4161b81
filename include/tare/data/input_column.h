// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// Where most values of a column of numbers lay at fit: its 1 % and 99 % quantiles. No answer
/// depends on it; it is there to be shown.
struct ColumnRange {
  double low = 0.0;
  double high = 0.0;
};

/// A column that goes into x.
struct InputColumn {
  std::string name;
  bool categorical = false;
  std::vector<std::string> vocabulary;  // categories, sorted; one column of x each
  double typical = 0.0;   // median, or place of the most frequent category: what imputing fills in
  bool for_model = true;  // false: only the kernel sees it (calibrate_on, but not a feature)
  std::optional<ColumnRange> range = {};  // of numbers, where the fit has seen any

  std::size_t width() const { return categorical ? vocabulary.size() : 1; }  // columns of x
};

}  // namespace tare
