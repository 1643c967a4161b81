// SPDX-License-Identifier: BSD-3-Clause
// Method auto on a series: whatever is left out is a stretch of time.
#include <gtest/gtest.h>

#include <cstdio>

#include "calibrate/automatic/cross_fit/fold_models.h"
#include "calibrate/features/screening.h"
#include "data/partition.h"
#include "expect_error.h"
#include "series_problem.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

using automatic::Folds;

TEST(AutoSeries, RowsWithinAGapOfAFoldAreOutsideNothing) {
  for (const std::size_t gap : {1U, 3U, 7U}) {
    for (const Folds& folds :
         {Folds::stretches(100, 5, gap), Folds::shifted_stretches(100, 5, gap)}) {
      for (std::size_t k = 0; k < folds.count; ++k) {
        // Row by row against all rows of the fold.
        std::vector<std::size_t> expected;
        for (std::size_t i = 0; i < 100; ++i) {
          bool far = true;
          for (const std::size_t own : folds.inside(k)) {
            far = far && (i > own ? i - own : own - i) > gap;
          }
          if (far) expected.push_back(i);
        }
        EXPECT_EQ(folds.outside(k), expected);
      }
    }
  }
}

TEST(AutoSeries, ShiftedStretchesEndWhereTheOthersAreWhole) {
  const Folds folds = Folds::shifted_stretches(100, 5, 1);
  EXPECT_EQ(folds.of_row[0], 0U);
  EXPECT_EQ(folds.of_row[9], 0U);
  EXPECT_EQ(folds.of_row[10], 1U);
  EXPECT_EQ(folds.of_row[30], 2U);
  EXPECT_EQ(folds.of_row[99], 0U);
}

TEST(AutoSeries, WhatStopsATrainingIsStretchesAwayFromWhatTrains) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(Seed{seed});
    const Partition parts = stretch_partition(400, 0.125, 2, rng);
    EXPECT_EQ(parts.second.size(), 48U);  // four stretches of twelve
    std::size_t starts = 0;
    for (std::size_t k = 0; k < parts.second.size(); ++k) {
      if (k == 0 || parts.second[k] != parts.second[k - 1] + 1) ++starts;
    }
    EXPECT_LE(starts, 4U);
    for (const std::size_t i : parts.first) {
      for (const std::size_t j : parts.second) EXPECT_GT(i > j ? i - j : j - i, 2U);
    }
  }
}

TEST(AutoSeries, SlowColumnsOfCorrelatedRowsAreNotTakenForCauses) {
  // A slow column and noise that is correlated over as long: shuffled orders call it a cause nearly
  // always, rotations rarely. The level is 0.05; of 30 draws 6 or more have a chance of 0.3 %.
  std::size_t shuffled = 0;
  std::size_t rotated = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(Seed{100 + seed});
    Matrix x(600, 1);
    std::vector<double> u(600);
    double slow = rng.normal();
    double noise = rng.normal();
    for (std::size_t i = 0; i < u.size(); ++i) {
      slow = 0.95 * slow + 0.312 * rng.normal();
      noise = 0.95 * noise + 0.312 * rng.normal();
      x(i, 0) = slow;
      u[i] = noise;
    }
    shuffled += screen_columns(x, u, 99, Seed{seed}, {})[0].p_value <= kScreenLevel ? 1U : 0U;
    rotated += screen_columns(x, u, 99, Seed{seed}, {}, 5)[0].p_value <= kScreenLevel ? 1U : 0U;
  }
  EXPECT_GE(shuffled, 20U);
  EXPECT_LE(rotated, 5U);
}

TEST(AutoSeries, ASeriesThatIsTooShortIsRefused) {
  const Series series = Series::draw(60, 0.5, Seed{1});
  FitInput input{.x = series.x, .y = series.y};
  input.window = series.window;
  expect_error(ErrorCode::kBadData, "too short",
               [&] { fit_method(find_method("auto"), input, {}); });
}

TEST(AutoSeries, TheIntervalHoldsForWhatFollows) {
  // A mean over three series of which each has few independent rows, so the range is wide. Where
  // scale folds, contests and bandwidths took no notice of time it was 0.10 to 0.29 on such series
  // (docs/decisions/0023). The slow test has twenty draws.
  double mean = 0.0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Series series = Series::draw(1100, 0.9, Seed{seed});
    mean += coverage_of_the_future(series, 400, "auto", "budget=quick steps=300 folds=4") / 3.0;
  }
  std::printf("90 %% interval: %.3f\n", mean);
  EXPECT_GE(mean, 0.80);
  EXPECT_LE(mean, 0.98);
}

}  // namespace
}  // namespace tare
