// SPDX-License-Identifier: BSD-3-Clause
#include "model/isotonic/isotonic_cdf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "draws.h"
#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

constexpr std::size_t kEnough = 100'000;

struct PredictedTargets {
  std::vector<double> p, y, weight;

  std::size_t rows() const { return y.size(); }
  double w(std::size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
  std::vector<double> different() const {
    const std::set<double> values(p.begin(), p.end());
    return {values.begin(), values.end()};
  }
};

/// Ties in predictions and in targets; weights are whole numbers, so that sums are exact.
PredictedTargets draw_targets(std::size_t rows, Rng& rng, bool weighted) {
  PredictedTargets drawn;
  for (std::size_t i = 0; i < rows; ++i) {
    const double p = rng.normal();
    drawn.p.push_back(rng.below(3) == 0 ? std::round(2.0 * p) : p);
    const double y = 0.7 * drawn.p.back() + (0.3 + std::abs(drawn.p.back())) * rng.normal();
    drawn.y.push_back(rng.below(3) == 0 ? std::round(y) : y);
    if (weighted) drawn.weight.push_back(static_cast<double>(1 + rng.below(4)));
  }
  return drawn;
}

IsotonicCdf fit_cdf(const PredictedTargets& data, std::size_t knots = kEnough) {
  return IsotonicCdf::fit(data.p, data.y, data.weight, knots, {});
}

/// P(Y <= z) at the j-th prediction by the formula of the paper: the least over starts at or before
/// j of the largest over ends at or after j of the mean of the indicators in between.
double min_max(const PredictedTargets& data, const std::vector<double>& different, std::size_t j,
               double z) {
  std::vector<double> below(different.size(), 0.0), weight(different.size(), 0.0);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(different, data.p[i]) -
                                             different.begin());
    weight[at] += data.w(i);
    if (data.y[i] <= z) below[at] += data.w(i);
  }
  double least = 2.0;
  for (std::size_t first = 0; first <= j; ++first) {
    double largest = -1.0, hits = 0.0, all = 0.0;
    for (std::size_t k = first; k < different.size(); ++k) {
      hits += below[k];
      all += weight[k];
      if (k >= j) largest = std::max(largest, hits / all);
    }
    least = std::min(least, largest);
  }
  return least;
}

TEST(IsotonicCdf, IsTheMinMaxOfMeans) {
  for (std::uint64_t seed = 0; seed < draws(60); ++seed) {
    Rng rng(Seed{seed});
    const PredictedTargets data = draw_targets(1 + rng.below(40), rng, seed % 2 == 1);
    const IsotonicCdf cdf = fit_cdf(data);
    const std::vector<double> different = data.different();
    ASSERT_TRUE(std::ranges::equal(cdf.predictions(), different));
    for (std::size_t k = 0; k < cdf.thresholds().size(); ++k) {
      for (std::size_t j = 0; j < different.size(); ++j) {
        // Weights are rounded to a billionth of all.
        EXPECT_NEAR(cdf.cdf(different[j], k), min_max(data, different, j, cdf.thresholds()[k]),
                    data.weight.empty() ? 1e-15 : 1e-7)
            << "seed " << seed;
      }
    }
  }
}

/// The sum over rows of the integral of (F - 1{y <= z})^2, for F given at each row and threshold.
double sum_of_crps(const PredictedTargets& data, std::span<const double> z,
                   const std::function<double(std::size_t row, std::size_t k)>& cdf) {
  double sum = 0.0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (std::size_t k = 0; k + 1 < z.size(); ++k) {
      const double difference = cdf(i, k) - (data.y[i] <= z[k] ? 1.0 : 0.0);
      sum += data.w(i) * difference * difference * (z[k + 1] - z[k]);
    }
  }
  return sum;
}

