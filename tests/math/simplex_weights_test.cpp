// SPDX-License-Identifier: BSD-3-Clause
#include "math/simplex_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// Errors of `count` predictions on `rows` rows as a matrix of mean products.
std::vector<double> random_gram(std::size_t count, std::size_t rows, Rng& rng) {
  std::vector<double> error(count * rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const double shared = rng.normal();
    for (std::size_t k = 0; k < count; ++k) {
      error[k * rows + r] = 0.7 * shared + (0.3 + 0.2 * static_cast<double>(k)) * rng.normal();
    }
  }
  std::vector<double> gram(count * count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t r = 0; r < rows; ++r)
        gram[i * count + j] += error[i * rows + r] * error[j * rows + r];
    }
  }
  return gram;
}

double value(std::span<const double> gram, std::span<const double> w) {
  double sum = 0.0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j < w.size(); ++j) sum += w[i] * w[j] * gram[i * w.size() + j];
  }
  return sum;
}

TEST(SimplexWeights, NoOtherWeightsAreBetter) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(Seed{seed});
    const std::size_t count = 1 + rng.below(7);
    const std::vector<double> gram = random_gram(count, 1 + rng.below(40), rng);
    const std::vector<double> w = simplex_weights(gram, count);
    EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1.0, 1e-12);
    for (const double one : w) EXPECT_GE(one, 0.0);
    // A convex function on a convex set: optimal where no way towards a corner goes down.
    const double best = value(gram, w);
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<double> towards = w;
      constexpr double kStep = 1e-4;
      for (double& one : towards) one *= 1.0 - kStep;
      towards[k] += kStep;
      EXPECT_GE(value(gram, towards), best * (1.0 - 1e-9)) << "seed " << seed << ", corner " << k;
    }
  }
}

TEST(SimplexWeights, TheOnlyGoodPredictionGetsAll) {
  const std::vector<double> gram = {1.0, 0.0, 0.0, 0.0};
  EXPECT_EQ(simplex_weights(gram, 2), (std::vector<double>{0.0, 1.0}));
}

TEST(SimplexWeights, NothingToChooseFromIsFine) {
  EXPECT_EQ(simplex_weights(std::vector<double>{3.0}, 1), std::vector<double>{1.0});
  const std::vector<double> equal = simplex_weights(std::vector<double>(4, 0.0), 2);
  EXPECT_DOUBLE_EQ(equal[0] + equal[1], 1.0);
}

}  // namespace
}  // namespace tare
