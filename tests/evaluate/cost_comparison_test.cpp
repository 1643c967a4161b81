// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/cost_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "function_model.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// Uniform on (x - s(x), x + s(x)), s(x) = 0.2 + x, and draws from it.
FunctionModel wedge_model() {
  return FunctionModel(1, [](std::span<const double> x, double tau) {
    return x[0] + (0.2 + x[0]) * (2.0 * tau - 1.0);
  });
}

struct WedgeRows {
  std::vector<double> x, y;
  Rows rows() const { return {.x = MatrixView(x.data(), x.size(), 1)}; }
};

WedgeRows wedge_rows(std::size_t count, std::uint64_t seed) {
  WedgeRows rows;
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < count; ++i) {
    rows.x.push_back(rng.uniform());
    rows.y.push_back(rows.x.back() + (0.2 + rows.x.back()) * rng.uniform(-1.0, 1.0));
  }
  return rows;
}

double pair_cost(double over, double under, double action, double y) {
  return action > y ? over * (action - y) : under * (y - action);
}

TEST(CostComparison, RulesAreThoseOfASlowLoop) {
  const FunctionModel model = wedge_model();
  for (std::size_t n = 2; n <= 5; ++n) {  // with so few rows each is a fold
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const WedgeRows data = wedge_rows(n, seed);
      CostTally tally(Cost::over_under(1.0, 3.0));
      tally.add(model, data.rows(), data.y);
      const CostComparison worth = tally.finish(Seed{seed + 7});
      std::vector<double> best, mean, margin;
      for (std::size_t i = 0; i < n; ++i) {
        const double s = 0.2 + data.x[i];
        best.push_back(pair_cost(1, 3, data.x[i] + s * 0.5, data.y[i]));
        mean.push_back(pair_cost(1, 3, data.x[i], data.y[i]));
        // Every constant at which the cost of the others can be least is one of their residuals.
        double least = 1e300, chosen = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
          if (j == i) continue;
          double sum = 0.0;
          for (std::size_t k = 0; k < n; ++k) {
            if (k != i) sum += pair_cost(1, 3, data.x[k] + data.y[j] - data.x[j], data.y[k]);
          }
          if (sum < least - 1e-12 ||
              (sum < least + 1e-12 && data.y[j] - data.x[j] < chosen)) {  // a tie: the lower one
            least = std::min(least, sum);
            chosen = data.y[j] - data.x[j];
          }
        }
        margin.push_back(pair_cost(1, 3, data.x[i] + chosen, data.y[i]));
      }
      const auto check = [&](const RuleCost& rule, const std::vector<double>& costs) {
        double sum = 0.0, extra = 0.0, square = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          sum += costs[i];
          extra += costs[i] - best[i];
        }
        const auto count = static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i) {
          square += std::pow(costs[i] - best[i] - extra / count, 2.0);
        }
        EXPECT_NEAR(rule.mean, sum / count, 1e-9);
        EXPECT_NEAR(rule.extra, extra / count, 1e-9);
        EXPECT_NEAR(rule.extra_error, std::sqrt(square / (count - 1.0) / count), 1e-9);
      };
      check(worth.action, best);
      check(worth.mean, mean);
      check(worth.margin, margin);
    }
  }
}

