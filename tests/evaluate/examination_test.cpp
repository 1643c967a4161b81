// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/examination.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluate/report_columns.h"
#include "expect_error.h"
#include "math/normal.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

/// Says N(x, sd) about a row with the feature x.
class NormalModel final : public QuantileModel {
 public:
  explicit NormalModel(double sd) : sd_(sd) {}
  std::size_t features() const override { return 1; }
  std::size_t given() const override { return 0; }
  void save(const TensorWriter&) const override {}

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Prediction p;
    p.quantiles = Matrix(rows.x.rows(), levels.size());
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        p.quantiles(i, j) = rows.x(i, 0) + sd_ * normal_quantile(levels[j].value());
      }
    }
    p.effective_n.assign(rows.x.rows(), 12.0);
    p.fallback.assign(rows.x.rows(), 0);
    if (how.diagnostics) p.outside.assign(rows.x.rows(), 1);
    return p;
  }

 private:
  double sd_;
};

struct NormalRows {
  Matrix x;
  std::vector<double> y;
};

NormalRows normal_rows(std::size_t rows, Seed seed) {
  Rng rng(seed);
  NormalRows drawn{Matrix(rows, 1), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    drawn.x(i, 0) = rng.uniform();
    drawn.y.push_back(drawn.x(i, 0) + rng.normal());
  }
  return drawn;
}

TEST(Examination, ScoresAreThoseOfTheScorecardInAnyBatches) {
  const NormalRows rows = normal_rows(500, Seed{1});
  const NormalModel model(0.8);
  Scorecard card;
  card.add(model, {rows.x}, rows.y);
  const Scores expected = card.finish(Seed{4});
  Examination exam;
  for (std::size_t first = 0; first < 500; first += 125) {
    exam.add(model, {rows.x.view().middle_rows(first, 125)}, std::span(rows.y).subspan(first, 125));
  }
  const Scores scores = exam.scores(Seed{4});
  EXPECT_EQ(scores.at("mace"), expected.at("mace"));
  EXPECT_EQ(scores.at("agce"), expected.at("agce"));
  EXPECT_EQ(scores.at("winkler_90"), expected.at("winkler_90"));
  EXPECT_NEAR(scores.at("crps"), expected.at("crps"), 1e-14);
  EXPECT_EQ(exam.outcomes().rows(), 500u);
  EXPECT_EQ(exam.outcomes().outside_rows, 500u);
  EXPECT_TRUE(exam.outcomes().knows_outside);
  EXPECT_TRUE(exam.outcomes().effective_n.empty());  // the model has no bands
  EXPECT_DOUBLE_EQ(exam.outcomes().median[7], rows.x(7, 0));
  EXPECT_NEAR(exam.outcomes().upper[7] - exam.outcomes().median[7], 0.8 * 1.6448536, 1e-6);
  expect_error(ErrorCode::kShapeMismatch, "500 rows",
               [&] { exam.add(model, {rows.x}, std::span(rows.y).first(3)); });
}

TEST(Examination, TheCurveIsThatOfObservedLevels) {
  const NormalRows rows = normal_rows(300, Seed{2});
  const NormalModel model(1.0);
  Examination exam;
  exam.add(model, {rows.x}, rows.y);
  const ReliabilityCurve curve = exam.reliability();
  const Prediction p = model.predict({rows.x}, metric_levels());
  EXPECT_EQ(curve.observed, observed_levels(rows.y, p.quantiles, metric_levels()));
  for (std::size_t j = 0; j < curve.level.size(); ++j) {
    EXPECT_LE(curve.noise_low[j], curve.level[j] + 1.0 / 300.0);
    EXPECT_GE(curve.noise_high[j], curve.level[j] - 1.0 / 300.0);
  }
  EXPECT_NEAR(curve.reach, 1.3581 / std::sqrt(300.0), 1e-5);
}

