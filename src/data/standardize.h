// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "tare/base/matrix.h"

namespace tare {

/// Centre and scale of each column, learned on training rows only. A constant column gets scale 1.
struct Standardizer {
  std::vector<double> center;
  std::vector<double> scale;

  /// Mean and standard deviation of the columns of x over the given rows.
  static Standardizer fit(MatrixView x, std::span<const std::size_t> rows);
  /// Leaves every column as it is.
  static Standardizer identity(std::size_t columns);
};

}  // namespace tare
