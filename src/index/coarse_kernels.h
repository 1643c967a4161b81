// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tare {

// Loops over rows whose coordinates are whole numbers of 16 bits. Two features share a lane of 32
// bits, so that one instruction multiplies both and adds the products. Whole numbers are exact:
// every vector width gives the same.

/// Rows come in words of 64: [word][pair of features][row][2], and a norm for each row. Rows that
/// fill up the last word have kCoarseNowhere for it.
struct CoarseStore {
  const std::int16_t* values = nullptr;
  const std::int32_t* norms = nullptr;
  std::size_t pairs = 0;
};

inline constexpr std::int32_t kCoarseNowhere = 0x7fffffff;

/// A query q against rows x: what is tested is |x|^2 - 2 q.x.
struct CoarseTest {
  const std::int16_t* query = nullptr;  // -2 q, filled up to whole pairs
  std::int32_t sure_limit = 0;          // below it a row is certainly near
  std::int32_t possible_limit = 0;      // below it a row may be near; at least sure_limit
  std::uint64_t* sure = nullptr;        // out: a bit for each row
  std::uint64_t* possible = nullptr;    // out: the same, the sure rows included
};

/// Tests the rows of the words first, ..., last - 1; outputs start at the word `first`. No sum of
/// a norm and products may leave 32 bits.
void coarse_masks(const CoarseStore& rows, std::size_t first, std::size_t last,
                  std::span<const CoarseTest> tests);
/// The same for some words and one query; the k-th of the outputs is for words[k].
void coarse_masks_at(const CoarseStore& rows, std::span<const std::uint32_t> words,
                     const CoarseTest& test);

/// Boxes around the rows of each word, kCoarseBoxes side by side: [group][feature][lowest, then
/// highest][box]. A box that fills up the last group is empty.
inline constexpr std::size_t kCoarseBoxes = 16;
struct CoarseBoxStore {
  const float* values = nullptr;
  std::size_t groups = 0;
  std::size_t dims = 0;
};

/// The boxes whose squared distance from the query is at most `limit`. Returns how many; `out` has
/// room for all boxes and kCoarseBoxes more.
std::size_t coarse_boxes_near(const CoarseBoxStore& boxes, const float* query, float limit,
                              std::uint32_t* out);

}  // namespace tare
