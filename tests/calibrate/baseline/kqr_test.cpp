// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/kqr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "draws.h"
#include "expect_error.h"
#include "model/kernel_quantile/kernel_quantile.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

struct KernelCase {
  Matrix kernel;
  std::vector<double> y, cost;
};

KernelCase kernel_case(Rng& rng, std::size_t rows, bool weighted, bool ties) {
  KernelCase one{Matrix(rows, rows), {}, {}};
  std::vector<double> x;
  const double size = std::exp(rng.uniform(-3.0, 3.0)), width = rng.uniform(0.1, 1.0);
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(rng.uniform());
    const double y = std::sin(6.0 * x[i]) + 0.5 * rng.normal();
    one.y.push_back(ties ? std::round(2.0 * y) : y);
    one.cost.push_back(weighted ? size * rng.uniform(0.1, 2.0) : size);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      const double d = (x[i] - x[j]) / width;
      one.kernel(i, j) = std::exp(-0.5 * d * d);
    }
  }
  return one;
}

/// The dual by projected gradients: the projection onto the box and the plane of sum 0 by
/// bisection.
double dual_by_projected_gradient(const KernelCase& one, double tau) {
  const std::size_t rows = one.y.size();
  std::vector<double> a(rows, 0.0), wanted(rows);
  const double step = 1.0 / static_cast<double>(rows);  // K has eigenvalues of at most n
  const auto moved = [&](std::size_t i, double by) {
    return std::clamp(wanted[i] - by, one.cost[i] * (tau - 1.0), one.cost[i] * tau);
  };
  for (int round = 0; round < 6'000; ++round) {
    double far = 1.0;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = one.kernel.row(i);
      const double g = std::inner_product(row.begin(), row.end(), a.begin(), 0.0);
      wanted[i] = a[i] + step * (one.y[i] - g);
      far = std::max(far, 2.0 * (std::abs(wanted[i]) + one.cost[i]));
    }
    double low = -far, high = far;
    for (int k = 0; k < 100; ++k) {
      const double by = 0.5 * (low + high);
      double sum = 0.0;
      for (std::size_t i = 0; i < rows; ++i) sum += moved(i, by);
      (sum > 0.0 ? low : high) = by;
    }
    for (std::size_t i = 0; i < rows; ++i) a[i] = moved(i, low);
  }
  double value = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = one.kernel.row(i);
    value +=
        a[i] * one.y[i] - 0.5 * a[i] * std::inner_product(row.begin(), row.end(), a.begin(), 0.0);
  }
  return value;
}

TEST(KernelQuantile, ReachesTheValueOfASlowSolver) {
  Rng rng(Seed{1});
  for (std::uint64_t k = 0; k < draws(40); ++k) {
    const KernelCase one = kernel_case(rng, 3 + rng.below(6), k % 2 == 1, k % 3 == 2);
    const double tau = rng.uniform(0.05, 0.95);
    const KernelQuantileFit fit =
        fit_kernel_quantile({one.kernel, one.y, one.cost, Level(tau)}, {.gap = 1e-8});
    const double slow = dual_by_projected_gradient(one, tau);
    const double unit = 1e-5 * (1.0 + std::abs(fit.primal));
    EXPECT_NEAR(fit.dual, slow, unit) << "case " << k;
    EXPECT_GE(fit.primal, slow - unit) << "case " << k;
  }
}

/// The conditions of an optimum, from the definition: feasible, and a at the end of its box on the
/// side on which the target is.
TEST(KernelQuantile, FulfilsTheConditionsOfAnOptimum) {
  Rng rng(Seed{2});
  for (std::uint64_t k = 0; k < draws(50); ++k) {
    const KernelCase one = kernel_case(rng, 60, k % 2 == 1, k % 3 == 2);
    const double tau = rng.uniform(0.05, 0.95);
    const KernelQuantileFit fit = fit_kernel_quantile({one.kernel, one.y, one.cost, Level(tau)},
                                                      {.gap = 1e-9, .most_passes = 5000});
    double sum = 0.0, primal = 0.0, norm = 0.0, linear = 0.0, total = 0.0;
    for (std::size_t i = 0; i < one.y.size(); ++i) {
      const double low = one.cost[i] * (tau - 1.0), high = one.cost[i] * tau;
      EXPECT_GE(fit.a[i], low);
      EXPECT_LE(fit.a[i], high);
      sum += fit.a[i];
      total += one.cost[i];
      const auto row = one.kernel.row(i);
      const double g = std::inner_product(row.begin(), row.end(), fit.a.begin(), 0.0);
      const double residual = one.y[i] - g - fit.b;
      primal += one.cost[i] * std::max(tau * residual, (tau - 1.0) * residual);
      norm += fit.a[i] * g;
      linear += fit.a[i] * one.y[i];
      // Off by more than the gap allows: the loss of a row that is on the wrong side is this much.
      const double slack = 1e-9 * (1.0 + std::abs(fit.primal)) + 2e-6 * total;
      const double room = residual > 0.0 ? high - fit.a[i] : fit.a[i] - low;
      EXPECT_LE(room * std::abs(residual), slack) << "case " << k;
    }
    EXPECT_NEAR(sum, 0.0, 1e-10 * total);
    EXPECT_NEAR(fit.primal, primal + 0.5 * norm, 1e-9 * (1.0 + primal));
    EXPECT_NEAR(fit.dual, linear - 0.5 * norm, 1e-9 * (1.0 + primal));
    EXPECT_LE(fit.primal - fit.dual, 1e-8 * fit.primal + 1e-6 * total);
    EXPECT_GE(fit.primal - fit.dual, -1e-9 * (1.0 + primal));
  }
}

