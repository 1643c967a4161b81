// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/masses/mass_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "calibrate/automatic/point_masses.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

using automatic::place_on_masses;

TEST(MassModel, AnAnswerHasTheGuidesSideOfEveryMass) {
  const std::vector<double> masses = {0.0, 3.0, 8.0};
  Rng rng(Seed{1});
  for (int draw = 0; draw < 300; ++draw) {
    const bool whole = draw % 2 == 0;
    std::vector<double> guide(20);
    std::vector<double> quantiles(20);
    for (std::size_t j = 0; j < guide.size(); ++j) {
      guide[j] = rng.uniform() < 0.3 ? masses[rng.below(3)] : rng.uniform(-2.0, 12.0);
      if (whole) guide[j] = std::round(guide[j]);
      quantiles[j] = rng.uniform(-3.0, 13.0);
    }
    std::ranges::sort(guide);
    std::ranges::sort(quantiles);
    const std::vector<double> before = quantiles;
    place_on_masses(guide, masses, whole, quantiles);
    EXPECT_TRUE(std::ranges::is_sorted(quantiles));
    for (std::size_t j = 0; j < guide.size(); ++j) {
      for (const double mass : masses) {  // P(y <= mass) and P(y < mass) are the guide's
        EXPECT_EQ(quantiles[j] <= mass, guide[j] <= mass);
        EXPECT_EQ(quantiles[j] < mass, guide[j] < mass);
      }
      if (whole) {
        EXPECT_EQ(quantiles[j], std::round(quantiles[j]));
      }
    }
  }
}

/// 0 with a known probability, else an exponential amount; a prediction of its mean is given.
struct Inflated {
  Matrix x, given;
  std::vector<double> y, zero;  // zero: P(y = 0 | x)

  Inflated(std::size_t rows, Seed seed) : x(rows, 2), given(rows, 1) {
    Rng rng(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      x(i, 0) = rng.uniform();
      x(i, 1) = rng.uniform();
      zero.push_back(0.15 + 0.7 * x(i, 0));
      const double size = 1.0 + 3.0 * x(i, 1);
      const bool is_zero = rng.uniform() < zero.back();
      const double amount = -size * std::log(1.0 - rng.uniform());
      y.push_back(is_zero ? 0.0 : amount);
      given(i, 0) = (1.0 - zero.back()) * size;
    }
  }
  FitInput input() const {
    FitInput all{.x = x, .y = y};
    all.given = given;
    return all;
  }
};

/// The mean of |P(y <= 0) said - P(y = 0 | x)|; P(y <= 0) is the share of the levels whose quantile
/// is 0 or less.
double zero_error(const QuantileModel& model, const Inflated& fresh, std::size_t& below) {
  const std::vector<Level> levels = metric_levels();
  const Prediction p = model.predict({fresh.x, fresh.given}, levels);
  double sum = 0.0;
  below = 0;
  for (std::size_t i = 0; i < fresh.y.size(); ++i) {
    double said = 0.0;
    for (const double q : p.quantiles.row(i)) {
      if (q <= 0.0) said += 0.01;
      if (q < 0.0) ++below;
    }
    sum += std::abs(said - fresh.zero[i]);
  }
  return sum / static_cast<double>(fresh.y.size());
}

TEST(MassModel, TheProbabilityOfAMassIsTheTrueOne) {
  const Inflated data(3000, Seed{2});
  const Inflated fresh(1000, Seed{3});
  for (const char* method : {"nrc_boost", "nrc"}) {
    const auto plain =
        fit_method(find_method(method), data.input(), Params::parse("masses=no bounds=none"));
    const auto placed = fit_method(find_method(method), data.input(), {});
    std::size_t below = 0;
    const double without = zero_error(*plain, fresh, below);
    EXPECT_GT(below, 0U);
    const double with = zero_error(*placed, fresh, below);
    EXPECT_EQ(below, 0U);
    std::printf("%s: error of P(y = 0) %.3f without a guide, %.3f with\n", method, without, with);
    // 3,000 rows tell a probability that follows x to a few percent: measured 0.031 and 0.038, and
    // 0.24 without a guide.
    EXPECT_LT(with, 0.06) << method;
    EXPECT_LT(with, 0.7 * without) << method;
    const std::vector<Level> levels = metric_levels();
    const double loss =
        check_score(fresh.y, plain->predict({fresh.x, fresh.given}, levels).quantiles, levels);
    const double guided =
        check_score(fresh.y, placed->predict({fresh.x, fresh.given}, levels).quantiles, levels);
    EXPECT_LT(guided, 1.005 * loss) << method;
  }
}

TEST(MassModel, AMethodWithAModelOfItsOwnHasItOnRequest) {
  const Inflated data(1500, Seed{4});
  const Inflated fresh(500, Seed{5});
  const FitInput own{.x = data.x, .y = data.y};
  const auto plain = fit_method(find_method("nrc_rf"), own, {});
  const auto placed = fit_method(find_method("nrc_rf"), own, Params::parse("masses=yes"));
  const auto at_zero = [&](const QuantileModel& model) {
    const auto p = model.predict({fresh.x}, metric_levels());
    return std::ranges::count(p.quantiles.values(), 0.0);
  };
  // Half of all quantiles should be 0.
  EXPECT_NEAR(static_cast<double>(at_zero(*placed)) / 50'000.0, 0.5, 0.05);
  EXPECT_LT(at_zero(*plain), at_zero(*placed));
  expect_error(ErrorCode::kInvalidArgument, "masses",
               [&] { fit_method(find_method("nrc_rf"), own, Params::parse("masses=maybe")); });
}

TEST(MassModel, TargetsWithoutMassesAreLeftAlone) {
  Inflated data(400, Seed{6});
  for (std::size_t i = 0; i < data.y.size(); ++i) data.y[i] += 1e-3 * static_cast<double>(i);
  const auto with = fit_method(find_method("nrc_boost"), data.input(), {});
  const auto without =
      fit_method(find_method("nrc_boost"), data.input(), Params::parse("masses=no"));
  const auto a = with->predict({data.x, data.given}, metric_levels());
  const auto b = without->predict({data.x, data.given}, metric_levels());
  EXPECT_TRUE(std::ranges::equal(a.quantiles.values(), b.quantiles.values()));
}

TEST(MassModel, ASeriesIsLeftOutInStretchesOrNotAtAll) {
  const Inflated data(600, Seed{8});
  for (const std::size_t rows : {120U, 600U}) {  // too few for windows of 20, and enough
    FitInput input = data.input();
    input.x = data.x.view().middle_rows(0, rows);
    input.given = data.given.view().middle_rows(0, rows);
    input.y = std::span<const double>(data.y).first(rows);
    input.window = 20;
    const auto model = fit_method(find_method("nrc"), input, {});
    const auto p = model->predict({data.x, data.given}, metric_levels());
    const auto zeros = std::ranges::count(p.quantiles.values(), 0.0);
    if (rows == 600U) {
      EXPECT_NEAR(static_cast<double>(zeros) / 60'000.0, 0.5, 0.1);
    }
  }
}

TEST(MassModel, QuantilesOfCountsAreCounts) {
  Inflated data(800, Seed{7});
  for (double& value : data.y) value = std::floor(2.0 * value);
  const auto model = fit_method(find_method("nrc_boost"), data.input(), {});
  const auto p = model->predict({data.x, data.given}, metric_levels());
  EXPECT_TRUE(std::ranges::all_of(p.quantiles.values(),
                                  [](double q) { return q == std::round(q) && q >= 0.0; }));
}

}  // namespace
}  // namespace tare
