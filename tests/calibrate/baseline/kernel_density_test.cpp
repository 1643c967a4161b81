// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/kernel_density.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "calibrate/baseline/kernel/conformal_set.h"
#include "calibrate/baseline/kernel/median_cells.h"
#include "draws.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// The paper's definition, word for word: the density of all targets and y together, and the share
/// of them whose density is at most that at y.
double conformal_rank(std::span<const double> targets, double y, double bandwidth) {
  std::vector<double> all(targets.begin(), targets.end());
  all.push_back(y);
  // Far targets differ by less than a double has digits.
  const auto density = [&](double place) {
    long double sum = 0.0L;
    for (const double target : all) {
      const long double u = (static_cast<long double>(place) - target) / bandwidth;
      sum += std::exp(-0.5L * u * u) + 1e-9L / (1.0L + u * u);
    }
    return sum;
  };
  const long double own = density(y);
  double rank = 0.0;
  for (const double target : all) rank += density(target) <= own * (1.0L + 1e-17L) ? 1.0 : 0.0;
  return rank;
}

std::vector<double> some_targets(Rng& rng, std::size_t count, int kind) {
  std::vector<double> y;
  for (std::size_t i = 0; i < count; ++i) {
    double value = rng.normal();
    if (kind == 1) value = std::round(2.0 * value);                        // ties
    if (kind == 2) value = rng.below(2) == 0 ? value - 6.0 : value + 6.0;  // a gap
    if (kind == 3 && i == 0) value += 40.0;                                // a row far away
    y.push_back(value);
  }
  return y;
}

TEST(ConformalSet, HoldsAllThatTheDefinitionHoldsAndHardlyMore) {
  Rng rng(Seed{1});
  for (std::uint64_t k = 0; k < draws(100); ++k) {
    const int kind = static_cast<int>(k % 4);
    const std::vector<double> y = some_targets(rng, 3 + rng.below(25), kind);
    const double bandwidth = rng.uniform(0.2, 1.0);
    const ConformalSet set(y, {}, {.center = 0.3, .bandwidth = bandwidth});
    const auto [least, most] = std::ranges::minmax(y);
    const double reach = most - least;
    const double step = bandwidth / 20.0;
    std::vector<double> places, ranks;
    // A place that equals a target is as dense as it is, if the places beside are not.
    for (const double at : y) {
      places.push_back(at);
      ranks.push_back(conformal_rank(y, at, bandwidth));
    }
    for (double at = least - reach - step; at <= most + reach + step; at += step) {
      places.push_back(at);
      ranks.push_back(conformal_rank(y, at, bandwidth));
    }
    for (const double tau : {0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45}) {
      const auto n = static_cast<double>(y.size());
      // At least rank 2: with one row fewer, only all numbers would do.
      const double floor = std::max(1.0, std::floor(2.0 * tau * (n + 1.0) + 1e-9));
      double low = 1e9, high = -1e9;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (ranks[i] <= floor) continue;
        low = std::min(low, places[i]);
        high = std::max(high, places[i]);
      }
      if (low > high) continue;  // between two places
      const double from = set.answer(Level(tau)), to = set.answer(Level(1.0 - tau));
      EXPECT_LE(from, low) << "kind " << kind << ", tau " << tau;
      EXPECT_GE(to, high) << "kind " << kind << ", tau " << tau;
      if (kind == 1) continue;  // a single place may count by a density that is equal to rounding
      // The tolerance, a step, and in a gap a thirty-second of the distance to the next target.
      const double slack = 0.0625 * bandwidth + 2.0 * step + (kind == 0 ? 0.05 : 2.0);
      EXPECT_GE(from, low - slack) << "kind " << kind << ", tau " << tau;
      EXPECT_LE(to, high + slack) << "kind " << kind << ", tau " << tau;
    }
  }
}

TEST(ConformalSet, TheDensestTargetIsInEverySet) {
  Rng rng(Seed{2});
  const std::vector<double> y = some_targets(rng, 60, 0);
  const ConformalSet set(y, {}, {.center = 0.0, .bandwidth = 0.4});
  const double middle = set.answer(Level(0.5));
  EXPECT_NE(std::ranges::find(y, middle), y.end());
  for (double tau = 0.001; tau < 0.5; tau += 0.001) {
    EXPECT_LE(set.answer(Level(tau)), middle);
    EXPECT_GE(set.answer(Level(1.0 - tau)), middle);
  }
}

TEST(ConformalSet, EqualWeightsCountAsNone) {
  Rng rng(Seed{3});
  const std::vector<double> y = some_targets(rng, 50, 0);
  const ConformalSet plain(y, {}, {}), equal(y, std::vector<double>(50, 2.5), {});
  for (const double tau : {0.001, 0.05, 0.3, 0.5, 0.7, 0.99})
    EXPECT_EQ(plain.answer(Level(tau)), equal.answer(Level(tau)));
}

