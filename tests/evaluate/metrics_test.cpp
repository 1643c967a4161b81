// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "evaluate/forecasts.h"
#include "evaluate/groups.h"
#include "infinity.h"
#include "math/compensated_sum.h"
#include "math/normal.h"
#include "tare/base/error.h"

namespace tare {
namespace {

std::vector<Level> levels_of(std::initializer_list<double> taus) {
  std::vector<Level> levels;
  for (const double tau : taus) levels.emplace_back(tau);
  return levels;
}

// Targets and quantiles with no structure at all; `grid` makes ties frequent.
struct Noise {
  std::vector<double> y;
  Matrix q;
};
Noise noise(std::size_t rows, std::size_t cols, double grid) {
  Rng rng(Seed{99});
  Noise out{std::vector<double>(rows), Matrix(rows, cols)};
  for (double& v : out.y) v = std::round(rng.normal() / grid) * grid;
  for (double& v : out.q.values()) v = std::round(rng.normal() / grid) * grid;
  return out;
}

using Wide = long double;

Wide naive_mace(const Noise& d, std::span<const Level> levels, std::span<const std::size_t> rows) {
  Wide sum = 0;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    Wide hits = 0;
    for (const std::size_t i : rows) {
      if (!(d.y[i] > d.q(i, j))) hits += 1;
    }
    sum += std::fabs(static_cast<Wide>(levels[j].value()) - hits / static_cast<Wide>(rows.size()));
  }
  return sum / static_cast<Wide>(levels.size());
}

Wide naive_check_score(const Noise& d, std::span<const Level> levels) {
  Wide sum = 0;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    for (std::size_t i = 0; i < d.y.size(); ++i) {
      const Wide miss = static_cast<Wide>(d.y[i]) - static_cast<Wide>(d.q(i, j));
      const auto tau = static_cast<Wide>(levels[j].value());
      sum += miss > 0 ? tau * miss : (1 - tau) * -miss;
    }
  }
  return sum / static_cast<Wide>(d.y.size() * levels.size());
}

TEST(Pinball, ByHand) {
  EXPECT_DOUBLE_EQ(pinball(3.0, 1.0, 0.9), 1.8);
  EXPECT_DOUBLE_EQ(pinball(1.0, 3.0, 0.9), 0.2);
  EXPECT_EQ(pinball(2.0, 2.0, 0.3), 0.0);
  EXPECT_EQ(pinball(2.0, kInf, 0.3), kInf);
  EXPECT_EQ(pinball(2.0, -kInf, 0.3), kInf);
}

TEST(CompensatedSum, KeepsWhatPlainAdditionDrops) {
  CompensatedSum sum;
  for (const double v : {1.0, 1e100, 1.0, -1e100}) sum.add(v);
  EXPECT_EQ(sum.value(), 2.0);
  sum.add(kInf);
  sum.add(1.0);
  EXPECT_EQ(sum.value(), kInf);
}

TEST(ObservedLevels, CountedHaveATieBelow) {
  const std::vector<double> y = {1.0, 2.0, 3.0, 4.0};
  const Matrix q({0.0, 1.0, 2.0, 2.0, 2.0, 3.0, 2.0, kInf}, 4, 2);
  EXPECT_EQ(observed_levels_counted(y, q), (std::vector<double>{0.25, 1.0}));
}

TEST(Mace, ByHand) {
  const std::vector<double> y = {1.0, 2.0};
  const Matrix q({1.5, 0.0, 1.5, 3.0}, 2, 2);  // observed levels 0.5 and 0.5
  EXPECT_DOUBLE_EQ(mace(y, q, levels_of({0.1, 0.7})), 0.3);
}

