// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/automatic/cross_fit/cross_fit.h"
#include "calibrate/automatic/families.h"
#include "calibrate/features/feature_map.h"
#include "calibrate/snq/window/local_sample.h"
#include "model/kernel_quantile/kernel_quantiles.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/snq.h"

namespace tare::automatic {

/// A range that values are kept in: that of the fit, and some more.
struct Bounds {
  double low = 0.0;
  double high = 0.0;
};

/// A calibrated candidate: quantiles of the target given the row's statistics, by SNQ or by kernel
/// quantile regression. The kernel's features are columns of the statistics, or x, standardised.
class LocalLaw {
 public:
  /// Chooses the bandwidth by leave-one-out loss in units of y. `x_columns` are the columns of x
  /// that the kernel may use; none means all. If they are named, they replace the candidate's own
  /// kernel features.
  static LocalLaw fit(const Candidate& candidate, const CrossFit& fit,
                      std::span<const std::size_t> x_columns, SnqOptions options, Seed seed,
                      const Execution& how);

  const std::string& name() const noexcept { return candidate_.name; }
  const BandwidthChoice& choice() const noexcept { return choice_; }
  /// The quantiles at the levels; columns of `statistics` as in the candidate.
  Prediction predict(MatrixView x, const Matrix& statistics, std::span<const Level> levels,
                     const Execution& how) const;
  /// For rows of the fit: each from calibration rows of other groups than its own.
  Matrix predict_left_out(const CrossFit& fit, const Folds& groups,
                          std::span<const std::size_t> rows, std::span<const Level> levels,
                          const Execution& how) const;

  /// The columns of the statistics in use, to be renumbered.
  std::vector<std::size_t> columns() const;
  void renumber(std::span<const std::size_t> columns);

  void save(const TensorWriter& out) const;
  /// `features` and `statistics`: columns that there are. Throws kCorruptFile.
  static LocalLaw load(const TensorReader& in, std::size_t features, std::size_t statistics);

 private:
  LocalLaw() = default;
  bool sees_x() const noexcept { return candidate_.kernel.empty(); }
  double center(std::span<const double> statistics) const;
  double scale(std::span<const double> statistics) const;
  Matrix kernel_features(MatrixView x, const Matrix& statistics) const;
  void answer(const Matrix& statistics, Matrix& quantiles) const;

  Candidate candidate_;
  Bounds center_;
  Bounds log_scale_;
  FeatureMap map_;
  BandwidthChoice choice_;
  std::vector<Snq> snq_;                   // exactly one; a vector because there is no empty Snq
  std::optional<KernelQuantiles> smooth_;  // then the quantiles are its own
};

}  // namespace tare::automatic
