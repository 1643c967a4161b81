// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "calibrate/bands/band_rule.h"
#include "calibrate/bands/banded_model.h"
#include "expect_error.h"
#include "function_model.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/reliability.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

std::vector<Level> some_levels() {
  std::vector<Level> levels;
  for (const double tau : {0.9, 0.05, 0.5, 0.25, 0.95, 0.05}) levels.emplace_back(tau);
  return levels;
}

std::unique_ptr<QuantileModel> fit_problem(const Sample& data, const char* method,
                                           const std::string& params) {
  return fit_method(find_method(method), {.x = data.x, .y = data.y}, Params::parse(params));
}

/// Quantiles at level tau are start + slope * tau for every row.
std::unique_ptr<FunctionModel> line_model(double start, double slope) {
  return std::make_unique<FunctionModel>(
      1, [=](std::span<const double>, double tau) { return start + slope * tau; });
}

/// Shares of a perfect method: k / 100.
std::vector<double> perfect_shares() {
  std::vector<double> shares;
  for (int k = 1; k < 100; ++k) shares.push_back(k / 100.0);
  return shares;
}

/// U[0, 1] everywhere, with halves that are off by the given shifts.
BandedModel shifted_halves(const std::vector<double>& shifts, std::vector<double> shares,
                           std::size_t ranked) {
  BandedModel::Models halves;
  for (const double shift : shifts) halves.push_back(line_model(shift, 1.0));
  return {line_model(0.0, 1.0),
          std::move(halves),
          std::move(shares),
          {},
          {.rows = 1000, .half = 500, .ranked = ranked}};
}

TEST(BandHalves, AreAscendingHalvesThatDiffer) {
  const auto halves = draw_halves(101, 5, false, Seed{1});
  ASSERT_EQ(halves.size(), 5U);
  for (const auto& half : halves) {
    EXPECT_EQ(half.size(), 50U);
    EXPECT_TRUE(std::ranges::is_sorted(half));
    EXPECT_EQ(std::ranges::adjacent_find(half), half.end());
    EXPECT_LT(half.back(), 101U);
  }
  EXPECT_NE(halves[0], halves[1]);
  EXPECT_EQ(halves, draw_halves(101, 5, false, Seed{1}));
  EXPECT_NE(halves, draw_halves(101, 5, false, Seed{2}));
}

TEST(BandHalves, OfASeriesAreStretches) {
  for (const auto& half : draw_halves(400, 6, true, Seed{3})) {
    EXPECT_EQ(half.size(), 200U);
    std::size_t jumps = 0;
    for (std::size_t k = 1; k < half.size(); ++k) jumps += half[k] != half[k - 1] + 1 ? 1U : 0U;
    EXPECT_LE(jumps, 9U);  // ten stretches of twenty rows
  }
}

