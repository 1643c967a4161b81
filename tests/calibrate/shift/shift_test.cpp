// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrate/guarantee/guarantee.h"
#include "calibrate/shift/shift.h"
#include "calibrate/shift/shift_coverage.h"
#include "expect_error.h"
#include "infinity.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

Matrix normal_rows(std::size_t rows, std::size_t columns, double shift, std::uint64_t seed) {
  Rng rng(Seed{seed});
  Matrix x(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : x.row(i)) value = rng.normal();
    x(i, 0) += shift;
  }
  return x;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size());
  double ma = 0.0, mb = 0.0, ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / n;
    mb += b[i] / n;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

/// Two normal laws: the logarithm of the ratio is x0 - 1/2.
TEST(Shift, FindsTheRatioOfTwoNormalLaws) {
  const Matrix x = normal_rows(4000, 2, 0.0, 1);
  const ShiftWeights weights = weigh_towards(x, {}, normal_rows(3000, 2, 1.0, 2), Seed{1});
  std::vector<double> truth, found;
  double sum = 0.0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    sum += weights.weight[i];
    if (std::abs(x(i, 0)) > 2.0) continue;
    truth.push_back(x(i, 0) - 0.5);
    found.push_back(std::log(weights.weight[i]));
    EXPECT_NEAR(found.back(), truth.back(), 0.7);  // the other column and the products tell nothing
  }
  EXPECT_GT(correlation(truth, found), 0.99);
  EXPECT_NEAR(sum, 4000.0, 1e-6);
  // Of ratios exp(x0 - 1/2), exp(-1) of the rows are left; a little more with the largest cut off.
  EXPECT_NEAR(weights.effective_rows / 4000.0, std::exp(-1.0), 0.1);
}

TEST(Shift, OfRowsOfTheSameLawIsNearlyNone) {
  const Matrix x = normal_rows(1000, 5, 0.0, 3);
  const ShiftWeights weights = weigh_towards(x, {}, normal_rows(800, 5, 0.0, 4), Seed{1});
  EXPECT_GT(weights.effective_rows, 950.0);
}

/// Rows that are weighted to resemble the new ones already need no more: the given weights are part
/// of the law that is compared.
TEST(Shift, StartsFromTheWeightsThatAreGiven) {
  const Matrix x = normal_rows(4000, 1, 0.0, 5);
  std::vector<double> given;
  for (std::size_t i = 0; i < x.rows(); ++i) given.push_back(std::exp(0.7 * x(i, 0)));
  given[17] = 0.0;
  const ShiftWeights weights = weigh_towards(x, given, normal_rows(4000, 1, 0.7, 6), Seed{1});
  EXPECT_EQ(weights.weight[17], 0.0);
  const double unit = weights.weight[0] / given[0];
  for (std::size_t i = 0; i < x.rows(); ++i) {
    if (std::abs(x(i, 0)) > 2.0 || i == 17) continue;
    EXPECT_NEAR(std::log(weights.weight[i] / given[i] / unit), 0.0, 0.6) << x(i, 0);
  }
}

/// A row's weight is by the fold that has not seen it; a new row's is by all folds.
TEST(Shift, AsksTheFoldThatHasNotSeenTheRow) {
  const Matrix x = normal_rows(300, 3, 0.0, 14);
  const ShiftWeights weights = weigh_towards(x, {}, normal_rows(300, 3, 1.0, 15), Seed{1});
  std::vector<double> by_all(300);
  weights.shift->weights(x, by_all, {});
  std::vector<double> some(weights.shift->terms().terms());
  std::size_t by_one = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    weights.shift->terms().write(x.row(i), some);
    bool found = false;
    for (std::size_t k = 0; k < weights.shift->fits().size(); ++k) {
      const double expected =
          by_all[i] * weights.shift->ratio_by(k, some) / weights.shift->ratio(some);
      found = found || std::abs(weights.weight[i] / expected - 1.0) < 1e-9;
    }
    if (found && std::abs(weights.weight[i] / by_all[i] - 1.0) > 1e-9) ++by_one;
  }
  EXPECT_GT(by_one, 280U);  // all but those that are cut off
}

TEST(Shift, DoesNotDependOnThreads) {
  const Matrix x = normal_rows(700, 4, 0.0, 7);
  const Matrix fresh = normal_rows(600, 4, 0.5, 8);
  const auto one = weigh_towards(x, {}, fresh, Seed{1}, {.threads = 1, .progress = {}});
  const auto four = weigh_towards(x, {}, fresh, Seed{1}, {.threads = 4, .progress = {}});
  EXPECT_EQ(one.weight, four.weight);
}

/// Weights of any row are positive and no more than the largest, far away and of no number too.
TEST(Shift, IsBoundedEverywhere) {
  const ShiftWeights weights =
      weigh_towards(normal_rows(500, 2, 0.0, 9), {}, normal_rows(500, 2, 3.0, 10), Seed{1});
  Matrix odd(5, 2);
  odd(0, 0) = 1e300;
  odd(1, 0) = -1e300;
  odd(2, 1) = std::nan("");
  odd(3, 1) = kInf;
  std::vector<double> out(5);
  weights.shift->weights(odd, out, {});
  for (const double weight : out) {
    EXPECT_GT(weight, 0.0);
    EXPECT_LE(weight, weights.shift->largest());
  }
}

