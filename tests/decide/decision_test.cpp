// SPDX-License-Identifier: BSD-3-Clause
#include "tare/decide/decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "draws.h"
#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The quantile function as the header defines it, at one level: shares no code with RowLaw.
double slow_quantile(const std::vector<double>& tau, const std::vector<double>& q, double u) {
  if (u <= tau.front()) return q.front();
  if (u >= tau.back()) return q.back();
  std::size_t j = 0;
  while (tau[j + 1] < u) ++j;
  const double share = (u - tau[j]) / (tau[j + 1] - tau[j]);
  const bool mass_left = j == 0 || q[j - 1] == q[j];
  const bool mass_right = j + 2 == q.size() || q[j + 2] == q[j + 1];
  if (mass_left && mass_right) return share < 0.5 ? q[j] : q[j + 1];
  return q[j] + share * (q[j + 1] - q[j]);
}

double slow_over_under(double over, double under, double action, double outcome) {
  return std::max(over * (action - outcome), under * (outcome - action));
}

std::vector<double> values_of(const std::vector<Level>& levels) {
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value());
  return values;
}

/// Quantiles at the levels: smooth, on whole numbers, or constant in parts.
std::vector<double> random_quantiles(std::size_t count, Rng& rng) {
  std::vector<double> q(count);
  const std::uint64_t kind = rng.below(3);
  for (double& value : q) value = rng.normal() * (1.0 + 9.0 * rng.uniform());
  if (kind == 1) {
    for (double& value : q) value = std::round(value);
  }
  if (kind == 2) {
    for (double& value : q) value = rng.below(2) == 0 ? value : 1.5;
  }
  std::ranges::sort(q);
  return q;
}

/// The mean of f over the quantile function, by the midpoints of steps that end at every level and
/// in the middle between two, so that only the kinks of f are inexact.
template <class Function>
double slow_mean(const std::vector<double>& tau, const std::vector<double>& q, const Function& f) {
  std::vector<double> ends = {0.0, 1.0};
  ends.insert(ends.end(), tau.begin(), tau.end());
  std::ranges::sort(ends);
  double sum = 0.0;
  for (std::size_t j = 0; j + 1 < ends.size(); ++j) {
    constexpr int kParts = 40;
    const double width = (ends[j + 1] - ends[j]) / kParts;
    for (int part = 0; part < kParts; ++part) {
      sum += width * f(slow_quantile(tau, q, ends[j] + (part + 0.5) * width));
    }
  }
  return sum;
}

TEST(Decision, LevelsAscendAndAreSymmetric) {
  const auto levels = law_levels();
  ASSERT_EQ(levels.size(), 241U);
  EXPECT_EQ(levels.front().value(), 1e-6);
  EXPECT_EQ(levels[120].value(), 0.5);
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (j > 0) {
      EXPECT_LT(levels[j - 1].value(), levels[j].value());
    }
    EXPECT_NEAR(levels[j].value() + levels[240 - j].value(), 1.0, 1e-15);
  }
  EXPECT_EQ(Decider(Cost::over_under(1, 4)).levels().size(), 241U);  // 0.8 is one of them
  EXPECT_EQ(Decider(Cost::over_under(1, 2)).levels().size(), 242U);
  const Decider extreme(Cost::over_under(1e-9, 1));
  EXPECT_EQ(extreme.levels().back(), *extreme.cost().best_level());
}

