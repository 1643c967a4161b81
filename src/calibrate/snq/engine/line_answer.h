// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "calibrate/snq/engine/engine.h"
#include "calibrate/snq/engine/sorted_line.h"
#include "index/rank_blocks.h"

namespace tare {

/// SNQ's answers for one feature, equal weights, and windows (naive and knn). The rows of a window
/// stand side by side on the sorted line. Where queries are few their ranks come from RankBlocks,
/// so a query's cost does not grow with its window; where they are many a window moves along the
/// line from one to the next.
class LineAnswer final : public SnqEngine {
 public:
  /// The sample has one feature and no weights, and must outlive this.
  explicit LineAnswer(const LocalSample& sample);

  static SnqEngineInfo info();
  static bool serves(const LocalSample& sample, const SnqOptions& options);

  /// The bandwidth is finite.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const override;
  double query_cost() const override { return kCostOfSomeRows; }

 private:
  struct Memory;
  SortedLine::Window window_of(double z, const SnqOptions& options, const SortedLine::Window& guess,
                               std::size_t row, Prediction& result) const;
  void sweep(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
             const Execution& how, Prediction& result) const;
  void select(const SortedLine::Window& window, Memory& memory, std::span<double> out) const;

  const RankBlocks& ranks() const;

  const LocalSample& sample_;
  SortedLine line_;
  mutable std::once_flag once_;  // made when few queries first ask for them
  mutable RankBlocks ranks_;
};

}  // namespace tare
