// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "io/tensor_store.h"

namespace tare {

/// The last values of a stream, also in ascending order. Adding one costs a binary search and a
/// move of part of the window.
class ScoreWindow {
 public:
  explicit ScoreWindow(std::size_t most) : most_(most) {}

  /// The oldest value leaves a full window. `value` is finite.
  void add(double value);

  std::size_t size() const noexcept { return sorted_.size(); }
  std::span<const double> sorted() const noexcept { return sorted_; }
  /// Largest minus smallest value, `value` included: with it, as a new scale counts at once.
  double range_with(double value) const;

  /// The conformal quantile: the value of rank (1 - alpha)(n + 1), rounded up. Infinite where alpha
  /// <= 0 or the rank is above n; minus infinity, an empty set, where alpha >= 1.
  double conformal_quantile(double alpha) const;
  /// The largest alpha up to which conformal_quantile(alpha) reaches `value`: the share of values,
  /// `value` included, that are at least `value`.
  double conformal_share(double value) const;

  void save(const TensorWriter& out, std::string_view name) const;
  /// kCorruptFile unless there are `expected` finite values.
  void load(const TensorReader& in, std::string_view name, std::size_t expected);

 private:
  std::size_t most_;
  std::size_t oldest_ = 0;      // in values_, once the window is full
  std::vector<double> values_;  // a ring
  std::vector<double> sorted_;
};

}  // namespace tare
