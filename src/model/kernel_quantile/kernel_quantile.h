// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace tare {

/// Kernel quantile regression at one level (Takeuchi, Le, Sears, Smola 2006): f = g + b with g in
/// the kernel's space, which minimises
///
///   sum_i cost_i rho_tau(y_i - f(x_i)) + |g|^2 / 2,
///
/// by way of its dual: g = sum_i a_i k(x_i, .) with a that maximises a'y - a'Ka / 2 subject to
/// cost_i (tau - 1) <= a_i <= cost_i tau and sum_i a_i = 0.
struct KernelQuantileTask {
  MatrixView kernel;  // K, symmetric and positive semidefinite
  std::span<const double> y;
  std::span<const double> cost;  // positive
  Level tau;
};

struct KernelQuantileOptions {
  double gap = 1e-3;                // largest difference of both problems, as a share of the value
  std::size_t most_passes = 300;    // as many steps as rows are a pass
  std::function<void()> stop = {};  // asked once in a pass; may throw
};

struct KernelQuantileFit {
  std::vector<double> a;
  double b = 0.0;       // the tau-quantile of y - g, the best one for g
  double primal = 0.0;  // the value of the problem, which the best f does not exceed
  double dual = 0.0;    // and which it is not below
  std::size_t passes = 0;
};

/// Changes two elements of `a` at a time, those that gain most by a bound of second order, until
/// the duality gap is small enough or the passes are used up. Time O(n) for each step. `start` is
/// the solution at another level, or empty. At most tau of the costs have y < f, and at least tau
/// have y <= f, whatever the gap.
KernelQuantileFit fit_kernel_quantile(const KernelQuantileTask& task,
                                      const KernelQuantileOptions& options,
                                      std::span<const double> start = {});

}  // namespace tare
