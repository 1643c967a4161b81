// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "online/snq/local_rows.h"
#include "tare/base/level.h"

namespace tare {

/// Windows of LocalRows with tracked levels. A *member* is a window and a step: it asks for each
/// quantile at a level of its own, which it moves after each row so that its answers keep the
/// wanted level. The answer is the average of the members' answers, with weights by their recent
/// pinball loss.
class Members {
 public:
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kCount = kWindows * kSteps;

  explicit Members(std::vector<Level> levels);

  /// Quantiles of the residual: out[m * levels + j] of member m.
  void ask(const LocalRows& rows, const LocalRows::Weights& weights, std::span<double> out) const;
  /// The average over members; it never decreases with the level, as no member does.
  void average(std::span<const double> asked, std::span<double> out) const;
  /// `unit` is the size of a usual residual.
  void learn(std::span<const double> asked, double residual, double unit);
  /// The window with the largest weight.
  std::size_t best_window() const;

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  std::vector<Level> levels_;
  std::vector<double> tracked_;  // member x level
  std::vector<double> losses_;   // member
};

}  // namespace tare
