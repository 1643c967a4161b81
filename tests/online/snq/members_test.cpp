// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/members.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "draws.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

constexpr std::size_t kMembers = Members::kCount;

std::vector<Level> member_levels(const std::vector<double>& values) {
  std::vector<Level> levels;
  for (const double value : values) levels.emplace_back(value);
  return levels;
}

KernelPoint member_point(Rng& rng) {
  KernelPoint point;
  for (float& x : point) x = static_cast<float>(rng.normal());
  return point;
}

/// Levels and losses of the members from their definition, for one level at a time.
struct TrackedOracle {
  std::vector<double> levels;
  std::vector<std::vector<double>> tracked;
  std::vector<double> losses;

  explicit TrackedOracle(const std::vector<double>& of)
      : levels(of), tracked(kMembers, of), losses(kMembers) {}

  void learn(const std::vector<double>& asked, double residual, double unit) {
    for (std::size_t m = 0; m < kMembers; ++m) {
      double loss = 0.0;
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double q = asked[m * levels.size() + j];
        const double tau = levels[j];
        const double step = m % 2 == 0 ? 0.01 : 0.04;
        const double missed = residual > q ? tau : tau - 1.0;
        loss += (residual - q) * missed;
        const double next = tracked[m][j] + step * missed;
        const double lowest = tau > 0.5 ? 0.5 : 0.0;
        const double highest = tau < 0.5 ? 0.5 : 1.0;
        tracked[m][j] = std::min(highest, std::max(lowest, next));
      }
      losses[m] = 0.99 * losses[m] +
                  std::min(100.0, 2.0 * loss / (static_cast<double>(levels.size()) * unit));
    }
  }
};

TEST(Members, LevelsAndLossesFollowTheirDefinition) {
  for (std::uint64_t draw = 0; draw < draws(10); ++draw) {
    Rng rng(split(Seed{331}, draw));
    const std::vector<double> values = {0.05, 0.4, 0.5, 0.6, 0.95};
    Members members(member_levels(values));
    TrackedOracle oracle(values);
    LocalRows rows(80);
    LocalRows::Weights weights;
    std::vector<double> asked(kMembers * values.size());
    for (std::size_t t = 0; t < 200; ++t) {
      const KernelPoint point = member_point(rng);
      const double residual = rng.below(30) == 0 ? 1e6 * rng.normal() : rng.normal();
      if (rows.size() > 1) {
        rows.weigh(point, weights);
        members.ask(rows, weights, asked);
        for (std::size_t m = 0; m < kMembers; ++m) {
          for (std::size_t j = 0; j < values.size(); ++j) {
            double level = 0.002;  // the highest of the tracked ones up to this, cut
            for (std::size_t k = 0; k <= j; ++k) {
              level = std::max(level, std::min(oracle.tracked[m][k], 0.998));
            }
            ASSERT_EQ(asked[m * values.size() + j], rows.quantile(weights, m / 2, level));
          }
        }
        members.learn(asked, residual, 0.7);
        oracle.learn(asked, residual, 0.7);
      }
      rows.add(t, residual, point);
    }
    TensorStore store;
    members.save(TensorWriter(store));
    const auto tracked = TensorReader(store).list<double>("tracked");
    const auto losses = TensorReader(store).list<double>("losses");
    for (std::size_t m = 0; m < kMembers; ++m) {
      ASSERT_NEAR(losses[m], oracle.losses[m], 1e-9 * (1.0 + oracle.losses[m]));
      for (std::size_t j = 0; j < values.size(); ++j) {
        ASSERT_NEAR(tracked[m * values.size() + j], oracle.tracked[m][j], 1e-12);
      }
    }
    const auto best = std::min_element(oracle.losses.begin(), oracle.losses.end());
    EXPECT_EQ(members.best_window(),
              static_cast<std::size_t>(best - oracle.losses.begin()) / Members::kSteps);
  }
}

TEST(Members, NeitherAMemberNorTheAverageEverCrosses) {
  for (std::uint64_t draw = 0; draw < draws(30); ++draw) {
    Rng rng(split(Seed{332}, draw));
    std::vector<double> values;
    for (std::size_t j = 0; j < 1 + rng.below(12); ++j) values.push_back(rng.uniform(0.001, 0.999));
    std::sort(values.begin(), values.end());
    Members members(member_levels(values));
    LocalRows rows(50);
    LocalRows::Weights weights;
    std::vector<double> asked(kMembers * values.size());
    std::vector<double> average(values.size());
    for (std::size_t t = 0; t < 150; ++t) {
      const KernelPoint point = member_point(rng);
      // Runs on one side move levels that lie close together past each other.
      const double side = t / 30 % 2 == 0 ? 1.0 : -1.0;
      const double residual = draw % 3 == 0 ? side : side + 1e-3 * rng.normal();
      if (rows.size() > 1) {
        rows.weigh(point, weights);
        members.ask(rows, weights, asked);
        members.average(asked, average);
        for (std::size_t j = 1; j < values.size(); ++j) {
          ASSERT_LE(average[j - 1], average[j]);
          for (std::size_t m = 0; m < kMembers; ++m) {
            ASSERT_LE(asked[m * values.size() + j - 1], asked[m * values.size() + j]);
          }
        }
        members.learn(asked, residual, 1.0);
      }
      rows.add(t, residual, point);
    }
  }
}

TEST(Members, AMemberKeepsItsLevelAndTheAverageFollowsTheBest) {
  // Residuals whose size is known from the first coordinate: windows near it are better.
  Rng rng(Seed{333});
  const std::vector<double> values = {0.1, 0.9};
  Members members(member_levels(values));
  LocalRows rows(1'000);
  LocalRows::Weights weights;
  std::vector<double> asked(kMembers * 2);
  std::vector<double> average(2);
  std::vector<double> below(kMembers * 2);
  double averaged = 0.0;
  double unweighted = 0.0;
  double count = 0.0;
  for (std::size_t t = 0; t < 3'000; ++t) {
    KernelPoint point = {};
    point[0] = static_cast<float>(3.0 * rng.normal());
    const double residual = std::exp(0.5 * static_cast<double>(point[0])) * rng.normal();
    if (rows.size() > 1) {
      rows.weigh(point, weights);
      members.ask(rows, weights, asked);
      members.average(asked, average);
      if (t >= 1'000) {
        const double no_kernel = (kKernels - 1) * 2 * Members::kSteps * 2;
        const auto plain = static_cast<std::size_t>(no_kernel);
        count += 1.0;
        averaged +=
            average[1] - average[0] +
            10.0 * (std::max(0.0, average[0] - residual) + std::max(0.0, residual - average[1]));
        unweighted += asked[plain + 1] - asked[plain] +
                      10.0 * (std::max(0.0, asked[plain] - residual) +
                              std::max(0.0, residual - asked[plain + 1]));
        for (std::size_t i = 0; i < below.size(); ++i) below[i] += residual <= asked[i] ? 1 : 0;
      }
      members.learn(asked, residual, 1.0);
    }
    rows.add(t, residual, point);
  }
  // The score of the average is far below that of the window without a kernel.
  EXPECT_LT(averaged, 0.8 * unweighted);
  for (std::size_t i = 0; i < below.size(); ++i) {
    // A tracked level that moves by 0.01 keeps its share to 1 / (0.01 * 2,000) = 0.05 while it is
    // not cut.
    EXPECT_NEAR(below[i] / count, values[i % 2], 0.05) << "member " << i / 2;
  }
}

}  // namespace
}  // namespace tare
