// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/axis.h"
#include "report/band_plot.h"
#include "report/escape.h"
#include "tare/base/error.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

testing::AssertionResult fault(const std::string& what, std::string_view rest) {
  return testing::AssertionFailure() << what << " at: " << rest.substr(0, 60);
}

// Whether every tag is closed in order, attributes are quoted and hold no '<', and every '&' starts
// an entity that XML knows. Not a parser; enough to catch what a generator gets wrong.
testing::AssertionResult well_formed(std::string_view text) {
  std::vector<std::string> open;
  while (!text.empty()) {
    if (text.front() == '&') {
      bool known = false;
      for (const char* e : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known |= text.starts_with(e);
      if (!known) return fault("bad entity", text);
    }
    if (text.front() != '<') {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find('>');
    if (end == std::string_view::npos) return fault("unfinished tag", text);
    std::string_view tag = text.substr(1, end - 1);
    const bool closes = tag.starts_with('/');
    const bool alone = tag.ends_with('/');
    tag = tag.substr(closes ? 1 : 0, tag.size() - (closes || alone ? 1 : 0));
    const std::string name(tag.substr(0, tag.find(' ')));
    if (name.empty() || tag.find('<') != std::string_view::npos) return fault("bad tag", text);
    // Every '=' outside quotes must be followed by a quoted value.
    bool quoted = false;
    for (std::size_t i = 0; i < tag.size(); ++i) {
      if (tag[i] == '"') quoted = !quoted;
      if (tag[i] == '=' && !quoted && (i + 1 == tag.size() || tag[i + 1] != '"')) {
        return fault("value without quotes", text);
      }
    }
    if (quoted) return fault("quote left open", text);
    if (closes) {
      if (open.empty() || open.back() != name) return fault("closed out of order", text);
      open.pop_back();
    } else if (!alone) {
      open.push_back(name);
    }
    text.remove_prefix(end + 1);
  }
  if (!open.empty()) return fault("left open", open.back());
  return testing::AssertionSuccess();
}

struct Spot {
  double x;
  double y;
};

// Every point of a path, and every circle's centre.
std::vector<Spot> spots(const std::string& svg) {
  std::vector<Spot> all;
  for (std::size_t i = svg.find("</style>"); i + 4 < svg.size(); ++i) {
    Spot spot{};
    const char* from = svg.c_str() + i;
    if (std::sscanf(from, "M%lf %lf", &spot.x, &spot.y) == 2 ||
        std::sscanf(from, "L%lf %lf", &spot.x, &spot.y) == 2 ||
        std::sscanf(from, "cx=\"%lf\" cy=\"%lf\"", &spot.x, &spot.y) == 2) {
      all.push_back(spot);
    }
  }
  return all;
}

void expect_sound(const std::string& svg, double width, double height) {
  EXPECT_TRUE(well_formed(svg));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  for (const Spot& spot : spots(svg)) {
    EXPECT_GE(spot.x, 0.0);
    EXPECT_LE(spot.x, width);
    EXPECT_GE(spot.y, 0.0);
    EXPECT_LE(spot.y, height);
  }
}

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
  plot.upper[0] = kInfinity;
  plot.lower[20] = -kInfinity;
  plot.median[39] = kNaN;
  plot.point_y[3] = kNaN;
  plot.point_x[4] = kInfinity;
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
