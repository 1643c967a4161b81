// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "tare/base/level.h"

namespace tare {

/// A mixture of normal distributions with equal weights.
class NormalMixture {
 public:
  /// At least one component; means are finite, standard deviations finite and positive. Both must
  /// outlive the mixture.
  NormalMixture(std::span<const double> mean, std::span<const double> sd);

  double cdf(double x) const;
  double pdf(double x) const;
  /// The x with cdf(x) = tau, to a few units in the last place of the largest |mean| + sd.
  double quantile(Level tau) const;

 private:
  double refined(double tau, double low, double high, double x) const;

  std::span<const double> mean_;
  std::span<const double> sd_;
  double low_;                  // where the grid starts
  double step_;                 // between grid points
  std::vector<double> ladder_;  // cdf at each grid point
};

}  // namespace tare
