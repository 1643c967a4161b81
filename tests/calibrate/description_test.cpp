// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/description.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr std::size_t kRowsToDescribe = 300;

FittedModel fit_to_describe(const std::string& method, const std::string& params, FitInput input) {
  FittedModel fitted;
  fitted.method = method;
  fitted.params = Params::parse(params);
  fitted.seed = Seed{5};
  fitted.rows = input.x.rows();
  input.seed = fitted.seed;
  fitted.model = fit_method(find_method(method), input, fitted.params);
  return fitted;
}

Sample sample_to_describe() { return draw(find_problem("hetero_2"), kRowsToDescribe, Seed{1}); }

TEST(Description, OfNrcHasWhatWasAskedFor) {
  const Sample data = sample_to_describe();
  const Description model = describe(fit_to_describe(
      "nrc",
      "regressor=ridge kernel=naive bandwidth=0.75 fallback=marginal min_support=7 split=0.25 "
      "guarantee=split:0.2 bounds=-50,",
      {.x = data.x, .y = data.y}));
  EXPECT_EQ(model.method, "nrc");
  EXPECT_EQ(model.seed, 5u);
  EXPECT_EQ(model.rows, kRowsToDescribe);
  EXPECT_EQ(model.options.size(), 8u);
  EXPECT_EQ(model.feature_names, (std::vector<std::string>{"x0", "x1"}));
  EXPECT_EQ(model.feature_name(1), "x1");
  EXPECT_EQ(model.feature_name(2), "2");
  EXPECT_TRUE(model.given.empty());
  EXPECT_TRUE(model.warnings.empty());

  ASSERT_TRUE(model.kernel.has_value());
  EXPECT_EQ(model.kernel->rows, 60u);  // a quarter of the 240 rows that are not held out
  EXPECT_EQ(model.kernel->dims, 2u);
  EXPECT_EQ(model.kernel->point_model, "ridge");
  EXPECT_EQ(model.kernel->kernel, "naive");
  EXPECT_EQ(model.kernel->bandwidth.rule, "given");
  EXPECT_EQ(model.kernel->bandwidth.bandwidth, 0.75);
  EXPECT_TRUE(model.kernel->bandwidth.path.empty());
  EXPECT_EQ(model.kernel->fallback, "marginal");
  EXPECT_EQ(model.kernel->min_support, 7u);
  EXPECT_FALSE(model.kernel->index.empty());
  EXPECT_FALSE(model.of_first_fold);

  ASSERT_TRUE(model.guarantee.has_value());
  EXPECT_EQ(model.guarantee->form, GuaranteeForm::kSplit);
  EXPECT_EQ(model.guarantee->rows, 60u);
  EXPECT_EQ(model.guarantee->folds, 1u);
  EXPECT_TRUE(model.guarantee->has_bound);
  EXPECT_FALSE(model.guarantee->is_series);
  EXPECT_FALSE(model.guarantee->assumes_unseen_predictions);
  EXPECT_FALSE(model.guarantee->seen_coverage.has_value());
  ASSERT_TRUE(model.guarantee->cost.has_value());
  EXPECT_GT(model.guarantee->cost->with, 0.0);
  ASSERT_EQ(model.guarantee->intervals.size(), 5u);
  // Of 61 ranks an interval of 90 % takes the 4th to the 58th.
  const IntervalCoverage& ninety = model.guarantee->at(0.9);
  EXPECT_NEAR(ninety.on_average, 55.0 / 61.0, 1e-12);
  EXPECT_NEAR(ninety.proven.value(), 55.0 / 61.0, 1e-12);
  EXPECT_TRUE(ninety.kept);
  EXPECT_FALSE(model.guarantee->at(0.99).kept);  // 60 rows are too few
  EXPECT_FALSE(model.guarantee->at(0.99).infinite);
  expect_error(ErrorCode::kInvalidArgument, "0.3", [&] { model.guarantee->at(0.3); });

  EXPECT_EQ(model.bands.absence, BandsAbsence::kNotAsked);
  ASSERT_TRUE(model.bounds.has_value());
  EXPECT_EQ(model.bounds->low, -50.0);
  EXPECT_FALSE(model.bounds->high.has_value());
}

