// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "expect_error.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

TEST(GuaranteeFolds, AreOfEqualSizeAndLeaveTheRestToEveryModel) {
  const Sample data = draw(find_problem("hetero_1"), 103, Seed{4});
  FitInput input{.x = data.x, .y = data.y};
  input.seed = Seed{12};
  const auto sizes = [&](const FoldPlan& plan, auto&& counts_row) {
    std::vector<std::size_t> size(plan.folds + 1, 0);
    for (std::size_t i = 0; i < plan.fold_of_row.size(); ++i) {
      if (counts_row(i)) ++size[plan.fold_of_row[i]];
    }
    return size;
  };
  const auto all = [](std::size_t) { return true; };
  const GuaranteeRule five{GuaranteeRule::Form::kCross, 0.2, 5};
  EXPECT_EQ(sizes(guarantee_folds(input, five, RowOrder::kNone), all),
            (std::vector<std::size_t>{20, 20, 20, 20, 20, 3}));
  const FoldPlan blocks = guarantee_folds(input, five, RowOrder::kTime);
  EXPECT_EQ(blocks.fold_of_row[2], 5U);
  EXPECT_TRUE(std::ranges::is_sorted(std::span(blocks.fold_of_row).subspan(3)));
  EXPECT_EQ(sizes(blocks, all), (std::vector<std::size_t>{20, 20, 20, 20, 20, 3}));

  // Rows of a group that has ranks of its own are divided by themselves; those of small ones
  // together.
  std::vector<std::uint32_t> group(103);
  for (std::size_t i = 0; i < 103; ++i) group[i] = i < 41 ? 0 : i < 93 ? 1 : i < 100 ? 2 : 3;
  input.group = group;
  const FoldPlan grouped = guarantee_folds(input, five, RowOrder::kNone);
  const auto in = [&](std::uint32_t g) {
    return [&group, g](std::size_t i) { return group[i] == g; };
  };
  EXPECT_EQ(sizes(grouped, in(0)), (std::vector<std::size_t>{8, 8, 8, 8, 8, 1}));
  EXPECT_EQ(sizes(grouped, in(1)), (std::vector<std::size_t>{10, 10, 10, 10, 10, 2}));
  EXPECT_EQ(sizes(grouped, [&](std::size_t i) { return group[i] > 1; }),
            (std::vector<std::size_t>{2, 2, 2, 2, 2, 0}));

  // Rows that do not count or do not stand for those to come train every model.
  input.group = {};
  std::vector<double> weight(103, 1.0);
  weight[7] = 0.0;
  std::vector<std::uint8_t> flag(103, 1);
  flag[9] = 0;
  input.weight = weight;
  input.calibrate_rows = flag;
  const FoldPlan some = guarantee_folds(input, five, RowOrder::kNone);
  EXPECT_EQ(some.fold_of_row[7], 5U);
  EXPECT_EQ(some.fold_of_row[9], 5U);
  EXPECT_EQ(sizes(some, all), (std::vector<std::size_t>{20, 20, 20, 20, 20, 3}));

  input.weight = std::span<const double>();
  input.calibrate_rows = {};
  input.x = data.x.view().middle_rows(0, 19);
  input.y = std::span<const double>(data.y).first(19);
  expect_error(ErrorCode::kBadData, "at least 20 rows",
               [&] { guarantee_folds(input, five, RowOrder::kNone); });
}

TEST(CrossBound, IsThatOfTheTheorem) {
  EXPECT_NEAR(cross_miss_bound(200, 5, 0.05), 0.1 + 1.6 / 41.0, 1e-15);
  EXPECT_NEAR(cross_miss_bound(20, 20, 0.05), 0.1, 1e-15) << "leave-one-out: jackknife+";
  EXPECT_NEAR(cross_miss_bound(40, 20, 0.05), 0.1 + 0.5 / 21.0, 1e-15);
  EXPECT_EQ(cross_miss_bound(20, 2, 0.5), 1.0);
}

}  // namespace
}  // namespace tare
