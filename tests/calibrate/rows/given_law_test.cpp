// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/rows/given_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

GivenLaw law_of(const GivenForm& form, const Matrix& given) { return GivenLaw::fit(form, given); }

RowLaw read_row(const GivenLaw& law, const Matrix& given, std::size_t i) {
  RowLaw row;
  law.read(given.row(i), row);
  return row;
}

double logit(double p) { return std::log(p / (1.0 - p)); }

/// Random levels and quantiles; with ties and crossings for some seeds.
struct RandomCase {
  GivenForm form{GivenKind::kQuantiles, {}};
  Matrix given;
};
RandomCase random_case(std::uint64_t seed) {
  Rng rng(Seed{seed});
  const std::size_t count = 2 + static_cast<std::size_t>(rng.uniform() * 8.0);
  RandomCase drawn;
  for (std::size_t j = 0; j < count; ++j) {
    drawn.form.levels.push_back((static_cast<double>(j) + 0.1 + 0.8 * rng.uniform()) /
                                static_cast<double>(count));
  }
  drawn.given = Matrix(20, count);
  for (double& value : drawn.given.values()) {
    value = 100.0 * rng.normal();
    if (seed % 3 == 0) value = std::round(value / 60.0);  // ties
  }
  return drawn;
}

/// The curve by its definition: the line through the two knots around u, found one by one.
double slow_answer(const std::vector<double>& levels, std::vector<double> q, double u) {
  std::sort(q.begin(), q.end());
  std::size_t a = 0;
  while (a + 2 < q.size() && u > logit(levels[a + 1])) ++a;
  const double slope = (q[a + 1] - q[a]) / (logit(levels[a + 1]) - logit(levels[a]));
  return q[a] + slope * (u - logit(levels[a]));
}

TEST(GivenLaw, TheCurveIsALineThroughTheQuantilesOnTheLogitScale) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    if (seed % 3 == 0) continue;  // equal outermost quantiles have their own rule
    const RandomCase c = random_case(seed);
    const GivenLaw law = law_of(c.form, c.given);
    for (std::size_t i = 0; i < c.given.rows(); ++i) {
      std::vector<double> q(c.given.row(i).begin(), c.given.row(i).end());
      std::sort(q.begin(), q.end());
      const double mean_slope =
          (q.back() - q.front()) / (logit(c.form.levels.back()) - logit(c.form.levels.front()));
      const auto steep = [&](std::size_t a) {
        return (q[a + 1] - q[a]) / (logit(c.form.levels[a + 1]) - logit(c.form.levels[a])) >
               0.01 * mean_slope;
      };
      if (!steep(0) || !steep(q.size() - 2)) continue;
      const RowLaw row = read_row(law, c.given, i);
      for (double u = -12.0; u <= 12.0; u += 0.37) {
        const double expected = slow_answer(c.form.levels, q, u);
        EXPECT_NEAR(row.answer(u), expected, 1e-10 * (1.0 + std::abs(expected))) << seed;
      }
      EXPECT_NEAR(row.unit(), mean_slope, 1e-12 * mean_slope);
    }
  }
}

TEST(GivenLaw, ResidualAndAnswerUndoEachOther) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomCase c = random_case(seed);
    const GivenLaw law = law_of(c.form, c.given);
    Rng rng(Seed{seed + 1000});
    for (std::size_t i = 0; i < c.given.rows(); ++i) {
      const RowLaw row = read_row(law, c.given, i);
      const auto q = c.given.row(i);
      const double size =
          std::max(std::abs(*std::ranges::min_element(q)), std::abs(*std::ranges::max_element(q)));
      for (int k = 0; k < 20; ++k) {
        const double y = 3.0 * (1.0 + size) * rng.normal();
        const double u = row.residual(y);
        ASSERT_TRUE(std::isfinite(u));
        EXPECT_NEAR(row.answer(u), y, 1e-12 * (1.0 + size + std::abs(y))) << seed;
      }
      for (const double y : q) EXPECT_NEAR(row.answer(row.residual(y)), y, 1e-12 * (1.0 + size));
    }
  }
}

TEST(GivenLaw, BothWaysNeverFall) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomCase c = random_case(seed);
    const GivenLaw law = law_of(c.form, c.given);
    for (std::size_t i = 0; i < c.given.rows(); ++i) {
      const RowLaw row = read_row(law, c.given, i);
      double last_y = -std::numeric_limits<double>::infinity();
      double last_u = last_y;
      for (double at = -30.0; at <= 30.0; at += 0.11) {
        EXPECT_GE(row.answer(at), last_y);
        EXPECT_GE(row.residual(10.0 * at), last_u);
        last_y = row.answer(at);
        last_u = row.residual(10.0 * at);
      }
      EXPECT_LT(row.answer(-1e3), row.answer(-1e2));
      EXPECT_GT(row.answer(1e3), row.answer(1e2));
    }
  }
}

TEST(GivenLaw, QuantilesOfALogisticLawAreThatLaw) {
  // On the logit scale a logistic law is one straight line, so any levels give it, far out too.
  const GivenForm form{GivenKind::kQuantiles, {0.05, 0.3, 0.9}};
  Matrix given(1, 3);
  for (std::size_t j = 0; j < 3; ++j) given(0, j) = 7.0 + 2.0 * logit(form.levels[j]);
  const RowLaw row = read_row(law_of(form, given), given, 0);
  for (const double p : {1e-9, 0.001, 0.05, 0.2, 0.5, 0.97, 0.99999}) {
    EXPECT_NEAR(row.answer(logit(p)), 7.0 + 2.0 * logit(p), 1e-10);
  }
  EXPECT_NEAR(row.residual(1e6), (1e6 - 7.0) / 2.0, 1e-6) << "a level this near 1 would be 1";
}

