// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/guarantee_folds.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/reliability.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

TEST(Delivered, IsTheRankOfTheGroupsHeldOutRows) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{48});
  std::vector<std::uint32_t> group(200);
  for (std::size_t i = 0; i < 200; ++i) group[i] = i < 190 ? i % 2 : 2;
  FitInput input{.x = data.x, .y = data.y};
  input.group = group;
  const auto model = fit_method(find_method("pure_kernel"), input,
                                Params::parse("guarantee=split:0.5 bandwidth=rate"));
  const auto& guaranteed = dynamic_cast<const GuaranteedModel&>(*model);
  const std::vector<Level> levels = {Level{0.95}, Level{0.05}, Level{0.5}, Level{0.001},
                                     Level{0.999}};
  const Prediction p = predict_with_reliability(*model, {data.x, {}, group}, levels);
  for (std::size_t i = 0; i < 200; ++i) {
    if (!guaranteed.has_ranks(group[i])) {  // nothing is known about such a group
      EXPECT_EQ(p.delivered(i, 0), 0.0);
      EXPECT_EQ(p.delivered(i, 1), 1.0);
      continue;
    }
    const double rows = guaranteed.group_rows()[group[i]];
    EXPECT_DOUBLE_EQ(p.delivered(i, 0), std::ceil(0.95 * (rows + 1) - 1e-9) / (rows + 1));
    EXPECT_DOUBLE_EQ(p.delivered(i, 1), std::floor(0.05 * (rows + 1) + 1e-9) / (rows + 1));
    EXPECT_DOUBLE_EQ(p.delivered(i, 2), std::ceil(0.5 * (rows + 1)) / (rows + 1));
    // The rows are too few for these: what the outermost bound keeps.
    EXPECT_DOUBLE_EQ(p.delivered(i, 3), 1.0 / (rows + 1));
    EXPECT_LE(p.quantiles(i, 3), p.quantiles(i, 1));
    EXPECT_DOUBLE_EQ(p.delivered(i, 4), rows / (rows + 1));
    EXPECT_GE(p.quantiles(i, 4), p.quantiles(i, 0));
    EXPECT_TRUE(std::isfinite(p.quantiles(i, 3)) && std::isfinite(p.quantiles(i, 4)));
  }
  EXPECT_EQ(model->delivered({.x = Matrix(0, 1)}, levels).cols(), levels.size());
  expect_error(ErrorCode::kShapeMismatch, "groups", [&] { model->delivered({data.x}, levels); });
}

TEST(Delivered, IsWhatIsProvenOfFolds) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{49});
  const std::vector<Level> levels = {Level{0.95}, Level{0.05}, Level{0.999}};
  const FitInput input{.x = data.x, .y = data.y};
  const auto model = fit_method(find_method("pure_kernel"), input,
                                Params::parse("guarantee=cross:4 bandwidth=rate"));
  const Matrix kept = model->delivered({data.x}, levels);
  const double miss = cross_miss_bound(200, 4, 0.05);
  EXPECT_NEAR(kept(0, 0), 1.0 - miss, 1e-12);
  EXPECT_NEAR(kept(0, 1), miss, 1e-12);
  // 200 rows are too few for this: as for the outermost level that they have.
  EXPECT_NEAR(kept(0, 2), 1.0 - cross_miss_bound(200, 4, 1.0 / 201.0), 1e-12);
}

TEST(Delivered, IsNotKnownWhereRowsCountDifferently) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{50});
  std::vector<double> weight(200, 1.0);
  for (std::size_t i = 0; i < 100; ++i) weight[i] = 2.0;
  const std::vector<Level> levels = {Level{0.95}};
  for (const char* form : {"guarantee=split bandwidth=rate", "guarantee=cross bandwidth=rate"}) {
    const FitInput input{.x = data.x, .y = data.y, .weight = weight};
    const auto model = fit_method(find_method("pure_kernel"), input, Params::parse(form));
    EXPECT_EQ(model->delivered({data.x}, levels).cols(), 0U) << form;
  }
}

}  // namespace
}  // namespace tare
