// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// How double becomes the float that trees compare: float((x - shift) * scale) per column. Without
/// it, values such as times in seconds would fall together and huge ones would overflow.
struct FloatColumns {
  std::vector<double> shift;
  std::vector<double> scale;  // a power of two, so that it rounds nothing

  /// Shift 0, or the median where that keeps more values of the column apart.
  static FloatColumns learn(MatrixView x, const Execution& how);
  void convert(std::span<const double> row, float* out) const {
    for (std::size_t j = 0; j < row.size(); ++j) {
      out[j] = static_cast<float>((row[j] - shift[j]) * scale[j]);
    }
  }
  std::vector<float> convert_all(MatrixView x) const;
};

}  // namespace tare