/// Theorem 2.2 of Henzi, Ziegel, Gneiting (2021).
TEST(IsotonicCdf, NoFamilyThatGrowsWithThePredictionHasALowerCrps) {
  for (std::uint64_t seed = 0; seed < draws(40); ++seed) {
    Rng rng(Seed{seed});
    const PredictedTargets data = draw_targets(60, rng, false);
    const IsotonicCdf own = fit_cdf(data);
    const auto z = own.thresholds();
    const auto best = [&](std::size_t i, std::size_t k) { return own.cdf(data.p[i], k); };
    const double least = sum_of_crps(data, z, best);
    for (int rival = 0; rival < 20; ++rival) {
      // Others are fitted to other targets, or are a location family; both grow with p. Nearness to
      // the best is drawn, too: a competitor a hair away must not be better either.
      const double share = rival % 2 == 0 ? rng.uniform() : 0.01;
      PredictedTargets moved = data;
      for (double& y : moved.y) y += 0.5 * rng.normal();
      const IsotonicCdf fitted = fit_cdf(moved);
      const double slope = std::abs(rng.normal()), width = 0.2 + rng.uniform();
      const auto other = [&](std::size_t i, std::size_t k) {
        double step = 0.0;
        if (rival % 3 == 0) {
          step = 0.5 * std::erfc((slope * data.p[i] - z[k]) / width);
        } else {
          const auto at = std::ranges::upper_bound(fitted.thresholds(), z[k]);
          const auto place = static_cast<std::size_t>(at - fitted.thresholds().begin());
          step = place == 0 ? 0.0 : fitted.cdf(data.p[i], place - 1);
        }
        return (1.0 - share) * best(i, k) + share * step;
      };
      EXPECT_LE(least, sum_of_crps(data, z, other) + 1e-9) << "seed " << seed;
    }
  }
}

/// Where the answer is P(Y <= z) = v, the share v of the rows is at or below z: for every z and v.
TEST(IsotonicCdf, IsCalibratedAtEveryThreshold) {
  for (std::uint64_t seed = 0; seed < draws(40); ++seed) {
    Rng rng(Seed{seed + 500});
    const PredictedTargets data = draw_targets(150, rng, false);
    const IsotonicCdf cdf = fit_cdf(data);
    for (std::size_t k = 0; k < cdf.thresholds().size(); ++k) {
      std::map<double, std::pair<double, double>> by_value;  // hits and rows
      for (std::size_t i = 0; i < data.rows(); ++i) {
        auto& [hits, rows] = by_value[cdf.cdf(data.p[i], k)];
        hits += data.y[i] <= cdf.thresholds()[k] ? 1.0 : 0.0;
        rows += 1.0;
      }
      for (const auto& [value, counts] : by_value) {
        EXPECT_NEAR(value, counts.first / counts.second, 1e-14) << "seed " << seed;
      }
    }
  }
}

TEST(IsotonicCdf, OnlyTheOrderOfThePredictionsCounts) {
  Rng rng(Seed{7});
  const PredictedTargets data = draw_targets(200, rng, true);
  const IsotonicCdf own = fit_cdf(data);
  for (const auto& transform :
       {std::function<double(double)>([](double p) { return p * p * p; }),
        std::function<double(double)>([](double p) { return std::exp(p); })}) {
    PredictedTargets other = data;
    for (double& p : other.p) p = transform(p);
    const IsotonicCdf transformed = fit_cdf(other);
    for (std::size_t i = 0; i < data.rows(); ++i) {
      for (std::size_t k = 0; k < own.thresholds().size(); ++k) {
        EXPECT_EQ(own.cdf(data.p[i], k), transformed.cdf(other.p[i], k));
      }
    }
  }
}

TEST(IsotonicCdf, AQuantileIsTheFirstThresholdThatReachesItsLevel) {
  std::vector<Level> levels;
  for (const double tau : {1e-9, 0.05, 0.1, 0.25, 0.5, 0.7, 0.9, 0.999}) levels.emplace_back(tau);
  for (std::uint64_t seed = 0; seed < draws(40); ++seed) {
    Rng rng(Seed{seed + 900});
    const PredictedTargets data = draw_targets(1 + rng.below(80), rng, seed % 2 == 1);
    const IsotonicCdf cdf = fit_cdf(data);
    for (const double p : {-1e308, -3.0, -0.31, 0.0, 0.77, data.p[0], 1e308}) {
      std::vector<double> answers(levels.size());
      cdf.quantiles(p, levels, answers);
      for (std::size_t j = 0; j < levels.size(); ++j) {
        std::size_t k = 0;
        while (cdf.cdf(p, k) < levels[j].value() * (1.0 - 1e-12)) ++k;
        EXPECT_EQ(answers[j], cdf.thresholds()[k]) << "seed " << seed << ", at " << p;
      }
    }
  }
}