TEST(Metrics, AgreeWithNaiveSums) {
  const std::vector<Level> levels = metric_levels();
  for (const double grid : {1e-9, 0.25}) {
    const Noise d = noise(157, levels.size(), grid);
    std::vector<std::size_t> all(d.y.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_NEAR(mace_counted(d.y, d.q, levels), static_cast<double>(naive_mace(d, levels, all)),
                1e-15);
    const auto score = static_cast<double>(naive_check_score(d, levels));
    EXPECT_NEAR(check_score(d.y, d.q, levels), score, 1e-15);

    Wide worst = 0;
    worst_group(d.y.size(), Seed{4}, [&](std::span<const std::size_t> group) {
      worst = std::max(worst, naive_mace(d, levels, group));
      return 0.0;
    });
    EXPECT_NEAR(agce_counted(d.y, d.q, levels, Seed{4}), static_cast<double>(worst), 1e-15);
    if (grid > 0.1) continue;
    // Without a tie there is nothing to split, to the last digit.
    EXPECT_EQ(mace(d.y, d.q, levels), mace_counted(d.y, d.q, levels));
    EXPECT_EQ(agce(d.y, d.q, levels, Seed{4}), agce_counted(d.y, d.q, levels, Seed{4}));
    EXPECT_EQ(observed_levels(d.y, d.q, levels), observed_levels_counted(d.y, d.q));
  }
}

TEST(Metrics, ReadAViewWithAStride) {
  const std::vector<Level> levels = levels_of({0.2, 0.5, 0.8});
  const Noise d = noise(40, 7, 0.1);
  Matrix copy(40, 3);
  for (std::size_t i = 0; i < 40; ++i) std::copy_n(d.q.row(i).begin() + 2, 3, copy.row(i).begin());
  const MatrixView part(d.q.values().data() + 2, 40, 3, 7);
  EXPECT_EQ(mace(d.y, part, levels), mace(d.y, copy, levels));
  EXPECT_EQ(check_score(d.y, part, levels), check_score(d.y, copy, levels));
  EXPECT_EQ(agce(d.y, part, levels, Seed{1}), agce(d.y, copy, levels, Seed{1}));
}

TEST(Agce, IsSeededAndOneRowIsItsOwnGroup) {
  const std::vector<Level> levels = metric_levels();
  const Noise d = noise(200, levels.size(), 1e-9);
  EXPECT_EQ(agce(d.y, d.q, levels, Seed{1}), agce(d.y, d.q, levels, Seed{1}));
  EXPECT_NE(agce(d.y, d.q, levels, Seed{1}), agce(d.y, d.q, levels, Seed{2}));
  const Noise one = noise(1, levels.size(), 1e-9);
  EXPECT_EQ(agce(one.y, one.q, levels, Seed{1}), mace(one.y, one.q, levels));
}

TEST(CheckScore, IsLeastAtTheTrueQuantiles) {
  const Problem& problem = find_problem("bimodal_2");
  const std::vector<Level> levels = metric_levels();
  const Sample sample = draw(problem, 4000, Seed{6});
  const Matrix truth = true_quantiles(problem, sample.x, levels);
  const double best = check_score(sample.y, truth, levels);
  for (const double shift : {-0.2, 0.2}) {
    Matrix moved = truth;
    for (double& v : moved.values()) v += shift;
    EXPECT_GT(check_score(sample.y, moved, levels), best);
  }
  for (const double factor : {0.8, 1.2}) {
    Matrix stretched = truth;
    for (double& v : stretched.values()) v *= factor;
    EXPECT_GT(check_score(sample.y, stretched, levels), best);
  }
}

TEST(Scores, AreInfiniteAndNotNanWithInfiniteQuantiles) {
  const std::vector<double> y = {0.0, 1.0};
  const std::vector<Level> levels = levels_of({0.1, 0.9});
  const Matrix q({-kInf, kInf, 0.5, 2.0}, 2, 2);
  EXPECT_EQ(check_score(y, q, levels), kInf);
  EXPECT_DOUBLE_EQ(mace(y, q, levels), 0.1);
  const std::vector<double> low = {-kInf, 0.5};
  const std::vector<double> high = {kInf, 2.0};
  EXPECT_EQ(interval_length(low, high), kInf);
  EXPECT_EQ(interval_coverage(y, low, high), 1.0);
  EXPECT_EQ(winkler_score(y, low, high, 0.8), kInf);
  EXPECT_EQ(pit_histogram(y, q), (std::vector<double>{0.0, 1.0, 0.0}));
}

TEST(Crps, LevelsAreMidpoints) {
  const std::vector<Level> levels = crps_levels();
  ASSERT_EQ(levels.size(), 200u);
  EXPECT_DOUBLE_EQ(levels.front().value(), 0.0025);
  EXPECT_DOUBLE_EQ(levels.back().value(), 0.9975);
}

double crps_at(const Law& law, double y) {
  Matrix q(1, 200);
  const std::vector<Level> levels = crps_levels();
  for (std::size_t j = 0; j < 200; ++j) q(0, j) = law.quantile(levels[j].value());
  return crps(std::vector<double>{y}, q);
}

// U[0, 1] at y inside: y^2 - y + 1/3. The integrand is a quadratic on either side of y, where the
// midpoint rule errs by h^2/12 and, in the step that holds y, by h^2/4 times the kink's slope.
TEST(Crps, OfAUniformLawIsClosedForm) {
  for (const double y : {0.0, 0.1, 0.33, 0.5, 0.987}) {
    EXPECT_NEAR(crps_at({LawShape::kUniform, 0.0, 1.0}, y), y * y - y + 1.0 / 3.0, 2e-5) << y;
  }
}

// N(0, 1): y (2 Phi(y) - 1) + 2 phi(y) - 1/sqrt(pi). The outermost half steps, mass 0.0025 each,
// are where the quantile runs to infinity; they cost a few 1e-4 of a score of at least 0.23.
TEST(Crps, OfANormalLawIsClosedForm) {
  for (const double y : {-3.0, -1.0, 0.0, 0.4, 2.0}) {
    const double want =
        y * (2.0 * normal_cdf(y) - 1.0) + 2.0 * normal_pdf(y) - 1.0 / std::sqrt(std::acos(-1.0));
    EXPECT_NEAR(crps_at({LawShape::kNormal, 0.0, 1.0}, y), want, 1e-3) << y;
  }
}

TEST(Intervals, ByHand) {
  const std::vector<double> y = {0.0, 1.0, 5.0, 9.0};
  const std::vector<double> low = {0.0, 2.0, 4.0, 4.0};
  const std::vector<double> high = {1.0, 3.0, 6.0, 8.0};
  EXPECT_DOUBLE_EQ(interval_length(low, high), 2.0);
  EXPECT_DOUBLE_EQ(interval_coverage(y, low, high), 0.5);  // both ends belong to the interval
  // Misses of 1 on either side, each at a price of 2 / 0.5.
  EXPECT_DOUBLE_EQ(winkler_score(y, low, high, 0.5), 2.0 + (4.0 + 4.0) / 4.0);
}

// Up to the factor 1 / alpha the Winkler score is the pinball loss of both ends.
TEST(Winkler, IsThePinballLossOfBothEnds) {
  const Noise d = noise(300, 2, 1e-9);
  std::vector<double> low(300);
  std::vector<double> high(300);
  for (std::size_t i = 0; i < 300; ++i) {
    low[i] = std::min(d.q(i, 0), d.q(i, 1));
    high[i] = std::max(d.q(i, 0), d.q(i, 1));
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < 300; ++i) {
    sum += pinball(d.y[i], low[i], 0.1) + pinball(d.y[i], high[i], 0.9);
  }
  EXPECT_NEAR(winkler_score(d.y, low, high, 0.8), sum / 0.1 / 300.0, 1e-12);
}

TEST(PitHistogram, OfPerfectForecastsIsFlat) {
  const Problem& problem = find_problem("hetero_2");
  constexpr std::size_t kRows = 20000;
  const Sample sample = draw(problem, kRows, Seed{8});
  std::vector<Level> edges;
  for (int j = 1; j < 20; ++j) edges.emplace_back(j / 20.0);
  const std::vector<double> shares =
      pit_histogram(sample.y, true_quantiles(problem, sample.x, edges));
  ASSERT_EQ(shares.size(), 20u);
  // Five standard deviations of a binomial share of 0.05.
  for (const double share : shares) {
    EXPECT_NEAR(share, 0.05, 5.0 * std::sqrt(0.05 * 0.95 / static_cast<double>(kRows)));
  }
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-12);
}

