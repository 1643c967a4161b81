// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/overall.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluate/experiment/runner.h"

namespace tare {
namespace {

ExperimentPlan plan_of_four() {
  return parse_plan(R"({"name": "laws", "repeats": 2,
    "cases": [{"name": "a1", "test": "law", "problem": "flat", "rows": 10, "test_rows": 5},
              {"name": "b1", "test": "law", "problem": "sine", "rows": 10, "test_rows": 5},
              {"name": "a2", "test": "law", "problem": "flat", "rows": 20, "test_rows": 5},
              {"name": "b2", "test": "law", "problem": "sine", "rows": 20, "test_rows": 5}],
    "methods": ["pure_kernel", "nrc"]})",
                    "laws.json");
}

/// A result for every trial: ICE is 0.1 in case a, 0.3 in case b, and 0.01 more in repeat 1, for
/// nrc, and twice that for pure_kernel; ten times less with 20 rows.
Results all_results(const ExperimentPlan& plan) {
  Results results;
  for (const TrialKey& key : trial_keys(plan)) {
    double ice = (key.case_name[0] == 'a' ? 0.1 : 0.3) + 0.01 * static_cast<double>(key.repeat);
    if (key.method == "pure_kernel") ice *= 2.0;
    if (key.case_name[1] == '2') ice /= 10.0;
    results[key] = {{{"MACE", 9.0}, {"ICE", ice}}, 3.0};
  }
  return results;
}

TEST(Overall, AveragesProblemsFirstAndRepeatsThen) {
  const ExperimentPlan plan = plan_of_four();
  const SummaryTable table = overall_table(plan, all_results(plan)).value();
  EXPECT_EQ(table.metrics,
            (std::vector<std::string>{"mean ICE of 2, n = 10", "mean ICE of 2, n = 20"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].method, "pure_kernel");  // the plan's order
  EXPECT_EQ(table.rows[1].method, "nrc");
  EXPECT_NEAR(table.rows[1].cells[0].mean, 0.205, 1e-12);
  EXPECT_NEAR(table.rows[1].cells[1].mean, 0.0205, 1e-12);
  EXPECT_NEAR(table.rows[0].cells[0].mean, 0.41, 1e-12);
  EXPECT_EQ(table.rows[1].cells[0].count, 2U);
  EXPECT_NEAR(table.rows[1].cells[0].sd, 0.01 / std::sqrt(2.0), 1e-12);
  EXPECT_DOUBLE_EQ(table.rows[1].seconds, 3.0);
}

TEST(Overall, ARepeatThatLacksAProblemDoesNotCount) {
  const ExperimentPlan plan = plan_of_four();
  Results results = all_results(plan);
  const auto erase = [&](std::size_t repeat) {
    std::erase_if(results, [&](const auto& one) {
      const TrialKey& key = one.first;
      return key.method == "nrc" && key.case_name == "b1" && key.repeat == repeat;
    });
  };
  erase(0);
  SummaryTable table = overall_table(plan, results).value();
  EXPECT_EQ(table.rows[1].cells[0].count, 1U);
  EXPECT_NEAR(table.rows[1].cells[0].mean, 0.21, 1e-12);  // repeat 1 alone
  EXPECT_EQ(table.rows[1].cells[1].count, 2U);
  erase(1);
  table = overall_table(plan, results).value();
  EXPECT_EQ(table.rows[1].cells[0].count, 0U);
}

TEST(Overall, IsForSeveralKnownLawsOnly) {
  ExperimentPlan plan = plan_of_four();
  EXPECT_FALSE(overall_table(plan, {}));
  const Results results = all_results(plan);
  plan.cases[0].test = TestRows::kRandom;
  EXPECT_FALSE(overall_table(plan, results));
  plan = plan_of_four();
  plan.cases.resize(1);
  EXPECT_FALSE(overall_table(plan, results));
}

}  // namespace
}  // namespace tare
