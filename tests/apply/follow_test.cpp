// SPDX-License-Identifier: BSD-3-Clause
#include "apply/follow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tare/base/rng.h"

namespace tare {
namespace {

std::vector<std::vector<double>> followed(const std::vector<double>& targets, std::size_t delay) {
  StreamOptions options;
  options.levels = {Level(0.1), Level(0.9)};
  options.features = 1;
  options.delay = delay;
  options.params = Params::parse("period=12 window=100");
  OnlineModel model(1, true, options);
  Matrix x(targets.size(), 1);
  Matrix given(targets.size(), 1);
  Rng rng(Seed{8});
  for (std::size_t i = 0; i < targets.size(); ++i) x(i, 0) = rng.normal();
  std::vector<std::vector<double>> answers;
  Follower follower;
  follower.answered = [&](std::size_t i, const PendingRow& row) {
    EXPECT_EQ(row.time, i);
    answers.push_back(row.answer.quantiles);
  };
  follow(model, {.x = x, .given = given, .group = {}}, targets, follower, {});
  return answers;
}

TEST(Follow, AnswersToRowsWithoutATargetDoNotDependOnLaterTargets) {
  for (const std::size_t delay : {0U, 3U}) {
    Rng rng(Seed{9});
    std::vector<double> targets;
    for (std::size_t i = 0; i < 120; ++i) {
      targets.push_back((i % 12 < 4 ? 3.0 : 0.3) * rng.normal());
      if (i >= 90) targets.back() = std::nan("");
    }
    const auto open = followed(targets, delay);
    targets.back() = 1.0;  // now rows 90 to 118 are a gap
    const auto gap = followed(targets, delay);
    ASSERT_EQ(open, gap);
    // The season goes on in these rows: their answers differ.
    EXPECT_NE(open[100], open[106]);
  }
}

}  // namespace
}  // namespace tare
