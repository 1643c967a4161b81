// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// The range of most values of a numeric column at fit: its 1 % and 99 % quantiles. It is for
/// display only; no answer depends on it.
struct ColumnRange {
  double low = 0.0;
  double high = 0.0;
};

/// A column of the file that becomes columns of x.
struct InputColumn {
  std::string name;
  bool categorical = false;
  std::vector<std::string> vocabulary;  // categories, sorted; one column of x each
  double typical = 0.0;   // median, or index of the most frequent category; used to impute
  bool for_model = true;  // false: only the kernel uses it (calibrate_on, but not a feature)
  std::optional<ColumnRange> range = {};  // of a numeric column with values at fit

  std::size_t width() const { return categorical ? vocabulary.size() : 1; }  // columns of x
};

}  // namespace tare
