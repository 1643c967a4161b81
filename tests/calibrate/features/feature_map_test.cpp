// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/features/feature_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "expect_error.h"

namespace tare {
namespace {

struct Data {
  Matrix x;
  std::vector<double> y;
  std::vector<std::size_t> rows;
};

Data random_data(std::size_t n, std::size_t d) {
  Data data{Matrix(n, d), std::vector<double>(n), std::vector<std::size_t>(n)};
  Rng rng(Seed{1});
  for (double& value : data.x.values()) value = rng.normal();
  for (double& value : data.y) value = rng.normal();
  std::iota(data.rows.begin(), data.rows.end(), std::size_t{0});
  return data;
}

TEST(FeatureMap, StandardisesOnTheGivenRowsOnly) {
  Data data = random_data(100, 2);
  data.x(99, 0) = 1e6;  // not a training row: must not count
  data.rows.pop_back();
  const auto map = FeatureMap::fit(data.x, data.y, data.rows, {}, Seed{1});
  const Matrix z = map.apply(data.x);
  double sum = 0.0;
  double squares = 0.0;
  for (const std::size_t i : data.rows) {
    sum += z(i, 0);
    squares += z(i, 0) * z(i, 0);
  }
  EXPECT_NEAR(sum, 0.0, 1e-9);
  EXPECT_NEAR(squares / 99.0, 1.0, 1e-9);
  EXPECT_GT(z(99, 0), 1e5);
}

TEST(FeatureMap, AConstantColumnIsHarmless) {
  Data data = random_data(50, 2);
  for (std::size_t i = 0; i < 50; ++i) data.x(i, 1) = 0.1;
  const Matrix z = FeatureMap::fit(data.x, data.y, data.rows, {}, Seed{1}).apply(data.x);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(z(i, 1), 0.0, 1e-12);
}

TEST(FeatureMap, CorrelationTakesTheColumnsThatFollowTheTarget) {
  Data data = random_data(400, 6);
  for (std::size_t i = 0; i < 400; ++i) {
    data.y[i] = 3.0 * data.x(i, 4) - 2.0 * data.x(i, 1) + 0.1 * data.y[i];
    data.x(i, 0) = 5.0;  // a constant has correlation 0
  }
  const auto map = FeatureMap::fit(
      data.x, data.y, data.rows,
      {.reducer = Reducer::kCorrelation, .dims = 2, .scale = Scale::kNone, .columns = {}}, Seed{1});
  const Matrix z = map.apply(data.x);
  ASSERT_EQ(z.cols(), 2U);
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(z(i, 0), data.x(i, 1));
    EXPECT_EQ(z(i, 1), data.x(i, 4));
  }
}

TEST(FeatureMap, ProjectionIsOneMatrixAndKeepsDistancesOnAverage) {
  // Entries N(0, 1/d) to d0 columns: a squared distance is multiplied by d0 / d on average.
  const Data data = random_data(60, 40);
  double ratio = 0.0;
  constexpr int kDraws = 200;
  for (int s = 0; s < kDraws; ++s) {
    const auto map = FeatureMap::fit(
        data.x, data.y, data.rows,
        {.reducer = Reducer::kProjection, .dims = 8, .scale = Scale::kNone, .columns = {}},
        Seed{static_cast<std::uint64_t>(s)});
    const Matrix z = map.apply(data.x);
    const Matrix again = map.apply(data.x);
    EXPECT_TRUE(std::ranges::equal(z.values(), again.values()));
    double before = 0.0;
    double after = 0.0;
    for (std::size_t j = 0; j < 40; ++j) before += std::pow(data.x(0, j) - data.x(1, j), 2);
    for (std::size_t j = 0; j < 8; ++j) after += std::pow(z(0, j) - z(1, j), 2);
    ratio += after / before / kDraws;
  }
  // A chi-square with 8 degrees has relative sd 0.5; its mean over 200 draws 0.035: four of those.
  EXPECT_NEAR(ratio, 8.0 / 40.0, 0.15 * 0.2);
}

TEST(FeatureMap, NothingIsReducedWhenThereIsNothingToLose) {
  const Data data = random_data(30, 3);
  for (const Reducer reducer : {Reducer::kProjection, Reducer::kCorrelation}) {
    const auto map = FeatureMap::fit(
        data.x, data.y, data.rows,
        {.reducer = reducer, .dims = 3, .scale = Scale::kNone, .columns = {}}, Seed{1});
    EXPECT_TRUE(std::ranges::equal(map.apply(data.x).values(), data.x.values()));
  }
}

TEST(FeatureMap, NamedColumnsAloneAreSeen) {
  const Data data = random_data(30, 5);
  const auto map = FeatureMap::fit(
      data.x, data.y, data.rows,
      {.reducer = Reducer::kNone, .dims = 4, .scale = Scale::kNone, .columns = {1, 3}}, Seed{1});
  const Matrix z = map.apply(data.x);
  EXPECT_EQ(z.cols(), 2U);
  EXPECT_EQ(z(5, 1), data.x(5, 3));
}

TEST(FeatureMap, SavedAndLoadedMapsTheSame) {
  const Data data = random_data(30, 9);
  const auto map = FeatureMap::fit(data.x, data.y, data.rows,
                                   {.reducer = Reducer::kProjection,
                                    .dims = 2,
                                    .scale = Scale::kStandard,
                                    .columns = {0, 2, 4, 8}},
                                   Seed{1});
  TensorStore store;
  map.save(TensorWriter(store));
  EXPECT_TRUE(std::ranges::equal(FeatureMap::load(TensorReader(store)).apply(data.x).values(),
                                 map.apply(data.x).values()));
}

TEST(FeatureMap, AFileThatNamesAColumnOutsideIsRefused) {
  const Data data = random_data(30, 3);
  TensorStore store;
  FeatureMap::fit(data.x, data.y, data.rows, {}, Seed{1}).save(TensorWriter(store));
  store.values["inputs"] = 2U;
  expect_error(ErrorCode::kCorruptFile, "feature 2 of 2",
               [&] { FeatureMap::load(TensorReader(store)); });
}

}  // namespace
}  // namespace tare
