// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace tare {

// A normal distribution as natural gradient boosting learns it (Duan et al. 2020): theta is its
// mean and the log of its sd, and the score is the log score, the negative log density.

/// The mean and the log of the sd, or a gradient in them.
using NormalParameters = std::array<double, 2>;

/// Beyond these limits the log of an sd counts as the limit, in units in which the targets have
/// the sd 1: no sum of trees leads to an sd of 0 or infinity.
inline constexpr double kFarthestLogSd = 15.0;

inline double limited_log_sd(double log_sd) {
  return std::clamp(log_sd, -kFarthestLogSd, kFarthestLogSd);
}

/// The log score of y, without the constant log(2 pi) / 2.
inline double log_score(const NormalParameters& theta, double y) {
  const double log_sd = limited_log_sd(theta[1]);
  const double z = (y - theta[0]) * std::exp(-log_sd);
  return log_sd + 0.5 * z * z;
}

/// The natural gradient of the log score: the inverse of the Fisher information, which is
/// diag(1 / sd^2, 2), times the gradient, ((mean - y) / sd^2, 1 - z^2).
inline NormalParameters natural_gradient(const NormalParameters& theta, double y) {
  const double z = (y - theta[0]) * std::exp(-limited_log_sd(theta[1]));
  return {theta[0] - y, 0.5 * (1.0 - z * z)};
}

}  // namespace tare
