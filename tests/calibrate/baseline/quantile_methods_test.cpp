// SPDX-License-Identifier: BSD-3-Clause
// What cqr, oqr, maqr and ccl promise beyond the contract of every method.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrate/baseline/quantile/conformal_bands.h"
#include "calibrate/baseline/quantile/knot_curve.h"
#include "data/rows.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

TEST(KnotCurve, IsLinearBetweenKnotsAndFlatBeyondThem) {
  const std::span<const Level> at = knot_levels();
  std::vector<double> knots;
  for (const Level& level : at) knots.push_back(std::round(300.0 * level.value()));
  std::vector<Level> levels;
  for (int k = 1; k < 10'000; ++k) levels.emplace_back(k / 10'000.0);
  std::vector<double> out(levels.size());
  follow_knots(knots, levels, out);
  EXPECT_TRUE(std::ranges::is_sorted(out));
  EXPECT_EQ(out.front(), knots.front());
  EXPECT_EQ(out.back(), knots.back());
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double tau = levels[j].value();
    if (tau <= at.front().value() || tau >= at.back().value()) continue;
    std::size_t left = 0;
    while (at[left + 1].value() <= tau) ++left;
    const double share = (tau - at[left].value()) / (at[left + 1].value() - at[left].value());
    EXPECT_NEAR(out[j], (1.0 - share) * knots[left] + share * knots[left + 1], 1e-10) << tau;
  }
}

TEST(KnotCurve, IsExactAtAKnot) {
  std::vector<double> knots(knot_levels().size());
  for (std::size_t k = 0; k < knots.size(); ++k) knots[k] = std::sqrt(static_cast<double>(k));
  std::vector<double> out(knots.size());
  follow_knots(knots, knot_levels(), out);
  EXPECT_EQ(out, knots);
}

class QuantileMethod : public testing::TestWithParam<const char*> {
 protected:
  std::vector<double> answers(const FitInput& input, MatrixView queries,
                              const char* options = "epochs=3") const {
    const auto model = fit_method(find_method(GetParam()), input, Params::parse(options));
    const auto p = model->predict({queries}, metric_levels());
    return {p.quantiles.values().begin(), p.quantiles.values().end()};
  }
  Sample data = draw(find_problem("skewed_2"), 200, Seed{3});
};

TEST_P(QuantileMethod, RowsWithoutWeightAreNotThere) {
  // The first 60 rows only calibrate where there is a calibration, so that the parts are the same.
  const bool splits = find_method(GetParam()).options.front().name == "split";
  Sample more = draw(find_problem("hetero_2"), 260, Seed{4});
  std::vector<double> weight(260, 0.0);
  std::vector<std::uint8_t> calibrates(260, 0);
  for (std::size_t i = 0; i < 200; ++i) {
    std::ranges::copy(data.x.row(i), more.x.row(i).begin());
    more.y[i] = data.y[i];
    weight[i] = 1.0;
    calibrates[i] = i < 60 ? 1 : 0;
  }
  calibrates[230] = 1;
  FitInput few{.x = data.x, .y = data.y, .weight = std::span<const double>(weight).first(200)};
  FitInput many{.x = more.x, .y = more.y, .weight = weight};
  if (splits) {
    few.calibrate_rows = std::span<const std::uint8_t>(calibrates).first(200);
    many.calibrate_rows = calibrates;
  }
  EXPECT_EQ(answers(few, data.x), answers(many, data.x));
}

TEST_P(QuantileMethod, ColumnsThatAreNotTheModelsDoNotMatter) {
  FitInput input{.x = data.x, .y = data.y};
  input.model_columns = {1};
  Matrix changed = data.x;
  for (std::size_t i = 0; i < changed.rows(); ++i) changed(i, 0) = 1e3;
  EXPECT_EQ(answers(input, data.x), answers(input, changed));
  const Matrix one = take_rows(data.x, all_rows(200), std::vector<std::size_t>{1});
  FitInput narrow{.x = one, .y = data.y};
  EXPECT_EQ(answers(input, data.x), answers(narrow, one));
}

TEST_P(QuantileMethod, AnAnswerDoesNotDependOnTheOtherLevelsAsked) {
  FitInput input{.x = data.x, .y = data.y};
  const auto model = fit_method(find_method(GetParam()), input, Params::parse("epochs=3"));
  const auto all = model->predict({data.x}, metric_levels());
  for (const std::size_t j : {0U, 42U, 99U}) {
    const std::vector<Level> one = {metric_levels()[j]};
    const auto p = model->predict({data.x}, one);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(p.quantiles(i, 0), all.quantiles(i, j));
  }
}

INSTANTIATE_TEST_SUITE_P(All, QuantileMethod, testing::Values("cqr", "oqr", "maqr", "ccl"),
                         [](const auto& name) { return std::string(name.param); });

void expect_refused(const char* method, const char* options, const std::string& part,
                    ErrorCode code = ErrorCode::kInvalidArgument) {
  const Sample data = draw(find_problem("flat"), 100, Seed{1});
  const FitInput input{.x = data.x, .y = data.y};
  expect_error(code, part, [&] { fit_method(find_method(method), input, Params::parse(options)); });
}

TEST(QuantileMethods, RefuseOptionsOutOfRange) {
  expect_refused("cqr", "split=cross", "split");
  expect_refused("cqr", "split=0.05", "too few", ErrorCode::kBadData);
  expect_refused("oqr", "penalty=-1", "penalty");
  expect_refused("oqr", "batch=10", "batch");
  expect_refused("ccl", "sharpness=1.5", "sharpness");
  expect_refused("ccl", "batch=10", "batch");
  expect_refused("maqr", "bandwidth=0", "bandwidth");
  expect_refused("maqr", "split=0.3", "split");
}

}  // namespace
}  // namespace tare
