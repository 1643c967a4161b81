// SPDX-License-Identifier: BSD-3-Clause
#include "apply/predictor.h"

#include <gtest/gtest.h>

#include <array>

#include "tare/calibrate/methods.h"
#include "tare/calibrate/reliability.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

struct PredictorCase {
  Sample data = draw(find_problem("hetero_2"), 300, Seed{1});
  Sample fresh = draw(find_problem("hetero_2"), 40, Seed{2});
  std::unique_ptr<QuantileModel> model;

  explicit PredictorCase(const char* params) {
    FitInput input{.x = data.x, .y = data.y};
    model = fit_method(find_method("nrc_boost"), input, Params::parse(params));
  }
};

double cell(const Predictor& predictor, const Predictor::Answers& answers, std::size_t i,
            const std::string& name) {
  const auto& names = predictor.columns().names();
  const auto at = std::ranges::find(names, name) - names.begin();
  return answers.values(i, static_cast<std::size_t>(at));
}

// Against predict_with_reliability, column by column.
TEST(Predictor, NamesWhatTheModelSays) {
  const PredictorCase one("guarantee=split bands=on");
  const std::array levels = {0.5, 0.1};
  const std::array intervals = {0.8};
  const LevelColumns columns = level_columns(levels, intervals);
  Predictor predictor(*one.model, columns, true, {Level{0.3}});
  const auto answers = predictor.answer({one.fresh.x}, {});
  Execution how;
  how.diagnostics = true;
  const Prediction direct =
      predict_with_reliability(*one.model, {one.fresh.x}, columns.levels, how);
  const std::vector<Level> unnamed = {Level{0.3}};
  const Matrix beside = one.model->predict({one.fresh.x}, unnamed).quantiles;
  for (std::size_t i = 0; i < one.fresh.y.size(); ++i) {
    EXPECT_EQ(cell(predictor, answers, i, "q0.5"), direct.quantiles(i, 0));
    EXPECT_EQ(cell(predictor, answers, i, "upper_0.8"), direct.quantiles(i, 3));
    EXPECT_EQ(cell(predictor, answers, i, "q0.1_low"), direct.band_low(i, 1));
    EXPECT_EQ(cell(predictor, answers, i, "lower_0.8_high"), direct.band_high(i, 2));
    EXPECT_EQ(cell(predictor, answers, i, "effective_n"), direct.effective_n[i]);
    EXPECT_EQ(cell(predictor, answers, i, "nearest"), direct.nearest[i]);
    EXPECT_EQ(cell(predictor, answers, i, "outside"), direct.outside[i]);
    EXPECT_EQ(cell(predictor, answers, i, "delivered_q0.1"), direct.delivered(i, 1));
    EXPECT_EQ(cell(predictor, answers, i, "delivered_0.8"),
              direct.delivered(i, 3) - direct.delivered(i, 2));
    EXPECT_EQ(answers.unnamed(i, 0), beside(i, 0));
  }
}

TEST(Predictor, BatchesGiveTheSameAnswersAndWarnings) {
  const PredictorCase one("guarantee=split");
  const std::array levels = {0.001, 0.5};  // 60 rows held out cannot keep the first
  const LevelColumns columns = level_columns(levels, {});
  Predictor whole(*one.model, columns, true);
  Predictor parts(*one.model, columns, true);
  const Matrix all = whole.answer({one.fresh.x}, {}).values;
  for (std::size_t first = 0; first < 40; first += 10) {
    const Matrix some = parts.answer({one.fresh.x.view().middle_rows(first, 10)}, {}).values;
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t j = 0; j < some.cols(); ++j) {
        // What the model does not know, its bands, is NaN in both.
        const double expected = all(first + i, j);
        EXPECT_TRUE(some(i, j) == expected || (std::isnan(some(i, j)) && std::isnan(expected)));
      }
    }
  }
  const auto expected = notices_of(whole.warnings());
  const auto found = notices_of(parts.warnings());
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(expected.front().code, "beyond_kept_levels");
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].code, expected[k].code);
    EXPECT_EQ(found[k].rows, expected[k].rows);
    EXPECT_EQ(found[k].text, expected[k].text);
  }
}

TEST(Predictor, KnowsWhetherThereIsAGuarantee) {
  EXPECT_TRUE(PredictorCase("guarantee=split").model->delivers_levels());
  EXPECT_FALSE(PredictorCase("guarantee=none").model->delivers_levels());
}

}  // namespace
}  // namespace tare
