// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "calibrate/features/feature_map.h"
#include "calibrate/guarantee/conditional/span_basis.h"
#include "io/tensor_store.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The most functions of a row, the constant included. A pivot takes the square of their number.
inline constexpr std::size_t kMostConditions = 64;

/// The functions of a row under whose reweightings a conditional guarantee holds: the constant,
/// columns of x (all columns of a category), an indicator for each group, and gaussian bumps.
///
/// Centers and widths of the bumps come from training rows. All else is a choice of basis of the
/// space that these functions span on the held-out rows, which changes no bound.
class ConditionFeatures {
 public:
  /// `conditions` as in GuaranteeRule. Throws kInvalidArgument for a column that is not there, for
  /// groups that the rows do not have, and for more than kMostConditions functions.
  static ConditionFeatures fit(const FitInput& training, const FitInput& held_out,
                               std::span<const std::string> conditions);

  /// Independent functions on the held-out rows.
  std::size_t dims() const noexcept { return basis_.dims(); }
  bool needs_groups() const noexcept { return groups_ > 0; }
  std::size_t bumps() const noexcept { return bump_.rows(); }
  std::span<const std::string> names() const noexcept { return names_; }

  /// Row by row the independent functions. `inside[i]` is 0 where those functions that depended on
  /// them on all held-out rows do not at row i: no held-out row then says anything about it.
  Matrix apply(const Rows& rows, std::span<std::uint8_t> inside) const;

  void save(const TensorWriter& out) const;
  /// `inputs`: columns of x. Throws kCorruptFile.
  static ConditionFeatures load(const TensorReader& in, std::size_t inputs);

 private:
  std::size_t functions() const noexcept { return 1 + columns_.size() + groups_ + bump_.rows(); }
  Matrix evaluate(const Rows& rows) const;
  void choose_bumps(const FitInput& training, std::size_t count);

  std::vector<std::string> names_;    // as the user wrote them
  std::vector<std::size_t> columns_;  // of x
  std::size_t groups_ = 0;            // numbered from 0 on
  FeatureMap map_;                    // of the bumps
  Matrix bump_;                       // centers
  double width_ = 1.0;                // standard deviation of a bump
  SpanBasis basis_;
};

}  // namespace tare
