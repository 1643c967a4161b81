// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/reliability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/guarantee.h"
#include "calibrate/guarantee_folds.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<Level> uneven_levels() {
  std::vector<Level> levels;
  for (const double tau : {0.9, 0.001, 0.05, 0.0123, 0.5, 0.25, 0.777, 0.95, 0.05, 0.999}) {
    levels.emplace_back(tau);
  }
  return levels;
}

/// P(B <= successes) in the plainest way: the sum of n choose r p^r q^(n-r).
long double plain_sum(std::uint64_t n, long double p, std::uint64_t successes) {
  long double sum = 0.0L;
  for (std::uint64_t r = 0; r <= successes; ++r) {
    long double term = 1.0L;
    for (std::uint64_t i = 0; i < r; ++i) {
      term *= static_cast<long double>(n - i) / static_cast<long double>(i + 1) * p;
    }
    for (std::uint64_t i = r; i < n; ++i) term *= 1.0L - p;
    sum += term;
  }
  return sum;
}

TEST(BandEnds, AreTheRanksThatMissTheQuantileWithFivePercent) {
  for (std::uint64_t k = 1; k <= 90; k += k < 25 ? 1 : 13) {
    for (const Level& level : uneven_levels()) {
      const long double tau = static_cast<long double>(level.value());
      std::uint64_t low = 0;  // the largest with P(fewer than this lie below the quantile) <= 5 %
      while (low < k && plain_sum(k, tau, low) <= 0.05L) ++low;
      std::uint64_t high = k + 1;  // the smallest with P(this many lie below it) <= 5 %
      while (high > 1 && 1.0L - plain_sum(k, tau, high - 2) <= 0.05L) --high;
      const BandEnds ends = band_ends(level, k);
      const auto rank_of = [&](double share) { return std::ceil(share * static_cast<double>(k)); };
      EXPECT_EQ(ends.low ? rank_of(*ends.low) : 0.0, static_cast<double>(low)) << k;
      EXPECT_EQ(ends.high ? rank_of(*ends.high) : static_cast<double>(k + 1),
                static_cast<double>(high))
          << k << " " << level.value();
    }
  }
}

TEST(BandEnds, EncloseTheLevelRiseWithItAndNarrowWithTheRows) {
  for (std::uint64_t k = 1; k <= 100'000; k = k * 3 / 2 + 1) {
    double low = 0.0;
    double high = 0.0;
    for (int percent = 1; percent < 100; ++percent) {
      const Level level(percent / 100.0);
      const BandEnds ends = band_ends(level, k);
      const double own_low = ends.low.value_or(0.0);
      const double own_high = ends.high.value_or(1.0);
      EXPECT_LE(own_low, level.value());
      EXPECT_GE(own_high, level.value());
      EXPECT_GE(own_low, low);
      EXPECT_GE(own_high, high);
      low = own_low;
      high = own_high;
      const BandEnds more = band_ends(level, 4 * k);
      EXPECT_LE(more.high.value_or(1.0) - more.low.value_or(0.0), own_high - own_low + 1e-12);
    }
  }
}

