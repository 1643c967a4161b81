// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "evaluate/count_laws.h"
#include "report/figures/calibration_figures.h"
#include "report/figures/slice_figures.h"
#include "report/pages/findings.h"
#include "report/pages/model_report.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Examined {
  Examination exam;
  ModelReport report;

  Examined(const JumpLaw& law, std::size_t rows, double factor, Seed seed) {
    const JumpRows drawn = draw_rows_of(law, rows, seed);
    exam.add(JumpModel(law, factor), {drawn.x}, drawn.y);
    ReportColumn column;
    column.name = "x";
    for (std::size_t i = 0; i < rows; ++i) column.numbers.push_back(drawn.x(i, 0));
    report = examine_rows(exam, {column}, Seed{1});
  }
};

/// Words and pictures of one report say the same, whatever they say.
void expect_agreement(const Examined& examined) {
  const ModelReport& report = examined.report;
  const ReliabilityCurve& curve = report.curve;
  const auto findings = report_findings(report, examined.exam.outcomes());
  bool between = true;
  for (std::size_t j = 0; j < curve.level.size(); ++j) {
    between = between && std::fabs(curve.observed[j] - curve.level[j]) <= curve.reach;
  }
  const Card card = reliability_card(curve, false);
  EXPECT_EQ(card.words[1].find("stays between the dashed lines") != std::string::npos, between);
  EXPECT_THAT(card.words[2], HasSubstr("share of its jump"));
  EXPECT_EQ(findings[1].fine, between);
  for (std::size_t row = 1; row < card.table.size(); ++row) {
    EXPECT_EQ(card.table[row][1], fmt::format("{:.3f}", curve.observed[3 * (row - 1)]));
  }
  const Slice& all = report.overall;
  EXPECT_EQ(findings[0].fine, all.coverage_low <= 0.9 && 0.9 <= all.coverage_high);
  EXPECT_EQ(report.scores.at("coverage_90"), all.coverage);  // tile, metric and finding: one number
  EXPECT_LT(all.coverage, all.counted);
  const std::vector<Slice>& slices = report.slices[0];
  const auto off = std::ranges::count_if(
      slices, [](const Slice& s) { return s.coverage_high < 0.9 || s.coverage_low > 0.9; });
  EXPECT_THAT(
      column_card(report.columns[0], slices).words[0],
      HasSubstr(off == 0 ? std::string("Every error bar contains 90 %")
                         : fmt::format("{} of {} error bars do not contain", off, slices.size())));
  EXPECT_EQ(findings[2].fine, report.regions.found == 0);
}

// What a perfect forecaster is told: each of the findings is wrong in at most 5 % of draws, as for
// continuous targets. Three standard errors of the count are allowed on top; the three findings of
// a draw are about the same rows, so that a draw counts once.
TEST(TiesReport, CallsAPerfectForecasterRightAndDrawsWhatItSays) {
  std::size_t reports = 0, wrong_coverage = 0, wrong_levels = 0, wrong_regions = 0, wrong_pit = 0;
  std::size_t levels = 0, outside = 0, bins = 0, beyond = 0;
  for (const JumpLaw& law : jump_laws()) {
    for (std::uint64_t draw = 0; draw < 20; ++draw) {
      const std::size_t rows = draw < 17 ? 1'000 : 10'000;
      const Examined examined(law, rows, 1.0, split(Seed{12}, 100 * reports + draw));
      const ModelReport& report = examined.report;
      expect_agreement(examined);
      const auto findings = report_findings(report, examined.exam.outcomes());
      ++reports;
      wrong_coverage += std::size_t{!findings[0].fine};
      wrong_levels += std::size_t{!findings[1].fine};
      wrong_regions += std::size_t{!findings[2].fine};
      wrong_pit += std::size_t{pit_shape(report.scores.pit, rows) != PitShape::kEven};
      for (std::size_t j = 0; j < report.curve.level.size(); ++j) {
        const double seen = report.curve.observed[j];
        ++levels;
        outside += seen < report.curve.noise_low[j] || seen > report.curve.noise_high[j];
      }
      const BinNoise noise = pit_noise(rows, report.scores.pit.size());
      for (const double share : report.scores.pit) {
        ++bins;
        beyond += share < noise.low || share > noise.high;
      }
    }
  }
  const auto most = [&](double share) {
    const double expected = share * static_cast<double>(reports);
    return expected + 3.0 * std::sqrt(expected);
  };
  EXPECT_LE(static_cast<double>(wrong_coverage), most(0.05));
  EXPECT_LE(static_cast<double>(wrong_levels), most(0.05));
  EXPECT_LE(static_cast<double>(wrong_regions), most(0.05));
  EXPECT_LE(static_cast<double>(wrong_pit), most(0.02));
  // The bands of one level and of one bin: levels of a draw move together, hence the factor.
  EXPECT_LE(static_cast<double>(outside), 0.08 * static_cast<double>(levels));
  EXPECT_LE(static_cast<double>(beyond), 0.06 * static_cast<double>(bins));
}

TEST(TiesReport, SaysWhatIsWrongWithCounts) {
  const Examined examined(poisson_law(0.3, 6.0), 2'000, 1.3, Seed{12});
  const auto findings = report_findings(examined.report, examined.exam.outcomes());
  EXPECT_FALSE(findings[1].fine);
  EXPECT_FALSE(findings[2].fine);
  EXPECT_THAT(reliability_card(examined.report.curve, false).words[1],
              Not(HasSubstr("stays between")));
  EXPECT_GT(examined.report.curve.largest, examined.report.curve.reach);
  EXPECT_THAT(pit_card(examined.report.scores).words[1], HasSubstr("predictions are too large"));
}

}  // namespace
}  // namespace tare
