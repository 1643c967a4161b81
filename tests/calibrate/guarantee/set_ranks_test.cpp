// SPDX-License-Identifier: BSD-3-Clause
// Shortest sets of a guaranteed model: ranks, coverage and length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "calibrate/bounds/bounded_model.h"
#include "calibrate/guarantee/guarantee.h"
#include "draws.h"
#include "expect_error.h"
#include "function_model.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/shortest_sets.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

bool is_in_set(std::span<const double> ends, double y) {
  return (ends[0] <= y && y <= ends[1]) || (ends[2] <= y && y <= ends[3]);
}
double length_of(std::span<const double> ends) {
  return ends[1] - ends[0] + (std::isnan(ends[2]) ? 0.0 : ends[3] - ends[2]);
}
double probability_of(const Law& law, std::span<const double> ends) {
  double sum = law.cdf(ends[1]) - law.cdf_below(ends[0]);
  if (!std::isnan(ends[2])) sum += law.cdf(ends[3]) - law.cdf_below(ends[2]);
  return sum;
}

/// Quantiles of a shape, some of which take long.
using ShapeQuantiles = std::shared_ptr<std::map<double, double>>;

/// A model that is wrong on purpose: the law of the problem, with half of its scale.
std::unique_ptr<const QuantileModel> narrow_model(
    const Problem& problem,
    const ShapeQuantiles& known = std::make_shared<std::map<double, double>>()) {
  return std::make_unique<FunctionModel>(
      problem.dims, [known, law = problem.law](std::span<const double> x, double tau) {
        Law half = law(x);
        half.scale *= 0.5;
        if (half.at_zero > 0.0) return half.quantile(tau);
        const auto [found, is_new] = known->try_emplace(tau, 0.0);
        if (is_new) found->second = Law{half.shape, 0.0, 1.0}.quantile(tau);
        return half.location + half.scale * found->second;
      });
}

TEST(SetRanks, LevelsOfSetsAreKnots) {
  EXPECT_NO_THROW(SetColumnsOfKnots{guarantee_levels()});
  EXPECT_EQ(set_levels().size(), 267U);
}

/// The mean probability over draws of the held-out rows is at least the coverage, and at most
/// 1 / (n + 1) more where places have no ties, whatever the model.
TEST(SetRanks, KeepTheCoverageOfAModelThatIsWrong) {
  const std::vector<Level> coverages = {Level(0.5), Level(0.9)};
  for (const char* name : {"bimodal_1", "skewed_1", "hetero_1", "zeros_1"}) {
    const Problem& problem = find_problem(name);
    constexpr std::size_t kHeldOut = 19;  // 0.5 and 0.9 of 20 are whole
    const std::uint64_t all = draws(250);
    std::vector<double> sum(2), squares(2);
    const auto known = std::make_shared<std::map<double, double>>();
    for (std::uint64_t s = 0; s < all; ++s) {
      const Sample rows = draw(problem, kHeldOut + 3, split(Seed{5}, s));
      const FitInput held_out{.x = rows.x.view().middle_rows(0, kHeldOut),
                              .y = std::span(rows.y).first(kHeldOut)};
      const GuaranteedModel model(narrow_model(problem, known), held_out, {});
      const MatrixView fresh = rows.x.view().middle_rows(kHeldOut, 3);
      const ShortestSets sets = shortest_sets(model, {fresh}, coverages);
      ASSERT_TRUE(sets.guaranteed);
      EXPECT_EQ(sets.delivered(0, 1), 0.9);
      for (std::size_t k = 0; k < 2; ++k) {
        double mean = 0.0;
        for (std::size_t i = 0; i < 3; ++i) {
          mean += probability_of(problem.law(fresh.row(i)), sets.ends.row(i).subspan(4 * k, 4)) / 3;
        }
        sum[k] += mean;
        squares[k] += mean * mean;
      }
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const auto count = static_cast<double>(all);
      const double mean = sum[k] / count;
      const double error = std::sqrt((squares[k] / count - mean * mean) / count);
      // Eight comparisons, each three standard errors.
      EXPECT_GT(mean, coverages[k].value() - 3.0 * error) << name;
      if (std::string(name) == "zeros_1") continue;  // a mass ties places
      EXPECT_LT(mean, coverages[k].value() + 3.0 * error + 1e-4) << name;
    }
  }
}

