// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/light_boosting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tare/base/rng.h"

namespace tare {
namespace {

struct Rows2 {
  Matrix x;
  std::vector<double> y;
};

/// y = 3 (x0 > 0.5) + x1 + noise, and a column of no use.
Rows2 step_rows(std::size_t rows, double noise, std::uint64_t seed) {
  Rows2 data{Matrix(rows, 3), std::vector<double>(rows)};
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : data.x.row(i)) value = rng.uniform();
    data.y[i] = (data.x(i, 0) > 0.5 ? 3.0 : 0.0) + data.x(i, 1) + noise * rng.normal();
  }
  return data;
}

double mean_square(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

TEST(LightBoosting, FollowsStepsAndSlopes) {
  const Rows2 data = step_rows(3'000, 0.3, 1);
  const LightRows rows(data.x, {}, {});
  const LightBoosting boosting = fit_light_boosting(rows, data.y, {}, Seed{2}, {});
  ASSERT_NE(boosting.model, nullptr);
  const Rows2 fresh = step_rows(3'000, 0.0, 3);
  std::vector<double> predicted(fresh.y.size());
  boosting.model->predict(fresh.x, predicted, {});
  // The truth varies by 2.3; a tenth of the noise's variance is left by a few trees.
  EXPECT_LT(mean_square(predicted, fresh.y), 0.02);
  // Out of fold the errors are those of new rows: noise, and what is left. In sample they would be
  // smaller than the noise alone.
  EXPECT_NEAR(mean_square(boosting.out_of_fold, data.y), 0.09 + 0.015, 0.012);
}

TEST(LightBoosting, LeavesNoiseAlone) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rows2 data = step_rows(400, 0.0, seed);
    Rng rng(Seed{seed + 100});
    for (double& value : data.y) value = rng.normal();
    const LightRows rows(data.x, {}, {});
    const LightBoosting boosting = fit_light_boosting(rows, data.y, {}, Seed{seed}, {});
    if (boosting.model != nullptr) ++found;
    EXPECT_EQ(boosting.model == nullptr, boosting.rounds == 0);
    if (boosting.rounds == 0) {
      for (const double value : boosting.out_of_fold) EXPECT_EQ(value, 0.0);
    }
  }
  // By chance rows left out improve by a standard error once in six; fewer, as trees overfit.
  EXPECT_LE(found, 8U);
}

TEST(LightBoosting, DoesNotDependOnThreadsNorOnTheUnit) {
  const Rows2 data = step_rows(1'000, 0.5, 7);
  const LightRows rows(data.x, {}, {});
  Execution one;
  one.threads = 1;
  Execution many;
  many.threads = 5;
  const auto a = fit_light_boosting(rows, data.y, {}, Seed{1}, one);
  const auto b = fit_light_boosting(LightRows(data.x, {}, many), data.y, {}, Seed{1}, many);
  EXPECT_EQ(a.out_of_fold, b.out_of_fold);
  std::vector<double> scaled = data.y;
  for (double& value : scaled) value = 1024.0 * value;
  const auto c = fit_light_boosting(rows, scaled, {}, Seed{1}, one);
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    EXPECT_EQ(c.out_of_fold[i], 1024.0 * a.out_of_fold[i]);
  }
}

TEST(LightBoosting, AWeightIsWhatARowCounts) {
  // Two laws in one table: where only the rows of one have a weight, that one is learned.
  Rows2 data = step_rows(2'000, 0.1, 9);
  std::vector<double> weight(2'000, 1.0);
  for (std::size_t i = 0; i < 2'000; i += 2) {
    data.y[i] = -data.y[i];
    weight[i] = 0.0;
  }
  const LightRows rows(data.x, weight, {});
  const LightBoosting boosting = fit_light_boosting(rows, data.y, {}, Seed{2}, {});
  ASSERT_NE(boosting.model, nullptr);
  const Rows2 fresh = step_rows(500, 0.0, 10);
  std::vector<double> predicted(500);
  boosting.model->predict(fresh.x, predicted, {});
  EXPECT_LT(mean_square(predicted, fresh.y), 0.03);
}

TEST(LightBoosting, HasNothingToSayAboutFewRowsOrNoColumns) {
  const Rows2 data = step_rows(39, 0.1, 11);
  EXPECT_EQ(fit_light_boosting(LightRows(data.x, {}, {}), data.y, {}, Seed{}, {}).model, nullptr);
  const Matrix none(100, 0);
  const std::vector<double> y(100, 1.0);
  EXPECT_EQ(fit_light_boosting(LightRows(none, {}, {}), y, {}, Seed{}, {}).model, nullptr);
  const Rows2 flat = step_rows(200, 0.0, 12);
  const std::vector<double> same(200, 5.0);
  EXPECT_EQ(fit_light_boosting(LightRows(flat.x, {}, {}), same, {}, Seed{}, {}).model, nullptr);
}

}  // namespace
}  // namespace tare
