// SPDX-License-Identifier: BSD-3-Clause
// What qrf promises beyond the contract of every method, and the theorem of its paper in numbers.
#include "calibrate/baseline/quantile/qrf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

/// Mean individual calibration error over four samples: how far the answers' true levels are from
/// the levels asked for.
double forest_error(const char* name, std::size_t rows, const std::string& params) {
  const Problem& problem = find_problem(name);
  const std::vector<Level> levels = metric_levels();
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Sample train = draw(problem, rows, Seed{seed});
    const Sample test = draw(problem, 400, Seed{seed + 1000});
    FitInput input{.x = train.x, .y = train.y};
    input.seed = Seed{seed};
    const auto model = fit_method(find_method("qrf"), input, Params::parse(params + " bands=off"));
    sum += individual_calibration_error(problem, test.x, model->predict({test.x}, levels).quantiles,
                                        levels);
  }
  std::printf("qrf on %zu rows of %s: individual calibration error %.4f\n", rows, name, sum / 4.0);
  return sum / 4.0;
}

/// Theorem 1: consistent where leaves hold more and more rows, and a smaller and smaller share of
/// them. From 250 to 4,000 rows with leaves of sqrt(rows) / 2 the error must fall to two thirds; a
/// rate of n^(-1/4), the one of leaves that hold sqrt(n) rows, would halve it.
TEST(Qrf, ComesNearerToTheTruthWithEachRow) {
  const double few = forest_error("hetero_1", 250, "trees=100 min_leaf=8");
  const double more = forest_error("hetero_1", 1000, "trees=100 min_leaf=16");
  const double many = forest_error("hetero_1", 4000, "trees=100 min_leaf=32");
  EXPECT_LT(more, few);
  EXPECT_LT(many, more);
  EXPECT_LT(many, few * 2.0 / 3.0);
}

TEST(Qrf, AnswersAreTargetsOfTheFit) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{1});
  const auto model = fit_method(find_method("qrf"), {.x = data.x, .y = data.y}, {});
  const auto p = model->predict({data.x}, metric_levels());
  for (const double q : p.quantiles.values()) {
    EXPECT_NE(std::ranges::find(data.y, q), data.y.end());
  }
}

TEST(Qrf, ReadsTheModelsColumnsOnly) {
  const Sample data = draw(find_problem("hetero_2"), 240, Seed{3});
  FitInput input{.x = data.x, .y = data.y};
  input.model_columns = {1};
  const auto model = fit_method(find_method("qrf"), input, {});
  Matrix other = data.x;
  for (std::size_t i = 0; i < other.rows(); ++i) other(i, 0) = -7.0;
  const Matrix before = model->predict({data.x}, metric_levels()).quantiles;
  const Matrix after = model->predict({other}, metric_levels()).quantiles;
  EXPECT_TRUE(std::ranges::equal(before.values(), after.values()));
  TensorStore store;
  model->save(TensorWriter(store));
  const Matrix loaded = load_qrf(TensorReader(store))->predict({other}, metric_levels()).quantiles;
  EXPECT_TRUE(std::ranges::equal(before.values(), loaded.values()));
  store.values["features"] = 1;
  expect_error(ErrorCode::kCorruptFile, "model file", [&] { load_qrf(TensorReader(store)); });
}

TEST(Qrf, RefusesOptionsOutsideTheirRange) {
  const Sample data = draw(find_problem("hetero_1"), 50, Seed{1});
  const FitInput input{.x = data.x, .y = data.y};
  for (const char* option :
       {"trees=0", "min_leaf=0", "columns=0", "columns=1.5", "rows=2", "leaf_rows=some"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    expect_error(ErrorCode::kInvalidArgument, name.c_str(),
                 [&] { fit_method(find_method("qrf"), input, Params::parse(option)); });
  }
}

}  // namespace
}  // namespace tare
