// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "calibrate/nrc/residual_trees.h"
#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/model/regressor.h"

namespace tare {

/// The part of a method's error that depends on the features: at some rows its levels are too high,
/// at others too low, with mean zero over all rows. Boosted trees estimate it from the levels of
/// targets that the fit was not trained on.
///
/// Levels are on the scale of normal scores, z = Phi^-1(level), ranked among all rows: if the
/// method is equally good everywhere, z is standard normal for all features. The trees estimate how
/// its center, its size, and the share of targets on each side of the median depend on the
/// features. Parts that they do not find are 0.
class LocalError {
 public:
  LocalError() = default;
  /// From the normal scores of rows; `weight` may be empty.
  static LocalError fit(MatrixView columns, std::span<const double> score,
                        std::span<const double> weight, Seed seed, const Execution& how);

  /// The error at some rows.
  struct Values {
    std::vector<double> center, size, side;

    /// At row i a share tau of targets lies below the answer at this level.
    double level(std::size_t i, double tau) const;
  };
  Values at(MatrixView columns, const Execution& how) const;

  /// The root mean square of the error over all rows at level tau, in normal scores. Trees detect
  /// only part of the error, so a row for which they predict no error still has an error of about
  /// this size if other rows have one.
  double usual(double tau) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static LocalError load(const TensorReader& in, std::size_t columns);

 private:
  ResidualTrees trees_;
  std::unique_ptr<Regressor> side_;  // a normal score's worth of median; or none
  double mean_center_ = 0.0;         // over all rows, as are the next two
  double mean_log_size_ = 0.0;
  double mean_side_ = 0.0;
  double rms_center_ = 0.0;
  double rms_size_ = 0.0;
  double rms_side_ = 0.0;
};

}  // namespace tare