TEST(IsotonicCdf, ProbabilitiesBetweenTwoPredictionsLieOnALine) {
  const PredictedTargets data{{0.0, 1.0, 4.0}, {0.0, 5.0, 9.0}, {}};
  const IsotonicCdf cdf = fit_cdf(data);
  EXPECT_EQ(cdf.cdf(-7.0, 0), 1.0);
  EXPECT_EQ(cdf.cdf(0.0, 0), 1.0);
  EXPECT_DOUBLE_EQ(cdf.cdf(0.25, 0), 0.75);
  EXPECT_DOUBLE_EQ(cdf.cdf(2.0, 1), 2.0 / 3.0);
  EXPECT_EQ(cdf.cdf(9.0, 1), 0.0);
  EXPECT_EQ(cdf.cdf(9.0, 2), 1.0);
}

TEST(IsotonicCdf, ManyPredictionsAndTargetsAreJoinedToSoManyKnots) {
  Rng rng(Seed{11});
  PredictedTargets data;
  for (std::size_t i = 0; i < 20'000; ++i) {
    data.p.push_back(rng.uniform());
    data.y.push_back(data.p.back() + (0.2 + data.p.back()) * rng.normal());
  }
  const IsotonicCdf cdf = fit_cdf(data, 300);
  EXPECT_LE(cdf.predictions().size(), 300U);
  EXPECT_GE(cdf.predictions().size(), 290U);
  EXPECT_EQ(cdf.thresholds().size(), 300U);
  EXPECT_EQ(cdf.thresholds().front(), std::ranges::min(data.y));
  EXPECT_EQ(cdf.thresholds().back(), std::ranges::max(data.y));
  // A threshold's fit does not depend on which others there are.
  EXPECT_LT(cdf.steps(), 300U * 100U);
  std::vector<double> median(1);
  const Level half(0.5);
  for (const double p : {0.2, 0.5, 0.8}) {
    cdf.quantiles(p, {&half, 1}, median);
    // About 20,000^(2/3) = 740 rows stand behind each: the median's sd is 0.05.
    EXPECT_NEAR(median[0], p, 0.15);
  }
}

TEST(IsotonicCdf, ThreadsAndEqualWeightsChangeNothing) {
  Rng rng(Seed{12});
  PredictedTargets data = draw_targets(500, rng, false);
  TensorStore one, four, weighted;
  IsotonicCdf::fit(data.p, data.y, {}, kEnough, {.threads = 1, .progress = {}})
      .save(TensorWriter(one));
  IsotonicCdf::fit(data.p, data.y, {}, kEnough, {.threads = 4, .progress = {}})
      .save(TensorWriter(four));
  data.weight.assign(500, 0.3);
  fit_cdf(data).save(TensorWriter(weighted));
  for (const auto& [name, tensor] : one.tensors) {
    EXPECT_TRUE(std::ranges::equal(tensor.bytes.span(), four.tensors[name].bytes.span()));
    EXPECT_TRUE(std::ranges::equal(tensor.bytes.span(), weighted.tensors[name].bytes.span()));
  }
}

TEST(IsotonicCdf, DamagedFilesAreRefused) {
  Rng rng(Seed{3});
  TensorStore store;
  fit_cdf(draw_targets(60, rng, false)).save(TensorWriter(store));
  EXPECT_NO_THROW(IsotonicCdf::load(TensorReader(store)));
  const auto refused = [&](const char* name, std::size_t at, auto what) {
    using T = decltype(what);
    TensorStore damaged = store;
    std::vector<T> values = TensorReader(damaged).list<T>(name);
    values.at(at) = what;
    damaged.tensors.erase(name);
    TensorWriter(damaged).tensor(name, values);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { IsotonicCdf::load(TensorReader(damaged)); });
  };
  refused("prediction", 1, 1e9);
  refused("threshold", 1, -1e9);
  refused("first", 0, std::int64_t{-1});
  refused("first", 1, std::int64_t{0});
  refused("first", 2, std::int64_t{1} << 40);
  refused("end", 0, std::int32_t{-5});
  refused("end", 0, std::int32_t{1'000'000});
  refused("value", 0, 1.5);
  refused("value", 0, -0.1);
  refused("value", 1, 1.0);
  for (const char* name : {"prediction", "threshold", "first", "end", "value"}) {
    TensorStore damaged = store;
    damaged.tensors.erase(name);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { IsotonicCdf::load(TensorReader(damaged)); });
  }
}

}  // namespace
}  // namespace tare