TEST(PitHistogram, IsFlatForPerfectForecastsOfMasses) {
  // 0 with a probability that differs from row to row, else uniform: y and quantiles from one law.
  // 40,000 rows: four standard errors of a bin are 0.0044, and halves are right only on average.
  Rng rng(Seed{12});
  constexpr std::size_t kRows = 40'000;
  Matrix q(kRows, 19);
  std::vector<double> y(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const double zero = rng.uniform(0.1, 0.9);
    const auto at = [&](double level) { return std::max(0.0, level - zero); };
    for (std::size_t j = 0; j < 19; ++j) q(i, j) = at(0.05 * static_cast<double>(j + 1));
    y[i] = at(rng.uniform());
  }
  for (const double share : pit_histogram(y, q)) EXPECT_NEAR(share, 0.05, 0.0044 + 0.001);
}

TEST(PitHistogram, SpreadsTiesOverTheBinsBetweenAndHalfOfThoseBeside) {
  const Matrix q({1.0, 2.0, 2.0, 2.0, 3.0}, 1, 5);
  using Shares = std::vector<double>;
  const Shares spread = pit_histogram(Shares{2.0}, q);
  const Shares wanted = {0.0, 0.5 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.5 / 3.0, 0.0};
  for (std::size_t b = 0; b < wanted.size(); ++b) EXPECT_NEAR(spread[b], wanted[b], 1e-15);
  EXPECT_EQ(pit_histogram(Shares{1.0}, q), (Shares{0.5, 0.5, 0.0, 0.0, 0.0, 0.0}));
  EXPECT_EQ(pit_histogram(Shares{2.5}, q), (Shares{0.0, 0.0, 0.0, 0.0, 1.0, 0.0}));
  EXPECT_EQ(pit_histogram(Shares{9.0}, q), (Shares{0.0, 0.0, 0.0, 0.0, 0.0, 1.0}));
}