TEST(Examination, TheBandsHoldAPerfectForecasterAndNotAWrongOne) {
  int outside = 0;
  std::size_t beyond = 0;
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    const NormalRows rows = normal_rows(200, split(Seed{3}, draw));
    Examination exam;
    exam.add(NormalModel(1.0), {rows.x}, rows.y);
    const ReliabilityCurve curve = exam.reliability();
    outside += curve.largest > curve.reach ? 1 : 0;
    for (std::size_t j = 0; j < curve.level.size(); ++j) {
      beyond += curve.observed[j] < curve.noise_low[j] || curve.observed[j] > curve.noise_high[j];
    }
  }
  EXPECT_LE(outside, 5 + 7);             // three standard errors on top of 5 %
  EXPECT_LE(beyond, 10'000u * 8 / 100);  // 5 % of levels, which move together within a draw
  const NormalRows rows = normal_rows(200, Seed{3});
  Examination exam;
  exam.add(NormalModel(0.4), {rows.x}, rows.y);
  EXPECT_GT(exam.reliability().largest, exam.reliability().reach);
}

TEST(PitShape, IsNamedOnlyBeyondChance) {
  std::vector<double> pit(20, 0.05);
  EXPECT_EQ(pit_shape(pit, 1000), PitShape::kEven);
  for (std::size_t b = 0; b < 20; ++b) pit[b] = b < 10 ? 0.06 : 0.04;
  EXPECT_EQ(pit_shape(pit, 30), PitShape::kEven);  // 18 of 30 is chance
  EXPECT_EQ(pit_shape(pit, 1000), PitShape::kTooLarge);
  std::ranges::reverse(pit);
  EXPECT_EQ(pit_shape(pit, 1000), PitShape::kTooSmall);
  for (std::size_t b = 0; b < 20; ++b) pit[b] = b < 2 || b > 17 ? 0.09 : 0.04;
  EXPECT_EQ(pit_shape(pit, 1000), PitShape::kTooShort);
  for (std::size_t b = 0; b < 20; ++b) pit[b] = b < 2 || b > 17 ? 0.01 : 0.06;
  EXPECT_EQ(pit_shape(pit, 1000), PitShape::kTooWide);
  EXPECT_EQ(pit_shape(pit, 1), PitShape::kEven);
}

TEST(Examination, TiesAreNoDistance) {
  // Every target equals all of its quantiles: one jump from 0 to 1, of which tau is below tau.
  Matrix x(40, 1, 3.0);
  const std::vector<double> y(40, 3.0);
  Examination exam;
  exam.add(NormalModel(1e-300), {x}, y);  // every quantile rounds to 3
  EXPECT_NEAR(exam.reliability().largest, 0.0, 1e-15);
  EXPECT_TRUE(exam.reliability().ties);
}

TEST(ColumnGatherer, TellsNumbersNamesAndGroupsOfTheLastStep) {
  Table table;
  table.source = "t";
  table.lines = {2, 3, 4};
  Column number, colour, target;
  number.name = "n";
  number.kind = ColumnKind::kNumber;
  number.numbers = {1, 2, 3};
  colour.name = "colour";
  colour.kind = ColumnKind::kText;
  colour.codes = {0, 1, 0};
  colour.vocabulary = {"red", "blue"};
  target.name = "y";
  target.kind = ColumnKind::kNumber;
  target.numbers = {0, 0, 1};
  table.columns = {number, colour, target};
  Roles roles;
  roles.target = "y";
  const Schema schema = Schema::learn(table, roles);
  ColumnGatherer gatherer(schema, {"g"});
  // Two steps a row, of which the last counts: n, colour=blue, colour=red.
  gatherer.add_features(Matrix({9, 0, 1, 5, 1, 0, 9, 0, 1, 6, 0, 0}, 2, 6));
  gatherer.add_group_cell(0, "k");
  gatherer.add_group_cell(0, "");
  Outcomes o;
  o.y = {0, 0};
  o.lower = {1, 2};
  o.median = {2, 3};
  o.upper = {4, 9};
  const std::vector<ReportColumn> columns = std::move(gatherer).finish(o);
  ASSERT_EQ(columns.size(), 6u);
  EXPECT_EQ(columns[0].names, (std::vector<std::string>{"k", "(empty)"}));
  EXPECT_EQ(columns[1].numbers, (std::vector<double>{5, 6}));
  EXPECT_EQ(columns[2].names, (std::vector<std::string>{"blue", "(not seen at fit)"}));
  EXPECT_EQ(columns[2].codes, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(columns[4].numbers, (std::vector<double>{3, 7}));
  EXPECT_EQ(columns[5].numbers, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace tare
