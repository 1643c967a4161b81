// SPDX-License-Identifier: BSD-3-Clause
// What idr promises beyond the contract of every method.
#include "calibrate/baseline/quantile/idr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "expect_error.h"
#include "model/isotonic/isotonic_cdf.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

std::unique_ptr<QuantileModel> fit_isotonic(const FitInput& input, const std::string& params = "") {
  return fit_method(find_method("idr"), input,
                    Params::parse(params + " bands=off masses=no guarantee=none"));
}

/// Targets whose distribution grows with the prediction in column 0: an exponential one with this
/// mean; the second column says nothing.
struct Growing {
  Matrix x, given;
  std::vector<double> y;
};
Growing growing_rows(std::size_t rows, Seed seed) {
  Growing drawn{Matrix(rows, 2), Matrix(rows, 1), std::vector<double>(rows)};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    drawn.x(i, 0) = 0.5 + rng.uniform();
    drawn.x(i, 1) = rng.normal();
    drawn.given(i, 0) = drawn.x(i, 0);
    drawn.y[i] = -drawn.x(i, 0) * std::log(1.0 - rng.uniform());
  }
  return drawn;
}

TEST(Idr, AGivenPredictionIsTheOneItGrowsWith) {
  const Growing data = growing_rows(300, Seed{1});
  const auto model = fit_isotonic({.x = data.x, .y = data.y, .given = data.given});
  std::vector<double> prediction;
  for (std::size_t i = 0; i < 300; ++i) prediction.push_back(data.given(i, 0));
  const IsotonicCdf oracle = IsotonicCdf::fit(prediction, data.y, {}, 5000, {});
  const auto levels = metric_levels();
  const Matrix answers = model->predict({data.x, data.given}, levels).quantiles;
  std::vector<double> expected(levels.size());
  for (std::size_t i = 0; i < 300; ++i) {
    oracle.quantiles(prediction[i], levels, expected);
    EXPECT_TRUE(std::ranges::equal(answers.row(i), expected)) << i;
  }
  // Features do not count.
  const Matrix other(300, 2, 5.0);
  const Matrix same = model->predict({other, data.given}, levels).quantiles;
  EXPECT_TRUE(std::ranges::equal(answers.values(), same.values()));
}

/// Theorem: consistent where the distribution grows with the prediction, at the rate n^(-1/3). From
/// 500 to 8,000 rows that is a factor of 2.5; half as much must be seen.
TEST(Idr, ComesNearerToTheTruthWithEachRow) {
  std::vector<Level> levels;
  for (int j = 1; j < 10; ++j) levels.emplace_back(0.1 * j);
  const auto error = [&](std::size_t rows) {
    double sum = 0.0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Growing train = growing_rows(rows, Seed{seed});
      const Growing test = growing_rows(500, Seed{seed + 100});
      const auto model = fit_isotonic({.x = train.x, .y = train.y, .given = train.given});
      const Matrix q = model->predict({test.x, test.given}, levels).quantiles;
      for (std::size_t i = 0; i < 500; ++i) {
        for (std::size_t j = 0; j < levels.size(); ++j) {
          const double level = 1.0 - std::exp(-q(i, j) / test.given(i, 0));
          sum += std::abs(level - levels[j].value()) / (4.0 * 500.0 * 9.0);
        }
      }
    }
    return sum;
  };
  const double few = error(500), many = error(8000);
  EXPECT_LT(many, few / 1.75);
  EXPECT_LT(many, 0.03);
}

TEST(Idr, ItsOwnModelPredictsRowsThatItWasNotTrainedOn) {
  const Growing train = growing_rows(600, Seed{2});
  const Growing test = growing_rows(2000, Seed{3});
  for (const char* split : {"split=cross regressor=ridge", "split=0.4 regressor=ridge"}) {
    const auto model = fit_isotonic({.x = train.x, .y = train.y}, split);
    EXPECT_EQ(model->given(), 0U);
    const std::vector<Level> levels = {Level{0.1}, Level{0.9}};
    const Matrix q = model->predict({test.x}, levels).quantiles;
    double covered = 0.0;
    for (std::size_t i = 0; i < 2000; ++i) {
      covered += q(i, 0) <= test.y[i] && test.y[i] <= q(i, 1) ? 1.0 / 2000.0 : 0.0;
    }
    // The calibration rows' own sd is 0.026 with 240 of them.
    EXPECT_NEAR(covered, 0.8, 0.08) << split;
  }
}

TEST(Idr, ReadsTheCenterOfAGivenDistribution) {
  const Growing data = growing_rows(200, Seed{4});
  Matrix with_sd(200, 2, 1.0);
  for (std::size_t i = 0; i < 200; ++i) with_sd(i, 0) = data.given(i, 0);
  FitInput input{.x = data.x, .y = data.y, .given = with_sd};
  input.given_form.kind = GivenKind::kMeanSd;
  const auto model = fit_isotonic(input);
  const auto point = fit_isotonic({.x = data.x, .y = data.y, .given = data.given});
  const Matrix a = model->predict({data.x, with_sd}, metric_levels()).quantiles;
  const Matrix b = point->predict({data.x, data.given}, metric_levels()).quantiles;
  EXPECT_TRUE(std::ranges::equal(a.values(), b.values()));
}

TEST(Idr, RowsOfZeroWeightAreNotThere) {
  Growing data = growing_rows(200, Seed{5});
  std::vector<double> weight(200, 1.0);
  const auto before = fit_isotonic({.x = data.x.view().middle_rows(0, 150),
                                    .y = std::span<const double>(data.y).first(150),
                                    .given = data.given.view().middle_rows(0, 150)});
  for (std::size_t i = 150; i < 200; ++i) {
    weight[i] = 0.0;
    data.y[i] = 1e6;
  }
  const auto after =
      fit_isotonic({.x = data.x, .y = data.y, .weight = weight, .given = data.given});
  const Matrix a = before->predict({data.x, data.given}, metric_levels()).quantiles;
  const Matrix b = after->predict({data.x, data.given}, metric_levels()).quantiles;
  EXPECT_TRUE(std::ranges::equal(a.values(), b.values()));
}

TEST(Idr, WhatItCannotDoIsRefused) {
  const Growing data = growing_rows(100, Seed{6});
  const FitInput input{.x = data.x, .y = data.y};
  expect_error(ErrorCode::kInvalidArgument, "knots", [&] { fit_isotonic(input, "knots=1"); });
  expect_error(ErrorCode::kNotFound, "magic", [&] { fit_isotonic(input, "regressor=magic"); });
  expect_error(ErrorCode::kBadData, "too few",
               [&] { fit_isotonic(input, "regressor=ridge split=0.05"); });
}

TEST(Idr, SavesAndLoads) {
  const Growing data = growing_rows(100, Seed{7});
  const auto model = fit_isotonic({.x = data.x, .y = data.y, .given = data.given});
  TensorStore store;
  model->save(TensorWriter(store));
  const auto loaded = load_idr(TensorReader(store));
  EXPECT_EQ(loaded->given(), 1U);
  const Matrix a = model->predict({data.x, data.given}, metric_levels()).quantiles;
  const Matrix b = loaded->predict({data.x, data.given}, metric_levels()).quantiles;
  EXPECT_TRUE(std::ranges::equal(a.values(), b.values()));
  store.tensors.erase("cdf.first");
  expect_error(ErrorCode::kCorruptFile, "model file", [&] { load_idr(TensorReader(store)); });
}

}  // namespace
}  // namespace tare
