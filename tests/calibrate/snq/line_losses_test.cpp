// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/line_losses.h"

#include <gtest/gtest.h>

#include "calibrate/bandwidth/bandwidth.h"
#include "data/rows.h"
#include "tare/base/rng.h"

#include "calibrate/snq/engine/exact_losses.h"

namespace tare {
namespace {

TEST(LineLosses, AreThoseOfTheSampleRowByRow) {
  Rng rng(Seed{12});
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t rows = 2 + rng.below(trial % 4 == 0 ? 6 : 150);
    Matrix z(rows, 1);
    std::vector<double> u(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      z(i, 0) = trial % 3 == 0 ? static_cast<double>(rng.below(4)) : rng.normal();
      u[i] = trial % 5 == 0 ? static_cast<double>(rng.below(3)) : rng.normal();
    }
    const LocalSample sample(z, u, {});
    SnqOptions options{.kernel = trial % 2 == 0 ? KernelKind::kKnn : KernelKind::kNaive};
    options.fallback = trial % 4 < 2 ? Fallback::kNearest : Fallback::kMarginal;
    options.min_support = 1 + rng.below(5);
    std::vector<double> bandwidths = {1e9};  // all rows
    for (int k = 0; k < 4; ++k) {
      bandwidths.push_back(trial % 2 == 0 ? static_cast<double>(1 + rng.below(rows + 2))
                                          : rng.uniform(0.001, 2.0));
    }
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < rows; ++i) {
      if (rng.uniform() < 0.7) places.push_back(i);
    }
    ASSERT_TRUE(line_losses_serve(sample, options));
    const Matrix actual = line_losses(sample, options, bandwidths, places, {});
    const Matrix expected = exact_leave_one_out_losses(sample, {}, options, bandwidths, places, {});
    for (std::size_t p = 0; p < places.size(); ++p) {
      for (std::size_t b = 0; b < bandwidths.size(); ++b) {
        ASSERT_EQ(actual(p, b), expected(p, b))
            << "trial " << trial << ", bandwidth " << bandwidths[b] << ", " << rows << " rows";
      }
    }
  }
}

TEST(LineLosses, AreForOneFeatureAndEqualWeights) {
  const Matrix two(30, 2);
  const Matrix one(30, 1);
  const std::vector<double> u(30, 0.0);
  const std::vector<double> weight(30, 2.0);
  const SnqOptions knn{.kernel = KernelKind::kKnn};
  EXPECT_TRUE(line_losses_serve(LocalSample(one, u, {}), knn));
  EXPECT_FALSE(line_losses_serve(LocalSample(two, u, {}), knn));
  EXPECT_FALSE(line_losses_serve(LocalSample(one, u, weight), knn));
  EXPECT_FALSE(line_losses_serve(LocalSample(one, u, {}), {.kernel = KernelKind::kGaussian}));
}

}  // namespace
}  // namespace tare
