// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/gp/gp_kernel.h"

namespace tare {

/// Rows that judge a kernel.
struct KernelRows {
  Matrix x;                    // standardised
  std::vector<double> y;       // standardised
  std::vector<double> weight;  // with mean 1
};

/// The parameters of a kernel as logarithms: where each one is.
struct LogPlaces {
  std::size_t cols;
  bool alone;  // whether each feature has a function of its own

  std::size_t rate(std::size_t j) const { return j; }
  std::size_t signal() const { return cols; }
  std::size_t noise() const { return cols + 1; }
  std::size_t alone_variance(std::size_t j) const { return cols + 2 + j; }
  std::size_t alone_rate(std::size_t j) const { return 2 * cols + 2 + j; }
  std::size_t count() const { return (alone ? 3 : 1) * cols + 2; }
};
using Logs = std::vector<double>;

/// The kernel's parameters as `logs` has them.
void set_parameters(const Logs& logs, const LogPlaces& places, GpKernel& kernel);

struct Likelihood {
  double minus_log = 0.0;  // without the constant
  Logs gradient;           // of minus_log
};

/// Of the rows' targets, the functions integrated out. None if the covariance is not positive
/// definite in floating point.
std::optional<Likelihood> gp_likelihood(const KernelRows& rows, const Logs& logs,
                                        const LogPlaces& places, const Execution& how);

}  // namespace tare
