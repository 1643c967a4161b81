// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "infinity.h"
#include "report/figures/band_plot.h"
#include "report/svg/axis.h"
#include "report/svg/escape.h"
#include "report/svg_checks.h"
#include "tare/base/error.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;
using Values = std::vector<double>;

const double kNaN = std::nan("");

BandPlot example() {
  BandPlot plot{.title = "a", .x_label = "x", .y_label = "y"};
  for (int i = 0; i < 40; ++i) {
    const double x = 0.1 * i;
    plot.x.push_back(x);
    plot.true_mean.push_back(std::sin(x));
    plot.true_lower.push_back(std::sin(x) - 1.0);
    plot.true_upper.push_back(std::sin(x) + 1.0);
    plot.median.push_back(std::sin(x) + 0.1);
    plot.lower.push_back(std::sin(x) - 1.2);
    plot.upper.push_back(std::sin(x) + 1.1);
    plot.point_x.push_back(x);
    plot.point_y.push_back(std::cos(9.0 * x));
  }
  return plot;
}

TEST(WellFormed, TheCheckerItselfSeesFaults) {
  EXPECT_TRUE(well_formed("<a b=\"c\"><d/>&amp;</a>"));
  EXPECT_FALSE(well_formed("<a><b></a></b>"));
  EXPECT_FALSE(well_formed("<a>"));
  EXPECT_FALSE(well_formed("<a b=c/>"));
  EXPECT_FALSE(well_formed("a & b"));
}

