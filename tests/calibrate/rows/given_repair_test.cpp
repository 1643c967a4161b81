// SPDX-License-Identifier: BSD-3-Clause
// What calibration makes of inputs that are right, too sure of themselves, or too sure in places.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "calibrate/rows/given_law.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

constexpr std::size_t kCalibrate = 2'000;
constexpr std::size_t kTest = 20'000;
constexpr std::uint64_t kSeeds = 4;

/// By how much an input shrinks the true law at x.
using Shrink = std::function<double(std::span<const double> x)>;
double not_at_all(std::span<const double>) { return 1.0; }
double by_half(std::span<const double>) { return 0.5; }
double by_half_in_part(std::span<const double> x) { return x[0] < 0.5 ? 0.5 : 1.0; }

const GivenForm kFiveQuantiles{GivenKind::kQuantiles, {0.05, 0.25, 0.5, 0.75, 0.95}};
const GivenForm kMeanWithSd{GivenKind::kMeanSd, {}};

Matrix input_at(const Problem& problem, MatrixView x, const GivenForm& form, const Shrink& shrink) {
  Matrix given(x.rows(), form.columns());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    const double by = shrink(x.row(i));
    if (form.kind == GivenKind::kMeanSd) {
      given(i, 0) = law.location;
      given(i, 1) = by * law.scale;
    }
    const double median = law.quantile(0.5);
    for (std::size_t j = 0; j < form.levels.size(); ++j)
      given(i, j) = median + by * (law.quantile(form.levels[j]) - median);
  }
  return given;
}

/// The true law about its median, shrunk: what the input says at levels it need not give.
Matrix input_quantiles(const Problem& problem, MatrixView x, const Shrink& shrink,
                       std::span<const Level> levels) {
  Matrix q(x.rows(), levels.size());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    const double median = law.quantile(0.5);
    for (std::size_t j = 0; j < levels.size(); ++j)
      q(i, j) = median + shrink(x.row(i)) * (law.quantile(levels[j].value()) - median);
  }
  return q;
}

/// Means over seeds.
struct Outcome {
  double input = 0.0;     // CheckScore
  double marginal = 0.0;  // CheckScore with all rows alike
  double repaired = 0.0;  // CheckScore
  double mace = 0.0;
  double mace_error = 0.0;  // standard error of `mace`
};

Outcome repair(const char* name, const GivenForm& form, const Shrink& shrink) {
  const Problem& problem = find_problem(name);
  const std::vector<Level> levels = metric_levels();
  Outcome mean;
  std::vector<double> maces;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Sample calibrate = draw(problem, kCalibrate, Seed{seed});
    const Sample test = draw(problem, kTest, Seed{seed + 100});
    const Matrix given = input_at(problem, calibrate.x, form, shrink);
    const Matrix test_given = input_at(problem, test.x, form, shrink);
    const FitInput input{.x = calibrate.x, .y = calibrate.y, .given = given, .given_form = form};
    const auto answer = [&](const char* params) {
      return fit_method(find_method("nrc"), input, Params::parse(params))
          ->predict({test.x, test_given}, levels)
          .quantiles;
    };
    const Matrix repaired = answer("");
    mean.input += check_score(test.y, input_quantiles(problem, test.x, shrink, levels), levels);
    mean.marginal += check_score(test.y, answer("bandwidth=infinite"), levels);
    mean.repaired += check_score(test.y, repaired, levels);
    maces.push_back(mace(test.y, repaired, levels));
  }
  const double n = static_cast<double>(kSeeds);
  for (double* score : {&mean.input, &mean.marginal, &mean.repaired}) *score /= n;
  for (const double value : maces) mean.mace += value / n;
  double squares = 0.0;
  for (const double value : maces) squares += (value - mean.mace) * (value - mean.mace);
  mean.mace_error = std::sqrt(squares / (n - 1.0) / n);
  return mean;
}

/// MACE of the true law's quantiles when these are taken from kCalibrate rows and met by kTest
/// others: both samples are off, so it is that of one of the size 1 / (1/a + 1/b).
double floor_of_both() {
  const double rows = 1.0 / (1.0 / kCalibrate + 1.0 / kTest);
  return mace_floor(static_cast<std::size_t>(rows), metric_levels());
}

struct RepairCase {
  const char* problem;
  GivenForm form;
};
class Repair : public testing::TestWithParam<RepairCase> {};

TEST_P(Repair, AnInputThatIsTooSureIsWidened) {
  const Outcome o = repair(GetParam().problem, GetParam().form, by_half);
  EXPECT_LE(o.mace, floor_of_both() + 2.0 * o.mace_error);
  EXPECT_LE(o.repaired, 1.02 * std::min(o.input, o.marginal));
  EXPECT_LE(o.repaired, 0.98 * o.input) << "nothing was repaired";
}

TEST_P(Repair, AnInputThatIsTooSureInPlacesIsWidenedThere) {
  const Outcome o = repair(GetParam().problem, GetParam().form, by_half_in_part);
  EXPECT_LE(o.mace, floor_of_both() + 2.0 * o.mace_error);
  EXPECT_LE(o.repaired, 0.995 * std::min(o.input, o.marginal)) << "no better than one size for all";
}

TEST_P(Repair, AnInputThatIsRightStaysRight) {
  const Outcome o = repair(GetParam().problem, GetParam().form, not_at_all);
  EXPECT_LE(o.mace, floor_of_both() + 2.0 * o.mace_error);
  EXPECT_LE(o.repaired, 1.005 * o.input);
}

INSTANTIATE_TEST_SUITE_P(Inputs, Repair,
                         testing::Values(RepairCase{"hetero_1", kFiveQuantiles},
                                         RepairCase{"skewed_2", kFiveQuantiles},
                                         RepairCase{"hetero_2", kMeanWithSd}),
                         [](const auto& row) {
                           const bool sd = row.param.form.kind == GivenKind::kMeanSd;
                           return std::string(row.param.problem) + (sd ? "_sd" : "_quantiles");
                         });

}  // namespace
}  // namespace tare
