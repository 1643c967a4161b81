// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/contest_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "infinity.h"
#include "report/svg_checks.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;

CaseRanking three_methods() {
  CaseRanking ranking{"case", "CheckScore", {}};
  ranking.methods = {{"a", "", 5, 1.0, 0.0, -kInf, kInf, true},
                     {"b", "x=<1>", 5, 1.1, 0.1, -0.05, 0.25, true},
                     {"c", "", 5, 2.0, 1.0, 0.7, 1.3, false, 0.001, 0.003}};
  ranking.comparisons = 3;
  return ranking;
}

SummaryTable one_table() {
  SummaryTable table;
  table.case_name = "case";
  table.metrics = {"MACE", "Coverage"};
  table.floors = {0.02, std::nullopt};
  SummaryCell ours{3, 0.04, 0.01, 0.05, 0.02};
  SummaryCell lone{1, 0.9, std::numeric_limits<double>::quiet_NaN(), std::nullopt, std::nullopt};
  table.rows = {{"a", "", {ours, lone}, 1.0}, {"b", "", {SummaryCell{}, lone}, 1.0}};
  return table;
}

TEST(RankingCard, TellsTiedFromBehind) {
  const Card card = ranking_card(three_methods());
  EXPECT_TRUE(well_formed(card.pictures));
  EXPECT_THAT(card.pictures, HasSubstr("b x=&lt;1&gt;: tied with the best"));
  EXPECT_THAT(card.pictures, HasSubstr("c: behind"));
  EXPECT_THAT(card.pictures, Not(HasSubstr("inf")));
  EXPECT_THAT(card.words[1], HasSubstr("2 of 3 cannot be distinguished from the best"));
  EXPECT_EQ(card.words[2],
            "3 pairs of methods were compared; each interval is for one comparison. After Holm's "
            "correction for all of them (5 %) the best is still better than 1 of 2: c.");
  EXPECT_EQ(card.table[3][6], "0.0030");
  EXPECT_EQ(card.table[2][3], "-0.05");
  EXPECT_EQ(card.table[1][3], "");  // the best has no distance from itself
}

TEST(RankingCard, OfOneRepeatSaysThatNothingIsKnown) {
  CaseRanking ranking = three_methods();
  for (RankedMethod& row : ranking.methods) {
    row.behind_low = -kInf;
    row.behind_high = kInf;
  }
  const Card card = ranking_card(ranking);
  EXPECT_TRUE(well_formed(card.pictures));
  EXPECT_THAT(card.words[1], HasSubstr("One repeat gives no interval"));
  EXPECT_THAT(card.pictures, HasSubstr("b x=&lt;1&gt;: unknown"));
  ranking.methods[2].score = ranking.methods[2].behind = kInf;
  EXPECT_THAT(ranking_card(ranking).pictures, HasSubstr(">infinite<"));
  ranking.methods.resize(1);
  EXPECT_THAT(ranking_card(ranking).words[1], HasSubstr("no other method to compare with"));
}

TEST(ComparisonsText, SaysWhenNothingSurvives) {
  std::vector<RankedMethod> methods = three_methods().methods;
  methods[2].adjusted = 0.051;
  EXPECT_THAT(comparisons_text(methods, 3),
              HasSubstr("no method can be distinguished from the best"));
  EXPECT_EQ(comparisons_text(methods, 0), "");
  methods.resize(2);
  EXPECT_THAT(comparisons_text(methods, 1), HasSubstr("One pair of methods was compared."));
}

TEST(MetricCard, StandsBesideThePaper) {
  const Card card = metric_card(one_table(), "MACE");
  EXPECT_TRUE(well_formed(card.pictures));
  EXPECT_THAT(card.pictures, HasSubstr("the paper&#39;s: 0.05 ± 0.02"));
  EXPECT_THAT(card.words[0], HasSubstr("A perfect model scores 0.02"));
  EXPECT_EQ(card.table[1], (std::vector<std::string>{"a", "0.04", "0.01", "0.05", "0.02"}));
  EXPECT_EQ(card.table[2], (std::vector<std::string>{"b", "-", "", "", ""}));
  EXPECT_THAT(metric_card(one_table(), "Coverage").words[0], Not(HasSubstr("paper")));
  EXPECT_TRUE(metric_card(one_table(), "none").pictures.empty());
}

TEST(ContestPage, SaysWhatFailed) {
  ContestReport report{"t <", "p", one_table(), three_methods(), 5, 0.1, {"d: <broke>"}};
  const std::string html = contest_html(report);
  EXPECT_THAT(html, HasSubstr("d: &lt;broke&gt;"));
  EXPECT_THAT(html, HasSubstr("<title>t &lt;</title>"));
  report.failed.clear();
  EXPECT_THAT(contest_html(report), Not(HasSubstr("could not be fitted")));
}

TEST(ResultsPage, HasARankingWhereThereIsOne) {
  Summary summary;
  summary.title = "t";
  summary.tables = {one_table()};
  EXPECT_THAT(results_html(summary, "p"), Not(HasSubstr("<figure")));
  const std::string html = results_html(summary, "`tare x`", "", {three_methods()});
  EXPECT_THAT(html, HasSubstr("Ranking by CheckScore"));
  EXPECT_THAT(html, HasSubstr("<code>tare x</code>"));
}

}  // namespace
}  // namespace tare