TEST(Decision, ExpectedCostsAreThoseOfASlowIntegral) {
  Rng rng(Seed{11});
  for (std::uint64_t draw = 0; draw < draws(100); ++draw) {
    const double over = 0.1 + rng.uniform(), under = 0.1 + 5.0 * rng.uniform();
    const Decider decider(Cost::over_under(over, under));
    const std::vector<double> tau = values_of(decider.levels());
    const std::vector<double> q = random_quantiles(tau.size(), rng);
    const Decision made = decider.decide(q);
    const auto place = std::ranges::find(tau, decider.cost().best_level()->value());
    EXPECT_EQ(made.action, q[static_cast<std::size_t>(place - tau.begin())]);
    EXPECT_NEAR(made.mean, slow_mean(tau, q, [](double y) { return y; }), 1e-9);
    EXPECT_EQ(made.action_of_mean, made.mean);
    // A kink costs at most (over + under) * width of a part * its length, and a part of the widest
    // step is 0.005 / 40 wide with values at most 100 apart.
    const auto slow = [&](double action) {
      return slow_mean(tau, q, [&](double y) { return slow_over_under(over, under, action, y); });
    };
    EXPECT_NEAR(made.cost, slow(made.action), 2e-3);
    EXPECT_NEAR(made.cost_of_mean, slow(made.mean), 2e-3);
  }
}

TEST(Decision, NoActionIsCheaperThanTheBest) {
  Rng rng(Seed{12});
  for (std::uint64_t draw = 0; draw < draws(100); ++draw) {
    // The best level is k / 200, which is one of the levels that a table's decider has, too.
    const auto k = static_cast<double>(10 + rng.below(181));
    const double over = (200.0 - k) / 50.0, under = k / 50.0;
    const Decider decider(Cost::over_under(over, under));
    ASSERT_EQ(decider.levels().size(), 241U);
    const std::vector<double> q = random_quantiles(decider.levels().size(), rng);
    const Decision best = decider.decide(q);
    EXPECT_LE(best.cost, best.cost_of_mean + 1e-12);
    // A table whose only action has the same costs gives the expected cost of any other action.
    for (int other = 0; other < 20; ++other) {
      const double near = other < 10 ? 0.1 : q.back() - q.front();
      const double action = rng.uniform(best.action - near, best.action + near);
      std::vector<Cost::Entry> entries;
      for (const double y : {action - 300.0, action, action + 300.0}) {
        entries.push_back({action, y, slow_over_under(over, under, action, y)});
      }
      EXPECT_GE(Decider(Cost::table(entries)).decide(q).cost, best.cost - 1e-10);
    }
  }
}

TEST(Decision, TableActionsAreThoseOfASlowSearch) {
  Rng rng(Seed{13});
  for (std::uint64_t draw = 0; draw < draws(100); ++draw) {
    std::vector<Cost::Entry> entries;
    const std::uint64_t actions = 1 + rng.below(5);
    for (std::uint64_t a = 0; a < actions; ++a) {
      const std::uint64_t outcomes = 1 + rng.below(6);
      for (std::uint64_t k = 0; k < outcomes; ++k) {
        entries.push_back({static_cast<double>(a), rng.uniform(-20.0, 20.0), rng.normal()});
      }
    }
    const Cost cost = Cost::table(entries);
    const Decider decider(cost);
    const std::vector<double> tau = values_of(decider.levels());
    const std::vector<double> q = random_quantiles(tau.size(), rng);
    const Decision made = decider.decide(q);
    std::vector<double> expected;
    for (const Cost::ActionCosts& one : cost.actions()) {
      // Outcomes lie as near as 0.01 to each other here, and costs jump by a few: the kinks of 40
      // parts in each step are wrong by less than 2e-3.
      expected.push_back(slow_mean(tau, q, [&](double y) {
        std::size_t k = 0;  // the line through the two outcomes around y
        while (k < one.outcomes.size() && one.outcomes[k] <= y) ++k;
        if (k == 0) return one.costs.front();
        if (k == one.outcomes.size()) return one.costs.back();
        const double share = (y - one.outcomes[k - 1]) / (one.outcomes[k] - one.outcomes[k - 1]);
        return one.costs[k - 1] * (1.0 - share) + one.costs[k] * share;
      }));
    }
    const auto best = std::ranges::min_element(expected);
    EXPECT_NEAR(made.cost, *best, 2e-3);
    const auto chosen = static_cast<std::size_t>(made.action);
    EXPECT_NEAR(expected[chosen], *best, 4e-3);
    std::vector<double> sure;
    for (const Cost::ActionCosts& one : cost.actions()) sure.push_back(Cost::at(one, made.mean));
    const auto of_mean = std::ranges::min_element(sure) - sure.begin();
    EXPECT_EQ(made.action_of_mean, static_cast<double>(of_mean));
    EXPECT_NEAR(made.cost_of_mean, expected[static_cast<std::size_t>(of_mean)], 2e-3);
    EXPECT_LE(made.cost, made.cost_of_mean);
  }
}

