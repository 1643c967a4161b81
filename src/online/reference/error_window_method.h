// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "online/online_method.h"
#include "online/reference/score_window.h"

namespace tare {

/// A method whose answers are the prediction plus quantiles of its last errors, without feedback:
/// a base for those that differ only in the quantiles.
class ErrorWindowMethod : public OnlineMethod {
 public:
  void answer(const OnlineRow& row, OnlineAnswer& out) const final;
  void learn(const OnlineRow& row, const OnlineAnswer& answer, double target) final;
  bool is_ready() const final { return errors_.size() >= kFewestKnownTargets; }
  void save(const TensorWriter& out) const final;
  /// Replaces the state by a saved one.
  void load(const TensorReader& in);

 protected:
  ErrorWindowMethod(const OnlineSetup& setup, std::size_t window);

  std::span<const Level> levels() const noexcept { return levels_; }
  /// Writes the quantile of each level from errors in ascending order, at least one of them. They
  /// may cross.
  virtual void error_quantiles(std::span<const double> errors, std::span<double> out) const = 0;

 private:
  std::vector<Level> levels_;
  std::vector<std::size_t> from_outside_;
  std::size_t most_errors_;
  std::uint64_t learned_ = 0;
  ScoreWindow errors_;
};

}  // namespace tare
