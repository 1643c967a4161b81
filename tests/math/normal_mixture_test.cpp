// SPDX-License-Identifier: BSD-3-Clause
#include "math/normal_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// In long double, from the error function alone.
long double slow_cdf(const std::vector<double>& mean, const std::vector<double>& sd, double x) {
  long double sum = 0.0L;
  for (std::size_t s = 0; s < mean.size(); ++s) {
    const long double z = (static_cast<long double>(x) - mean[s]) / sd[s];
    sum += 0.5L * std::erfc(-z / std::numbers::sqrt2_v<long double>);
  }
  return sum / static_cast<long double>(mean.size());
}

TEST(NormalMixture, OfOneLawHasItsQuantiles) {
  const std::vector<double> mean = {3.0}, sd = {0.25};
  const NormalMixture law(mean, sd);
  for (const double tau : {1e-9, 0.01, 0.5, 0.9, 0.9999}) {
    EXPECT_NEAR(law.quantile(Level{tau}), 3.0 + 0.25 * normal_quantile(tau), 1e-14 * 3.0);
  }
}

TEST(NormalMixture, QuantilesInvertTheDistribution) {
  Rng rng(Seed{3});
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> mean, sd;
    for (int s = 0; s < 1 + 7 * trial; ++s) {
      mean.push_back(rng.normal() * 3.0 + (s % 2 == 0 ? 40.0 : 0.0));  // two groups, a gap between
      sd.push_back(std::exp(rng.uniform(-4.0, 1.0)));
    }
    const NormalMixture law(mean, sd);
    double before = -1e300;
    for (const double tau : {1e-12, 1e-6, 0.001, 0.05, 0.3, 0.4999, 0.5, 0.7, 0.95, 0.9999999}) {
      const double q = law.quantile(Level{tau});
      EXPECT_GE(q, before);
      before = q;
      // Either the distribution is hit, or the next double on one side is beyond it: in a gap it is
      // so flat that no double may hit, and at a spike so steep.
      const double slack = 1e-13 * tau + 1e-15;
      const double ulps = 1e-14 * std::abs(q) + 1e-14;
      EXPECT_LE(slow_cdf(mean, sd, q - ulps), tau + slack) << tau;
      EXPECT_GE(slow_cdf(mean, sd, q + ulps), tau - slack) << tau;
    }
  }
}

TEST(NormalMixture, DensityIsTheSlope) {
  const std::vector<double> mean = {0.0, 1.0, 5.0}, sd = {1.0, 0.2, 2.0};
  const NormalMixture law(mean, sd);
  for (const double x : {-2.0, 0.9, 3.0}) {
    const double slope = (law.cdf(x + 1e-5) - law.cdf(x - 1e-5)) / 2e-5;
    EXPECT_NEAR(law.pdf(x), slope, 1e-8);  // curvature times the step squared
  }
}

}  // namespace
}  // namespace tare