/// The paper's Lemma: of m rows at most tau m are below f, and at least tau m not above it.
TEST(KernelQuantile, AShareOfTauIsBelow) {
  Rng rng(Seed{3});
  for (std::uint64_t k = 0; k < draws(100); ++k) {
    const KernelCase one = kernel_case(rng, 40 + rng.below(60), false, k % 3 == 2);
    const double tau = rng.uniform(0.02, 0.98);
    const KernelQuantileFit fit =
        fit_kernel_quantile({one.kernel, one.y, one.cost, Level(tau)}, {.gap = 1e-6});
    double below = 0.0, not_above = 0.0;
    for (std::size_t i = 0; i < one.y.size(); ++i) {
      const auto row = one.kernel.row(i);
      const double f = std::inner_product(row.begin(), row.end(), fit.a.begin(), 0.0) + fit.b;
      below += one.y[i] < f - 1e-9 ? 1.0 : 0.0;
      not_above += one.y[i] <= f + 1e-9 ? 1.0 : 0.0;
    }
    const auto rows = static_cast<double>(one.y.size());
    EXPECT_LE(below, tau * rows) << "case " << k;
    EXPECT_GE(not_above, tau * rows) << "case " << k;
  }
}

TEST(KernelQuantile, AStartChangesTheTimeAndNotTheValue) {
  Rng rng(Seed{4});
  const KernelCase one = kernel_case(rng, 120, true, false);
  const KernelQuantileOptions options{.gap = 1e-6};
  const auto near = fit_kernel_quantile({one.kernel, one.y, one.cost, Level(0.4)}, options);
  const auto cold = fit_kernel_quantile({one.kernel, one.y, one.cost, Level(0.5)}, options);
  const auto warm = fit_kernel_quantile({one.kernel, one.y, one.cost, Level(0.5)}, options, near.a);
  EXPECT_NEAR(warm.dual, cold.dual, 1e-5 * (1.0 + cold.dual));
  EXPECT_NEAR(std::accumulate(warm.a.begin(), warm.a.end(), 0.0), 0.0, 1e-9);
}

double error_of_quantiles(const QuantileModel& model, const Problem& problem) {
  const Sample fresh = draw(problem, 400, Seed{5});
  const std::vector<Level> levels = metric_levels();
  const Prediction p = model.predict({fresh.x}, levels);
  double sum = 0.0;
  for (std::size_t i = 0; i < 400; ++i) {
    const Law law = problem.law(fresh.x.row(i));
    for (std::size_t j = 0; j < levels.size(); ++j)
      sum += std::abs(law.cdf(p.quantiles(i, j)) - levels[j].value());
  }
  return sum / (400.0 * static_cast<double>(levels.size()));
}

/// On smooth laws it comes near the true quantiles. The marginal distribution of the targets alone
/// has 0.15 to 0.2.
TEST(Kqr, LearnsTheQuantilesOfSmoothLaws) {
  for (const char* name : {"hetero_1", "skewed_1"}) {
    const Problem& problem = find_problem(name);
    const Sample data = draw(problem, 1000, Seed{1});
    FitInput input{.x = data.x, .y = data.y};
    const auto model = find_method("kqr").fit(input, {}, {});
    EXPECT_LT(error_of_quantiles(*model, problem), 0.05) << name;
  }
}

TEST(Kqr, OptionsAreChecked) {
  const Sample data = draw(find_problem("hetero_2"), 100, Seed{1});
  for (const char* wrong :
       {"penalty=0", "penalty=small", "kernel_width=-1", "most_rows=5", "gap=0"}) {
    const FitInput input{.x = data.x, .y = data.y};
    const std::string option = std::string(wrong).substr(0, std::string(wrong).find('='));
    expect_error(ErrorCode::kInvalidArgument, option,
                 [&] { fit_method(find_method("kqr"), input, Params::parse(wrong)); });
  }
}

}  // namespace
}  // namespace tare
