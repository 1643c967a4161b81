// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tare {

// What a batch of rows of a file may take, however many columns, levels or steps of a window the
// file and the model have. Few enough to stream in bounded memory; with fewer than 64 of them,
// batches are as long as they were asked for.

/// Numbers in the widest of a batch's tables: the columns of the file, the model's features, or the
/// answers.
inline constexpr std::size_t kMostBatchCells = std::size_t{1} << 22;  // 32 MiB

/// Text of a batch, as far as it is longer than one row.
inline constexpr std::uint64_t kMostBatchBytes = std::uint64_t{1} << 25;  // 32 MiB

/// Rows of a batch, at most `asked`, where a row has up to `widest` numbers.
inline std::size_t batch_rows(std::size_t asked, std::size_t widest) {
  return std::min(asked,
                  std::max<std::size_t>(1, kMostBatchCells / std::max<std::size_t>(1, widest)));
}

}  // namespace tare