/// By counting: the place of rank ceil((n + 1) c) holds as many of the ranked rows themselves.
TEST(SetRanks, HoldTheirShareOfTheRankedRows) {
  const Problem& problem = find_problem("hetero_2");
  for (const std::size_t rows : {19U, 20U, 57U, 200U}) {
    const Sample sample = draw(problem, rows, Seed{rows});
    const GuaranteedModel model(narrow_model(problem), {.x = sample.x, .y = sample.y}, {});
    for (const double c : {0.1, 0.5, 0.8, 0.9}) {
      const std::vector<Level> coverage = {Level(c)};
      const ShortestSets sets = shortest_sets(model, {sample.x.view()}, coverage);
      std::size_t held = 0;
      for (std::size_t i = 0; i < rows; ++i)
        if (is_in_set(sets.ends.row(i), sample.y[i])) ++held;
      EXPECT_GE(held, coverage[0].rank(rows + 1)) << rows << ' ' << c;
      EXPECT_LE(held, coverage[0].rank(rows + 1) + 1) << rows << ' ' << c;
    }
  }
}

TEST(SetRanks, TooFewRowsGiveTheModelsOwnTailOrInfinity) {
  const Problem& problem = find_problem("hetero_1");
  const Sample sample = draw(problem, 10, Seed{2});
  const FitInput held_out{.x = sample.x, .y = sample.y};
  const std::vector<Level> coverages = {Level(0.5), Level(0.99)};
  const ShortestSets own = shortest_sets(GuaranteedModel(narrow_model(problem), held_out, {}),
                                         {sample.x.view()}, coverages);
  EXPECT_EQ(own.rows_beyond, 10U);
  EXPECT_DOUBLE_EQ(own.delivered(0, 1), 10.0 / 11.0);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(std::isfinite(own.ends(i, 4)));
    EXPECT_TRUE(is_in_set(own.ends.row(i).subspan(4, 4), sample.y[i]));
  }
  const ShortestSets strict =
      shortest_sets(GuaranteedModel(narrow_model(problem), held_out, {}, OuterLevels::kInfinite),
                    {sample.x.view()}, coverages);
  EXPECT_TRUE(std::isinf(strict.ends(0, 4)) && std::isinf(strict.ends(0, 5)));
  EXPECT_TRUE(std::isfinite(strict.ends(0, 0)));
  EXPECT_EQ(strict.delivered(0, 1), 1.0);
}

TEST(SetRanks, AFileKeepsThemOfEachGroup) {
  const Sample sample = draw(find_problem("bimodal_1"), 400, Seed{6});
  std::vector<std::uint32_t> group(400);
  for (std::size_t i = 0; i < 400; ++i) group[i] = i < 10 ? 2 : i % 2;  // 10 rows are too few
  const Method& method = find_method("pure_kernel");
  const auto model = fit_method(method, {.x = sample.x, .y = sample.y, .group = group},
                                Params::parse("guarantee=split:0.5 bands=off"));
  const Rows rows{.x = sample.x, .group = group};
  const std::vector<Level> coverages = {Level(0.5), Level(0.9)};
  const ShortestSets before = shortest_sets(*model, rows, coverages);
  EXPECT_EQ(before.delivered(0, 1), 0.0);
  EXPECT_GE(before.delivered(20, 1), 0.9);
  TensorStore store;
  model->save(TensorWriter(store));
  const TensorReader in(store);
  const ShortestSets after =
      shortest_sets(*GuaranteedModel::load(in, method.load), rows, coverages);
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  EXPECT_TRUE(std::ranges::equal(before.ends.values(), after.ends.values(), same));
  EXPECT_TRUE(std::ranges::equal(before.delivered.values(), after.delivered.values()));
  // Of a version that makes sets otherwise, and of one without them.
  store.values["guarantee.set_rule"] = std::size_t{2};
  EXPECT_FALSE(shortest_sets(*GuaranteedModel::load(in, method.load), rows, coverages).guaranteed);
  store.values.erase("guarantee.set_rule");
  EXPECT_FALSE(shortest_sets(*GuaranteedModel::load(in, method.load), rows, coverages).guaranteed);
  expect_error(ErrorCode::kShapeMismatch, "groups",
               [&] { shortest_sets(*model, {sample.x.view()}, coverages); });
}

TEST(SetRanks, BoundsCutSetsAndLeaveOutPartsBeyond) {
  // Two modes, at -1 and at 1, with no target below 0.
  const Problem& problem = find_problem("bimodal_1");
  const auto model = [&] {
    const Sample sample = draw(problem, 40, Seed{3});
    Law law;
    law.shape = LawShape::kBimodal;
    return std::make_unique<GuaranteedModel>(
        std::make_unique<FunctionModel>(
            1, [law](std::span<const double>, double tau) { return law.quantile(tau); }),
        FitInput{.x = sample.x, .y = sample.y}, Execution{});
  };
  const Matrix x(1, 1, 0.3);
  const std::vector<Level> coverage = {Level(0.5)};
  const ShortestSets free = shortest_sets(*model(), {x.view()}, coverage);
  ASSERT_FALSE(std::isnan(free.ends(0, 2)));
  const BoundedModel bounded(model(), {.low = 0.0, .high = 1.0});
  const ShortestSets cut = shortest_sets(bounded, {x.view()}, coverage);
  EXPECT_TRUE(cut.guaranteed);
  EXPECT_EQ(cut.ends(0, 0), free.ends(0, 2));
  EXPECT_EQ(cut.ends(0, 1), 1.0);
  EXPECT_TRUE(std::isnan(cut.ends(0, 2)));
}

