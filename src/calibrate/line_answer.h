// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/local_sample.h"
#include "index/rank_blocks.h"
#include "tare/base/execution.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// SNQ's answers for one feature, equal weights, and windows (naive and knn). The rows of a window
/// stand side by side on the sorted line, and their ranks come from RankBlocks, so a query's cost
/// does not grow with its window.
class LineAnswer {
 public:
  /// The sample has one feature and no weights, and must outlive this.
  explicit LineAnswer(const LocalSample& sample);

  static bool serves(const LocalSample& sample, const SnqOptions& options);

  /// Fills `result`, whose vectors have their sizes. Levels ascend. The bandwidth is finite.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const;

 private:
  struct Window {
    std::uint32_t first = 0;  // positions on the line
    std::uint32_t last = 0;   // one past
  };
  struct Memory;
  double squared(double z, std::size_t position) const;
  Window within(double z, double reach2) const;
  Window nearest(double z, std::size_t count) const;
  void select(const Window& window, std::span<const Level> levels, Memory& memory,
              std::span<double> out) const;

  const LocalSample& sample_;
  std::vector<double> line_;  // the feature, ascending
  RankBlocks ranks_;
};

}  // namespace tare
