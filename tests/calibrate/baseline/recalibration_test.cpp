// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/recalibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "expect_error.h"
#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

std::vector<double> random_scores(std::size_t count, std::uint64_t seed, double spread = 1.0) {
  Rng rng(Seed{seed});
  std::vector<double> scores(count);
  for (double& score : scores) score = spread * rng.normal();
  return scores;
}

/// The level kept at a nominal level: the line through (0, 0), (Phi(z_i), i / (n + 1)), (1, 1).
double observed_at(std::vector<double> scores, double nominal) {
  std::ranges::sort(scores);
  double x0 = 0.0;
  double y0 = 0.0;
  for (std::size_t i = 0; i <= scores.size(); ++i) {
    const double x1 = i < scores.size() ? normal_cdf(scores[i]) : 1.0;
    const double y1 = static_cast<double>(i + 1) / static_cast<double>(scores.size() + 1);
    if (nominal <= x1) return y0 + (y1 - y0) * (nominal - x0) / (x1 - x0);
    x0 = x1;
    y0 = y1;
  }
  return 1.0;
}

TEST(Recalibration, InvertsTheObservedLevels) {
  for (const std::size_t n : {1U, 2U, 10U, 137U}) {
    const auto scores = random_scores(n, n, 1.5);
    const Recalibration map(scores, {});
    for (int j = 1; j < 1000; ++j) {
      const double tau = j / 1000.0;
      // Between two of 137 random points the line may be 100 times steeper than the diagonal.
      EXPECT_NEAR(observed_at(scores, normal_cdf(map.score(Level{tau}))), tau, 1e-12) << n;
    }
  }
}

TEST(Recalibration, GivesTheRowItselfAtItsRank) {
  auto scores = random_scores(99, 3);
  const Recalibration map(scores, {});
  std::ranges::sort(scores);
  for (std::size_t i = 1; i <= 99; ++i)  // decimals of which 100 times is a whole number
    EXPECT_EQ(map.score(Level{static_cast<double>(i) / 100.0}), scores[i - 1]) << i;
}

TEST(Recalibration, KeepsItsShareForANewRow) {
  // Nine rows and a new one of the same law, which need not be normal: a level of i/10 is kept i
  // times of ten, and one between two of them between their shares.
  constexpr int kTrials = 20'000;
  Rng rng(Seed{8});
  const std::vector<double> levels = {0.1, 0.3, 0.55, 0.9};
  std::vector<double> kept(levels.size());
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> scores(9);
    for (double& score : scores) score = -3.0 * std::log(1.0 - rng.uniform());
    const Recalibration map(scores, {});
    const double next = -3.0 * std::log(1.0 - rng.uniform());
    for (std::size_t j = 0; j < levels.size(); ++j)
      if (next <= map.score(Level{levels[j]})) kept[j] += 1.0 / kTrials;
  }
  constexpr double kNoise = 0.014;  // four standard deviations of a share of 20,000 trials
  EXPECT_NEAR(kept[0], 0.1, kNoise);
  EXPECT_NEAR(kept[1], 0.3, kNoise);
  EXPECT_GT(kept[2], 0.5 - kNoise);
  EXPECT_LT(kept[2], 0.6 + kNoise);
  EXPECT_NEAR(kept[3], 0.9, kNoise);
}

TEST(Recalibration, TiesAnswerAllTheLevelsBetweenThem) {
  const std::vector<double> scores = {-1.0, 0.5, 0.5, 0.5, 2.0, 3.0, 3.0, 4.0, 5.0};
  const Recalibration map(scores, {});
  for (const double tau : {0.2, 0.25, 0.3333, 0.4}) EXPECT_EQ(map.score(Level{tau}), 0.5) << tau;
  EXPECT_GT(map.score(Level{0.41}), 0.5);
  EXPECT_LT(map.score(Level{0.19}), 0.5);
  EXPECT_EQ(map.score(Level{0.1}), -1.0);
}

