// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/local_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

struct Scores {
  Matrix x{4'000, 3};
  std::vector<double> score;

  /// Normal scores where a method is right, changed by `change` of the first column.
  template <typename Change>
  explicit Scores(const Change& change) {
    Rng rng(Seed{7});
    for (std::size_t i = 0; i < x.rows(); ++i) {
      for (double& value : x.row(i)) value = rng.uniform();
      score.push_back(change(x(i, 0), rng.normal()));
    }
  }
  LocalError find() const { return LocalError::fit(x, score, {}, Seed{9}, {}); }
};

Matrix low_and_high() {
  Matrix x(2, 3);
  for (std::size_t j = 0; j < 3; ++j) {
    x(0, j) = 0.25;
    x(1, j) = 0.75;
  }
  return x;
}

TEST(LocalError, IsNoneWhereTheMethodIsRightEverywhere) {
  const LocalError error = Scores([](double, double z) { return z; }).find();
  const LocalError::Values at = error.at(low_and_high(), {});
  for (const double tau : {0.05, 0.5, 0.9}) {
    EXPECT_NEAR(error.usual(tau), 0.0, 0.05);
    for (const std::size_t i : {0U, 1U}) EXPECT_NEAR(at.level(i, tau), tau, 0.03);
  }
}

TEST(LocalError, FindsAShift) {
  const LocalError error =
      Scores([](double x, double z) { return z + (x > 0.5 ? 0.4 : -0.4); }).find();
  const LocalError::Values at = error.at(low_and_high(), {});
  for (const double tau : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    const double z = normal_quantile(tau);
    EXPECT_NEAR(normal_quantile(at.level(0, tau)) - z, -0.4, 0.12) << tau;
    EXPECT_NEAR(normal_quantile(at.level(1, tau)) - z, 0.4, 0.12) << tau;
    EXPECT_NEAR(error.usual(tau), 0.4, 0.12);
  }
}

TEST(LocalError, FindsASize) {
  const LocalError error =
      Scores([](double x, double z) { return x > 0.5 ? 1.5 * z : z / 1.5; }).find();
  const LocalError::Values at = error.at(low_and_high(), {});
  EXPECT_NEAR(at.size[0], 1.0 / 1.5, 0.1);
  EXPECT_NEAR(at.size[1], 1.5, 0.2);
  EXPECT_NEAR(at.level(0, 0.5), 0.5, 0.05);
  EXPECT_LT(at.level(1, 0.05), 0.03);
  EXPECT_GT(at.level(0, 0.05), 0.08);
}

// The mean is the same everywhere, the median is not: it is at -0.43 where x is small and at 0.43
// elsewhere.
TEST(LocalError, FindsAMedianThatMovesAlone) {
  const auto bent = [](double z) { return z < 0.43 ? z - 0.43 : (z - 0.43) * 2.3; };
  const LocalError error =
      Scores([&](double x, double z) { return x > 0.5 ? -bent(-z) : bent(z); }).find();
  const LocalError::Values at = error.at(low_and_high(), {});
  EXPECT_LT(at.level(0, 0.5), 0.45);
  EXPECT_GT(at.level(1, 0.5), 0.55);
}

TEST(LocalError, LevelsNeverFall) {
  const LocalError error = Scores([](double x, double z) { return z * (0.2 + x) + x; }).find();
  const LocalError::Values at = error.at(low_and_high(), {});
  for (const std::size_t i : {0U, 1U}) {
    double before = 0.0;
    for (int k = 1; k < 100; ++k) {
      const double level = at.level(i, k / 100.0);
      EXPECT_GE(level, before);
      before = level;
    }
  }
}

}  // namespace
}  // namespace tare