TEST(GivenLaw, CrossingQuantilesAreSorted) {
  const GivenForm form{GivenKind::kQuantiles, {0.1, 0.5, 0.9}};
  const Matrix given({3.0, 1.0, 2.0, 1.0, 2.0, 3.0}, 2, 3);
  const GivenLaw law = law_of(form, given);
  for (double u = -5.0; u < 5.0; u += 0.5) {
    EXPECT_EQ(read_row(law, given, 0).answer(u), read_row(law, given, 1).answer(u));
  }
}

TEST(GivenLaw, ATargetOnAStepIsInItsMiddle) {
  const GivenForm form{GivenKind::kQuantiles, {0.1, 0.2, 0.5, 0.9}};
  const Matrix given({0.0, 0.0, 0.0, 5.0, 1.0, 1.0, 1.0, 1.0}, 2, 4);
  const GivenLaw law = law_of(form, given);
  EXPECT_NEAR(read_row(law, given, 0).residual(0.0), 0.5 * (logit(0.1) + logit(0.5)), 1e-15);
  EXPECT_NEAR(read_row(law, given, 1).residual(1.0), 0.5 * (logit(0.1) + logit(0.9)), 1e-15);
  // An end without a spread takes a hundredth of the row's slope, a row without one a thousandth of
  // the usual.
  const double slope = 5.0 / (logit(0.9) - logit(0.1));
  EXPECT_NEAR(read_row(law, given, 0).residual(-1.0), logit(0.1) - 100.0 / slope, 1e-9);
  EXPECT_NEAR(read_row(law, given, 1).residual(2.0), logit(0.9) + 1000.0 / slope, 1e-9);
}

TEST(GivenLaw, QuantilesThatAreAllEqualArePointPredictions) {
  const Matrix given({4.0, 4.0, -1.0, -1.0}, 2, 2);
  const GivenLaw law = law_of({GivenKind::kQuantiles, {0.25, 0.75}}, given);
  EXPECT_NEAR(read_row(law, given, 0).residual(6.0), logit(0.75) + 2.0, 1e-12);
  EXPECT_NEAR(read_row(law, given, 1).residual(-4.0), logit(0.25) - 3.0, 1e-12);
}

TEST(GivenLaw, APointAndAMeanWithASdAreStraightLines) {
  const Matrix point(1, 1, 3.0);
  const Matrix both({3.0, 0.5}, 1, 2);
  const RowLaw moved = read_row(law_of({}, point), point, 0);
  const RowLaw scaled = read_row(law_of({GivenKind::kMeanSd, {}}, both), both, 0);
  for (double y = -7.0; y < 7.0; y += 0.3) {
    EXPECT_EQ(moved.residual(y), y - 3.0);
    EXPECT_EQ(scaled.residual(y), (y - 3.0) / 0.5);
    EXPECT_EQ(moved.answer(y), 3.0 + y);
    EXPECT_EQ(scaled.answer(y), 3.0 + 0.5 * y);
  }
  EXPECT_EQ(scaled.unit(), 0.5);
  std::vector<double> features(2);
  law_of({GivenKind::kMeanSd, {}}, both).features(both.row(0), features);
  EXPECT_EQ(features, (std::vector<double>{3.0, std::log(0.5)}));
}

TEST(GivenLaw, WhatCannotBeUsedIsNamed) {
  const double inf = std::numeric_limits<double>::infinity();
  const GivenForm mean_sd{GivenKind::kMeanSd, {}};
  const GivenForm two{GivenKind::kQuantiles, {0.1, 0.9}};
  const auto fails = [](ErrorCode code, const std::string& part, const GivenForm& form,
                        const Matrix& given) {
    expect_error(code, part, [&] { GivenLaw::fit(form, given); });
  };
  fails(ErrorCode::kBadData, "row 1, given column 1: the standard deviation 0 is not above 0",
        mean_sd, Matrix({1.0, 1.0, 1.0, 0.0}, 2, 2));
  fails(ErrorCode::kBadData, "row 0, given column 1: the standard deviation -2", mean_sd,
        Matrix({1.0, -2.0}, 1, 2));
  fails(ErrorCode::kBadData, "row 0, given column 1: nan is not finite", two,
        Matrix({1.0, std::nan("")}, 1, 2));
  fails(ErrorCode::kBadData, "row 0, given column 0: inf is not finite", two,
        Matrix({inf, 1.0}, 1, 2));
  fails(ErrorCode::kBadData, "too far apart", two, Matrix({-1.5e308, 1.5e308}, 1, 2));
  fails(ErrorCode::kShapeMismatch, "3 given columns, but the form has 2", two, Matrix(1, 3));
  fails(ErrorCode::kInvalidArgument, "at least 2 are needed", {GivenKind::kQuantiles, {0.5}},
        Matrix(1, 1));
  for (const auto& levels : {std::vector{0.5, 0.5}, std::vector{0.9, 0.1}, std::vector{0.0, 0.5},
                             std::vector{0.5, 1.0}, std::vector{0.5, std::nan("")}}) {
    fails(ErrorCode::kInvalidArgument, "ascend inside (0, 1)", {GivenKind::kQuantiles, levels},
          Matrix(1, 2));
  }
  const Matrix narrow({0.0, 1e-300}, 1, 2);
  expect_error(ErrorCode::kBadData, "row 0: the target 1e+200 is too far from the given",
               [&] { GivenLaw::fit(mean_sd, narrow).residuals(narrow, std::vector{1e200}); });
}

}  // namespace
}  // namespace tare
