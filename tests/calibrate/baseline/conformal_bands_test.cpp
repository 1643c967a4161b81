// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/conformal_bands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "draws.h"
#include "expect_error.h"
#include "infinity.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// tau * 9,900,000, of which every knot has a whole number: what the oracle counts in.
std::int64_t parts(double tau) { return std::llround(tau * 9'900'000.0); }
constexpr std::int64_t kWhole = 9'900'000;

/// Held-out rows whose quantiles and targets are small whole numbers: many ties, no rounding.
struct Held {
  Matrix quantiles;
  std::vector<double> y;
};

Held whole_numbers(std::size_t rows, std::uint64_t seed) {
  Held held{Matrix(rows, knot_levels().size()), {}};
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& q : held.quantiles.row(i)) q = static_cast<double>(rng.below(12));
    std::ranges::sort(held.quantiles.row(i));
    held.y.push_back(static_cast<double>(rng.below(14)));
  }
  return held;
}

/// What a pair is moved by, by trying every score: the smallest that enough weight does not exceed,
/// where the row to come counts as the largest; the largest score where none is enough. Weights are
/// whole numbers.
double oracle_shift(const Held& held, std::span<const double> weight, std::size_t pair) {
  const std::size_t rows = held.y.size();
  const std::size_t mirror = knot_levels().size() - 1 - pair;
  const auto score = [&](std::size_t i) {
    return std::max(held.quantiles(i, pair) - held.y[i], held.y[i] - held.quantiles(i, mirror));
  };
  const auto weight_of = [&](std::size_t i) {
    return weight.empty() ? std::int64_t{1} : std::llround(weight[i]);
  };
  std::int64_t total = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    total += weight_of(i);
    largest = std::max<std::int64_t>(largest, weight_of(i));
  }
  const std::int64_t inside = kWhole - 2 * parts(knot_levels()[pair].value());
  double best = kInf;
  double last = -kInf;
  for (std::size_t i = 0; i < rows; ++i) {
    last = std::max(last, score(i));
    std::int64_t reached = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      if (score(k) <= score(i)) reached += weight_of(k);
    }
    // reached / (total + largest) >= inside / kWhole
    if (reached * kWhole >= inside * (total + largest)) best = std::min(best, score(i));
  }
  return std::min(best, last);
}

/// The answer at a knot: the widest of the pairs inside it, itself included, and the median.
double oracle_answer(std::span<const double> shifts, std::span<const double> row,
                     std::size_t knot) {
  const std::size_t middle = knot_levels().size() / 2;
  double result = row[middle];
  for (std::size_t pair = std::min(knot, 2 * middle - knot); pair < middle; ++pair) {
    result = knot < middle ? std::min(result, row[pair] - shifts[pair])
                           : std::max(result, row[2 * middle - pair] + shifts[pair]);
  }
  return result;
}

TEST(KnotLevels, AscendMirrorAndHoldThePapers) {
  const auto knots = knot_levels();
  ASSERT_EQ(knots.size(), 299U);
  EXPECT_EQ(knots[149].value(), 0.5);
  EXPECT_EQ(knots.front().value(), 0.001);
  for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
    EXPECT_GT(knots[k + 1].value() - knots[k].value(), 1e-6);
    EXPECT_NEAR(knots[k].value() + knots[knots.size() - 1 - k].value(), 1.0, 1e-15);
  }
  const auto has = [&](double tau, double within) {
    return std::ranges::any_of(
        knots, [&](const Level& knot) { return std::abs(knot.value() - tau) <= within; });
  };
  for (const Level& level : metric_levels()) EXPECT_TRUE(has(level.value(), 1e-15));
  for (const double tau : {0.005, 0.01, 0.025, 0.05, 0.1, 0.9, 0.95, 0.975, 0.99, 0.995}) {
    EXPECT_TRUE(has(tau, 0.0)) << tau;
  }
}

TEST(ConformalBands, ShiftsAreTheOraclesWithTies) {
  // 499 is where 0.001 gets a finite rank; at 199, 0.05 falls on a whole rank exactly.
  for (const std::size_t rows : {1U, 2U, 19U, 20U, 58U, 199U, 498U, 499U}) {
    const Held held = whole_numbers(rows, rows);
    const ConformalBands bands(held.quantiles, held.y, {});
    const std::size_t step = rows > 100 ? bands.shifts().size() / draws(22) : 1;
    for (std::size_t pair = 0; pair < bands.shifts().size(); pair += step) {
      EXPECT_EQ(bands.shifts()[pair], oracle_shift(held, {}, pair))
          << rows << " rows, level " << knot_levels()[pair].value();
    }
  }
}

