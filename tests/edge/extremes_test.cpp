// SPDX-License-Identifier: BSD-3-Clause
// Numbers at the edge of double, and counts at the edge of 32 bits, where the command line does not
// reach.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/vector_limit.h"
#include "expect_error.h"
#include "math/bounded.h"
#include "math/tame_weights.h"
#include "model/input/fit_input.h"
#include "tare/calibrate/snq.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

Standard standard_of(const std::vector<double>& values, const std::vector<double>& weight = {}) {
  return standardise(
      values.size(), [&](std::size_t i) { return values[i]; }, weight);
}

TEST(Standardise, TakesValuesFromBothEndsOfDouble) {
  const Standard ends = standard_of({-kMost, kMost, kMost, -kMost});
  EXPECT_EQ(ends.mean, 0.0);
  EXPECT_EQ(ends.scale, kMost);
  EXPECT_EQ(standardised(kMost, ends), 1.0);
  const Standard skewed = standard_of({-kMost, kMost, kMost, kMost});
  EXPECT_NEAR(skewed.mean / kMost, 0.5, 1e-15);
  EXPECT_NEAR(skewed.scale / kMost, std::sqrt(0.75), 1e-15);
  EXPECT_NEAR(standardised(-kMost, skewed), -1.5 / std::sqrt(0.75), 1e-14);
}

TEST(Standardise, IsAsBeforeForOrdinaryValues) {
  const Standard plain = standard_of({1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(plain.mean, 2.5);
  EXPECT_NEAR(plain.scale, std::sqrt(1.25), 1e-15);
}

TEST(Standardise, WeightsThatAreAllZeroCountAsEqual) {
  const Standard none = standard_of({1.0, 2.0, 3.0}, {0.0, 0.0, 0.0});
  EXPECT_EQ(none.mean, 2.0);
  EXPECT_GT(none.scale, 0.0);
}

TEST(Standardise, OneRowWithAllTheWeightLeavesAScale) {
  const Standard one = standard_of({0.0, 1.0, 2.0}, {1.0, 1e-200, 1e-200});
  EXPECT_GE(one.scale, 1e-10);
}

TEST(TameWeights, ChangesTheUnitAndNothingElse) {
  EXPECT_TRUE(tame_weights(std::vector<double>{1.0, 2.0, 0.0}).empty());
  EXPECT_TRUE(tame_weights(std::vector<double>{0.0, 0.0}).empty());
  EXPECT_EQ(tame_weights(std::vector<double>{0x1.0p1000, 0x1.8p1001, 0.0}),
            (std::vector<double>{0.5, 1.5, 0.0}));
  EXPECT_EQ(tame_weights(std::vector<double>{0x1.0p-1070}), (std::vector<double>{1.0}));
  EXPECT_FALSE(tame_weights(std::vector<double>{1e80}, 1e300).empty());
}

TEST(TameWeights, APositiveWeightStaysPositiveInSinglePrecision) {
  EXPECT_GT(single_weight(1e-300), 0.0F);
  EXPECT_EQ(single_weight(0.0), 0.0F);
  EXPECT_EQ(single_weight(0.75), 0.75F);
}

TEST(Ridge, TermsThatOverflowWithOppositeSignsAreNoNan) {
  // y = a - b: at a = b = the largest number either term is infinite.
  Matrix x(40, 2);
  std::vector<double> y(40);
  for (std::size_t i = 0; i < 40; ++i) {
    x(i, 0) = 1e-5 * static_cast<double>(i % 7);
    x(i, 1) = 1e-5 * static_cast<double>(i % 11);
    y[i] = 1e5 * (x(i, 0) - x(i, 1));
  }
  const auto model = find_regressor("ridge").fit({x, y, {}}, {}, Seed{1}, {});
  const Matrix far(std::vector<double>{kMost, kMost, -kMost, kMost}, 2, 2);
  std::vector<double> out(2);
  model->predict(far, out, {});
  for (const double value : out) EXPECT_TRUE(std::isfinite(value)) << value;
  EXPECT_EQ(out[1], bounded(-kMost));
}

TEST(Snq, CountsBeyond32BitsAreRefused) {
  const Matrix z(std::vector<double>{0.0, 1.0, 2.0}, 3, 1);
  const std::vector<double> u = {1.0, 2.0, 3.0};
  SnqOptions options;
  options.bandwidth = 1.0;
  const Snq snq(z, u, {}, options);
  const double one = 0.5;
  // A view of one row, over and over.
  const MatrixView many(&one, std::size_t{1} << 32, 1, 0);
  const std::vector<Level> levels = {Level(0.5)};
  expect_error(ErrorCode::kInvalidArgument, "4294967296 queries are too many",
               [&] { snq.predict(many, levels); });
}

#if HWY_ARCH_X86
TEST(VectorLimit, LeavesOutWhatIsWider) {
  const std::int64_t all = hwy::SupportedTargets();
  limit_vectors("sse4");
  EXPECT_EQ(hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL), 0);
  hwy::DisableTargets(0);
  EXPECT_EQ(hwy::SupportedTargets(), all);
}
#endif

TEST(VectorLimit, KnowsItsNames) {
  expect_error(ErrorCode::kInvalidArgument, "must be sse2, ssse3", [] { limit_vectors("mmx"); });
}

}  // namespace
}  // namespace tare
