// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/model/regressor.h"

namespace tare {

/// The center and size of residuals, estimated from the features by a few boosted trees: u becomes
/// (u - center) / size, whose distribution depends far less on the features. Each part is used only
/// if it reduces the loss on left-out rows; otherwise the center is 0, or the size 1.
class ResidualTrees {
 public:
  /// Of each row.
  struct Frame {
    std::vector<double> center;
    std::vector<double> log_size;
  };
  struct Fitted;
  /// Learns from u at each row of `features`; `weight` may be empty. Its estimates for the rows of
  /// the fit are out of fold, so that their standardised residuals have the same distribution as
  /// those of new rows.
  static Fitted fit(MatrixView features, std::span<const double> u, std::span<const double> weight,
                    Seed seed, const Execution& how);

  /// For new rows.
  Frame frame(MatrixView features, const Execution& how) const;

  /// Trees behind the center and the size; none where a part is not there.
  std::optional<std::size_t> center_trees() const;
  std::optional<std::size_t> size_trees() const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static ResidualTrees load(const TensorReader& in, std::size_t features);

 private:
  std::unique_ptr<Regressor> center_;
  std::unique_ptr<Regressor> log_size_;
  // Sizes of new rows are limited to the range of the fit, so that an error of a few trees cannot
  // give an interval of width 0.
  double least_ = 0.0;
  double most_ = 0.0;
};

struct ResidualTrees::Fitted {
  ResidualTrees trees;
  Frame frame;
};

}  // namespace tare
