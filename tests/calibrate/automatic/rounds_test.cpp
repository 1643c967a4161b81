// SPDX-License-Identifier: BSD-3-Clause
// Several rounds of training, whose answers are averaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "calibrate/automatic/automatic.h"
#include "expect_error.h"
#include "io/tensor_store.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare::automatic {
namespace {

Params quick_rounds(int rounds) {
  return Params::parse("budget=quick steps=100 folds=3 rounds=" + std::to_string(rounds));
}

TensorStore file_of(const QuantileModel& model) {
  TensorStore store;
  model.save(TensorWriter(store));
  return store;
}

AutoTrail trail_of(const QuantileModel& model) {
  Description description;
  model.describe(description);
  return *description.trail;
}

/// A slow account: fits of one round with the seeds of the rounds, averaged one by one. So are
/// their losses and shares; the average errs at most as much as its parts do on average, since a
/// pinball loss is convex.
TEST(Rounds, AreTheMeanOfFitsWithOtherSeeds) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{1});
  const Sample fresh = draw(find_problem("hetero_2"), 40, Seed{2});
  const std::vector<Level> levels = metric_levels();
  FitInput input{.x = data.x, .y = data.y};
  input.seed = Seed{7};
  const auto model = fit_auto(input, quick_rounds(3), {});
  const AutoTrail trail = trail_of(*model);
  EXPECT_EQ(trail.rounds, 3U);

  Matrix mean(40, levels.size());
  double mean_loss = 0.0;
  double share_of_first = 0.0;
  for (std::uint64_t round = 0; round < 3; ++round) {
    FitInput own = input;
    if (round > 0) own.seed = split(input.seed, 5000 + round);
    const auto one = fit_auto(own, quick_rounds(1), {});
    const Prediction p = one->predict({fresh.x}, levels);
    for (std::size_t k = 0; k < mean.values().size(); ++k) {
      mean.values()[k] += p.quantiles.values()[k] / 3.0;
    }
    const AutoTrail of_one = trail_of(*one);
    EXPECT_EQ(of_one.rounds, 1U);
    mean_loss += of_one.average_loss / 3.0;
    share_of_first += of_one.steps.front().share / 3.0;
  }
  const Prediction p = model->predict({fresh.x}, levels);
  for (std::size_t k = 0; k < mean.values().size(); ++k) {
    EXPECT_NEAR(p.quantiles.values()[k], mean.values()[k], 1e-10);
  }
  EXPECT_LT(trail.average_loss, mean_loss);
  EXPECT_NEAR(trail.steps.front().share, share_of_first, 1e-12);
  double shares = 0.0;
  for (const AutoTrail::Step& step : trail.steps) shares += step.share;
  EXPECT_NEAR(shares, 1.0, 1e-12);
  for (std::size_t k = 1; k < trail.steps.size(); ++k) {  // each candidate is named once
    EXPECT_NE(trail.steps[k].name, trail.steps[k - 1].name);
  }
}

TEST(Rounds, ComeBackFromAFile) {
  const Sample data = draw(find_problem("hetero_2"), 150, Seed{3});
  const auto model = fit_auto({.x = data.x, .y = data.y}, quick_rounds(2), {});
  const TensorStore store = file_of(*model);
  const auto loaded = load_auto(TensorReader(store));
  const std::vector<Level> levels = {Level(0.05), Level(0.5), Level(0.95)};
  const Prediction own = model->predict({data.x}, levels);
  const Prediction again = loaded->predict({data.x}, levels);
  EXPECT_TRUE(std::ranges::equal(own.quantiles.values(), again.quantiles.values()));
  EXPECT_EQ(trail_of(*loaded).rounds, 2U);
  TensorStore damaged = store;
  for (const int rounds : {0, 10'000'000}) {
    damaged.values["rounds"] = rounds;
    expect_error(ErrorCode::kCorruptFile, "", [&] { load_auto(TensorReader(damaged)); });
  }
}

/// The average of two rounds can lie between two counts, as that of two candidates can.
TEST(Rounds, KeepQuantilesOfCountsCounts) {
  Rng rng(Seed{10});
  Matrix x(500, 1);
  std::vector<double> y(500);
  for (std::size_t i = 0; i < y.size(); ++i) {
    x(i, 0) = rng.uniform();
    for (int k = 0; k < 6; ++k) y[i] += rng.uniform() < 0.2 + 0.5 * x(i, 0) ? 1.0 : 0.0;
  }
  const auto model = fit_auto({.x = x, .y = y}, quick_rounds(2), {});
  EXPECT_FALSE(trail_of(*model).guide.empty());
  const auto is_count = [](double q) { return q == std::round(q) && q >= 0.0 && q <= 6.0; };
  EXPECT_TRUE(
      std::ranges::all_of(model->predict({x}, metric_levels()).quantiles.values(), is_count));
}

/// Columns are screened once, and all rounds see those that are kept.
TEST(Rounds, ScreenColumnsOnce) {
  const Sample data = draw(find_problem("hetero_5"), 400, Seed{4});
  Params params = quick_rounds(2);
  params.set("screen", "yes");
  const auto model = fit_auto({.x = data.x, .y = data.y}, params, {});
  Description description;
  model->describe(description);
  EXPECT_EQ(description.screened.size(), 5U);
}

TEST(Rounds, ReportProgressAsOne) {
  const Sample data = draw(find_problem("hetero_1"), 60, Seed{7});
  double last = 0.0;
  bool seen_middle = false;
  Execution how;
  how.progress = [&](std::string_view, double share) {
    EXPECT_GE(share, last);
    seen_middle = seen_middle || share == 0.5;
    last = share;
  };
  fit_auto({.x = data.x, .y = data.y}, quick_rounds(2), how);
  EXPECT_TRUE(seen_middle);
  EXPECT_EQ(last, 1.0);
}

TEST(Rounds, OfAConstantTargetAreOne) {
  const Sample data = draw(find_problem("hetero_1"), 60, Seed{7});
  const std::vector<double> same(60, 3.0);
  const auto model = fit_auto({.x = data.x, .y = same}, quick_rounds(4), {});
  EXPECT_EQ(trail_of(*model).rounds, 1U);
}

TEST(Rounds, NumberIsChecked) {
  const Sample data = draw(find_problem("hetero_1"), 60, Seed{7});
  for (const char* text : {"rounds=0", "rounds=21", "rounds=many"}) {
    expect_error(ErrorCode::kInvalidArgument, "rounds",
                 [&] { fit_auto({.x = data.x, .y = data.y}, Params::parse(text), {}); });
  }
}

}  // namespace
}  // namespace tare::automatic