/// The next row is drawn with a probability that is proportional to its weight. 2,000 draws: the
/// standard error of the coverage is at most 0.009.
TEST(ConformalSet, WeightsKeepTheCoverage) {
  Rng rng(Seed{4});
  const std::uint64_t all = draws(10'000);
  double covered = 0.0, without = 0.0;
  const auto holds = [](const ConformalSet& set, double y) {
    return y >= set.answer(Level(0.1)) && y <= set.answer(Level(0.9)) ? 1.0 : 0.0;
  };
  for (std::uint64_t k = 0; k < all; ++k) {
    const auto draw_one = [&](double share_of_heavy) {
      const bool heavy = rng.uniform() < share_of_heavy;
      return std::pair{rng.normal() + (heavy ? 3.0 : 0.0), heavy ? 4.0 : 1.0};
    };
    std::vector<double> y, weight;
    for (int i = 0; i < 60; ++i) {
      const auto [value, w] = draw_one(0.2);
      y.push_back(value);
      weight.push_back(w);
    }
    const double next = draw_one(0.5).first;  // 0.2 * 4 against 0.8 * 1
    const SetKernel kernel{.center = 0.0, .bandwidth = 0.5, .tolerance = 0.25};
    covered += holds(ConformalSet(y, weight, kernel), next) / static_cast<double>(all);
    without += holds(ConformalSet(y, {}, kernel), next) / static_cast<double>(all);
  }
  EXPECT_GE(covered, 0.8 - 3.0 * 0.4 / std::sqrt(static_cast<double>(all)));
  EXPECT_LT(without, 0.7);
}

TEST(MedianCells, HalveWhereTheTargetsDiffer) {
  Rng rng(Seed{5});
  Matrix x(800, 3);
  std::vector<double> y;
  for (std::size_t i = 0; i < 800; ++i) {
    for (double& value : x.row(i)) value = rng.uniform();
    y.push_back((x(i, 2) < 0.5 ? 0.1 : 2.0) * rng.normal());  // only the spread differs
  }
  const MedianCells two(x, y, 1, 40, {});
  ASSERT_EQ(two.cells(), 2U);
  const double cut = [&] {
    std::vector<double> values;
    for (std::size_t i = 0; i < 800; ++i) values.push_back(x(i, 2));
    std::ranges::sort(values);
    return values[399];
  }();
  for (std::size_t i = 0; i < 800; ++i) EXPECT_EQ(two.cell_of(x.row(i)), x(i, 2) <= cut ? 0U : 1U);

  const MedianCells many(x, y, 10, 40, {});
  std::vector<std::size_t> count(many.cells(), 0);
  for (std::size_t i = 0; i < 800; ++i) ++count[many.cell_of(x.row(i))];
  EXPECT_GE(std::ranges::min(count), 40U);
  EXPECT_LT(std::ranges::max(count), 100U);
}

TEST(MedianCells, AColumnThatDoesNotVaryIsNotHalved) {
  const Matrix x(100, 2, 1.0);
  const std::vector<double> y(100, 0.0);
  EXPECT_EQ(MedianCells(x, y, 5, 10, {}).cells(), 1U);
  EXPECT_EQ(MedianCells(Matrix(100, 0), y, 5, 10, {}).cells(), 1U);
}

std::unique_ptr<QuantileModel> fit_density(const Sample& data, const char* params,
                                           std::uint64_t seed) {
  FitInput input{.x = data.x, .y = data.y};
  input.seed = Seed{seed};
  return fit_method(find_method("kernel_density"), input,
                    Params::parse(std::string(params) + " bands=off bounds=none"));
}

/// The mean true coverage of the interval between tau and 1 - tau over rows of both halves of
/// [0, 1], by cells of the model: the two ends of the line are never in the same of two cells.
std::pair<double, double> coverage_at_ends(const char* problem, const char* params, double tau,
                                           std::uint64_t count) {
  const Problem& law = find_problem(problem);
  double low = 0.0, high = 0.0;
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto model = fit_density(draw(law, 160, Seed{100 + k}), params, k);
    const Sample fresh = draw(law, 400, Seed{900'000 + k});
    const Prediction p = model->predict({fresh.x}, std::vector{Level(tau), Level(1.0 - tau)});
    Matrix ends(2, 1);
    ends(1, 0) = 1.0;
    const Prediction at = model->predict({ends}, std::vector{Level(tau), Level(1.0 - tau)});
    double sum[2] = {0.0, 0.0}, rows[2] = {0.0, 0.0};
    for (std::size_t i = 0; i < 400; ++i) {
      const Law own = law.law(fresh.x.row(i));
      const double covered = own.cdf(p.quantiles(i, 1)) - own.cdf(p.quantiles(i, 0));
      for (std::size_t e = 0; e < 2; ++e) {
        if (!std::ranges::equal(p.quantiles.row(i), at.quantiles.row(e))) continue;
        sum[e] += covered;
        rows[e] += 1.0;
      }
    }
    low += sum[0] / rows[0];
    high += sum[1] / rows[1];
  }
  return {low / static_cast<double>(count), high / static_cast<double>(count)};
}

/// The claim of the paper: coverage within each cell for a finite sample. Over draws of 160 rows,
/// of which about 40 of each cell are ranked, the mean coverage is at least the level, and not more
/// than about 1 / 41 above it; the rounding of the ends adds less than 0.01. The coverage of a draw
/// has a standard deviation of about 0.05: three standard errors of 200 draws are 0.011.
TEST(KernelDensity, CoversWithinEachCell) {
  const std::uint64_t count = draws(1000);
  const double slack = 3.0 * 0.05 / std::sqrt(static_cast<double>(count));
  for (const char* problem : {"stepped_1", "hetero_1", "skewed_1", "bimodal_1"}) {
    const auto [low, high] = coverage_at_ends(problem, "cells=2", 0.05, count);
    for (const double coverage : {low, high}) {
      EXPECT_GE(coverage, 0.9 - slack) << problem;
      EXPECT_LE(coverage, 0.9 + 1.0 / 41.0 + 0.01 + slack) << problem;
    }
  }
}

/// What the cells are for: with one cell the average is kept and the noisy half is not.
TEST(KernelDensity, OneCellCoversOnlyOnAverage) {
  const Problem& law = find_problem("stepped_1");
  const auto model = fit_density(draw(law, 4000, Seed{1}), "cells=1", 1);
  double worst = 1.0, mean = 0.0;
  const Sample fresh = draw(law, 1000, Seed{2});
  const Prediction p = model->predict({fresh.x}, std::vector{Level(0.05), Level(0.95)});
  for (std::size_t i = 0; i < 1000; ++i) {
    const Law own = law.law(fresh.x.row(i));
    const double covered = own.cdf(p.quantiles(i, 1)) - own.cdf(p.quantiles(i, 0));
    worst = std::min(worst, covered);
    mean += covered / 1000.0;
  }
  EXPECT_NEAR(mean, 0.9, 0.03);
  EXPECT_LT(worst, 0.85);
}

/// Asymptotic efficiency: as short as the oracle's interval, which has 3.29 standard deviations.
/// With 2,000 ranked rows the quantile's own error is 1.5 % and the rounding of ends adds up to 1 %
/// for each; five draws.
TEST(KernelDensity, IsAsShortAsTheOracleOnAHomoscedasticLaw) {
  double length = 0.0;
  for (std::uint64_t k = 0; k < 5; ++k) {
    Rng rng(Seed{k});
    Sample data{Matrix(4000, 2), {}};
    for (std::size_t i = 0; i < 4000; ++i) {
      for (double& value : data.x.row(i)) value = rng.uniform();
      data.y.push_back(7.0 + 2.0 * rng.normal());
    }
    const auto model = fit_density(data, "", k);
    const Prediction p = model->predict({data.x}, std::vector{Level(0.05), Level(0.95)});
    for (std::size_t i = 0; i < 4000; ++i)
      length += (p.quantiles(i, 1) - p.quantiles(i, 0)) / (5.0 * 4000.0);
  }
  EXPECT_NEAR(length / (2.0 * 2.0 * 1.6449), 1.02, 0.03);
}

/// A set of highest density begins at the start of an exponential distribution: it is shorter than
/// the interval between the quantiles, and its lower end is no quantile.
TEST(KernelDensity, ASetOfASkewedLawIsShorterThanItsQuantiles) {
  Rng rng(Seed{8});
  Sample data{Matrix(4000, 1), {}};
  for (std::size_t i = 0; i < 4000; ++i) {
    data.x(i, 0) = rng.uniform();
    data.y.push_back(-std::log1p(-rng.uniform()));
  }
  const auto model = fit_density(data, "cells=1 bandwidth=0.5", 1);
  const Prediction p =
      model->predict({data.x.view().middle_rows(0, 1)}, std::vector{Level(0.05), Level(0.95)});
  const double low = std::max(p.quantiles(0, 0), 0.0), high = p.quantiles(0, 1);
  EXPECT_LT(1.0 - std::exp(-low), 0.02);                     // not 0.05
  EXPECT_NEAR(std::exp(-low) - std::exp(-high), 0.9, 0.03);  // but together they cover
  EXPECT_LT(high - low, 0.95 * std::log(0.95 / 0.05));
}

TEST(KernelDensity, OptionsAreChecked) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{1});
  for (const char* wrong : {"cells=3", "cells=0", "cells=2048", "cells=many"}) {
    expect_error(ErrorCode::kInvalidArgument, "power of 2", [&] { fit_density(data, wrong, 1); });
  }
  expect_error(ErrorCode::kInvalidArgument, "bandwidth",
               [&] { fit_density(data, "bandwidth=0", 1); });
}

}  // namespace
}  // namespace tare
