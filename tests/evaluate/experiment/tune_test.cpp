// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "expect_error.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

class Tune : public testing::Test {
 protected:
  Tune() {
    options.fixed.set("regressor", "ridge");
    options.grid = {{"bandwidth", {"0.001", "0.3", "1", "infinite"}},
                    {"kernel", {"gaussian", "naive"}}};
    options.splits = 3;
  }
  Tuned run(std::size_t threads = 0) const {
    return tune_method(find_method("nrc"), data.x, data.y, options,
                       {.threads = threads, .progress = {}});
  }
  Sample data = draw(find_problem("hetero_1"), 300, Seed{3});
  TuneOptions options;
};

TEST_F(Tune, TriesEveryPointAndKeepsTheBestThird) {
  const Tuned tuned = run();
  EXPECT_EQ(tuned.trail.size(), 8U);
  EXPECT_EQ(std::ranges::count(tuned.trail, 3U, &TuneTrial::splits), 3);
  EXPECT_EQ(std::ranges::count(tuned.trail, 1U, &TuneTrial::splits), 5);
  EXPECT_EQ(tuned.trail.front().params.all(), tuned.params.all());
  EXPECT_TRUE(std::ranges::is_sorted(std::span(tuned.trail).first(3), {}, &TuneTrial::score));
  EXPECT_FALSE(tuned.params.has("regressor"));  // fixed, not found
}

TEST_F(Tune, FindsAWindowThatIsNeitherTooNarrowNorTooWide) {
  // hetero_1's spread falls by a factor of 7.4: both ends lose clearly.
  const std::string found = run().params.text("bandwidth", "");
  EXPECT_TRUE(found == "0.3" || found == "1") << found;
}

TEST_F(Tune, DoesNotDependOnThreads) {
  EXPECT_EQ(run(1).trail.front().score, run(8).trail.front().score);
}

TEST_F(Tune, ARandomSearchTakesAsManyPointsAsItIsTold) {
  options.random = 5;
  const Tuned tuned = run();
  std::set<std::string> seen;
  for (const TuneTrial& trial : tuned.trail) seen.insert(trial.params.text());
  EXPECT_EQ(seen.size(), 5U);
}

TEST_F(Tune, APointThatCannotBeFittedLosesAndOneThatCanWins) {
  options.grid = {{"bandwidth", {"-1", "0.5"}}};
  EXPECT_EQ(run().params.text("bandwidth", ""), "0.5");
  options.grid = {{"bandwidth", {"-1", "-2"}}};
  expect_error(ErrorCode::kInvalidArgument, "bandwidth", [&] { run(); });
}

TEST_F(Tune, AGridWithoutEndIsRefused) {
  options.grid.clear();
  for (int k = 0; k < 20; ++k) options.grid.push_back({"option" + std::to_string(k), {"1", "2"}});
  expect_error(ErrorCode::kInvalidArgument, "more than", [&] { run(); });
}

TEST(DefaultGrid, HoldsThePaperLearningRatesAndBatches) {
  Params fixed;
  const auto axes = default_grid(find_method("nrc"), fixed);
  const auto rate = std::ranges::find(axes, "learning_rate", &GridAxis::name);
  ASSERT_NE(rate, axes.end());
  EXPECT_EQ(rate->values, (std::vector<std::string>{"0.01", "0.005", "0.001"}));
  fixed.set("learning_rate", "0.02");
  const auto fewer = default_grid(find_method("nrc"), fixed);
  EXPECT_EQ(std::ranges::find(fewer, "learning_rate", &GridAxis::name), fewer.end());
}

}  // namespace
}  // namespace tare