TEST(IndividualCalibrationError, IsZeroForTheTruthOfEveryProblem) {
  const std::vector<Level> levels = metric_levels();
  for (const Problem& problem : problems()) {
    const Sample sample = draw(problem, 50, Seed{11});
    const Matrix truth = true_quantiles(problem, sample.x, levels);
    // Rounding of y, in units of a scale that may be a hundredth of the location.
    EXPECT_NEAR(individual_calibration_error(problem, sample.x, truth, levels), 0.0, 1e-13)
        << problem.name;
    EXPECT_EQ(quantile_rmse(problem, sample.x, truth, levels), 0.0) << problem.name;
  }
}

TEST(IndividualCalibrationError, AJumpCountsAsAllItsLevels) {
  // At x = 0.25 the odds of 0 are exp(2) to 1, so 0 is the quantile of every level up to 0.88.
  const Problem& problem = find_problem("zeros_1");
  const Matrix x(1, 1, 0.25);
  const double top = problem.law(x.row(0)).cdf(0.0);
  const std::vector<Level> levels = levels_of({0.1, 0.5, 0.88, 0.95});
  const Matrix zeros(1, 4, 0.0);
  EXPECT_NEAR(individual_calibration_error(problem, x, zeros, levels), (0.95 - top) / 4.0, 1e-15);
  // A hair below the jump has no row under it, a hair above has all of the jump.
  const std::vector<Level> median = levels_of({0.5});
  EXPECT_NEAR(individual_calibration_error(problem, x, Matrix(1, 1, -1e-9), median), 0.5, 1e-15);
  EXPECT_NEAR(individual_calibration_error(problem, x, Matrix(1, 1, 1e-9), median), top - 0.5,
              1e-8);
}

