// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/case_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "evaluate/experiment/resample.h"
#include "expect_error.h"
#include "io/temp_folder.h"

namespace tare {
namespace {

/// A file with the columns group, x, y, in which y is the row's number.
std::string write_rows(const TempFolder& folder, std::size_t rows) {
  std::ofstream file(folder / "rows.csv");
  file << "group,x,y\n";
  for (std::size_t i = 0; i < rows; ++i) file << i % 3 << ',' << 10 * i << ',' << i << '\n';
  return "rows.csv";
}

class CaseDataTest : public testing::Test {
 protected:
  CaseDataTest() {
    one.name = "rows";
    one.file = write_rows(folder, 100);
    one.target = "y";
  }
  TrialRows trial(std::uint64_t seed, std::size_t window = 1) {
    return draw_trial(plan, one, read_case(one, folder / ""), window, Seed{seed});
  }
  TempFolder folder;
  ExperimentPlan plan;
  ExperimentCase one;
};

TEST_F(CaseDataTest, ARandomTestTakesItsShareAndRepeatsDiffer) {
  const TrialRows first = trial(1);
  EXPECT_EQ(first.test_y.size(), 10U);
  EXPECT_EQ(first.y.size(), 90U);
  EXPECT_EQ(std::ranges::count(first.calibrate, 1), 27);
  std::set<double> all(first.y.begin(), first.y.end());
  all.insert(first.test_y.begin(), first.test_y.end());
  EXPECT_EQ(all.size(), 100U);  // no row in both parts
  EXPECT_EQ(first.test_y, trial(1).test_y);
  EXPECT_NE(first.test_y, trial(2).test_y);
}

TEST_F(CaseDataTest, ASeriesIsTestedOnItsEnd) {
  one.test = TestRows::kLast;
  plan.test_share = 0.2;
  const TrialRows series = trial(1, 5);
  EXPECT_EQ(series.window, 5U);
  EXPECT_EQ(series.x.cols(), 10U);   // five steps of group and x
  EXPECT_EQ(series.y.front(), 4.0);  // the first row with a full window
  EXPECT_EQ(series.test_y.back(), 99.0);
  EXPECT_LT(series.y.back(), series.test_y.front());
  EXPECT_TRUE(std::ranges::is_sorted(series.calibrate));  // the last rows calibrate
}

TEST_F(CaseDataTest, AColumnsValueSaysWhatTrainsAndWhatTests) {
  one.test = TestRows::kColumn;
  one.column = "group";
  one.train_value = "1";
  one.test_value = "2";
  const TrialRows rows = trial(1);
  EXPECT_EQ(rows.x.cols(), 1U);  // the column itself is no feature
  for (const double y : rows.y) EXPECT_EQ(static_cast<int>(y) % 3, 1);
  for (const double y : rows.test_y) EXPECT_EQ(static_cast<int>(y) % 3, 2);
  one.test_value = "7";
  expect_error(ErrorCode::kBadData, "0 rows have group=7", [&] { trial(1); });
}

TEST_F(CaseDataTest, ResampledRowsComeFromTheTestPoolAndGatherAroundAPlace) {
  one.test = TestRows::kResampled;
  one.test_rows = 1000;
  plan.test_share = 0.4;
  const TrialRows rows = trial(3);
  EXPECT_EQ(rows.test_y.size(), 1000U);
  const std::set<double> train(rows.y.begin(), rows.y.end());
  for (const double y : rows.test_y) EXPECT_FALSE(train.contains(y));
}

TEST(Resample, FollowsTheDensityItPromises) {
  // One dimension, a pool of three values: shares must be those of N(c, 0.3 S), which two ratios
  // identify whatever c is: log(w1 w3 / w2^2) = -(spacing^2) / (0.3 S).
  Matrix train(1000, 1);
  for (std::size_t i = 0; i < train.rows(); ++i) train(i, 0) = i % 2 == 0 ? -1.0 : 1.0;
  Matrix pool(3, 1);
  for (std::size_t i = 0; i < 3; ++i) pool(i, 0) = 0.3 * (static_cast<double>(i) - 1.0);
  const auto chosen = resample_around(train, pool, 400'000, Seed{5});
  std::vector<double> count(3, 0.0);
  for (const std::size_t i : chosen) count[i] += 1.0;
  const double variance = 1000.0 / 999.0;
  const double seen = std::log(count[0] * count[2] / (count[1] * count[1]));
  // The standard error of a log count is 1/sqrt(count); no share is below 10 % for this seed.
  EXPECT_NEAR(seen, -0.09 / (0.3 * variance), 4.0 * std::sqrt(6.0 / 40'000.0));
}

TEST(Resample, LeavesOutColumnsThatDoNotVary) {
  Matrix train(50, 2, 7.0);
  for (std::size_t i = 0; i < 50; ++i) train(i, 0) = static_cast<double>(i);
  EXPECT_EQ(resample_around(train, train, 20, Seed{1}).size(), 20U);
}

}  // namespace
}  // namespace tare