TEST(Decision, UniformDistributionHasTheCostsOfTheTextbook) {
  // Y uniform on (0, 1): the best action is under / (over + under), its cost over * level / 2.
  for (const auto& [over, under] :
       {std::pair{1.0, 4.0}, std::pair{1.0, 2.0}, std::pair{7.0, 3.0}, std::pair{1.0, 999.0}}) {
    const Decider decider(Cost::over_under(over, under));
    const Decision made = decider.decide(values_of(decider.levels()));
    const double level = under / (over + under);
    EXPECT_NEAR(made.action, level, 1e-15);
    // The outermost millionths of the distribution lie on its outermost quantiles.
    EXPECT_NEAR(made.cost, over * level / 2.0, 1e-11 * (over + under));
    EXPECT_NEAR(made.mean, 0.5, 1e-15);
    EXPECT_NEAR(made.cost_of_mean, (over + under) / 8.0, 1e-11 * (over + under));
  }
}

TEST(Decision, CountsHaveNoOutcomesBetweenWholeNumbers) {
  // 0 with probability 0.3 and 10 with 0.7: an action between them never meets its outcome.
  std::vector<Cost::Entry> entries;
  for (const auto& [outcome, cost] : {std::pair{0.0, 2.0}, {1.0, 500.0}, {9.0, 500.0}, {10.0, 1.0}})
    entries.push_back({7.0, outcome, cost});
  const Decider decider(Cost::table(entries));
  std::vector<double> q;
  for (const Level& level : decider.levels()) q.push_back(level.value() <= 0.3 ? 0.0 : 10.0);
  const Decision made = decider.decide(q);
  // The jump is in the middle between the levels 0.3 and 0.305.
  EXPECT_NEAR(made.cost, 0.3025 * 2.0 + 0.6975 * 1.0, 1e-12);
  EXPECT_NEAR(made.mean, 6.975, 1e-12);
}

TEST(Decision, ConstantCostsNothingAndNeedsNoRounding) {
  const Decider decider(Cost::over_under(1, 4));
  for (const double value : {0.0, 0.1, -3.7e15, 1e-300, 1e308}) {
    const Decision made = decider.decide(std::vector<double>(decider.levels().size(), value));
    EXPECT_EQ(made.action, value);
    EXPECT_EQ(made.mean, value);
    EXPECT_EQ(made.cost, 0.0);
    EXPECT_EQ(made.cost_of_mean, 0.0);
  }
}