TEST(ConformalBands, WeightsThatDifferTakeTheRanksPlace) {
  for (const std::size_t rows : {2U, 20U, 57U, 120U}) {
    const Held held = whole_numbers(rows, 50 + rows);
    Rng rng(Seed{rows});
    std::vector<double> weight;
    for (std::size_t i = 0; i < rows; ++i)
      weight.push_back(1.0 + static_cast<double>(rng.below(4)));
    const ConformalBands bands(held.quantiles, held.y, weight);
    for (std::size_t pair = 0; pair < bands.shifts().size(); pair += 3) {
      EXPECT_EQ(bands.shifts()[pair], oracle_shift(held, weight, pair)) << rows << " rows";
    }
    // Only ratios count, also where a sum would overflow.
    for (double& w : weight) w *= 0x1p1020;
    const ConformalBands huge(held.quantiles, held.y, weight);
    EXPECT_TRUE(std::ranges::equal(huge.shifts(), bands.shifts()));
  }
}

TEST(ConformalBands, EqualWeightsAreNoWeights) {
  const Held held = whole_numbers(99, 3);
  const ConformalBands bands(held.quantiles, held.y, {});
  const ConformalBands weighted(held.quantiles, held.y, std::vector<double>(99, 0.1));
  EXPECT_TRUE(std::ranges::equal(bands.shifts(), weighted.shifts()));
}

TEST(ConformalBands, AnswersAreNestedAndTheOracles) {
  const Held held = whole_numbers(60, 4);
  const ConformalBands bands(held.quantiles, held.y, {});
  std::vector<double> shifts;
  for (std::size_t pair = 0; pair < 149; ++pair) shifts.push_back(oracle_shift(held, {}, pair));
  std::vector<double> out(knot_levels().size());
  for (std::size_t i = 0; i < 3; ++i) {
    bands.answer(held.quantiles.row(i), knot_levels(), out);
    EXPECT_TRUE(std::ranges::is_sorted(out));
    for (std::size_t k = 0; k < out.size(); k += 4) {
      EXPECT_EQ(out[k], oracle_answer(shifts, held.quantiles.row(i), k)) << "knot " << k;
    }
  }
}

TEST(ConformalBands, AnAnswerDoesNotDependOnWhatElseIsAsked) {
  const Held held = whole_numbers(60, 5);
  const ConformalBands bands(held.quantiles, held.y, {});
  std::vector<double> all(knot_levels().size());
  bands.answer(held.quantiles.row(0), knot_levels(), all);
  for (std::size_t k = 0; k < all.size(); ++k) {
    double one = 0.0;
    bands.answer(held.quantiles.row(0), knot_levels().subspan(k, 1), {&one, 1});
    EXPECT_EQ(one, all[k]);
  }
}

TEST(ConformalBands, BetweenTwoKnotsTheOuterOneAnswers) {
  const Held held = whole_numbers(600, 6);
  const ConformalBands bands(held.quantiles, held.y, {});
  const auto knots = knot_levels();
  std::vector<double> at(knots.size());
  std::vector<double> wide(knots.size());  // rows whose knots all differ show which one is taken
  for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = 100.0 * static_cast<double>(k);
  bands.answer(wide, knots, at);
  for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
    const double low = knots[k].value(), high = knots[k + 1].value();
    const std::vector<Level> asked = {Level{low + 5e-13}, Level{0.5 * (low + high)},
                                      Level{high - 5e-13}};
    std::vector<double> out(3);
    bands.answer(wide, asked, out);
    EXPECT_EQ(out[0], at[k]);
    EXPECT_EQ(out[1], k < 149 ? at[k] : at[k + 1]);
    EXPECT_EQ(out[2], at[k + 1]);
  }
}

TEST(ConformalBands, BeyondTheLastKnotTheRankOfTheLevelCounts) {
  // Scores of the outermost pair are 1, ..., 999; 0.0005 asks for 999 of 1,000, 0.0004 for more.
  Held held{Matrix(999, knot_levels().size()), {}};
  for (int i = 0; i < 999; ++i) held.y.push_back(i % 2 == 0 ? i + 1 : -i - 1);
  const std::vector<double> zero(knot_levels().size());
  const std::vector<Level> asked = {Level{1e-300}, Level{0.0004}, Level{0.0005}, Level{0.001},
                                    Level{0.999},  Level{0.9995}, Level{0.9999}};
  std::vector<double> out(asked.size());
  ConformalBands(held.quantiles, held.y, {}).answer(zero, asked, out);
  EXPECT_EQ(out, (std::vector<double>{-999.0, -999.0, -999.0, -998.0, 998.0, 999.0, 999.0}))
      << "999 of 1,000 is the most that the rows can keep";

  std::vector<double> weight(999, 1.0);
  weight[998] = 1.5;  // its score is the largest: all others are 998 of 999.5 and a row of 1.5
  ConformalBands(held.quantiles, held.y, weight).answer(zero, asked, out);
  EXPECT_EQ(out, (std::vector<double>{-999.0, -999.0, -999.0, -999.0, 999.0, 999.0, 999.0}));
}