TEST(CostComparison, KnownDistributionIsWorthWhatItMustBe) {
  // The best action costs over * level / 2 * width on average: 0.375 * 2 s, with s = 0.7 on
  // average over x. 20,000 rows: the standard error is about 0.5 %.
  const FunctionModel model = wedge_model();
  const WedgeRows data = wedge_rows(20'000, 3);
  CostTally tally(Cost::over_under(1.0, 3.0));
  tally.add(model, data.rows(), data.y);
  const CostComparison worth = tally.finish(Seed{1});
  EXPECT_EQ(worth.rows, 20'000U);
  EXPECT_EQ(worth.costs, "over=1,under=3");
  EXPECT_NEAR(worth.expected, 0.375 * 2.0 * 0.7, 0.01);
  EXPECT_NEAR(worth.action.mean, worth.expected, 4.0 * worth.action.error);
  EXPECT_EQ(worth.action.extra, 0.0);
  // Acting on the mean costs (over + under) / 8 * width.
  EXPECT_NEAR(worth.mean.mean, 0.5 * 2.0 * 0.7, 4.0 * worth.mean.error + 0.01);
  EXPECT_GT(worth.margin.extra, 5.0 * worth.margin.extra_error);
  EXPECT_LT(worth.margin.mean, worth.mean.mean);
  EXPECT_LE(worth.margin_low, worth.margin_high);
  // Paired differences are known better than the sum of two independent means.
  EXPECT_LT(worth.margin.extra_error, worth.margin.error);
}

TEST(CostComparison, TableOfManyActionsIsLikeCostsByUnit) {
  const FunctionModel model = wedge_model();
  const WedgeRows data = wedge_rows(3'000, 4);
  std::vector<Cost::Entry> entries;
  for (int a = -30; a <= 60; ++a) {
    const double action = a / 20.0;
    for (const double y : {-10.0, action, 10.0}) {
      entries.push_back({action, y, pair_cost(1, 3, action, y)});
    }
  }
  CostTally pair(Cost::over_under(1.0, 3.0)), table(Cost::table(entries));
  pair.add(model, data.rows(), data.y);
  table.add(model, data.rows(), data.y);
  const CostComparison one = pair.finish(Seed{2}), other = table.finish(Seed{2});
  EXPECT_EQ(other.costs, "a table with 91 actions");
  // Actions are rounded to 0.05, which costs at most 3 * 0.025 and about a tenth of that.
  EXPECT_NEAR(one.action.mean, other.action.mean, 0.01);
  EXPECT_NEAR(one.mean.mean, other.mean.mean, 0.02);
  EXPECT_NEAR(one.margin.mean, other.margin.mean, 0.02);
}

TEST(CostComparison, BatchesAndThreadsDoNotMatter) {
  const FunctionModel model = wedge_model();
  const WedgeRows data = wedge_rows(5'000, 5);
  Execution one, four;
  one.threads = 1;
  four.threads = 4;
  CostTally whole(Cost::over_under(1.0, 3.0)), parts(Cost::over_under(1.0, 3.0));
  whole.add(model, data.rows(), data.y, one);
  for (std::size_t first = 0; first < 5'000; first += 1'250) {
    parts.add(model, Rows{.x = data.rows().x.middle_rows(first, 1'250)},
              std::span(data.y).subspan(first, 1'250), four);
  }
  const CostComparison a = whole.finish(Seed{6}), b = parts.finish(Seed{6});
  EXPECT_EQ(a.action.mean, b.action.mean);
  EXPECT_EQ(a.margin.mean, b.margin.mean);
  EXPECT_EQ(a.margin.extra_error, b.margin.extra_error);
}

TEST(CostComparison, FewRowsAndInfiniteActionsHaveNoWrongNumbers) {
  const FunctionModel model = wedge_model();
  const WedgeRows one = wedge_rows(1, 6);
  CostTally tally(Cost::over_under(1.0, 3.0));
  expect_error(ErrorCode::kInvalidArgument, "no rows", [&] { tally.finish(Seed{}); });
  tally.add(model, one.rows(), one.y);
  const CostComparison single = tally.finish(Seed{});
  EXPECT_TRUE(std::isfinite(single.action.mean));
  EXPECT_TRUE(std::isnan(single.margin.mean));

  const FunctionModel endless(1, [](std::span<const double>, double tau) {
    return tau > 0.6 ? std::numeric_limits<double>::infinity() : tau;
  });
  const WedgeRows rows = wedge_rows(20, 7);
  CostTally unbounded(Cost::over_under(1.0, 3.0));
  unbounded.add(endless, rows.rows(), rows.y);
  const CostComparison worth = unbounded.finish(Seed{});
  EXPECT_EQ(worth.action.mean, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(worth.mean.mean));
  expect_error(ErrorCode::kShapeMismatch, "20 rows of features, 19 targets",
               [&] { unbounded.add(endless, rows.rows(), std::span(rows.y).first(19)); });
}

}  // namespace
}  // namespace tare
