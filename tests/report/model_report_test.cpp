// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/model_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infinity.h"
#include "report/figures/calibration_figures.h"
#include "report/figures/row_figures.h"
#include "report/figures/slice_figures.h"
#include "report/pages/findings.h"
#include "report/svg_checks.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_sound_card(const Card& card) {
  EXPECT_TRUE(well_formed(card.pictures)) << card.title;
  EXPECT_THAT(card.pictures, HasSubstr("aria-label"));
  EXPECT_THAT(card.pictures, Not(HasSubstr("nan")));
  ASSERT_GT(card.table.size(), 1u) << card.title;
  for (const auto& row : card.table) EXPECT_EQ(row.size(), card.table[0].size()) << card.title;
  EXPECT_GT(card.words[0].size(), 20u) << card.title;
}

Outcomes outcomes_of(std::size_t rows) {
  Outcomes o;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto at = static_cast<double>(i);
    o.y.push_back(i % 10 == 0 ? at + 5.0 : at);
    o.median.push_back(at);
    o.lower.push_back(at - 1.0);
    o.upper.push_back(at + 1.0);
    o.effective_n.push_back(1.0 + at);
  }
  return o;
}

TEST(ReliabilityCard, SaysWhetherChanceExplainsTheCurve) {
  ReliabilityCurve curve;
  curve.rows = 100;
  curve.level = {0.1, 0.5, 0.9};
  curve.observed = {0.1, 0.75, 0.9};
  curve.noise_low = {0.05, 0.4, 0.85};
  curve.noise_high = {0.15, 0.6, 0.95};
  curve.reach = 0.13;
  curve.largest = 0.25;
  curve.largest_at = 0.5;
  expect_sound_card(reliability_card(curve, false));
  EXPECT_THAT(reliability_card(curve, false).words[1],
              HasSubstr("At level 0.50 the share is off by 25.0 %"));
  curve.largest = 0.1;
  EXPECT_THAT(reliability_card(curve, false).words[1], HasSubstr("stays between the dashed lines"));
}

TEST(PitCard, NamesTheShape) {
  Scores scores;
  scores.rows = 1000;
  scores.pit.assign(20, 0.05);
  expect_sound_card(pit_card(scores));
  EXPECT_THAT(pit_card(scores).words[1], HasSubstr("no shape beyond chance"));
  scores.pit.assign(20, 0.7 / 18);
  scores.pit[0] = scores.pit[19] = 0.15;
  EXPECT_THAT(pit_card(scores).words[1], HasSubstr("intervals are too short"));
  scores.pit.assign(20, 0.02);
  for (std::size_t b = 6; b < 14; ++b) scores.pit[b] = 0.095;
  EXPECT_THAT(pit_card(scores).words[1], HasSubstr("intervals are too wide"));
  for (std::size_t b = 0; b < 20; ++b) scores.pit[b] = b < 10 ? 0.08 : 0.02;
  EXPECT_THAT(pit_card(scores).words[1], HasSubstr("predictions are too large"));
}

TEST(IntervalsCard, DrawsSomeRowsAndSaysSo) {
  const Card few = intervals_card(outcomes_of(30), "y");
  expect_sound_card(few);
  EXPECT_THAT(few.words[0], HasSubstr("All rows are drawn"));
  const Card many = intervals_card(outcomes_of(5000), "y");
  EXPECT_THAT(many.words[0], HasSubstr("160 of 5,000 rows are drawn"));
  EXPECT_LT(many.pictures.size(), 80'000u);
  // Both ends of the predictions are among them.
  EXPECT_THAT(many.pictures, HasSubstr("row 1:"));
  EXPECT_THAT(many.pictures, HasSubstr("row 5,000:"));
}

TEST(EffectiveSizeCard, CountsTheRowsWithFew) {
  const Card card = effective_n_card(outcomes_of(100));  // sizes 1 to 100
  expect_sound_card(card);
  EXPECT_THAT(card.words[1], HasSubstr("19.0 % of the test rows have fewer than 20"));
  Outcomes huge = outcomes_of(3);
  huge.effective_n = {0.5, 1e6, 1e12};
  double sum = 0.0;
  const Card wide = effective_n_card(huge);
  expect_sound_card(wide);
  for (std::size_t k = 1; k < wide.table.size(); ++k) sum += std::stod(wide.table[k][1]);
  EXPECT_NEAR(sum, 100.0, 0.2) << "every row is in a bin";
}

TEST(ColumnCard, OfNumbersAndNamesWithInfiniteWidths) {
  std::vector<Slice> slices(3);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto at = static_cast<double>(k);
    slices[k].part = {at, at + 0.9, at + 0.5, ""};
    slices[k].rows = 100;
    slices[k].coverage = 0.9;
    slices[k].coverage_low = 0.8;
    slices[k].coverage_high = 0.95;
    slices[k].width = slices[k].width_high = 2.0;
  }
  slices[1].width = slices[1].width_high = kInf;
  ReportColumn column;
  column.name = "c <";
  expect_sound_card(column_card(column, slices));
  EXPECT_THAT(column_card(column, slices).words[0], HasSubstr("Every error bar contains 90 %"));
  slices[2].coverage = 0.5;
  slices[2].coverage_low = 0.4;
  slices[2].coverage_high = 0.6;
  const Card off = column_card(column, slices);
  EXPECT_THAT(off.words[0], HasSubstr("1 of 3 error bars do not contain 90 %"));
  EXPECT_THAT(off.words[0], HasSubstr("2 to 2.9: 50.0 % (40.0 to 60.0 %)"));
  column.categorical = true;
  for (Slice& slice : slices) slice.part.name = "n & m";
  expect_sound_card(column_card(column, slices));
  for (Slice& slice : slices) slice.width = 1e200;
  EXPECT_THAT(column_card(column, slices).pictures, Not(HasSubstr("Width")));
  for (Slice& slice : slices) slice.width = kInf;
  EXPECT_THAT(column_card(column, slices).pictures, Not(HasSubstr("Width")));
}

