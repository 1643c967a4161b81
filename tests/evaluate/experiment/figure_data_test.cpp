// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/figure_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "expect_error.h"
#include "io/temp_folder.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

ExperimentPlan law_plan() {
  return parse_plan(R"({"name": "p", "figure": "bands",
    "cases": [{"name": "sine", "test": "law", "problem": "sine", "rows": 900, "test_rows": 5}],
    "methods": ["pure_kernel bandwidth=0.2", "nrc_rf trees=5 bandwidth=infinite"]})",
                    "p.json");
}

void expect_a_band(const FigurePanel& panel, std::size_t places) {
  ASSERT_EQ(panel.x.size(), places);
  ASSERT_EQ(panel.lower.size(), places);
  ASSERT_EQ(panel.upper.size(), places);
  EXPECT_TRUE(std::ranges::is_sorted(panel.x));
  for (std::size_t i = 0; i < places; ++i) {
    EXPECT_LE(panel.lower[i], panel.median[i]);
    EXPECT_LE(panel.median[i], panel.upper[i]);
  }
}

TEST(FigureData, ALawHasItsTruthBesideABandForEachMethod) {
  const FigureData figure = figure_data(law_plan(), "", {});
  EXPECT_EQ(figure.kind, FigureKind::kLaw);
  EXPECT_TRUE(figure.failed.empty());
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].name, "pure_kernel bandwidth=0.2");
  EXPECT_EQ(figure.panels[1].name, "NRC-RF bandwidth=infinite trees=5");
  for (const FigurePanel& panel : figure.panels) expect_a_band(panel, 600);
  const Law law = find_problem("sine").law(std::vector<double>{figure.panels[0].x[300]});
  EXPECT_EQ(figure.true_upper[300], law.quantile(0.975));
  EXPECT_EQ(figure.true_mean[300], law.mean());
  // It is the method's answer and not the truth: near, and nowhere the same.
  EXPECT_NE(figure.panels[0].upper, figure.true_upper);
}

TEST(FigureData, DoesNotDependOnThreads) {
  const FigureData one = figure_data(law_plan(), "", {.threads = 1, .progress = {}});
  const FigureData two = figure_data(law_plan(), "", {.threads = 2, .progress = {}});
  for (std::size_t m = 0; m < 2; ++m) EXPECT_EQ(one.panels[m].upper, two.panels[m].upper);
}

TEST(FigureData, AMethodThatFailsIsNamedAndTheOthersAreDrawn) {
  ExperimentPlan plan = law_plan();
  plan.methods[0].params.set("no_such_option", "1");
  const FigureData figure = figure_data(plan, "", {});
  ASSERT_EQ(figure.failed.size(), 1U);
  EXPECT_NE(figure.failed[0].find("no_such_option"), std::string::npos);
  EXPECT_EQ(figure.panels.size(), 1U);
}

TEST(FigureData, ASeriesShowsItsFirstTestSteps) {
  const TempFolder folder;
  {
    std::ofstream file(folder / "rows.csv");
    file << "x,cnt\n";
    for (int i = 0; i < 2000; ++i) file << std::sin(0.1 * i) << ',' << i << '\n';
  }
  const ExperimentPlan plan = parse_plan(R"({"name": "p", "figure": "bands", "test_share": 0.2,
    "cases": [{"name": "rows", "test": "last", "file": "rows.csv", "target": "cnt"}],
    "methods": ["pure_kernel bandwidth=1"]})",
                                         "p.json");
  const FigureData figure = figure_data(plan, folder / "", {});
  EXPECT_EQ(figure.kind, FigureKind::kSeries);
  EXPECT_EQ(figure.y_label, "cnt");
  ASSERT_EQ(figure.panels.size(), 1U);
  expect_a_band(figure.panels[0], 200);
  EXPECT_EQ(figure.panels[0].observed_y.front(), 1600.0);
  EXPECT_EQ(figure.panels[0].observed_y.back(), 1799.0);
  expect_error(ErrorCode::kNotFound, "rows.csv", [&] { figure_data(plan, "nowhere", {}); });
}

TEST(FigureData, APlanWithoutALineToDrawAlongIsRefused) {
  const auto plan = [](const char* one) {
    return std::string(R"({"name": "p", "figure": "bands", "methods": ["nrc"], "cases": [)") + one +
           "]}";
  };
  expect_error(ErrorCode::kInvalidArgument, "neither", [&] {
    parse_plan(plan(R"({"name": "c", "test": "law", "problem": "hetero_2", "rows": 9,
                        "test_rows": 5})"),
               "p.json");
  });
  expect_error(ErrorCode::kInvalidArgument, "neither", [&] {
    parse_plan(plan(R"({"name": "c", "file": "a.csv", "target": "y"})"), "p.json");
  });
}

}  // namespace
}  // namespace tare
