// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/tensor_store.h"
#include "model/input/fit_input.h"
#include "model/kernel_quantile/kernel_quantile.h"
#include "model/kernel_quantile/quantile_rows.h"
#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/model/regressor.h"

namespace tare {

/// The levels at which kernel quantile regression is solved.
inline constexpr std::array kKernelLevels = {0.01, 0.025, 0.05, 0.1, 0.2,  0.3,   0.4, 0.5,
                                             0.6,  0.7,   0.8,  0.9, 0.95, 0.975, 0.99};

struct KernelQuantilesOptions {
  std::optional<double> penalty = {};  // of |g|^2 / 2 beside the mean loss; none: by
                                       // cross-validation
  std::optional<double> width = {};    // of the kernel, in medians of the distance between rows;
                                       // likewise
  std::size_t most_rows = 2000;        // of more rows, a random sample of this many is learned from
  double gap = 1e-3;                   // relative duality gap at which a level is solved
};

/// Quantiles by kernel quantile regression (kernel_quantile.h) with a Gaussian kernel: solved at
/// kKernelLevels, brought into order, and interpolated between them.
class KernelQuantiles {
 public:
  static KernelQuantiles fit(const RegressionData& data, const KernelQuantilesOptions& options,
                             Seed seed, const Execution& how);

  /// Of the kernel, in standard deviations of the columns.
  double width() const noexcept { return width_; }
  /// out: a row for each of x and a column for each level, ascending in ascending levels.
  void predict(MatrixView x, std::span<const Level> levels, MatrixSpan out,
               const Execution& how) const;
  /// The same for rows of the fit, `asked`, each by a fit that left out its group, with the penalty
  /// and width of this one. `data` is that of the fit.
  Matrix predict_left_out(const RegressionData& data, std::span<const std::uint32_t> group_of_row,
                          std::size_t groups, std::span<const std::size_t> asked,
                          std::span<const Level> levels, const Execution& how) const;

  void save(const TensorWriter& out) const;
  /// `columns` that a row has. Throws kCorruptFile.
  static KernelQuantiles load(const TensorReader& in, std::size_t columns);

 private:
  KernelQuantiles() = default;
  QuantileRows rows_of(const RegressionData& data) const;
  void keep(Matrix x, std::span<const KernelQuantileFit> fits);
  void learn_row(std::span<const double> place, std::span<double> learned) const;

  std::vector<Standard> column_;
  Standard target_;
  double width_ = 1.0;     // in standard deviations
  Matrix x_;               // rows, standardised
  Matrix a_;               // coefficients: rows x levels
  std::vector<double> b_;  // of each level

  // Not in a file.
  std::vector<std::size_t> chosen_;  // which rows of the fit these are
  double penalty_ = 0.0;
};

}  // namespace tare
