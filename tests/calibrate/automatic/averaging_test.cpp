// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/averaging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tare/base/rng.h"

namespace tare::automatic {
namespace {

struct Drawn {
  std::vector<double> y;
  std::vector<double> weight;
  std::vector<Level> levels = {Level(0.1), Level(0.5), Level(0.9)};
  Contest contest;

  Drawn(std::size_t rows, std::size_t candidates, Seed seed, bool weighted) {
    Rng rng(seed);
    for (std::size_t i = 0; i < rows; ++i) y.push_back(rng.normal());
    if (weighted) {
      for (std::size_t i = 0; i < rows; ++i) weight.push_back(rng.uniform());
    }
    contest = {y, weight, levels, {}};
    for (std::size_t c = 0; c < candidates; ++c) {
      Matrix quantiles(rows, levels.size());
      const double bias = 0.5 * rng.normal();
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < levels.size(); ++j) {
          quantiles(i, j) = bias + 1.3 * (static_cast<double>(j) - 1.0) + 0.3 * rng.normal();
        }
      }
      contest.quantiles.push_back(std::move(quantiles));
    }
  }
};

double slow_loss(const Contest& contest, std::span<const std::size_t> picks) {
  double sum = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < contest.y.size(); ++i) {
    const double w = contest.weight.empty() ? 1.0 : contest.weight[i];
    for (std::size_t j = 0; j < contest.levels.size(); ++j) {
      double q = 0.0;
      for (const std::size_t c : picks)
        q += contest.quantiles[c](i, j) / static_cast<double>(picks.size());
      const double tau = contest.levels[j].value();
      const double miss =
          contest.y[i] >= q ? tau * (contest.y[i] - q) : (1.0 - tau) * (q - contest.y[i]);
      sum += w * miss;
      total += w;
    }
  }
  return sum / total;
}

TEST(Averaging, EachPickIsTheBestOne) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Drawn drawn(60, 4, Seed{seed}, seed % 2 == 1);
    const GreedyPicks result = pick_greedily(drawn.contest, 6);
    ASSERT_FALSE(result.picks.empty());
    for (std::size_t k = 1; k <= result.picks.size(); ++k) {
      std::vector<std::size_t> picks(result.picks.begin(),
                                     result.picks.begin() + static_cast<std::ptrdiff_t>(k));
      EXPECT_NEAR(result.loss[k - 1], slow_loss(drawn.contest, picks), 1e-12);
      if (k > 1) {
        EXPECT_LT(result.loss[k - 1], result.loss[k - 2]);
      }
      for (std::size_t c = 0; c < 4; ++c) {
        picks.back() = c;
        EXPECT_GE(slow_loss(drawn.contest, picks), result.loss[k - 1] - 1e-12);
      }
    }
  }
}

TEST(Averaging, StopsWhereNothingIsGained) {
  Drawn drawn(50, 1, Seed{3}, false);
  EXPECT_EQ(pick_greedily(drawn.contest, 10).picks, std::vector<std::size_t>{0});
  drawn.contest.quantiles.push_back(drawn.contest.quantiles[0]);
  EXPECT_EQ(pick_greedily(drawn.contest, 10).picks.size(), 1U);
}

TEST(Averaging, BagsShareAmongTheBestAndDropTheRest) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Drawn drawn(80, 5, Seed{seed}, seed % 2 == 1);
    const Averaging result = average_in_bags(drawn.contest, 3, Seed{seed}, {});
    double sum = 0.0;
    Matrix average(80, drawn.levels.size());
    for (std::size_t c = 0; c < 5; ++c) {
      sum += result.share[c];
      EXPECT_TRUE(result.share[c] == 0.0 || result.share[c] >= 0.05);
      for (std::size_t k = 0; k < average.values().size(); ++k) {
        average.values()[k] += result.share[c] * drawn.contest.quantiles[c].values()[k];
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    EXPECT_LE(std::ranges::count_if(result.share, [](double one) { return one > 0.0; }), 3);
    EXPECT_EQ(std::vector<double>(average.values().begin(), average.values().end()),
              std::vector<double>(result.average.values().begin(), result.average.values().end()));
    EXPECT_NEAR(result.loss, mean_pinball_loss(average, drawn.contest), 1e-12);
    Execution two;
    two.threads = 2;
    EXPECT_EQ(average_in_bags(drawn.contest, 3, Seed{seed}, two).share, result.share);
  }
}

/// Where candidates are alike, a single choice by the lowest loss is chance; bags share.
TEST(Averaging, BagsShareWhereChanceDecides) {
  const Drawn drawn(40, 1, Seed{11}, false);
  Contest contest = drawn.contest;
  Rng rng(Seed{12});
  for (std::size_t c = 1; c < 13; ++c) {
    Matrix like = contest.quantiles.front();
    for (double& value : like.values()) value += 0.2 * rng.normal();
    contest.quantiles.push_back(std::move(like));
  }
  const Averaging result = average_in_bags(contest, 10, Seed{1}, {});
  const auto kept = std::ranges::count_if(result.share, [](double one) { return one > 0.0; });
  EXPECT_GE(kept, 3);
  EXPECT_LE(kept, 10);
}

}  // namespace
}  // namespace tare::automatic
