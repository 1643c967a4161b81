// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/exceedance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "draws.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

double share_below(double value, const std::vector<double>& among) {
  double sum = 0.0;
  for (const double other : among) sum += other < value ? 1.0 : (other == value ? 0.5 : 0.0);
  return sum / static_cast<double>(among.size());
}

/// The variance of the mean of n terms, and at least 1 / (12 n).
double plain_variance(const std::vector<double>& terms) {
  const auto count = static_cast<double>(terms.size());
  double sum = 0.0;  // of squared differences of all pairs
  for (const double a : terms) {
    for (const double b : terms) sum += (a - b) * (a - b);
  }
  return std::max(sum / (2.0 * count * (count - 1.0)), 1.0 / 12.0) / count;
}

double plain_mean(const std::vector<double>& terms) {
  double sum = 0.0;
  for (const double term : terms) sum += term;
  return sum / static_cast<double>(terms.size());
}

std::vector<double> some_numbers(std::size_t count, std::uint64_t distinct, Rng& rng) {
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(rng.below(distinct));
  std::ranges::sort(values);
  return values;
}

TEST(Exceedance, AgreesWithAllPairs) {
  Rng rng(Seed{9});
  for (std::uint64_t draw = 0; draw < draws(200); ++draw) {
    const std::uint64_t distinct = 1 + rng.below(60);
    const std::vector<double> x = some_numbers(2 + rng.below(30), distinct, rng);
    const std::vector<double> y = some_numbers(2 + rng.below(30), distinct, rng);
    std::vector<double> x_places, y_places, outward, x_terms;
    for (const double value : x) x_places.push_back(share_below(value, y));
    for (const double value : y) y_places.push_back(share_below(value, x));
    for (const double place : y_places) outward.push_back(std::fabs(2.0 * place - 1.0));
    for (const double value : x) {
      double term = 0.0;
      for (std::size_t k = 0; k < y.size(); ++k) {
        const double above = value < y[k] ? 1.0 : (value == y[k] ? 0.5 : 0.0);
        const double side = y_places[k] > 0.5 ? 1.0 : (y_places[k] < 0.5 ? -1.0 : 0.0);
        term += 2.0 * side * above / static_cast<double>(y.size());
      }
      x_terms.push_back(term);
    }
    const Exceedance above = estimate_exceedance(x, y);
    EXPECT_NEAR(above.probability, plain_mean(y_places), 1e-12);
    EXPECT_NEAR(above.variance_x, plain_variance(x_places), 1e-12);
    EXPECT_NEAR(above.variance_y, plain_variance(y_places), 1e-12);
    const Exceedance out = estimate_outwardness(x, y);
    EXPECT_NEAR(out.probability, plain_mean(outward), 1e-12);
    EXPECT_NEAR(out.variance_x, plain_variance(x_terms), 1e-12);
    EXPECT_NEAR(out.variance_y, plain_variance(outward), 1e-12);
  }
}

TEST(Exceedance, VariancesAreNotTooSmall) {
  // Against the variance over many pairs of samples, for a shift, a change of scale, and none.
  // 1,000 pairs give a variance to 4.5 %; three times that is allowed.
  struct Law {
    double shift, scale;
  };
  for (const Law law : {Law{0.0, 1.0}, Law{1.0, 1.0}, Law{0.0, 2.0}, Law{-0.5, 0.6}}) {
    Rng rng(Seed{10});
    std::vector<double> above, out;
    double above_variance = 0.0, out_variance = 0.0;
    constexpr int kPairs = 1000;
    for (int pair = 0; pair < kPairs; ++pair) {
      std::vector<double> x(30), y(25);
      for (double& value : x) value = rng.normal();
      for (double& value : y) value = law.shift + law.scale * rng.normal();
      std::ranges::sort(x);
      std::ranges::sort(y);
      const Exceedance location = estimate_exceedance(x, y);
      const Exceedance spread = estimate_outwardness(x, y);
      above.push_back(location.probability);
      out.push_back(spread.probability);
      above_variance += (location.variance_x + location.variance_y) / kPairs;
      out_variance += (spread.variance_x + spread.variance_y) / kPairs;
    }
    const auto empirical = [](const std::vector<double>& values) {
      double squares = 0.0;
      for (const double value : values) squares += std::pow(value - plain_mean(values), 2);
      return squares / (kPairs - 1);
    };
    EXPECT_GE(above_variance, 0.865 * empirical(above)) << law.shift << ", " << law.scale;
    EXPECT_GE(out_variance, 0.865 * empirical(out)) << law.shift << ", " << law.scale;
  }
}

}  // namespace
}  // namespace tare