TEST(BandPlot, IsWellFormedAndInsideItsViewBox) {
  const std::string svg = band_plot(example());
  expect_sound(svg, 900.0, 520.0);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 900 520\""));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  for (const char* text : {"data", "predicted 95 % band", "predicted median", "true mean"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_GE(spots(svg).size(), 40u * 7u);
}

TEST(BandPlot, LeavesOutWhatIsNotGiven) {
  BandPlot plot = example();
  plot.true_mean.clear();
  plot.true_lower.clear();
  plot.true_upper.clear();
  const std::string svg = band_plot(plot);
  expect_sound(svg, 900.0, 520.0);
  EXPECT_THAT(svg, Not(HasSubstr("true mean")));
}

TEST(BandPlot, NotFiniteValuesLeaveGaps) {
  BandPlot plot = example();
  plot.upper[0] = kInf;
  plot.lower[20] = -kInf;
  plot.median[39] = kNaN;
  plot.point_y[3] = kNaN;
  plot.point_x[4] = kInf;
  expect_sound(band_plot(plot), 900.0, 520.0);
}

TEST(BandPlot, RefusesWhatDoesNotFitTogether) {
  BandPlot shorter = example();
  shorter.median.pop_back();
  EXPECT_THROW(band_plot(shorter), Error);
  BandPlot one_edge = example();
  one_edge.upper.clear();
  EXPECT_THROW(band_plot(one_edge), Error);
  BandPlot unsorted = example();
  std::swap(unsorted.x[3], unsorted.x[9]);
  EXPECT_THROW(band_plot(unsorted), Error);
  BandPlot points = example();
  points.point_y.clear();
  EXPECT_THROW(band_plot(points), Error);
}

TEST(Chart, EscapesEveryText) {
  const std::string nasty = "<script>\"a\" & 'b'\x01\xff";
  Chart chart({.title = nasty, .x_label = nasty, .y_label = nasty});
  chart.line(Values{0.0, 1.0}, Values{0.0, 1.0}, Ink::kGreen, Stroke::kDashed, nasty);
  const std::string svg = chart.render();
  expect_sound(svg, 900.0, 520.0);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
}

TEST(Chart, ALineBreaksAtANaN) {
  Chart chart({.title = "t"});
  chart.line(Values{0, 1, 2, 3, 4}, Values{0, 1, kNaN, 3, 4}, Ink::kBlue, Stroke::kSolid, "");
  const std::string svg = chart.render();
  const std::size_t start = svg.find("class=\"line blue\" d=\"");
  ASSERT_NE(start, std::string::npos);
  std::string commands;
  for (const char c : svg.substr(start + 21, svg.find('/', start) - start - 21)) {
    if (c == 'M' || c == 'L') commands += c;
  }
  EXPECT_EQ(commands, "MLML");
}

TEST(Chart, OneValueNoValueAndHugeValuesAreFine) {
  for (const Values& y : {Values{}, Values{kNaN}, Values{3.0}, Values{0.0}, Values{1e300},
                          Values{-1e150, 1e150}, Values{1e15, 1e15 + 0.25}, Values{0.0, 1e-310}}) {
    Chart chart({.width = 400, .height = 300});
    const Values x(y.size(), 1.0);
    chart.scatter(x, y, Ink::kGrey, "dots");
    chart.line(x, y, Ink::kBlue, Stroke::kSolid, "line");
    chart.band(x, y, y, Ink::kOrange, "band");
    expect_sound(chart.render(), 400.0, 300.0);
  }
}

TEST(Chart, RefusesUnequalLengthsAndTinySizes) {
  Chart chart({.title = "t"});
  EXPECT_THROW(chart.scatter(Values{1.0}, Values{}, Ink::kGrey, ""), Error);
  EXPECT_THROW(chart.line(Values{1.0}, Values{}, Ink::kGrey, Stroke::kSolid, ""), Error);
  EXPECT_THROW(chart.band(Values{1.0}, Values{1.0}, Values{}, Ink::kGrey, ""), Error);
  EXPECT_THROW(Chart({.width = 10}), Error);
}

TEST(Axis, ChoosesRoundTicksInsideTheRange) {
  Axis axis;
  for (const double v : {-0.13, 0.77, kNaN}) axis.include(v);
  axis.finish(6);
  std::vector<std::string> labels;
  for (const Axis::Tick& tick : axis.ticks()) labels.push_back(tick.label);
  EXPECT_THAT(labels, testing::ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8"));
  EXPECT_GT(axis.place(-0.13, 0.0, 100.0), 0.0);
  EXPECT_LT(axis.place(0.77, 0.0, 100.0), 100.0);
}

TEST(LogAxis, PutsEqualRatiosEquallyFarApart) {
  Axis axis(AxisScale::kLog);
  for (const double v : {1000.0, 64000.0, 0.0, -5.0, kNaN}) axis.include(v);
  EXPECT_FALSE(axis.takes(0.0));
  EXPECT_FALSE(axis.takes(-1.0));
  axis.finish(6);
  const auto place = [&](double v) { return axis.place(v, 0.0, 100.0); };
  EXPECT_NEAR(place(4000.0) - place(2000.0), place(64000.0) - place(32000.0), 1e-9);
  EXPECT_GT(place(1000.0), 0.0);
  EXPECT_LT(place(64000.0), 100.0);
  std::vector<std::string> labels;
  for (const Axis::Tick& tick : axis.ticks()) labels.push_back(tick.label);
  EXPECT_THAT(labels, testing::ElementsAre("1000", "2000", "5000", "10000", "20000", "50000"));
}

TEST(LogAxis, HasTicksInsideItsRangeForAnyRange) {
  for (const double high : {1.0, 1.01, 3.0, 1e3, 1e40, 1e140}) {
    Axis axis(AxisScale::kLog);
    axis.include(1.0);
    axis.include(high);
    axis.finish(6);
    EXPECT_GE(axis.ticks().size(), 1U) << high;
    EXPECT_LE(axis.ticks().size(), 12U) << high;
    for (const Axis::Tick& tick : axis.ticks()) {
      EXPECT_GE(axis.place(tick.value, 0.0, 100.0), 0.0) << tick.label;
      EXPECT_LE(axis.place(tick.value, 0.0, 100.0), 100.0) << tick.label;
    }
  }
}

TEST(Chart, OnALogScaleWhatIsNotAboveZeroLeavesAGap) {
  Chart chart(
      {.width = 400, .height = 300, .x_scale = AxisScale::kLog, .y_scale = AxisScale::kLog});
  chart.line(Values{1, 2, 3, 4}, Values{1, 0, -1, 9}, Ink::kBlue, Stroke::kSolid, "line");
  chart.band(Values{-1, 2, 3}, Values{1, 0, 2}, Values{1, 1, 5}, Ink::kGreen, "band");
  expect_sound(chart.render(), 400.0, 300.0);
}

TEST(Chart, ReachesFurtherThanWhatItDraws) {
  const auto height_of_line = [](double reach) {
    Chart chart({.width = 400, .height = 300});
    chart.line(Values{0, 1}, Values{0, 1}, Ink::kBlue, Stroke::kSolid, "");
    chart.reach(0.0, reach);
    const std::string svg = chart.render();
    expect_sound(svg, 400.0, 300.0);
    const std::vector<Spot> all = spots(svg);  // the line is drawn last
    return all[all.size() - 2].y - all.back().y;
  };
  EXPECT_GT(height_of_line(0.5), 5.0 * height_of_line(10.0));
}

TEST(Panels, LieInRowsAndShareTheFirstLegend) {
  std::vector<Chart> charts;
  for (const char* title : {"first", "second", "third"}) {
    Chart chart({.title = title, .width = 400, .height = 300, .legend = LegendPlace::kNone});
    chart.line(Values{0, 1}, Values{0, 1}, Ink::kBlue, Stroke::kSolid, "the line");
    charts.push_back(std::move(chart));
  }
  const std::string svg = render_panels({.title = "all <three>", .columns = 2}, charts);
  EXPECT_TRUE(well_formed(svg));
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 800 662\""));  // two rows, a title and a legend
  EXPECT_THAT(svg, HasSubstr("translate(400 62.00)"));
  EXPECT_THAT(svg, HasSubstr("translate(0 362.00)"));
  EXPECT_THAT(svg, HasSubstr("all &lt;three&gt;"));
  for (const char* text : {">first<", ">second<", ">third<"}) EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_EQ(svg.find("the line"), svg.rfind("the line"));
  EXPECT_EQ(svg.find("<style>"), svg.rfind("<style>"));
}

TEST(Panels, AreAtLeastOne) {
  EXPECT_THROW(render_panels({}, std::vector<Chart>{}), Error);
  EXPECT_THROW(render_panels({.title = "", .columns = 0}, std::vector<Chart>{Chart({})}), Error);
}

TEST(EscapeXml, KeepsTextAndReplacesWhatXmlCannotHold) {
  EXPECT_EQ(escape_xml("a < b & c > \"d\" 'e'"), "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(escape_xml("m\xC2\xB2 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "m\xC2\xB2 \xE2\x82\xAC \xF0\x9F\x98\x80");
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(escape_xml("\xB2"), mark);                              // Latin-1
  EXPECT_EQ(escape_xml("\xE2\x82"), mark + mark);                   // cut short
  EXPECT_EQ(escape_xml("\xC0\xAF"), mark + mark);                   // overlong
  EXPECT_EQ(escape_xml("\xED\xA0\x80"), mark + mark + mark);        // a surrogate
  EXPECT_EQ(escape_xml(std::string("a\0b", 3)), "a" + mark + "b");  // a control character
}

}  // namespace
}  // namespace tare