/// Length over that of the central interval and of the best set, and coverage, over samples.
struct Measured {
  double coverage = 0.0, error = 0.0, to_central = 0.0, to_best = 0.0, central_coverage = 0.0;
  double two_parts = 0.0;
};

Measured measure_sets(const char* name, const char* method, std::uint64_t samples) {
  const Problem& problem = find_problem(name);
  // The best length for a scale of 1, from 100,000 quantiles of the known law.
  constexpr std::size_t kCells = 100'000;
  std::vector<double> widths;
  Law shape = problem.law(std::vector<double>(problem.dims, 0.25));
  const double scale = shape.scale;
  for (std::size_t j = 1; j + 1 < kCells; ++j) {
    const auto at = [&](std::size_t k) {
      return shape.quantile(static_cast<double>(k) / static_cast<double>(kCells));
    };
    widths.push_back((at(j + 1) - at(j)) / scale);
  }
  std::sort(widths.begin(), widths.end());
  double best_unit = 0.0;
  for (std::size_t j = 0; j < kCells * 9 / 10; ++j) best_unit += widths[j];
  Measured m;
  double length = 0.0, central_length = 0.0, best = 0.0, squares = 0.0;
  const auto count = static_cast<double>(samples);
  for (std::uint64_t s = 0; s < samples; ++s) {
    constexpr std::size_t kRows = 4'000;
    constexpr std::size_t kNew = 300;
    const Sample rows = draw(problem, kRows + kNew, split(Seed{77}, s));
    FitInput input{.x = rows.x.view().middle_rows(0, kRows), .y = std::span(rows.y).first(kRows)};
    input.seed = Seed{s};
    const auto model =
        fit_method(find_method(method), input, Params::parse("guarantee=split bands=off"), {});
    const Rows fresh{rows.x.view().middle_rows(kRows, kNew)};
    const std::vector<Level> coverage = {Level(0.9)};
    const ShortestSets sets = shortest_sets(*model, fresh, coverage);
    EXPECT_TRUE(sets.guaranteed);
    const auto [low, high] = interval_levels(0.9);
    const Prediction central = model->predict(fresh, std::vector<Level>{low, high});
    double mean = 0.0;
    for (std::size_t i = 0; i < kNew; ++i) {
      const Law law = problem.law(fresh.x.row(i));
      mean += probability_of(law, sets.ends.row(i)) / kNew;
      length += length_of(sets.ends.row(i));
      m.two_parts += std::isnan(sets.ends(i, 2)) ? 0.0 : 1.0 / (count * kNew);
      central_length += central.quantiles(i, 1) - central.quantiles(i, 0);
      m.central_coverage +=
          (law.cdf(central.quantiles(i, 1)) - law.cdf_below(central.quantiles(i, 0))) /
          (count * kNew);
      best += best_unit * law.scale;
    }
    m.coverage += mean / count;
    squares += mean * mean / count;
  }
  m.error = std::sqrt(std::max(0.0, squares - m.coverage * m.coverage) / count);
  m.to_central = length / central_length;
  m.to_best = length / best;
  std::printf(
      "%-10s %-6s coverage %.4f +- %.4f (central %.4f), length %.3f of central, %.3f of best, "
      "two parts %.3f\n",
      name, method, m.coverage, m.error, m.central_coverage, m.to_central, m.to_best, m.two_parts);
  return m;
}

/// 200 samples of 4,000 rows: coverage at least the level less two standard errors, and lengths.
TEST(SetRanks, AreShortAndCoverOnKnownLaws) {
  const std::uint64_t samples = draws(200);
  for (const char* name : {"bimodal_1", "skewed_1", "hetero_1"}) {
    const Measured m = measure_sets(name, "pure_kernel", samples);
    EXPECT_GT(m.coverage, 0.9 - 2.0 * m.error) << name;
    const std::string law = name;
    EXPECT_LT(m.to_central, law == "bimodal_1" ? 0.85 : law == "skewed_1" ? 0.9 : 1.02) << name;
  }
}

}  // namespace
}  // namespace tare