TEST(Recalibration, NeverDecreasesAndStaysFinite) {
  auto scores = random_scores(50, 4, 3.0);
  scores.push_back(60.0);  // the normal law has no such level in double
  scores.push_back(-60.0);
  scores.push_back(1e300);
  for (const std::vector<double>& some :
       {scores, std::vector<double>{45.0}, std::vector<double>{-45.0, -44.0}}) {
    const Recalibration map(some, {});
    double before = -1e301;
    for (int j = 1; j < 100'000; ++j) {
      const double now = map.score(Level{j / 100'000.0});
      ASSERT_TRUE(std::isfinite(now));
      ASSERT_GE(now, before) << j;
      before = now;
    }
    EXPECT_TRUE(std::isfinite(map.score(Level{1e-300})));
    EXPECT_TRUE(std::isfinite(map.score(Level{1.0 - 0x1.0p-53})));
  }
}

TEST(Recalibration, BeyondTheLastRowTheLawHasItsOwnTail) {
  const Recalibration map(std::vector<double>{-1.0, 0.0, 1.5}, {});
  // A quarter of the probability is left above 1.5; half of that tail has half of it.
  EXPECT_NEAR(map.score(Level{0.875}), -normal_quantile(0.5 * normal_cdf(-1.5)), 1e-12);
  EXPECT_NEAR(map.score(Level{0.05}), normal_quantile(0.2 * normal_cdf(-1.0)), 1e-12);
}

TEST(Recalibration, EqualWeightsAreNoWeights) {
  const auto scores = random_scores(37, 5);
  const Recalibration plain(scores, {});
  const Recalibration weighted(scores, std::vector<double>(37, 0.3));
  for (int j = 1; j < 200; ++j)  // cumulative sums of 0.3 round
    EXPECT_NEAR(plain.score(Level{j / 200.0}), weighted.score(Level{j / 200.0}), 1e-9);
}

TEST(Recalibration, WeightsCountRows) {
  const std::vector<double> scores = {-1.0, 0.0, 2.0};
  const Recalibration map(scores, std::vector<double>{1.0, 2.0, 5.0});
  // Total 8 and an average row of 8/3 to come.
  EXPECT_EQ(map.score(Level{3.0 / 32.0}), -1.0);
  EXPECT_EQ(map.score(Level{9.0 / 32.0}), 0.0);
  EXPECT_EQ(map.score(Level{0.75}), 2.0);
}

TEST(Recalibration, WeightsOfAnySizeGiveAModelThatLoads) {
  TensorStore store;
  const std::vector<double> weight = {1e-320, 1e300, 1e-300};
  Recalibration(std::vector<double>{-1.0, 0.5, 2.0}, weight).save(TensorWriter(store));
  const Recalibration loaded = Recalibration::load(TensorReader(store));
  EXPECT_EQ(loaded.score(Level{0.75}), 0.5);  // all the weight, and a third of it to come
}

TEST(Recalibration, SavedAndLoadedIsTheSameAndDamageIsRefused) {
  TensorStore good;
  Recalibration(random_scores(20, 6), {}).save(TensorWriter(good));
  const Recalibration loaded = Recalibration::load(TensorReader(good));
  EXPECT_EQ(loaded.score(Level{0.37}), Recalibration(random_scores(20, 6), {}).score(Level{0.37}));
  const auto refused = [](const std::vector<double>& score, const std::vector<double>& observed) {
    TensorStore bad;
    const TensorWriter out(bad);
    out.tensor("score", score);
    out.tensor("observed", observed);
    expect_error(ErrorCode::kCorruptFile, "", [&] { Recalibration::load(TensorReader(bad)); });
  };
  refused({}, {});
  refused({1.0}, {0.3, 0.4});
  refused({1.0, 0.0}, {0.3, 0.6});
  refused({0.0, 1.0}, {0.6, 0.3});
  refused({0.0, 1.0}, {0.6, 1.0});
  refused({0.0, std::nan("")}, {0.3, 0.6});
  refused({0.0, 1.0}, {0.3, std::nan("")});
}

}  // namespace
}  // namespace tare
