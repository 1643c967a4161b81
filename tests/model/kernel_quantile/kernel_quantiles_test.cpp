// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/kernel_quantiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "data/rows.h"
#include "model/kernel_quantile/kernel_quantile.h"

namespace tare {
namespace {

/// A wave whose noise grows along the feature.
struct NoisyWave {
  Matrix x;
  std::vector<double> y;
  std::vector<double> weight;

  NoisyWave(std::size_t rows, bool weighted) : x(rows, 1) {
    Rng rng(Seed{8});
    for (std::size_t i = 0; i < rows; ++i) {
      x(i, 0) = rng.uniform();
      y.push_back(50.0 + 9.0 * std::sin(6.0 * x(i, 0)) + (1.0 + 3.0 * x(i, 0)) * rng.normal());
      if (weighted) weight.push_back(rng.uniform(0.2, 2.0));
    }
  }
  RegressionData data() const { return {x, y, weight}; }
};

/// The quantiles of rows from other rows, by the solver alone and to a small gap: with the kernel's
/// width and the units of all rows.
std::vector<double> slow_quantiles(const NoisyWave& wave, std::span<const std::size_t> train,
                                   std::span<const std::size_t> asked, double width, double penalty,
                                   Level tau) {
  const Standard column = standardise(
      wave.y.size(), [&](std::size_t i) { return wave.x(i, 0); }, wave.weight);
  const Standard target = standardise(
      wave.y.size(), [&](std::size_t i) { return wave.y[i]; }, wave.weight);
  const auto near = [&](std::size_t i, std::size_t k) {
    const double apart = (wave.x(i, 0) - wave.x(k, 0)) / column.scale / width;
    return std::exp(-0.5 * apart * apart);
  };
  double mean = wave.weight.empty() ? 1.0 : 0.0;
  for (const double w : wave.weight) mean += w / static_cast<double>(wave.weight.size());
  Matrix kernel(train.size(), train.size());
  std::vector<double> y, cost;
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (std::size_t k = 0; k < train.size(); ++k) kernel(i, k) = near(train[i], train[k]);
    y.push_back((wave.y[train[i]] - target.mean) / target.scale);
    const double w = wave.weight.empty() ? 1.0 : wave.weight[train[i]] / mean;
    cost.push_back(w / (penalty * static_cast<double>(train.size())));
  }
  const KernelQuantileFit fit =
      fit_kernel_quantile({kernel, y, cost, tau}, {.gap = 1e-6, .most_passes = 3000});
  std::vector<double> answers;
  for (const std::size_t i : asked) {
    double f = fit.b;
    for (std::size_t k = 0; k < train.size(); ++k) f += fit.a[k] * near(i, train[k]);
    answers.push_back(target.mean + target.scale * f);
  }
  return answers;
}

TEST(KernelQuantiles, PredictAndLeaveGroupsOutAsTheSolverSays) {
  for (const bool weighted : {false, true}) {
    const NoisyWave wave(200, weighted);
    constexpr double kPenalty = 1e-3;
    const auto fit = KernelQuantiles::fit(
        wave.data(), {.penalty = kPenalty, .width = 0.5, .gap = 1e-5}, Seed{1}, {});
    const std::vector<std::size_t> all = all_rows(200);
    const std::vector<Level> levels = {Level(0.1), Level(0.5), Level(0.9)};
    Matrix whole(200, 3);
    fit.predict(wave.x, levels, whole, {});
    std::vector<std::uint32_t> group;
    for (std::size_t i = 0; i < 200; ++i) group.push_back(static_cast<std::uint32_t>(i % 4));
    const Matrix without = fit.predict_left_out(wave.data(), group, 4, all, levels, {});

    // A solution is within a gap of 1e-3 of the least loss, which is flat: its quantiles may differ
    // by some tenths of the noise, which is 1 to 4. Those of all rows differ by more from those
    // without a group.
    for (std::size_t j = 0; j < 3; ++j) {
      const auto slow = slow_quantiles(wave, all, all, fit.width(), kPenalty, levels[j]);
      double from_slow = 0.0, from_rest = 0.0, from_whole = 0.0;  // mean squares
      for (std::size_t i = 0; i < 200; ++i) {
        from_slow += std::pow(whole(i, j) - slow[i], 2.0) / 200.0;
        from_whole += std::pow(without(i, j) - whole(i, j), 2.0) / 200.0;
      }
      for (std::size_t g = 0; g < 4; ++g) {
        std::vector<std::size_t> others = all, own = all;
        std::erase_if(others, [&](std::size_t i) { return group[i] == g; });
        std::erase_if(own, [&](std::size_t i) { return group[i] != g; });
        const auto rest = slow_quantiles(wave, others, own, fit.width(), kPenalty, levels[j]);
        for (std::size_t k = 0; k < own.size(); ++k) {
          from_rest += std::pow(without(own[k], j) - rest[k], 2.0) / 200.0;
        }
      }
      EXPECT_LT(std::sqrt(from_slow), 0.15) << "level " << j;
      EXPECT_LT(std::sqrt(from_rest), 0.15) << "level " << j;
      EXPECT_GT(from_whole, 4.0 * from_rest) << "level " << j;
    }
  }
}

TEST(KernelQuantiles, AFileKeepsEveryBit) {
  const NoisyWave wave(60, false);
  const auto fit = KernelQuantiles::fit(wave.data(), {}, Seed{1}, {});
  TensorStore store;
  fit.save(TensorWriter(store));
  const auto loaded = KernelQuantiles::load(TensorReader(store), 1);
  const std::vector<Level> levels = {Level(0.003), Level(0.37), Level(0.999)};
  Matrix one(60, 3), other(60, 3);
  fit.predict(wave.x, levels, one, {});
  loaded.predict(wave.x, levels, other, {});
  EXPECT_TRUE(std::ranges::equal(one.values(), other.values()));
  for (std::size_t i = 0; i < 60; ++i) EXPECT_TRUE(std::ranges::is_sorted(one.row(i)));
}

}  // namespace
}  // namespace tare