TEST(BandHalves, OfManyRowsAreNoLargerThanStated) {
  EXPECT_EQ(draw_halves(100'000, 1, false, Seed{1}).front().size(), kMostHalfRows);
}

// Means of m of n draws, 20,000 times: their standard deviation around each other, times the scale,
// is the standard error of the mean of all n. Five standard errors of an estimate from 20,000.
TEST(BandHalves, ADeviationIsScaledToTheErrorOfTheWhole) {
  EXPECT_DOUBLE_EQ(deviation_scale(500, 1000), 1.0);
  constexpr std::size_t kRows = 40;
  for (const std::size_t part : {10U, 20U, 30U}) {
    Rng rng(Seed{part});
    double among = 0.0;
    for (int draw = 0; draw < 20'000; ++draw) {
      std::array<double, kRows> y{};
      for (double& value : y) value = rng.normal();
      double first = 0.0;
      double second = 0.0;
      const auto one = random_permutation(kRows, rng);
      const auto other = random_permutation(kRows, rng);
      for (std::size_t k = 0; k < part; ++k) {
        first += y[one[k]] / static_cast<double>(part);
        second += y[other[k]] / static_cast<double>(part);
      }
      among += 0.5 * (first - second) * (first - second) / 20'000.0;
    }
    const double error = deviation_scale(part, kRows) * std::sqrt(among);
    EXPECT_NEAR(error, 1.0 / std::sqrt(kRows), 5.0 * error / std::sqrt(2.0 * 20'000.0));
  }
}

/// The larger of the standard deviation of some shifts and their mean's size.
double error_of(const std::vector<double>& shifts) {
  const auto count = static_cast<double>(shifts.size());
  const double mean = std::accumulate(shifts.begin(), shifts.end(), 0.0) / count;
  double squares = 0.0;
  for (const double shift : shifts) squares += (shift - mean) * (shift - mean);
  return std::max(std::sqrt(squares / (count - 1.0)), std::abs(mean));
}

TEST(Bands, AreTheDeviationOfTheHalves) {
  for (const std::vector<double>& shifts :
       {std::vector<double>{0.03, -0.01, 0.02, 0.04}, std::vector<double>{0.05, -0.06, 0.01},
        std::vector<double>{0.02, 0.02}}) {
    const BandedModel model = shifted_halves(shifts, perfect_shares(), 0);
    const Matrix x(3, 1);
    const auto levels = some_levels();
    const Prediction p = predict_with_reliability(model, {x}, levels);
    const double error = error_of(shifts);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        EXPECT_NEAR(p.band_high(i, j) - p.quantiles(i, j), 1.6448536 * error, 1e-7);
        EXPECT_NEAR(p.quantiles(i, j) - p.band_low(i, j), 1.6448536 * error, 1e-7);
      }
      // U[0, 1]: a shift of s is a deviation of s in levels.
      double ratio = 0.0;
      for (const double tau : {0.1, 0.25, 0.5, 0.75, 0.9}) ratio += 0.2 / (tau * (1.0 - tau));
      EXPECT_NEAR(p.effective_n[i], 1.0 / (ratio * error * error), 1e-6 * p.effective_n[i]);
    }
  }
}

TEST(Bands, AreFiniteInAnyUnits) {
  for (const double unit : {1e-200, 1e200}) {
    BandedModel::Models halves;
    for (const double shift : {0.1, -0.2}) halves.push_back(line_model(shift * unit, unit));
    const BandedModel model(line_model(0.0, unit), std::move(halves), perfect_shares(), {},
                            {.rows = 1000, .half = 500, .ranked = 0});
    const std::vector<Level> levels = {Level{0.5}};
    const Prediction p = predict_with_reliability(model, {Matrix(1, 1)}, levels);
    const double error = error_of({0.1, -0.2});
    EXPECT_NEAR(p.band_high(0, 0) / unit - 0.5, 1.6448536 * error, 1e-7);
    EXPECT_TRUE(std::isfinite(p.effective_n[0]));
  }
}

TEST(Bands, OfAGuaranteeHaveTheErrorOfItsRanks) {
  const BandedModel model = shifted_halves({0.0, 0.0}, perfect_shares(), 98);
  const std::vector<Level> levels = {Level{0.5}};
  const Prediction p = predict_with_reliability(model, {Matrix(1, 1)}, levels);
  EXPECT_NEAR(p.band_high(0, 0) - 0.5, 1.6448536 * std::sqrt(0.25 / 100.0), 1e-6);
  EXPECT_NEAR(p.effective_n[0], 100.0, 1e-6);
}

// A law whose targets lie below the quantile of level tau with probability tau^2: the quantile of
// level 0.25 is really that of level 0.5.
TEST(Bands, ReachTheQuantileThatLeftOutRowsSpeakFor) {
  std::vector<double> shares = perfect_shares();
  for (double& share : shares) share *= share;
  const BandedModel model = shifted_halves({0.0, 0.0}, shares, 0);
  const std::vector<Level> levels = {Level{0.25}};
  const Prediction p = predict_with_reliability(model, {Matrix(1, 1)}, levels);
  EXPECT_NEAR(p.band_high(0, 0) - 0.25, 1.6448536 * 0.25, 1e-3);
}

// The method knows U[0, 1] and no feature; the law is U[0, 1] + step where x > 0.5, and - step
// elsewhere. Over all rows the method is right and halves agree with the whole, so that only trees
// can tell. On the side of the truth the band reaches it; on the other it is narrower.
TEST(Bands, ReachWhereTreesSeeThatTheMethodIsWrong) {
  constexpr double kStep = 0.1;
  Rng rng(Seed{3});
  Matrix x(2'000, 1);
  std::vector<double> y;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    x(i, 0) = rng.uniform();
    y.push_back(rng.uniform() + (x(i, 0) > 0.5 ? kStep : -kStep));
  }
  const FitHalf line = [](const FitInput&, const Execution&) { return line_model(0.0, 1.0); };
  const auto model = add_bands(line_model(0.0, 1.0), {.x = x, .y = y}, 0, line, {});
  Matrix queries(2, 1);
  queries(0, 0) = 0.25;
  queries(1, 0) = 0.75;
  const std::vector<Level> levels = {Level{0.25}, Level{0.5}, Level{0.75}};
  const Prediction p = predict_with_reliability(*model, {queries}, levels);
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double tau = levels[j].value();
    EXPECT_LT(p.band_low(0, j), tau - kStep);
    EXPECT_GT(p.band_high(1, j), tau + kStep);
    EXPECT_LT(p.band_high(0, j) - tau, tau - p.band_low(0, j));
    EXPECT_LT(tau - p.band_low(1, j), p.band_high(1, j) - tau);
  }
  // A shift of 0.1 where 1 / sqrt(n) is the error of n draws: about 25 draws at the median.
  for (const double effective : p.effective_n) {
    EXPECT_GT(effective, 5.0);
    EXPECT_LT(effective, 60.0);
  }
}

TEST(Bands, DoNotChangeTheAnswerNorDependOnOtherLevels) {
  const Sample data = draw(find_problem("hetero_1"), 400, Seed{41});
  const Sample fresh = draw(find_problem("hetero_1"), 40, Seed{42});
  for (const char* params :
       {"bands=on", "bands=on guarantee=split", "bands=on guarantee=cross:3"}) {
    std::string without(params);
    without.replace(0, 8, "bands=off");
    const auto model = fit_problem(data, "nrc_boost", params);
    const auto plain = fit_problem(data, "nrc_boost", without);
    const auto levels = some_levels();
    const Prediction p = predict_with_reliability(*model, {fresh.x}, levels);
    const Prediction q = plain->predict({fresh.x}, levels);
    EXPECT_TRUE(std::ranges::equal(p.quantiles.values(), q.quantiles.values())) << params;
    EXPECT_EQ(p.nearest, q.nearest);
    const std::vector<Level> one = {Level{0.25}};
    const Prediction alone = predict_with_reliability(*model, {fresh.x}, one);
    for (std::size_t i = 0; i < fresh.y.size(); ++i) {
      EXPECT_DOUBLE_EQ(alone.band_low(i, 0), p.band_low(i, 3)) << params;
      EXPECT_DOUBLE_EQ(alone.effective_n[i], p.effective_n[i]);
      for (std::size_t j = 0; j < levels.size(); ++j) {
        EXPECT_TRUE(std::isfinite(p.band_low(i, j)) && std::isfinite(p.band_high(i, j)));
        EXPECT_LE(p.band_low(i, j), p.quantiles(i, j));
        EXPECT_GE(p.band_high(i, j), p.quantiles(i, j));
      }
      EXPECT_GE(p.effective_n[i], 1.0);
      EXPECT_LE(p.effective_n[i], 400.0);
    }
    EXPECT_EQ(plain->delivered({fresh.x}, levels).cols(),
              model->delivered({fresh.x}, levels).cols());
  }
}

TEST(Bands, AreLeftOutWhereTheyWereNotAskedForOrCannotBe) {
  const Sample data = draw(find_problem("hetero_1"), 300, Seed{5});
  const Sample few = draw(find_problem("hetero_1"), 90, Seed{5});
  const auto levels = some_levels();
  for (const auto& model :
       {fit_problem(data, "nrc", "regressor=ridge"), fit_problem(few, "nrc", "bands=on")}) {
    const Prediction p = predict_with_reliability(*model, {few.x}, levels);
    EXPECT_EQ(p.band_low.cols(), 0U);
    EXPECT_TRUE(p.effective_n.empty());
    EXPECT_EQ(p.nearest.size(), few.y.size());
  }
  expect_error(ErrorCode::kInvalidArgument, "maybe",
               [&] { fit_problem(data, "nrc", "bands=maybe"); });
}

// Three targets in ten are exactly 0. Smooth quantiles pass it by, a guide's hit it.
TEST(Bands, AreLeftOutWhereQuantilesNeverTakeAValueThatManyTargetsShare) {
  const Sample spike = draw(find_problem("spike_2"), 600, Seed{5});
  const auto has_bands = [&](const Sample& data, const char* method, const char* params) {
    Description description;
    fit_problem(data, method, params)->describe(description);
    return description.bands.absence == BandsAbsence::kNone;
  };
  EXPECT_FALSE(has_bands(spike, "cqr_boost", "bands=on"));
  EXPECT_FALSE(has_bands(spike, "nrc", "regressor=ridge guarantee=split bands=on"));
  EXPECT_TRUE(has_bands(spike, "nrc", "regressor=ridge masses=yes bands=on"));
  EXPECT_TRUE(has_bands(spike, "pure_kernel", "bands=on"));
  // One target in twenty: too few levels for a band to be wrong at.
  Sample few = draw(find_problem("hetero_1"), 600, Seed{5});
  for (std::size_t i = 0; i < few.y.size(); i += 20) few.y[i] = 0.0;
  EXPECT_TRUE(has_bands(few, "nrc", "regressor=ridge bands=on"));
}

TEST(Bands, AutoIsOffWhereFitsAreSlowOrQuickIsAskedFor) {
  const Sample data = draw(find_problem("flat"), 120, Seed{5});
  const auto has_bands = [&](const char* method, const char* params) {
    const auto model = fit_problem(data, method, params);
    return dynamic_cast<const BandedModel*>(model.get()) != nullptr;
  };
  EXPECT_TRUE(has_bands("nrc", "regressor=ridge bands=auto"));
  EXPECT_FALSE(has_bands("auto", "budget=quick steps=20 bands=auto"));
  EXPECT_TRUE(has_bands("auto", "budget=quick steps=20 folds=2 bands=on"));
}

// SNQ alone: k nearest of n rows, none of which is biased, is a sample of k draws from a flat law.
TEST(Bands, EffectiveNOfAPlainWindowIsAboutItsSize) {
  const Sample data = draw(find_problem("flat"), 2000, Seed{8});
  const Sample fresh = draw(find_problem("flat"), 400, Seed{9});
  const auto model =
      fit_problem(data, "pure_kernel", "kernel=knn bandwidth=200 split=0.99 bands=on");
  const std::vector<Level> levels = {Level{0.5}};
  std::vector<double> effective = predict_with_reliability(*model, {fresh.x}, levels).effective_n;
  std::ranges::sort(effective);
  // A half's window of 200 rows is twice as wide as the whole's. Two halves share half of these
  // rows, so that the variance among halves is half of a half's own. The larger of it and the
  // distance from the whole is then about the variance of 200 draws, or more.
  EXPECT_GT(effective[200], 80.0);
  EXPECT_LT(effective[200], 320.0);
}

// Known laws, one fit each, 1,000 queries and five levels. Errors of neighbouring queries go
// together, so that the share is that of a few dozen independent ones: 0.8 is two standard errors
// below the 0.91 that the study of bands finds over many problems.
TEST(Bands, HoldTheTrueQuantile) {
  struct BandCase {
    const char *problem, *method, *params;
  };
  for (const BandCase& one : {BandCase{"hetero_5", "nrc_boost", "bands=on"},
                              BandCase{"skewed_2", "nrc_boost", "bands=on guarantee=split"},
                              BandCase{"kinked_1", "cqr_boost", "bands=on"},
                              BandCase{"bimodal_1", "deep_ensemble", "bands=on"}}) {
    const Problem& problem = find_problem(one.problem);
    const Sample data = draw(problem, 1500, Seed{11});
    const Sample fresh = draw(problem, 1000, Seed{12});
    const auto model = fit_problem(data, one.method, one.params);
    std::vector<Level> levels;
    for (const double tau : {0.05, 0.25, 0.5, 0.75, 0.95}) levels.emplace_back(tau);
    const Prediction p = predict_with_reliability(*model, {fresh.x}, levels);
    double held = 0.0;
    for (std::size_t i = 0; i < fresh.y.size(); ++i) {
      const Law law = problem.law(fresh.x.row(i));
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double truth = law.quantile(levels[j].value());
        if (p.band_low(i, j) <= truth && truth <= p.band_high(i, j)) held += 1.0 / 5000.0;
      }
    }
    EXPECT_GT(held, 0.8) << one.problem << " " << one.method;
  }
}

TEST(Reliability, OfAWrongShapeIsRefused) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{48});
  const auto model = fit_problem(data, "nrc", "regressor=ridge bands=on");
  const auto levels = some_levels();
  const Matrix wide(3, 2);
  expect_error(ErrorCode::kShapeMismatch, "features",
               [&] { predict_with_reliability(*model, {wide}, levels); });
  EXPECT_EQ(predict_with_reliability(*model, {Matrix(0, 1)}, levels).quantiles.rows(), 0U);
}

}  // namespace
}  // namespace tare
