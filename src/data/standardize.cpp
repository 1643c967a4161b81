// SPDX-License-Identifier: BSD-3-Clause
#include "data/standardize.h"

#include <cmath>

namespace tare {

Standardizer Standardizer::identity(std::size_t columns) {
  return {std::vector<double>(columns, 0.0), std::vector<double>(columns, 1.0)};
}

Standardizer Standardizer::fit(MatrixView x, std::span<const std::size_t> rows) {
  Standardizer result = identity(x.cols());
  if (rows.empty()) return result;
  const auto n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < x.cols(); ++j) {
    // Values divided by their largest size first: squares of 1e200 would overflow.
    double largest = 0.0;
    for (const std::size_t i : rows) largest = std::max(largest, std::abs(x(i, j)));
    if (largest == 0.0) continue;
    double mean = 0.0;
    for (const std::size_t i : rows) mean += x(i, j) / largest;
    mean /= n;
    double squares = 0.0;
    for (const std::size_t i : rows) {
      const double difference = x(i, j) / largest - mean;
      squares += difference * difference;
    }
    const double deviation = std::sqrt(squares / n);
    result.center[j] = mean * largest;
    // A spread of a few units in the last place is the rounding of a constant.
    if (deviation > 1e-14 * static_cast<double>(1 + x.rows() / 1000)) {
      result.scale[j] = deviation * largest;
    }
  }
  return result;
}

}  // namespace tare