TEST(BandRows, AreRoundedDown) {
  EXPECT_EQ(band_rows(0.3), 1U);
  EXPECT_EQ(band_rows(std::nan("")), 1U);
  EXPECT_EQ(band_rows(7.99), 7U);
  EXPECT_EQ(band_rows(0.2 * 100.0 * 3.0 + 0.4 * 100.0 - 1e-12), 100U);
  EXPECT_EQ(band_rows(9999.9), 9999U);
  EXPECT_EQ(band_rows(12'399.0), 12'300U);
  EXPECT_EQ(band_rows(kInfinite), 1'000'000'000U);
}

TEST(BandLevels, AscendAndMirror) {
  const auto levels = band_levels();
  for (std::size_t k = 0; k < levels.size(); ++k) {
    EXPECT_LT(k == 0 ? 0.0 : levels[k - 1].value(), levels[k].value());
    EXPECT_NEAR(levels[k].value() + levels[levels.size() - 1 - k].value(), 1.0, 1e-15);
  }
}

std::unique_ptr<QuantileModel> fit_problem(const Sample& data, const char* method,
                                           const std::string& params) {
  return fit_method(find_method(method), {.x = data.x, .y = data.y}, Params::parse(params));
}

struct Fitted {
  const char* method;
  const char* params;
};
constexpr Fitted kWithWindow[] = {
    {"pure_kernel", "kernel=naive bandwidth=0.3 split=0.5"},
    {"pure_kernel", "kernel=knn bandwidth=40 split=0.5"},
    {"nrc", "regressor=ridge kernel=gaussian"},
    {"nrc", "regressor=ridge kernel=naive bandwidth=0.1 guarantee=split"},
    {"auto", "budget=quick steps=50 folds=2"},
};

TEST(Reliability, BandsHoldTheQuantileAndNeverCross) {
  const Sample data = draw(find_problem("hetero_1"), 400, Seed{41});
  const Sample fresh = draw(find_problem("hetero_1"), 150, Seed{42});
  const auto levels = uneven_levels();
  for (const Fitted& how : kWithWindow) {
    const auto model = fit_problem(data, how.method, how.params);
    const Prediction p = predict_with_reliability(*model, {fresh.x}, levels);
    const Prediction plain = model->predict({fresh.x}, levels);
    EXPECT_TRUE(std::ranges::equal(p.quantiles.values(), plain.quantiles.values())) << how.params;
    EXPECT_EQ(p.effective_n, plain.effective_n);
    EXPECT_EQ(p.nearest, plain.nearest);
    EXPECT_EQ(p.fallback, plain.fallback);
    EXPECT_EQ(p.outside, plain.outside);
    ASSERT_EQ(p.outside.size(), fresh.y.size());
    for (std::size_t i = 0; i < fresh.y.size(); ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        EXPECT_LE(p.band_low(i, j), p.quantiles(i, j));
        EXPECT_GE(p.band_high(i, j), p.quantiles(i, j));
        for (std::size_t k = 0; k < levels.size(); ++k) {
          if (!(levels[j] < levels[k])) continue;
          EXPECT_LE(p.band_low(i, j), p.band_low(i, k));
          EXPECT_LE(p.band_high(i, j), p.band_high(i, k));
        }
      }
    }
  }
}

TEST(Reliability, OfEqualWeightsTheBandEndsAtOrderStatistics) {
  // 0, ..., 99 at one place: ranks 42 and 59 of the median, by a table of the binomial law; the
  // grid holds a level between each two of a hundred rows.
  Sample data{Matrix(100, 1, 1.0), {}};
  for (int i = 0; i < 100; ++i) data.y.push_back(i);
  FitInput input{.x = data.x, .y = data.y};
  const Matrix zero(100, 1);
  input.given = zero;
  const auto model =
      fit_method(find_method("nrc"), input, Params::parse("kernel=naive bandwidth=1"));
  const std::vector<Level> levels = {Level{0.5}, Level{0.01}, Level{0.99}};
  const Prediction p = predict_with_reliability(
      *model, {data.x.view().middle_rows(0, 1), zero.view().middle_rows(0, 1)}, levels);
  EXPECT_EQ(p.effective_n[0], 100.0);
  EXPECT_EQ(p.band_low(0, 0), 41.0);
  EXPECT_EQ(p.band_high(0, 0), 58.0);
  EXPECT_EQ(p.band_low(0, 1), -kInfinite);
  EXPECT_EQ(p.band_high(0, 2), kInfinite);
  EXPECT_LT(p.band_high(0, 1), 5.0);
}

TEST(Reliability, TheBandCoversTheTrueQuantileAsOftenAsItSays) {
  // One law for every x, so that no window is biased; exponential, so that ends are not alike.
  constexpr std::size_t kRows = 300;
  constexpr int kDraws = 300;
  const std::vector<Level> levels = {Level{0.1}, Level{0.5}, Level{0.9}};
  const Matrix zero(kRows, 1);
  const Matrix at(1, 1, 0.5);
  for (const char* params :
       {"kernel=naive bandwidth=0.25 scale=none", "kernel=gaussian bandwidth=0.15 scale=none"}) {
    std::vector<int> covered(levels.size(), 0);
    for (int draw = 0; draw < kDraws; ++draw) {
      Rng rng(split(Seed{43}, static_cast<std::uint64_t>(draw)));
      Matrix x(kRows, 1);
      std::vector<double> y(kRows);
      for (double& value : x.values()) value = rng.uniform();
      for (double& value : y) value = -std::log(1.0 - rng.uniform());
      FitInput input{.x = x, .y = y};
      input.given = zero;
      const auto model = fit_method(find_method("nrc"), input, Params::parse(params));
      const Prediction p =
          predict_with_reliability(*model, {at, zero.view().middle_rows(0, 1)}, levels);
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double truth = -std::log(1.0 - levels[j].value());
        if (p.band_low(0, j) <= truth && truth <= p.band_high(0, j)) ++covered[j];
      }
    }
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double share = static_cast<double>(covered[j]) / kDraws;
      RecordProperty(params + std::to_string(j), std::to_string(share));
      EXPECT_GE(share, 0.9 - 2.5 * std::sqrt(0.9 * 0.1 / kDraws)) << params << " " << j;
      EXPECT_LE(share, 0.995) << params << " " << j;
    }
  }
}

