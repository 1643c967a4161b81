// SPDX-License-Identifier: BSD-3-Clause
// What ngboost promises beyond the contract of every method.
#include "calibrate/baseline/gaussian/ngboost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "expect_error.h"
#include "math/normal.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

std::unique_ptr<QuantileModel> fit_natural(const FitInput& input, const std::string& params) {
  return fit_method(find_method("ngboost"), input, Params::parse(params + " bands=off"));
}

/// Targets that are lognormal given x: the log has mean 1 + x and sd 0.2 or 0.6.
Sample lognormal_rows(std::size_t rows, Seed seed) {
  Sample sample{Matrix(rows, 1), std::vector<double>(rows)};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.uniform();
    sample.x(i, 0) = x;
    sample.y[i] = std::exp(1.0 + x + (x < 0.5 ? 0.2 : 0.6) * rng.normal());
  }
  return sample;
}

TEST(Ngboost, TheLognormalQuantilesAreThoseOfALognormalLaw) {
  const Sample train = lognormal_rows(3000, Seed{1});
  const auto model = fit_natural({.x = train.x, .y = train.y}, "distribution=lognormal");
  const std::vector<Level> levels = {Level{0.05}, Level{0.5}, Level{0.95}};
  Matrix x(4, 1);
  for (std::size_t i = 0; i < 4; ++i) x(i, 0) = 0.15 + 0.23 * static_cast<double>(i);
  const Matrix q = model->predict({x}, levels).quantiles;
  for (std::size_t i = 0; i < 4; ++i) {
    const double sd = x(i, 0) < 0.5 ? 0.2 : 0.6;
    for (std::size_t j = 0; j < 3; ++j) {
      const double truth = 1.0 + x(i, 0) + sd * normal_quantile(levels[j].value());
      // A leaf of some hundred rows knows its mean to 0.04 and its sd to 5 %.
      EXPECT_NEAR(std::log(q(i, j)), truth, 0.25 * sd + 0.05) << x(i, 0);
    }
  }
}

TEST(Ngboost, ComesNearTheTrueQuantilesOfANormalLaw) {
  const Problem& problem = find_problem("hetero_1");
  const std::vector<Level> levels = metric_levels();
  const Sample train = draw(problem, 3000, Seed{1});
  const Sample test = draw(problem, 1000, Seed{2});
  const Matrix q =
      fit_natural({.x = train.x, .y = train.y}, "")->predict({test.x}, levels).quantiles;
  EXPECT_LT(individual_calibration_error(problem, test.x, q, levels), 0.05);
}

TEST(Ngboost, ATargetThatIsNotPositiveHasNoLognormalLaw) {
  Sample data = lognormal_rows(100, Seed{2});
  data.y[41] = 0.0;
  data.y[77] = -3.0;
  const FitInput input{.x = data.x, .y = data.y};
  for (const char* around : {"", " guarantee=split", " guarantee=cross:2"}) {
    try {
      fit_natural(input, std::string("distribution=lognormal") + around);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadData);
      EXPECT_EQ(error.details().row, 41U) << error.what();
      EXPECT_EQ(error.details().value, "0");
      EXPECT_NE(std::string(error.what()).find("distribution=normal"), std::string::npos);
    }
  }
  EXPECT_NO_THROW(fit_natural(input, "distribution=normal rounds=5"));
  std::vector<double> weight(100, 1.0);
  weight[41] = weight[77] = 0.0;
  EXPECT_NO_THROW(
      fit_natural({.x = data.x, .y = data.y, .weight = weight}, "distribution=lognormal rounds=5"));
}

TEST(Ngboost, AConstantLognormalTargetIsThatConstant) {
  Sample data = lognormal_rows(50, Seed{3});
  std::ranges::fill(data.y, 0.1);
  const auto model = fit_natural({.x = data.x, .y = data.y}, "distribution=lognormal");
  const Matrix answers = model->predict({data.x}, metric_levels()).quantiles;
  for (const double q : answers.values()) EXPECT_EQ(q, 0.1);
}

TEST(Ngboost, SavesAndLoadsBothFamilies) {
  const Sample data = lognormal_rows(100, Seed{4});
  for (const char* family : {"normal", "lognormal"}) {
    const auto model =
        fit_natural({.x = data.x, .y = data.y}, std::string("rounds=10 distribution=") + family);
    TensorStore store;
    model->save(TensorWriter(store));
    const Matrix before = model->predict({data.x}, metric_levels()).quantiles;
    const Matrix after =
        load_ngboost(TensorReader(store))->predict({data.x}, metric_levels()).quantiles;
    EXPECT_TRUE(std::ranges::equal(before.values(), after.values()));
    TensorStore damaged = store;
    damaged.values["distribution"] = "cauchy";
    expect_error(ErrorCode::kCorruptFile, "cauchy", [&] { load_ngboost(TensorReader(damaged)); });
    damaged = store;
    damaged.values["features"] = 2;
    expect_error(ErrorCode::kCorruptFile, "features", [&] { load_ngboost(TensorReader(damaged)); });
  }
}

TEST(Ngboost, RefusesOptionsOutsideTheirRange) {
  const Sample data = lognormal_rows(50, Seed{5});
  const FitInput input{.x = data.x, .y = data.y};
  for (const char* option : {"distribution=cauchy", "rounds=0", "learning_rate=2", "depth=0",
                             "rows=0", "validation=1", "patience=0"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    expect_error(ErrorCode::kInvalidArgument, name, [&] { fit_natural(input, option); });
  }
}

}  // namespace
}  // namespace tare
