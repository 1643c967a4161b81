// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth/bandwidth_race.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "calibrate/bandwidth/bandwidth.h"
#include "tare/base/rng.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// Losses around 1 that all runners share, plus what each has of its own.
std::vector<Runner> runners_with(std::span<const double> lag, double own_noise, std::size_t rows,
                                 Seed seed = Seed{5}) {
  Rng rng(seed);
  std::vector<double> shared(rows);
  for (double& loss : shared) loss = 1.0 + rng.normal();
  std::vector<Runner> runners;
  for (const double mean : lag) {
    Runner runner{static_cast<double>(runners.size() + 1), shared};
    for (double& loss : runner.loss) loss += mean + own_noise * rng.normal();
    runners.push_back(runner);
  }
  return runners;
}

TEST(BandwidthRace, DifferencesDecideAndNotTheLossesThemselves) {
  // Each mean is known to 0.07, a difference to 0.0007 or less: 0.02 is clearly worse, 0.001 is
  // not.
  const auto runners = runners_with({{0.02, 0.0, 0.001}}, 0.007, 200);
  const RaceState state = judge_race(runners, {});
  EXPECT_EQ(state.contenders, (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(state.decided);  // at most 0.001 + 2 * 0.0007 could be gained
}

TEST(BandwidthRace, IsOpenWhileACloseOneCouldBeBetter) {
  // The difference is known to 0.014, then to 0.0007. By luck it may look decided: in about 7 %.
  int decided_on_few = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    decided_on_few += judge_race(runners_with({{0.0, 0.0}}, 0.1, 100, Seed{seed}), {}).decided;
  }
  EXPECT_LE(decided_on_few, 5);
  EXPECT_TRUE(judge_race(runners_with({{0.0, 0.0}}, 0.1, 40'000), {}).decided);
}

TEST(BandwidthRace, EqualRunnersAreDecidedAtOnce) {
  const auto runners = runners_with({{0.0, 0.0, 0.0}}, 0.0, 50);
  const RaceState state = judge_race(runners, {});
  EXPECT_TRUE(state.decided);
  EXPECT_EQ(state.contenders.size(), 3U);
}

TEST(BandwidthRace, ARowOfWeightTwoIsTwoRows) {
  const auto runners = runners_with({{0.0, 0.01}}, 0.05, 60);
  std::vector<double> weight(60, 1.0);
  auto weighted = runners;
  auto doubled = runners;
  for (std::size_t p = 0; p < 30; ++p) {
    weight[p] = 2.0;
    for (std::size_t b = 0; b < 2; ++b) {
      weighted[b].loss[p] *= 2.0;
      doubled[b].loss.push_back(runners[b].loss[p]);
    }
  }
  EXPECT_EQ(judge_race(weighted, weight).best, judge_race(doubled, {}).best);
}

TEST(BandwidthRace, RowsWithoutWeightDropNobody) {
  auto runners = runners_with({{0.0, 1.0}}, 0.0, 10);
  for (Runner& runner : runners) runner.loss.assign(10, 0.0);
  const RaceState state = judge_race(runners, std::vector<double>(10, 0.0));
  EXPECT_EQ(state.contenders.size(), 2U);
  EXPECT_FALSE(state.decided);
}

struct Regret {
  double excess = 0.0;          // of the chosen bandwidth's loss over that of the path's best
  double standard_error = 0.0;  // of the best one's loss
};

/// By leaving out every row once for the whole path.
Regret regret_of(const Sample& data, const SnqOptions& options, const BandwidthChoice& choice) {
  std::vector<double> path;
  for (const BandwidthTrial& trial : choice.path) path.push_back(trial.bandwidth);
  std::vector<std::size_t> places(data.y.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const LocalSample sample(data.x, data.y, {});
  const Matrix losses = leave_one_out_losses(sample, {}, options, path, places, {});
  const auto n = static_cast<double>(places.size());
  std::vector<double> mean(path.size(), 0.0);
  std::size_t best = 0;
  double chosen = 0.0;
  for (std::size_t b = 0; b < path.size(); ++b) {
    for (std::size_t p = 0; p < places.size(); ++p) mean[b] += losses(p, b) / n;
    if (mean[b] < mean[best]) best = b;
    if (path[b] == choice.bandwidth) chosen = mean[b];
  }
  double squares = 0.0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    squares += (losses(p, best) - mean[best]) * (losses(p, best) - mean[best]);
  }
  return {chosen - mean[best], std::sqrt(squares) / n};
}

TEST(BandwidthRace, LosesFarLessThanALossCanBeTold) {
  // 12 choices. The mean over 384 races on 32 tables of losses was 0.016, one in twenty was above
  // 0.06.
  double mean = 0.0;
  for (const char* problem : {"skewed_2", "hetero_5"}) {
    const Sample data = draw(find_problem(problem), 5'500, Seed{11});
    for (const KernelKind kernel : {KernelKind::kGaussian, KernelKind::kNaive}) {
      const SnqOptions options{.kernel = kernel};
      const auto choice = choose_bandwidth(data.x, data.y, {}, options, Seed{1});
      EXPECT_LE(choice.rows_left_out, 4'000U);
      EXPECT_GE(choice.path.size(), 24U);
      const Regret regret = regret_of(data, options, choice);
      mean += regret.excess / regret.standard_error / 4.0;
    }
  }
  EXPECT_LT(mean, 0.1);
}

TEST(BandwidthRace, AnEndNeverWins) {
  for (const char* problem : {"flat", "bimodal_10"}) {
    const Sample data = draw(find_problem(problem), 6'000, Seed{11});
    const auto choice =
        choose_bandwidth(data.x, data.y, {}, {.kernel = KernelKind::kNaive}, Seed{1});
    EXPECT_GT(choice.bandwidth, choice.path.front().bandwidth) << problem;
    EXPECT_LT(choice.bandwidth, choice.path.back().bandwidth) << problem;
  }
}

TEST(BandwidthRace, WeightsAndThreadsAreHeeded) {
  const Sample data = draw(find_problem("hetero_2"), 5'200, Seed{3});
  // Rows of weight 0 are as good as absent: what is left, and not all, decides.
  std::vector<double> weight(5'200, 1.0);
  for (std::size_t i = 0; i < 5'200; i += 2) weight[i] = 0.0;
  const auto one =
      choose_bandwidth(data.x, data.y, weight, {}, Seed{1}, {.threads = 1, .progress = {}});
  const auto eight =
      choose_bandwidth(data.x, data.y, weight, {}, Seed{1}, {.threads = 8, .progress = {}});
  EXPECT_EQ(one.bandwidth, eight.bandwidth);
  ASSERT_EQ(one.path.size(), eight.path.size());
  for (std::size_t i = 0; i < one.path.size(); ++i) EXPECT_EQ(one.path[i].loss, eight.path[i].loss);
  const auto none = choose_bandwidth(data.x, data.y, std::vector<double>(5'200, 0.5), {}, Seed{1});
  const auto equal = choose_bandwidth(data.x, data.y, {}, {}, Seed{1});
  EXPECT_EQ(none.bandwidth, equal.bandwidth);
}

}  // namespace
}  // namespace tare
