// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/matrix.h"

namespace tare {

/// A vertex of a linear quantile regression of `score` on the rows of `phi`: coefficients that meet
/// as many rows (the basis) exactly as there are columns, and the dual variables of these rows.
///
/// The coefficients b minimise sum_i rho(score_i - phi_i b), rho(r) = tau r for r > 0 and
/// (tau - 1) r otherwise. A row above the fit has the dual tau, one below it tau - 1, a basis row
/// one between these, and the sum over all rows of dual times phi is zero.
struct QuantileVertex {
  std::vector<std::uint32_t> basis;
  Matrix edge;  // edge.row(k): phi of basis row k times it is 1, of the other basis rows 0
  std::vector<double> dual;         // of the basis rows
  std::vector<double> coefficient;  // b
  bool optimal = false;             // false: rounding kept the search from an end

  /// Puts row `entering` in the place k of the basis.
  void replace(std::size_t k, std::uint32_t entering, std::span<const double> phi_of_it);
};

/// The inner product, as four sums side by side: one after the other would wait for each addition.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum[4] = {};
  std::size_t j = 0;
  for (; j + 4 <= a.size(); j += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += a[j + k] * b[j + k];
  }
  for (; j < a.size(); ++j) sum[0] += a[j] * b[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// The exact solution by the simplex method: along the edge of the most violated dual to where the
/// slope turns, which may pass many rows (Barrodale, Roberts 1973). phi must have full column rank
/// and second moments near the identity (ConditionFeatures), and scores must be distinct where
/// their rows of phi are equal.
QuantileVertex fit_quantile(MatrixView phi, std::span<const double> score, double tau);

}  // namespace tare