TEST(ConformalBands, TooFewRowsGiveTheWidestIntervalTheyCanKeep) {
  const std::vector<double> zero(knot_levels().size());
  std::vector<double> out(4);
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {Level{0.001}, low, high, Level{0.9999}};
  Held held{Matrix(8, knot_levels().size()), {1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 1.0}};
  ConformalBands(held.quantiles, held.y, {}).answer(zero, levels, out);
  EXPECT_EQ(out, (std::vector<double>{-3.0, -3.0, 3.0, 3.0}));  // 8 of 9 are 88.9 %

  // With 19 rows the pair of 0.05 is kept, and the one further out is as wide as it was learned.
  held = {Matrix(19, knot_levels().size()), std::vector<double>(19, 1.0)};
  std::vector<double> learned(knot_levels().size(), 0.0);
  learned.front() = -7.0;
  ConformalBands(held.quantiles, held.y, {}).answer(learned, levels, out);
  EXPECT_EQ(out, (std::vector<double>{-8.0, -1.0, 1.0, 1.0}));
}

/// Weights of 1 and 10, and the heavy rows are the noisy ones. New rows come from the distribution
/// that the weights stand for, in which every other row is noisy. Counting the new row as an
/// average one covers 0.583 here.
TEST(ConformalBands, KeepTheirLevelWhereRowsHaveWeights) {
  constexpr int kDraws = 2000;
  constexpr std::size_t kRows = 60;
  const auto [low, high] = interval_levels(0.6);
  const std::vector<Level> levels = {low, high};
  const std::vector<double> zero(knot_levels().size());
  double sum = 0.0, squares = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Rng rng(split(Seed{78}, static_cast<std::uint64_t>(draw)));
    Held held{Matrix(kRows, knot_levels().size()), {}};
    std::vector<double> weight;
    for (std::size_t i = 0; i < kRows; ++i) {
      const bool noisy = rng.uniform() < 1.0 / 11.0;
      held.y.push_back((noisy ? 10.0 : 1.0) * rng.normal());
      weight.push_back(noisy ? 10.0 : 1.0);
    }
    std::vector<double> ends(2);
    ConformalBands(held.quantiles, held.y, weight).answer(zero, levels, ends);
    const double z = ends[1] / std::sqrt(2.0);
    const double covered = 0.5 * std::erf(z) + 0.5 * std::erf(z / 10.0);
    sum += covered;
    squares += covered * covered;
  }
  const double mean = sum / kDraws;
  const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  RecordProperty("coverage", std::to_string(mean));
  EXPECT_GE(mean, 0.6 - 3.0 * error) << mean << " +- " << error;
  EXPECT_LE(mean, 0.68) << "a row of the largest weight is 8 % of all";
}

/// A learner that is far off. `wobble` makes its quantiles so uneven that pairs must be widened.
std::vector<double> bad_quantiles(double x, double wobble) {
  std::vector<double> q;
  for (const Level& level : knot_levels()) {
    const double tau = level.value();
    q.push_back(-2.0 * x + 0.3 * (tau - 0.5) +
                (wobble > 0.0 ? wobble * x * std::sin(40.0 * tau) : 0.0));
  }
  std::ranges::sort(q);
  return q;
}

struct Coverage {
  double mean = 0.0;
  double standard_error = 0.0;
};

/// Over draws of `rows` held-out and 20 new rows each, all exchangeable, with a skewed target.
Coverage simulate(std::size_t rows, double confidence, double wobble) {
  constexpr int kDraws = 120;
  constexpr int kNew = 20;
  const auto [low, high] = interval_levels(confidence);
  const std::vector<Level> levels = {low, high};
  double sum = 0.0, squares = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Rng rng(split(Seed{77}, static_cast<std::uint64_t>(draw)));
    const auto target = [&](double x) { return x - x * std::log(1.0 - rng.uniform()); };
    Held held{Matrix(rows, knot_levels().size()), {}};
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = rng.uniform();
      std::ranges::copy(bad_quantiles(x, wobble), held.quantiles.row(i).begin());
      held.y.push_back(target(x));
    }
    const ConformalBands bands(held.quantiles, held.y, {});
    double covered = 0.0;
    for (int k = 0; k < kNew; ++k) {
      const double x = rng.uniform();
      std::vector<double> ends(2);
      bands.answer(bad_quantiles(x, wobble), levels, ends);
      const double y = target(x);
      covered += ends[0] <= y && y <= ends[1] ? 1.0 / kNew : 0.0;
    }
    sum += covered;
    squares += covered * covered;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(std::max(0.0, squares / kDraws - mean * mean) / (kDraws - 1))};
}