TEST(Description, OfFoldsIsThatOfTheFirst) {
  const Sample data = sample_to_describe();
  std::vector<std::uint32_t> group(kRowsToDescribe, 0);
  for (std::size_t i = 0; i < 150; ++i) group[2 * i] = 1;
  for (std::size_t i = 0; i < 12; ++i) group[i] = 2;  // too few for ranks of their own
  const FittedModel fitted =
      fit_to_describe("nrc", "regressor=ridge guarantee=cross:3,strict bands=on",
                      {.x = data.x, .y = data.y, .group = group});
  const Description model = describe(fitted);
  const FittedModel loaded = load_model_from_memory(save_model_to_memory(fitted));
  EXPECT_EQ(description_json(model), description_json(describe(loaded)));
  EXPECT_TRUE(model.of_first_fold);
  ASSERT_TRUE(model.kernel.has_value());
  EXPECT_FALSE(model.kernel->bandwidth.path.empty());
  EXPECT_GT(model.kernel->bandwidth.rows_left_out, 0u);
  ASSERT_TRUE(model.guarantee.has_value());
  EXPECT_EQ(model.guarantee->form, GuaranteeForm::kCross);
  EXPECT_EQ(model.guarantee->folds, 3u);
  EXPECT_FALSE(model.guarantee->cost.has_value());
  EXPECT_GT(model.guarantee->seen_coverage.value(), 0.8);
  const IntervalCoverage& eighty = model.guarantee->at(0.8);
  EXPECT_LT(eighty.proven.value(), eighty.on_average);
  ASSERT_EQ(model.guarantee->groups.size(), 3u);
  EXPECT_TRUE(model.guarantee->groups[1].has_own_ranks);
  EXPECT_FALSE(model.guarantee->groups[2].has_own_ranks);
  EXPECT_LE(model.guarantee->groups[2].rows, 12u);
  EXPECT_GT(model.guarantee->rows_for_own_ranks, 12u);
  EXPECT_EQ(model.bands.absence, BandsAbsence::kNone);
  EXPECT_EQ(model.bands.fits, 12u);
  EXPECT_EQ(model.bands.half, kRowsToDescribe / 2);
}

TEST(Description, SaysWhereAGuaranteeKnowsNoLevels) {
  const Sample data = sample_to_describe();
  std::vector<double> weight(kRowsToDescribe, 1.0);
  for (std::size_t i = 0; i < 100; ++i) weight[i] = 0.5;
  const FittedModel weighted = fit_to_describe("nrc", "regressor=ridge guarantee=split",
                                               {.x = data.x, .y = data.y, .weight = weight});
  EXPECT_TRUE(weighted.model->has_guarantee());
  EXPECT_FALSE(weighted.model->delivers_levels());
  EXPECT_FALSE(describe(weighted).guarantee->has_bound);
  EXPECT_FALSE(describe(weighted).guarantee->at(0.9).proven.has_value());
  const Description series = describe(fit_to_describe(
      "nrc", "regressor=ridge guarantee=split split=time", {.x = data.x, .y = data.y}));
  EXPECT_TRUE(series.guarantee->is_series);
  EXPECT_FALSE(series.guarantee->has_bound);
  for (const char* form : {"split", "cross:3"}) {
    const FittedModel dependent =
        fit_to_describe("nrc", std::string("regressor=ridge guarantee=") + form,
                        {.x = data.x, .y = data.y, .rows_depend = true});
    const FittedModel loaded = load_model_from_memory(save_model_to_memory(dependent), "memory");
    EXPECT_TRUE(describe(loaded).guarantee->rows_depend) << form;
    EXPECT_FALSE(describe(loaded).guarantee->has_bound) << form;
    EXPECT_FALSE(loaded.model->delivers_levels()) << form;
  }
}

TEST(Description, NamesScreenedColumnsAndResidualTrees) {
  const Sample data = sample_to_describe();
  const Description screened = describe(
      fit_to_describe("nrc", "regressor=ridge screen=yes bands=on", {.x = data.x, .y = data.y}));
  ASSERT_EQ(screened.screened.size(), 2u);
  EXPECT_EQ(screened.screened[1].name, "x1");
  for (const ScreenedColumnDescription& column : screened.screened) {
    EXPECT_EQ(column.kept, column.p_value <= 0.05);
  }
  const Description boost =
      describe(fit_to_describe("nrc_boost", "regressor=ridge", {.x = data.x, .y = data.y}));
  ASSERT_TRUE(boost.residual_trees.has_value());
  EXPECT_EQ(boost.residual_trees->along == AlongKind::kColumn,
            !boost.residual_trees->along_column.empty());
  EXPECT_TRUE(boost.kernel.has_value());
}

TEST(Description, AsJsonHasNoNumberThatIsNotFinite) {
  Description model;
  model.kernel.emplace();
  model.kernel->bandwidth.bandwidth = INFINITY;
  model.guarantee.emplace();
  model.guarantee->cost = {.without = INFINITY, .with = INFINITY, .levels = 3};
  const auto json = nlohmann::json::parse(description_json(model));
  EXPECT_EQ(json["kernel"]["bandwidth"], "infinite");
  EXPECT_TRUE(json["guarantee"]["cost"]["check_score_with"].is_null());
  EXPECT_TRUE(json["trail"].is_null());
  EXPECT_EQ(nlohmann::json::parse(guarantee_description_json(model)), json["guarantee"]);
  EXPECT_EQ(guarantee_description_json({}), "null");
}

}  // namespace
}  // namespace tare