TEST(IndividualCalibrationError, SeesWhatMaceCannot) {
  // The paper's Example 1 at tau = 0.9: full coverage up to x = 0.9 and none beyond. MACE is the
  // gap of 0.9 less the share, nearly 0; ICE is 0.9 * 0.1 + 0.1 * 0.9 = 0.18.
  const Problem& problem = find_problem("uniform_wedge");
  const std::vector<Level> levels = levels_of({0.9});
  const Sample sample = draw(problem, 50000, Seed{12});
  Matrix q(sample.y.size(), 1);
  for (std::size_t i = 0; i < q.rows(); ++i) q(i, 0) = sample.x(i, 0) <= 0.9 ? sample.x(i, 0) : 0.0;
  EXPECT_LT(mace(sample.y, q, levels), 0.007);  // five standard errors
  EXPECT_NEAR(individual_calibration_error(problem, sample.x, q, levels), 0.18, 0.006);
}

TEST(QuantileRmse, ByHand) {
  const Problem& problem = find_problem("uniform_wedge");
  const Matrix x({0.5, 1.0}, 2, 1);
  const Matrix q({0.25 + 0.3, 0.5 - 0.4}, 2, 1);  // the medians are 0.25 and 0.5
  EXPECT_DOUBLE_EQ(quantile_rmse(problem, x, q, levels_of({0.5})), std::sqrt(0.125));
  const Matrix endless({kInf, 0.5}, 2, 1);
  EXPECT_EQ(quantile_rmse(problem, x, endless, levels_of({0.5})), kInf);
  EXPECT_DOUBLE_EQ(individual_calibration_error(problem, x, endless, levels_of({0.5})), 0.25);
}

template <class Call>
void expect_error(ErrorCode code, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

TEST(Metrics, RefuseWrongShapesAndBadValues) {
  const std::vector<double> y = {1.0, 2.0};
  const std::vector<double> three = {1.0, 2.0, 3.0};
  const std::vector<double> none;
  const std::vector<double> bad = {1.0, std::nan("")};
  const std::vector<Level> one = levels_of({0.5});
  const std::vector<Level> two = levels_of({0.4, 0.5});
  const Matrix q({1.0, 2.0}, 2, 1);
  const Matrix empty(0, 1);
  const Problem& problem = find_problem("hetero_2");
  const auto shape = ErrorCode::kShapeMismatch;
  expect_error(shape, [&] { observed_levels(three, q, one); });
  expect_error(shape, [&] { observed_levels_counted(three, q); });
  expect_error(shape, [&] { mace(y, q, one, {}); });
  expect_error(shape, [&] { mace(three, q, one); });
  expect_error(shape, [&] { mace(y, q, two); });
  expect_error(shape, [&] { agce(y, q, two, Seed{}); });
  expect_error(shape, [&] { check_score(y, q, two); });
  expect_error(shape, [&] { crps(y, q); });
  expect_error(shape, [&] { interval_length(y, three); });
  expect_error(shape, [&] { interval_coverage(three, y, y); });
  expect_error(shape, [&] { winkler_score(three, y, y, 0.9); });
  expect_error(shape, [&] { pit_histogram(three, q); });
  expect_error(shape, [&] { individual_calibration_error(problem, q, q, one); });
  expect_error(shape, [&] { quantile_rmse(problem, Matrix(3, 2), q, one); });
  const auto argument = ErrorCode::kInvalidArgument;
  expect_error(argument, [&] { mace(none, empty, one); });
  expect_error(argument, [&] { interval_length(none, none); });
  expect_error(argument, [&] { winkler_score(y, y, y, 1.0); });
  expect_error(argument, [&] { quantile_rmse(problem, Matrix(0, 2), empty, one); });
  expect_error(argument, [&] { mace(y, Matrix(2, 0), std::vector<Level>{}); });
  const auto data = ErrorCode::kBadData;
  expect_error(data, [&] { mace(bad, q, one); });
  expect_error(data, [&] { mace(y, Matrix(bad, 2, 1), one); });
  expect_error(data, [&] { check_score(std::vector<double>{1.0, kInf}, q, one); });
  expect_error(data, [&] { interval_length(std::vector<double>{0.0, kInf}, y); });
  expect_error(data, [&] { interval_coverage(y, y, bad); });
}

}  // namespace
}  // namespace tare
