// SPDX-License-Identifier: BSD-3-Clause
#include "report/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "expect_error.h"
#include "infinity.h"
#include "report/figures/row_chart.h"
#include "report/html/numbers.h"
#include "report/svg/svg.h"
#include "report/svg/svg_parts.h"
#include "report/svg_checks.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The page without what is not XML in it.
std::string as_xml(std::string html) {
  const auto cut = [&](const std::string& from, const std::string& to) {
    for (std::size_t at; (at = html.find(from)) != std::string::npos;) {
      html.erase(at, html.find(to, at) + to.size() - at);
    }
  };
  cut("<style>", "</style>");
  cut("<script>", "</script>");
  cut("<meta", ">");
  cut("<!doctype", ">");
  return html;
}

TEST(Page, EverythingFromOutsideIsEscaped) {
  const std::string evil = "<b>\"&'</b>";
  Page page{
      evil, evil, tiles_html({{evil, evil, evil}}) + findings_html({{false, evil, evil}}), {}};
  Card card{
      .title = evil, .pictures = "", .words = {evil, ""}, .table = {{evil, evil}, {evil, evil}}};
  page.sections = {{"one", evil, cards_html({card}) + html_table({{evil}}, evil)},
                   {"two", "x", facts_html({{evil, evil}, {"empty", ""}}, evil)}};
  const std::string html = page_html(page);
  EXPECT_THAT(html, Not(HasSubstr("<b>\"")));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt;"));
  EXPECT_THAT(html, Not(HasSubstr(">empty<")));
  EXPECT_TRUE(well_formed(as_xml(html)));
}

TEST(Page, WhatIsToBeTypedLooksLikeIt) {
  for (const std::string& html :
       {paragraph("a `b <c` d"), findings_html({{true, "h", "a `b <c` d"}})}) {
    EXPECT_THAT(html, HasSubstr("a <code>b &lt;c</code> d"));
  }
  EXPECT_THAT(paragraph("one ` alone"), HasSubstr("one ` alone"));
  EXPECT_THAT(paragraph("`a` and ` alone"), HasSubstr("<code>a</code> and ` alone"));
}

TEST(Page, LinksLeadToSectionsAndNothingLeadsOut) {
  const std::string html = page_html({"t", "p", "", {{"a", "A", ""}, {"b", "B", ""}}});
  EXPECT_THAT(html, HasSubstr("<a href=\"#b\">B</a>"));
  EXPECT_THAT(html, HasSubstr("<section id=\"b\""));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(page_html({"t", "p", "", {{"a", "A", ""}}}), Not(HasSubstr("<nav")));
}

TEST(Numbers, AreReadByPeople) {
  EXPECT_EQ(number_text(0.0436123), "0.04361");
  EXPECT_EQ(number_text(123456.7), "123457");
  EXPECT_EQ(number_text(-kInf), "minus infinite");
  EXPECT_EQ(number_text(kInf), "infinite");
  EXPECT_EQ(percent_text(0.8934), "89.3 %");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(rows_text(1), "1 row");
}

TEST(FittingText, CutsBetweenCharacters) {
  EXPECT_EQ(fitting_text("short", 100.0), "short");
  const std::string cut = fitting_text("äöüäöüäöüäöü", 5 * kCharWidth);
  EXPECT_EQ(cut, "äöüä…");
  EXPECT_EQ(fitting_text("abc", 0.0), "…");
}

TEST(RowChart, StaysInsideWhateverTheValues) {
  const std::vector<NamedValue> rows = {
      {"plain", 1.0, 0.5, 2.0, Ink::kBlue, "a tip"},
      {"no end", 1.0, -kInf, kInf, Ink::kGrey},
      {"no value", kInf, 0.0, kInf, Ink::kGrey},
      {"nothing", std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0, Ink::kGrey},
      {std::string(200, 'x') + "<&>", 3.0, 2.9, 3.1, Ink::kOrange}};
  for (const bool above : {false, true}) {
    const std::string svg = row_chart({.label = "l <",
                                       .x_label = std::string(90, 'y'),
                                       .marks = {0.9, kInf},
                                       .names_above = above},
                                      rows);
    EXPECT_TRUE(well_formed(svg));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf\"")));
    EXPECT_THAT(svg, HasSubstr("<title>a tip</title>"));
    EXPECT_THAT(svg, HasSubstr(">infinite<"));
    for (const Spot& spot : spots("</style>" + svg)) {
      EXPECT_GE(spot.x, 0.0);
      EXPECT_LE(spot.x, 440.0);
    }
  }
  EXPECT_TRUE(well_formed(row_chart({.label = "none", .x_label = ""}, {})));
}

TEST(Chart, BarsAndWhiskersAreSoundAndSayWhatTheyAre) {
  Chart chart({.title = "t", .x_label = "x", .y_label = "y"});
  const std::vector<double> from = {0.0, 1.0, 2.0}, to = {1.0, 2.0, 3.0};
  const std::vector<double> height = {2.0, 0.0, kInf};
  chart.bars(from, to, height, Ink::kBlue, "bars");
  chart.tips({"one", "two <", "three"});
  chart.whiskers(from, from, to, Ink::kOrange, "whiskers");
  const std::string svg = chart.render();
  expect_sound(svg, 900.0, 520.0);
  EXPECT_THAT(svg, HasSubstr("<title>two &lt;</title></rect>"));
  EXPECT_THAT(svg, Not(HasSubstr("three")));  // it has no place
  expect_error(ErrorCode::kShapeMismatch, "tips", [&] { chart.tips({"too few"}); });
  expect_error(ErrorCode::kShapeMismatch, "bars",
               [&] { chart.bars(from, to, std::vector<double>{1.0}, Ink::kBlue, ""); });
  expect_error(ErrorCode::kInvalidArgument, "no series", [] { Chart({}).tips({}); });
  const std::string inside = chart.render_in_page("a <name>");
  EXPECT_THAT(inside, HasSubstr("aria-label=\"a &lt;name&gt;\""));
  EXPECT_THAT(inside, Not(HasSubstr("<style>")));
  EXPECT_TRUE(well_formed(inside));
}

}  // namespace
}  // namespace tare
