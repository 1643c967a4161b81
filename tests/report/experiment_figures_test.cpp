// SPDX-License-Identifier: BSD-3-Clause
// What `tare reproduce` draws and writes: the figures of bands, the theorems, tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/figures/band_figure.h"
#include "report/html/result_tables.h"
#include "report/pages/contest_report.h"
#include "report/pages/theory_report.h"
#include "report/svg_checks.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;

FigurePanel panel(const std::string& name, double half_width) {
  FigurePanel one;
  one.name = name;
  for (int i = 0; i < 20; ++i) {
    one.x.push_back(i);
    one.lower.push_back(-half_width);
    one.median.push_back(0.0);
    one.upper.push_back(half_width);
    one.observed_x.push_back(i);
    one.observed_y.push_back(i % 3 - 1.0);
  }
  return one;
}

FigureData figure(FigureKind kind) {
  FigureData data;
  data.kind = kind;
  data.title = "bands & truth";
  data.x_label = "hour";
  data.y_label = "cnt";
  data.panels = {panel("NRC", 1.0), panel("HNN", 2.0), panel("DGP", 1.5)};
  if (kind == FigureKind::kLaw) {
    data.true_mean.assign(20, 0.0);
    data.true_lower.assign(20, -1.0);
    data.true_upper.assign(20, 1.0);
  }
  return data;
}

TEST(BandFigure, HasAPanelForEachMethodAndOneLegend) {
  for (const FigureKind kind : {FigureKind::kLaw, FigureKind::kSeries}) {
    const std::string svg = band_figure(figure(kind));
    EXPECT_TRUE(well_formed(svg));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    for (const char* text : {">NRC<", ">HNN<", ">DGP<", "bands &amp; truth", ">hour<", ">cnt<"}) {
      EXPECT_THAT(svg, HasSubstr(text));
    }
    EXPECT_EQ(svg.find("predicted 95 % band"), svg.rfind("predicted 95 % band"));
    EXPECT_EQ(svg.find("true 95 % band") != std::string::npos, kind == FigureKind::kLaw);
    EXPECT_EQ(svg.find("observed") != std::string::npos, kind == FigureKind::kSeries);
  }
}

/// Pixels between the edges of each panel's band.
std::vector<double> band_heights(const FigureData& data) {
  std::vector<double> heights;
  const std::string svg = band_figure(data);
  std::size_t legend_has_none = 0;
  for (std::size_t at = svg.find("<path class=\"area"); at != std::string::npos;
       at = svg.find("<path class=\"area", at + 1)) {
    const auto all = spots("</style>" + svg.substr(at, svg.find("/>", at) - at));
    heights.push_back(std::fabs(all.front().y - all.back().y));
    ++legend_has_none;
  }
  EXPECT_EQ(legend_has_none, data.panels.size());
  return heights;
}

TEST(BandFigure, PanelsShareTheirAxes) {
  const auto heights = band_heights(figure(FigureKind::kSeries));
  ASSERT_EQ(heights.size(), 3U);
  // Coordinates are written with two decimals.
  EXPECT_NEAR(heights[1], 2.0 * heights[0], 0.03);
  EXPECT_NEAR(heights[2], 1.5 * heights[0], 0.03);
}

TEST(BandFigure, ABandFarFromEverythingDoesNotFlattenTheOthers) {
  FigureData data = figure(FigureKind::kSeries);
  const double before = band_heights(data)[0];
  data.panels.push_back(panel("wild", 1e6));
  EXPECT_NEAR(band_heights(data)[0], before, 0.03);
}

TEST(BandFigure, SaysSoWhereNoMethodCouldBeFitted) {
  FigureData data = figure(FigureKind::kLaw);
  data.panels.clear();
  const std::string svg = band_figure(data);
  EXPECT_TRUE(well_formed(svg));
  EXPECT_THAT(svg, HasSubstr("no method could be fitted"));
}

Theory theory() {
  RateCurve curve;
  curve.name = "d = 2";
  curve.rows = {1000.0, 2000.0, 4000.0};
  curve.error = {0.4, 0.2, 0.1};
  curve.fitted = {-1.0, 0.25};
  curve.expected = -0.5;
  Theory all;
  all.rates = {curve, curve};
  all.rates[1].theorem = 3;
  all.rates[1].name = "all four";
  all.columns = {{"the law itself", 0, {0.5, 0.4, 0.3}}, {"SNQ, n = 10", 10, {0.6, 0.5, 0.7}}};
  return all;
}

TEST(TheoryReport, TablesHoldTheFigures) {
  EXPECT_EQ(slope_cells(theory())[1],
            (std::vector<std::string>{"1", "d = 2", "-1.000", "0.250", "-0.500"}));
  EXPECT_EQ(rate_cells(theory())[2], (std::vector<std::string>{"2000", "0.2", "0.2"}));
  EXPECT_EQ(column_cells(theory())[2],
            (std::vector<std::string>{"SNQ, n = 10", "0.6000", "0.5000", "0.7000"}));
}

TEST(TheoryReport, CsvHasSixCellsInEveryRow) {
  const std::string csv = theory_csv(theory());
  EXPECT_THAT(csv, HasSubstr("1,d = 2,2000,,quantile_mse,0.2\n"));
  EXPECT_THAT(csv, HasSubstr("3,all four,,,slope_standard_error,0.25\n"));
  EXPECT_THAT(csv, HasSubstr("5,\"SNQ, n = 10\",10,2,pinball,0.7\n"));
  EXPECT_THAT(csv, HasSubstr("5,\"the law itself\",,0,pinball,0.5\n"));
}

TEST(TheoryReport, PicturesAndPagesAreSound) {
  const std::string svg = theory_figure(theory());
  EXPECT_TRUE(well_formed(svg));
  for (const char* text :
       {"Theorem 1", "Theorem 3", "Theorem 5", "d = 2: slope -1.00 (theorem -0.50)"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  const std::string html = theory_html(theory(), "by <me>");
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("by &lt;me&gt;"));
  EXPECT_THAT(theory_markdown(theory(), "by me"), HasSubstr("| 2000 | 0.2 | 0.2 |"));
}

TEST(Results, TheOverallTableComesLastAndTheFigureFirst) {
  Summary summary;
  summary.title = "t";
  SummaryTable table;
  table.case_name = "one case";
  table.metrics = {"ICE"};
  table.floors = {0.0};
  SummaryCell cell;
  cell.count = 1;
  cell.mean = 0.25;
  table.rows = {{"nrc", "", {cell}, 1.0}};
  summary.tables = {table};
  table.case_name = "All problems";
  summary.overall = table;
  const std::string html = results_html(summary, "p", "<svg/>");
  EXPECT_LT(html.find("<svg/>"), html.find(">one case</h2>"));
  EXPECT_LT(html.find(">one case</h2>"), html.find(">All problems</h2>"));
  const std::string text = results_markdown(summary, "p");
  EXPECT_LT(text.find("## one case"), text.find("## All problems"));
  EXPECT_THAT(text, HasSubstr("| perfect | 0 |"));
}

}  // namespace
}  // namespace tare
