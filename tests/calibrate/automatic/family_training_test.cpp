// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/family_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "model/gp/gp_learning.h"

namespace tare::automatic {
namespace {

/// A sine of the first of eight features, with as much noise.
struct Rows {
  Matrix x;
  std::vector<double> y;

  Rows(std::size_t count, Rng& rng) : x(count, 8) {
    for (std::size_t i = 0; i < count; ++i) {
      for (double& value : x.row(i)) value = rng.uniform(-1.0, 1.0);
      y.push_back(std::sin(std::numbers::pi * x(i, 0)) + 0.7 * rng.normal());
    }
  }
};

struct Errors {
  double left_out = 0.0;  // sums of squares over rows of the fit, and over as many new ones
  double fresh = 0.0;
};

enum class Kernels : bool { kByPart, kOfAllRows };

/// Of the Gaussian processes of both forms, over `draws` sets of rows.
Errors errors_of_processes(Kernels which, std::size_t count, std::uint64_t draws) {
  Errors errors;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    Rng rng(split(Seed{11}, draw));
    const Rows rows(count, rng);
    const Rows fresh(count, rng);
    const RegressionData data{rows.x, rows.y, {}};
    const Folds folds = Folds::random(count, 8, split(Seed{12}, draw));
    CrossFit fit(data, folds);
    Progress progress({}, 1.0);
    const FamilyTraining shop{fit, split(Seed{13}, draw), {}, progress};
    std::vector<PartKernels> kernels = shop.learn_kernels(data, folds, 1);
    if (which == Kernels::kOfAllRows) {
      const Seed seed = split(Seed{14}, draw);
      kernels = {{learn_gp_kernel(data, GpForm::kTogether, seed, {})},
                 {learn_gp_kernel(data, GpForm::kTogetherAndAlone, seed, {})}};
    }
    const auto columns = shop.gaussian_processes("test", data, folds, kernels, 2);
    EXPECT_EQ(columns.size(), 2U);
    for (const std::size_t column : columns) errors.left_out += squared_error(fit, column);
    const Matrix answers = fit.take_program().compute(fresh.x, {}, {});
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::size_t column : columns) {
        errors.fresh += std::pow(answers(i, column) - fresh.y[i], 2.0);
      }
    }
  }
  return errors;
}

/// The quotient is somewhat above 1, as a row left out is predicted by one process that saw seven
/// eighths of the rows, and a new one by the mean of eight that saw all: 1.08 over 120 draws. Its
/// standard error over 60 draws is about 0.032: each sum has 3,840 rows, and a squared normal
/// error has a standard deviation of 1.41 times its mean. Kernels of all rows are the fault that
/// this must be able to find (0.66).
TEST(FamilyTraining, ProcessesErrOnRowsLeftOutAsOnNewOnes) {
  const Errors by_part = errors_of_processes(Kernels::kByPart, 64, 60);
  EXPECT_GT(by_part.left_out / by_part.fresh, 0.97);
  EXPECT_LT(by_part.left_out / by_part.fresh, 1.2);
  const Errors of_all = errors_of_processes(Kernels::kOfAllRows, 64, 60);
  EXPECT_LT(of_all.left_out / of_all.fresh, 0.8);
}

/// One kernel for all folds, learned from 320 of the rows. Each sum has 24,000 rows, so the
/// quotient's standard error is about 0.013.
TEST(FamilyTraining, ProcessesOfManyRowsErrOnRowsLeftOutAsOnNewOnes) {
  const Errors errors = errors_of_processes(Kernels::kByPart, 4000, 3);
  EXPECT_GT(errors.left_out / errors.fresh, 0.95);
  EXPECT_LT(errors.left_out / errors.fresh, 1.05);
}

}  // namespace
}  // namespace tare::automatic