TEST(Shift, RefusesWhatItCannotCompare) {
  const Matrix x = normal_rows(100, 2, 0.0, 1);
  expect_error(ErrorCode::kBadData, "needs 20 rows",
               [&] { weigh_towards(x, {}, normal_rows(19, 2, 0.0, 2), Seed{1}); });
  expect_error(ErrorCode::kShapeMismatch, "3 in the rows to predict",
               [&] { weigh_towards(x, {}, normal_rows(50, 3, 0.0, 2), Seed{1}); });
  Matrix damaged = normal_rows(50, 2, 0.0, 2);
  damaged(7, 1) = kInf;
  expect_error(ErrorCode::kBadData, "row 7", [&] { weigh_towards(x, {}, damaged, Seed{1}); });
  const std::vector<double> none(100, 0.0);
  expect_error(ErrorCode::kBadData, "there are 0",
               [&] { weigh_towards(x, none, normal_rows(50, 2, 0.0, 2), Seed{1}); });
  // A constant column and two that are the same are nothing special.
  Matrix twice(100, 3);
  for (std::size_t i = 0; i < 100; ++i) {
    twice(i, 0) = twice(i, 1) = x(i, 0);
    twice(i, 2) = 4.0;
  }
  EXPECT_GT(weigh_towards(twice, {}, twice, Seed{1}).effective_rows, 50.0);
  EXPECT_EQ(weigh_towards(Matrix(30, 0), {}, Matrix(25, 0), Seed{1}).effective_rows, 30.0);
}

/// The guarantee asks the shift about each new row: more weight, wider.
TEST(Shift, GoesIntoTheRanksAndTheFile) {
  const Matrix x = normal_rows(400, 2, 0.0, 11);
  std::vector<double> y;
  Rng rng(Seed{12});
  for (std::size_t i = 0; i < 400; ++i) y.push_back(rng.normal());
  const ShiftWeights weights = weigh_towards(x, {}, normal_rows(400, 2, 1.0, 13), Seed{1});
  FitInput input{.x = x, .y = y, .weight = weights.weight};
  input.shift = weights.shift;
  const Method& method = find_method("pure_kernel");
  const std::vector<Level> levels = metric_levels();
  for (const char* form : {"split:0.5", "cross:3"}) {
    const auto model = fit_method(
        method, input, Params::parse(std::string("bandwidth=infinite guarantee=") + form));
    TensorStore store;
    model->save(TensorWriter(store));
    const auto loaded = GuaranteedModel::load(TensorReader(store), method.load);
    ASSERT_NE(loaded->shift(), nullptr);
    EXPECT_EQ(loaded->shift()->effective_rows(), weights.effective_rows);
    const auto before = model->predict({x}, levels);
    const auto after = loaded->predict({x}, levels);
    EXPECT_TRUE(std::ranges::equal(before.quantiles.values(), after.quantiles.values()));
    // Without a width of the model's own the new row's own mass is all that differs.
    std::vector<double> mass(400);
    weights.shift->weights(x, mass, {});
    for (std::size_t i = 0; i + 1 < 400; ++i) {
      const std::size_t light = mass[i] < mass[i + 1] ? i : i + 1;
      const std::size_t heavy = 2 * i + 1 - light;
      EXPECT_LE(before.quantiles(light, 95), before.quantiles(heavy, 95)) << form;
      EXPECT_GE(before.quantiles(light, 4), before.quantiles(heavy, 4)) << form;
    }
    const auto lightest = static_cast<std::size_t>(std::ranges::min_element(mass) - mass.begin());
    const auto heaviest = static_cast<std::size_t>(std::ranges::max_element(mass) - mass.begin());
    EXPECT_LT(before.quantiles(lightest, 95), before.quantiles(heaviest, 95)) << form;
    for (std::size_t i = 0; i < 400; ++i) {
      EXPECT_TRUE(std::ranges::is_sorted(before.quantiles.row(i)));
    }
    store.tensors.erase("guarantee.shift.slope");
    expect_error(ErrorCode::kCorruptFile, "slope",
                 [&] { GuaranteedModel::load(TensorReader(store), method.load); });
  }
  input.weight = {};
  expect_error(ErrorCode::kShapeMismatch, "weigh_towards", [&] { fit_method(method, input, {}); });
}

TEST(Shift, WeightsRestoreTheCoverage) {
  const ShiftCoverage covered = shift_coverage(ShiftKind::kMoved, "split:0.5", 1000, 10);
  EXPECT_LT(covered.plain, 0.82);
  EXPECT_NEAR(covered.weighted, 0.9, 0.04);  // 10 draws: a standard error of 0.01
}

}  // namespace
}  // namespace tare