TEST(Reliability, ManyRowsAreAnsweredInPartsAndOnAnyNumberOfThreads) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{44});
  const Sample many = draw(find_problem("hetero_1"), 40'000, Seed{45});
  const auto model = fit_problem(data, "pure_kernel", "kernel=naive bandwidth=0.5 split=0.5");
  const std::vector<Level> levels = {Level{0.5}};
  Execution one;
  one.threads = 1;
  const Prediction whole = predict_with_reliability(*model, {many.x}, levels);
  const Prediction again = predict_with_reliability(*model, {many.x}, levels, one);
  EXPECT_TRUE(std::ranges::equal(whole.band_low.values(), again.band_low.values()));
  EXPECT_TRUE(std::ranges::equal(whole.band_high.values(), again.band_high.values()));
  ASSERT_EQ(whole.effective_n.size(), 40'000U);
  for (const std::size_t i : {0U, 4'095U, 4'096U, 39'999U}) {
    const Prediction alone =
        predict_with_reliability(*model, {many.x.view().middle_rows(i, 1)}, levels);
    EXPECT_EQ(whole.band_low(i, 0), alone.band_low(0, 0));
    EXPECT_EQ(whole.band_high(i, 0), alone.band_high(0, 0));
    EXPECT_EQ(whole.nearest[i], alone.nearest[0]);
  }
}

TEST(Reliability, AMethodWithoutAWindowHasNoBand) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{46});
  const auto model = fit_problem(data, "cqr_boost", "");
  const Prediction p = predict_with_reliability(*model, {data.x}, metric_levels());
  EXPECT_EQ(p.quantiles.cols(), 100U);
  EXPECT_EQ(p.band_low.cols(), 0U);
  EXPECT_TRUE(p.outside.empty());
  EXPECT_EQ(p.delivered.cols(), 0U);
}

TEST(Reliability, WrongRowsAreRefused) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{47});
  const auto model = fit_problem(data, "pure_kernel", "bandwidth=0.5");
  const std::vector<Level> levels = {Level{0.5}};
  const Matrix wide(2, 7);
  expect_error(ErrorCode::kShapeMismatch, "features",
               [&] { predict_with_reliability(*model, {wide}, levels); });
  const std::vector<std::uint32_t> group(3, 0);
  expect_error(ErrorCode::kShapeMismatch, "groups", [&] {
    predict_with_reliability(*model, {data.x, {}, group}, levels);
  });
  EXPECT_EQ(predict_with_reliability(*model, {Matrix(0, 1)}, levels).quantiles.rows(), 0U);
}

TEST(Delivered, IsTheRankOfTheGroupsHeldOutRows) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{48});
  std::vector<std::uint32_t> group(200);
  for (std::size_t i = 0; i < 200; ++i) group[i] = i < 190 ? i % 2 : 2;
  FitInput input{.x = data.x, .y = data.y};
  input.group = group;
  const auto model = fit_method(find_method("pure_kernel"), input,
                                Params::parse("guarantee=split:0.5 bandwidth=rate"));
  const auto& guaranteed = dynamic_cast<const GuaranteedModel&>(*model);
  const std::vector<Level> levels = {Level{0.95}, Level{0.05}, Level{0.5}, Level{0.001},
                                     Level{0.999}};
  const Prediction p = predict_with_reliability(*model, {data.x, {}, group}, levels);
  for (std::size_t i = 0; i < 200; ++i) {
    const double rows = guaranteed.has_ranks(group[i]) ? guaranteed.group_rows()[group[i]]
                                                       : double(guaranteed.overall().rows());
    EXPECT_DOUBLE_EQ(p.delivered(i, 0), std::ceil(0.95 * (rows + 1) - 1e-9) / (rows + 1));
    EXPECT_DOUBLE_EQ(p.delivered(i, 1), std::floor(0.05 * (rows + 1) + 1e-9) / (rows + 1));
    EXPECT_DOUBLE_EQ(p.delivered(i, 2), std::ceil(0.5 * (rows + 1)) / (rows + 1));
    EXPECT_EQ(p.delivered(i, 3), 0.0);
    EXPECT_EQ(p.quantiles(i, 3), -kInfinite);
    EXPECT_EQ(p.delivered(i, 4), 1.0);
    EXPECT_EQ(p.quantiles(i, 4), kInfinite);
  }
  EXPECT_EQ(model->delivered({.x = Matrix(0, 1)}, levels).cols(), levels.size());
  expect_error(ErrorCode::kShapeMismatch, "groups", [&] { model->delivered({data.x}, levels); });
}

TEST(Delivered, IsWhatIsProvenOfFolds) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{49});
  const std::vector<Level> levels = {Level{0.95}, Level{0.05}, Level{0.999}};
  const FitInput input{.x = data.x, .y = data.y};
  const auto model = fit_method(find_method("pure_kernel"), input,
                                Params::parse("guarantee=cross:4 bandwidth=rate"));
  const Matrix kept = model->delivered({data.x}, levels);
  const double miss = cross_miss_bound(200, 4, 0.05);
  EXPECT_NEAR(kept(0, 0), 1.0 - miss, 1e-12);
  EXPECT_NEAR(kept(0, 1), miss, 1e-12);
  EXPECT_EQ(kept(0, 2), 1.0);  // infinite, as 200 rows are too few
}

TEST(Delivered, IsNotKnownWhereRowsCountDifferently) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{50});
  std::vector<double> weight(200, 1.0);
  for (std::size_t i = 0; i < 100; ++i) weight[i] = 2.0;
  const std::vector<Level> levels = {Level{0.95}};
  for (const char* form : {"guarantee=split bandwidth=rate", "guarantee=cross bandwidth=rate"}) {
    const FitInput input{.x = data.x, .y = data.y, .weight = weight};
    const auto model = fit_method(find_method("pure_kernel"), input, Params::parse(form));
    EXPECT_EQ(model->delivered({data.x}, levels).cols(), 0U) << form;
  }
}

}  // namespace
}  // namespace tare
