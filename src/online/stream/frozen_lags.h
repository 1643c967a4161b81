// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"

namespace tare {

/// Subtracts from each error what past errors predict, by weights that are fixed at one moment: so
/// that errors which follow each other are no drift, and a later change is not followed.
///
/// Where the errors up to that moment depend on past ones no more than chance would have it, the
/// weights are zero, and errors are left as they are.
class FrozenLags {
 public:
  FrozenLags();

  /// What is left of the next error; the error is then known to those after it.
  double left(double error);
  /// Fixes the weights by the errors so far.
  void freeze();
  bool frozen() const noexcept { return frozen_; }
  bool subtracts() const noexcept { return !lags_.empty(); }

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  double past(std::size_t lag) const;

  std::vector<double> errors_;  // the last ones, as a ring of kMostErrors
  std::size_t count_ = 0;       // of all errors so far
  bool frozen_ = false;
  double mean_ = 0.0;
  std::vector<std::size_t> lags_;
  std::vector<double> weights_;
};

}  // namespace tare
