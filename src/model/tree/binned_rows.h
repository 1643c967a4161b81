// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tare/base/execution.h"

namespace tare {

/// Rows whose values are replaced by the number of their bin: what trees are grown on. The bins of
/// a column hold about equally many rows, and each distinct value its own where there are few.
class BinnedRows {
 public:
  static constexpr std::size_t kMaxBins = 256;

  /// x row-major and finite. Without columns there are no rows either. With more than `most` rows,
  /// the edges are computed from `most` of them, at equal steps. Bins aim at `least` of these
  /// rows or more.
  BinnedRows(std::span<const float> x, std::size_t cols, const Execution& how,
             std::size_t most = std::numeric_limits<std::size_t>::max(), std::size_t least = 1);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t cols() const noexcept { return edges_.size(); }
  /// Bins of a column, at least 1; a row is in bin b when b of the edges are at or below its value.
  std::size_t bins(std::size_t column) const { return edges_[column].size() + 1; }
  /// Rows in a bin below `bin` have values below this, and no others do. bin >= 1.
  float edge(std::size_t column, std::size_t bin) const { return edges_[column][bin - 1]; }
  /// The bin of every row.
  std::span<const std::uint8_t> column(std::size_t column) const {
    return std::span(bins_).subspan(column * rows_, rows_);
  }

 private:
  std::size_t rows_ = 0;
  std::vector<std::vector<float>> edges_;  // of each column, ascending
  std::vector<std::uint8_t> bins_;         // column after column
};

}  // namespace tare
