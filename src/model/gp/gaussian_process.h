// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/gp/gp_kernel.h"
#include "tare/model/regressor.h"

namespace tare {

/// A fitted Gaussian process.
struct GpFit {
  std::unique_ptr<Regressor> model;
  std::vector<double> without;  // what it would say about each row without that row's group
};

/// The posterior mean given a kernel. With up to kExactGpRows rows it is exact; with more it is the
/// best combination of the correlations with some of the rows ("subset of regressors": Quinonero
/// Candela & Rasmussen 2005). Predictions without a group are exact for either: those of a fit to
/// the other rows with the same kernel and points. `group_of_row` numbers the groups from 0; empty:
/// no such predictions. No model if the covariance is not positive definite in floating point.
GpFit fit_gaussian_process(const RegressionData& data, const GpKernel& kernel,
                           std::span<const std::uint32_t> group_of_row, Seed seed,
                           const Execution& how);

inline constexpr std::size_t kExactGpRows = 1'500;

inline constexpr std::span<const ParamInfo> kGpOptions = {};
/// The kernel and the fit. Predicts the mean of the targets if the covariance is not positive
/// definite in floating point.
std::unique_ptr<Regressor> fit_gp(const RegressionData& data, const Params& params, Seed seed,
                                  const Execution& how);
std::unique_ptr<Regressor> load_gp(const TensorReader& in);

}  // namespace tare