TEST(Decision, InfiniteQuantilesTakeTheNearestFiniteOne) {
  const Decider decider(Cost::over_under(1, 4));
  const std::size_t count = decider.levels().size();
  std::vector<double> q(count);
  for (std::size_t j = 0; j < count; ++j) q[j] = static_cast<double>(j);
  std::vector<double> tails = q;
  std::fill(tails.begin(), tails.begin() + 3, -kInfinite);
  std::fill(tails.end() - 5, tails.end(), kInfinite);
  std::fill(q.begin(), q.begin() + 3, q[3]);
  std::fill(q.end() - 5, q.end(), q[count - 6]);
  const Decision replaced = decider.decide(tails);
  const Decision same = decider.decide(q);
  EXPECT_TRUE(replaced.infinite_tail);
  EXPECT_FALSE(same.infinite_tail);
  EXPECT_EQ(replaced.action, same.action);
  EXPECT_EQ(replaced.cost, same.cost);
  EXPECT_EQ(replaced.mean, same.mean);

  // The best level itself is infinite.
  for (std::size_t j = 0; j < count; ++j) {
    if (decider.levels()[j].value() >= 0.7) tails[j] = kInfinite;
  }
  const Decision unbounded = decider.decide(tails);
  EXPECT_EQ(unbounded.action, kInfinite);
  EXPECT_EQ(unbounded.cost, kInfinite);
  EXPECT_TRUE(std::isfinite(unbounded.cost_of_mean));

  const Decider table(Cost::table(std::vector<Cost::Entry>{{1, 0, 1}, {2, 0, 2}}));
  for (const double bad : {kInfinite, std::nan("")}) {
    const Decision none = table.decide(std::vector<double>(241, bad));
    EXPECT_TRUE(std::isnan(none.action) && std::isnan(none.cost) && std::isnan(none.cost_of_mean));
    const Decision all = decider.decide(std::vector<double>(count, bad));
    EXPECT_TRUE(std::isnan(all.cost) && std::isnan(all.cost_of_mean));
  }
}

TEST(Decision, LargestNumbersGiveNoNaN) {
  constexpr double kMost = std::numeric_limits<double>::max();
  Rng rng(Seed{14});
  for (int draw = 0; draw < 50; ++draw) {
    const Decider decider(Cost::over_under(1, 4));
    std::vector<double> q(decider.levels().size());
    for (double& value : q) value = kMost * rng.uniform(-1.0, 1.0);
    q.front() = -kMost;
    std::ranges::sort(q);
    const Decision made = decider.decide(q);
    EXPECT_TRUE(std::isfinite(made.mean));
    EXPECT_FALSE(std::isnan(made.cost) || std::isnan(made.cost_of_mean));
    const Decider table(Cost::table(
        std::vector<Cost::Entry>{{1, -kMost, kMost}, {1, kMost, -kMost}, {2, 0, kMost}}));
    EXPECT_FALSE(std::isnan(table.decide(std::vector<double>(q.begin(), q.begin() + 241)).cost));
  }
}

TEST(Decision, MassBeyondTheTableIsReported) {
  const Decider decider(Cost::table(std::vector<Cost::Entry>{{1, 0, 1}, {1, 1, 2}, {2, 0.5, 1}}));
  std::vector<double> q = values_of(decider.levels());
  EXPECT_FALSE(decider.decide(q).outside_table);
  for (double& value : q) value += 0.009;
  EXPECT_FALSE(decider.decide(q).outside_table);
  for (double& value : q) value += 0.002;
  EXPECT_TRUE(decider.decide(q).outside_table);
}

TEST(Decision, ActsAndPaysForKnownOutcomes) {
  const Decider pair(Cost::over_under(1, 4));
  EXPECT_EQ(pair.action_for(7.0), 7.0);
  EXPECT_EQ(pair.realised_cost(9.0, 7.0), 2.0);
  EXPECT_EQ(pair.realised_cost(5.0, 7.0), 8.0);
  const Decider table(
      Cost::table(std::vector<Cost::Entry>{{1, 0, 0}, {1, 10, 10}, {2, 0, 5}, {3, 0, 5}}));
  EXPECT_EQ(table.action_for(3.0), 1.0);
  EXPECT_EQ(table.action_for(5.0), 1.0);  // a tie: the first
  EXPECT_EQ(table.action_for(6.0), 2.0);
  EXPECT_EQ(table.realised_cost(1.0, 6.0), 6.0);
  EXPECT_TRUE(std::isnan(table.realised_cost(4.0, 6.0)));
}

TEST(Decision, NeedsAQuantileForEachLevel) {
  expect_error(ErrorCode::kShapeMismatch, "needs 241 quantiles of a row, got 3", [] {
    Decider(Cost::over_under(1, 4)).decide(std::vector<double>{1, 2, 3});
  });
}

}  // namespace
}  // namespace tare