TEST(ConformalBands, CoverWhatTheyPromiseOnABadLearner) {
  // Without wobble the pairs nest by themselves, so the upper end of the promise holds as well.
  // Four standard errors: a right implementation fails once in 16,000 seeds, and this one is fixed.
  for (const std::size_t rows : {19U, 24U, 60U}) {
    for (const double confidence : {0.5, 0.9}) {
      const Coverage seen = simulate(rows, confidence, 0.0);
      const double slack = 4.0 * seen.standard_error;
      EXPECT_GE(seen.mean, confidence - slack) << rows;
      EXPECT_LE(seen.mean, confidence + 1.0 / static_cast<double>(rows + 1) + slack) << rows;
    }
  }
}

TEST(ConformalBands, NestingKeepsTheCoverage) {
  for (const double confidence : {0.3, 0.5, 0.9}) {
    const Coverage seen = simulate(30, confidence, 3.0);
    EXPECT_GE(seen.mean, confidence - 4.0 * seen.standard_error);
  }
}

TEST(ConformalBands, SavedAndLoadedAnswerTheSame) {
  const Held held = whole_numbers(80, 8);
  std::vector<double> uneven(80, 1.0);
  uneven[3] = 2.5;
  std::vector<Level> asked = {Level{1e-9}, Level{0.0007}};
  for (const Level& level : metric_levels()) asked.push_back(level);
  for (const auto& weight : {std::vector<double>{}, uneven}) {
    const ConformalBands bands(held.quantiles, held.y, weight);
    TensorStore store;
    bands.save(TensorWriter(store));
    const ConformalBands loaded = ConformalBands::load(TensorReader(store));
    std::vector<double> before(asked.size()), after(asked.size());
    bands.answer(held.quantiles.row(5), asked, before);
    loaded.answer(held.quantiles.row(5), asked, after);
    EXPECT_EQ(before, after);
  }
}

TEST(ConformalBands, DamagedFilesAreRefused) {
  const Held held = whole_numbers(5, 9);
  const ConformalBands bands(held.quantiles, held.y, {});
  const std::vector<double> shifts(bands.shifts().begin(), bands.shifts().end());
  const auto damaged = [&](const char* name, const std::vector<double>& values) {
    TensorStore store;
    bands.save(TensorWriter(store));
    store.tensors.erase(name);
    TensorWriter(store).tensor(name, values);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { ConformalBands::load(TensorReader(store)); });
  };
  const double nan = std::nan("");
  std::vector<double> with_nan = shifts, with_minus = shifts;
  with_nan[3] = nan;
  with_minus[148] = -kInf;
  std::vector<double> infinite = shifts;
  infinite[0] = kInf;
  damaged("shift", infinite);
  damaged("shift", with_nan);
  damaged("shift", with_minus);
  damaged("shift", std::vector<double>(148));
  damaged("outer_score", {});
  damaged("outer_score", {1.0, nan});
  damaged("outer_score", {1.0, kInf});
  damaged("outer_score", {2.0, 1.0});
  damaged("outer_weight", {1.0, 1.0});
  damaged("outer_weight", {1.0, 1.0, 1.0, 1.0, nan});
  damaged("outer_weight", {1.0, 1.0, 1.0, 1.0, -1.0});
  damaged("outer_weight", {0.0, 0.0, 0.0, 0.0, 0.0});
  damaged("outer_weight", {1.0, 1.0, 1.0, 1.0, kInf});
}

TEST(ConformalBands, ShapesThatDisagreeAreRefused) {
  const Held held = whole_numbers(5, 10);
  const std::span<const double> y = held.y;
  const auto make = [&](MatrixView q, std::span<const double> targets,
                        std::span<const double> weight) { ConformalBands(q, targets, weight); };
  expect_error(ErrorCode::kShapeMismatch, "4 targets",
               [&] { make(held.quantiles, y.first(4), {}); });
  expect_error(ErrorCode::kShapeMismatch, "4 weights",
               [&] { make(held.quantiles, y, y.first(4)); });
  expect_error(ErrorCode::kShapeMismatch, "7 quantiles", [&] { make(Matrix(5, 7), y, {}); });
  expect_error(ErrorCode::kBadData, "no row",
               [&] { make(Matrix(0, knot_levels().size()), {}, {}); });
}

}  // namespace
}  // namespace tare