TEST(RegionText, NamesEveryCondition) {
  std::vector<ReportColumn> columns(2);
  columns[0].name = "age";
  columns[1].name = "colour";
  columns[1].categorical = true;
  Region region;
  EXPECT_EQ(region_text(region, columns), "all rows");
  region.where = {{0, 18.0, 41.5, ""}, {1, 0.0, 0.0, "red"}};
  EXPECT_EQ(region_text(region, columns), "age from 18 to 41.5 and colour = red");
  region.share = 0.4;
  EXPECT_EQ(region_fault(region), "intervals too short or misplaced");
  region.event = CalibrationEvent::kBelowMedian;
  EXPECT_EQ(region_fault(region), "predictions too small");
}

TEST(ChoiceCards, OfAPathAndATrail) {
  BandwidthChoice choice;
  choice.path = {{0.1, 2.0}, {0.2, 1.0}, {0.4, 1.005}};
  choice.bandwidth = 0.2;
  choice.rows_left_out = 50;
  expect_sound_card(bandwidth_card(choice));
  EXPECT_THAT(bandwidth_card(choice).words[1], HasSubstr("Chosen: 0.2. The loss of 2 of 3"));
  EXPECT_EQ(bandwidth_card(choice, " of a fold").title, "The bandwidth of a fold");
  choice.bandwidth = kInf;
  EXPECT_THAT(bandwidth_card(choice).words[1], HasSubstr("Equal weights for all rows were best"));
  for (auto& trial : choice.path) trial.loss = 0.0;
  expect_sound_card(bandwidth_card(choice));
  AutoTrail trail;
  trail.steps = {{"forest", 1.0, 0.5, 0.75}, {"ridge <", 2.0, kInf, 0.0}};
  trail.average_loss = 0.9;
  expect_sound_card(trail_card(trail));
}

TEST(Findings, SayWhatIsWrongAndWhatToDo) {
  ModelReport report;
  report.overall.rows = 1000;
  report.overall.coverage = 0.8;
  report.overall.coverage_low = 0.77;
  report.overall.coverage_high = 0.83;
  report.scores.set("length_90", 1.0);
  Outcomes outcomes = outcomes_of(1000);
  auto findings = report_findings(report, outcomes);
  EXPECT_FALSE(findings[0].fine);
  EXPECT_THAT(findings[0].text, HasSubstr("80.0 % (77.0 to 83.0 %) of 1,000 rows"));
  EXPECT_TRUE(findings[2].fine);
  EXPECT_EQ(findings.size(), 3u);
  report.scores.set("length_90", kInf);
  report.series = true;
  outcomes = outcomes_of(20);
  outcomes.knows_outside = true;
  outcomes.outside_rows = 10;
  findings = report_findings(report, outcomes);
  std::string all;
  for (const Finding& finding : findings) all += finding.head + finding.text;
  for (const char* part :
       {"few test rows", "infinite", "unlike those of the fit", "50.0 %", "a series"})
    EXPECT_THAT(all, HasSubstr(part));
}

}  // namespace
}  // namespace tare
