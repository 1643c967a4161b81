// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tare/calibrate/methods.h"
#include "tare/calibrate/reliability.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

struct PredictorCase {
  Sample data = draw(find_problem("hetero_2"), 300, Seed{1});
  Sample fresh = draw(find_problem("hetero_2"), 40, Seed{2});
  FittedModel fitted;
  const QuantileModel* model;

  explicit PredictorCase(const char* params) {
    FitInput input{.x = data.x, .y = data.y};
    fitted.method = "nrc_boost";
    fitted.model = fit_method(find_method("nrc_boost"), input, Params::parse(params));
    model = fitted.model.get();
  }
};

double cell(const Predictor& predictor, const Answers& answers, std::size_t i,
            const std::string& name) {
  const auto& names = predictor.names();
  const auto at = std::ranges::find(names, name) - names.begin();
  return answers.values(i, static_cast<std::size_t>(at));
}

// Against predict_with_reliability, column by column.
TEST(Predictor, NamesWhatTheModelSays) {
  const PredictorCase one("guarantee=split bands=on");
  Predictor predictor(
      one.fitted,
      {.levels = {0.5, 0.1}, .intervals = {0.8}, .diagnostics = true, .unnamed_levels = {0.3}});
  const Answers answers = predictor.answer(Rows{one.fresh.x});
  const std::vector<Level> levels = {Level{0.5}, Level{0.1}, Level{0.1}, Level{0.9}};
  Execution how;
  how.diagnostics = true;
  const Prediction direct = predict_with_reliability(*one.model, {one.fresh.x}, levels, how);
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
  // 60 rows held out cannot keep the first level.
  const PredictOptions options{.levels = {0.001, 0.5}, .diagnostics = true};
  Predictor whole(one.fitted, options);
  Predictor parts(one.fitted, options);
  const Matrix all = whole.answer(Rows{one.fresh.x}).values;
  for (std::size_t first = 0; first < 40; first += 10) {
    const Matrix some = parts.answer(Rows{one.fresh.x.view().middle_rows(first, 10)}).values;
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t j = 0; j < some.cols(); ++j) {
        // What the model does not know, its bands, is NaN in both.
        const double expected = all(first + i, j);
        EXPECT_TRUE(some(i, j) == expected || (std::isnan(some(i, j)) && std::isnan(expected)));
      }
    }
  }
  const auto expected = whole.notices();
  const auto found = parts.notices();
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
  EXPECT_TRUE(PredictorCase("guarantee=split").model->has_guarantee());
  EXPECT_TRUE(PredictorCase("guarantee=split").model->delivers_levels());
  EXPECT_FALSE(PredictorCase("guarantee=none").model->delivers_levels());
}

TEST(Predictor, AnswersATableByTheNamesOfItsColumns) {
  const PredictorCase one("guarantee=none");
  Table table;
  std::vector<double> first, second;
  for (std::size_t i = 0; i < one.fresh.y.size(); ++i) {
    first.push_back(one.fresh.x(i, 0));
    second.push_back(one.fresh.x(i, 1));
  }
  table.add_numbers("x1", second);  // in another order, and one more
  table.add_numbers("noise", second);
  table.add_numbers("x0", first);
  Predictor of_table(one.fitted);
  Predictor of_rows(one.fitted);
  EXPECT_EQ(of_table.names(), (std::vector<std::string>{"q0.05", "q0.5", "q0.95"}));
  const Answers found = of_table.answer(table);
  const Answers expected = of_rows.answer(Rows{one.fresh.x});
  EXPECT_TRUE(std::ranges::equal(found.values.values(), expected.values.values()));
  EXPECT_EQ(found.rows.size(), one.fresh.y.size());
  Table ready;  // the model's columns in their order need no search
  ready.add_numbers("x0", first);
  ready.add_numbers("x1", second);
  Predictor of_ready(one.fitted);
  EXPECT_TRUE(std::ranges::equal(of_ready.answer(ready).values.values(), expected.values.values()));
  Table short_of_one;
  short_of_one.add_numbers("x0", first);
  EXPECT_THROW(of_ready.answer(short_of_one), Error);
}

TEST(Predictor, KeptColumnsNeedATableBeforeTheHeader) {
  const PredictorCase one("guarantee=none");
  Predictor predictor(one.fitted, {.levels = {0.5}, .keep = {"id"}});
  std::string csv;
  EXPECT_THROW(predictor.append_csv_header(csv), Error);
  Table table;
  table.add_texts("id", std::array<std::string, 1>{"k"});
  table.add_numbers("x0", std::array{0.5});
  table.add_numbers("x1", std::array{0.5});
  const Answers answers = predictor.answer(table);
  predictor.append_csv_header(csv);
  predictor.append_csv(csv, table, answers);
  EXPECT_EQ(csv.substr(0, 10), "id,q0.5\nk,");
  // Rows that are encoded already are numbered in their order.
  const Matrix x(1, 2, 0.5);
  EXPECT_EQ(predictor.answer(Rows{x}).rows, std::vector<std::size_t>{0});
}

TEST(Predictor, CanBeStoppedBetweenBlocksOfRows) {
  const PredictorCase one("guarantee=none");
  const Sample many = draw(find_problem("hetero_2"), 10'000, Seed{3});
  Predictor predictor(one.fitted);
  Execution how;
  std::size_t heard = 0;
  how.threads = 1;
  how.progress = [&](std::string_view, double share) {
    if (++heard; share > 0.3) throw Stopped{};
  };
  EXPECT_THROW(predictor.answer(Rows{many.x}, how), Stopped);
  EXPECT_GE(heard, 2U);
}

TEST(PredictOptions, AreSetByName) {
  PredictOptions options;
  options.set("levels", "0.1,0.9");
  options.set("interval", "0.8");
  options.set("keep", "a, b");
  options.set("diagnostics", "yes");
  options.set("missing", "drop");
  EXPECT_EQ(options.levels, (std::vector<double>{0.1, 0.9}));
  EXPECT_EQ(options.intervals, std::vector<double>{0.8});
  EXPECT_EQ(options.keep, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(options.diagnostics);
  EXPECT_EQ(options.missing, MissingPolicy::kDrop);
  EXPECT_THROW(options.set("level", "0.1"), Error);
  EXPECT_THROW(options.set("diagnostics", "perhaps"), Error);
}

}  // namespace
}  // namespace tare
