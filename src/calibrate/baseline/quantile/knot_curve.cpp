// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/knot_curve.h"

#include <algorithm>

#include "calibrate/baseline/quantile/conformal_bands.h"

namespace tare {

void follow_knots(std::span<const double> knots, std::span<const Level> levels,
                  std::span<double> out) {
  const std::span<const Level> at = knot_levels();
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const auto next =
        static_cast<std::size_t>(std::upper_bound(at.begin(), at.end(), levels[j]) - at.begin());
    if (next == 0 || next == at.size()) {
      out[j] = next == 0 ? knots.front() : knots.back();
      continue;
    }
    const double left = at[next - 1].value();
    const double share = (levels[j].value() - left) / (at[next].value() - left);
    const double value = knots[next - 1] + share * (knots[next] - knots[next - 1]);
    out[j] = std::min(value, knots[next]);  // rounding must not put it above its neighbour
  }
}

Matrix quantiles_by_knots(const QuantileNetwork& network, MatrixView x,
                          std::span<const Level> levels, const Execution& how) {
  constexpr std::size_t kBlock = 4096;  // rows whose knots are in memory at once
  Matrix result(x.rows(), levels.size());
  for (std::size_t first = 0; first < x.rows(); first += kBlock) {
    const std::size_t count = std::min(kBlock, x.rows() - first);
    const Matrix knots = network.quantiles(x.middle_rows(first, count), knot_levels(), how);
    for (std::size_t i = 0; i < count; ++i)
      follow_knots(knots.row(i), levels, result.row(first + i));
  }
  return result;
}

}  // namespace tare
