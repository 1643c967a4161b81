// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/row_key.h"

namespace tare {

/// Rows of a leaf of the tree. A leaf's values lie column after column, kLeafRows each; where there
/// are fewer rows the rest is infinite, so that no query reaches it.
inline constexpr std::size_t kLeafRows = 32;

/// Where all leaves lie: leaf b has its values from values + b * dims * kLeafRows, its places from
/// places + b * kLeafRows, and rows b * kLeafRows and on.
struct LeafStore {
  const double* values = nullptr;
  const float* floats = nullptr;  // the values less a center, in single precision; may be missing
  const std::uint32_t* places = nullptr;
  std::size_t dims = 0;
};

/// Boxes around leaves, around eight leaves, around 64, and so on: box b of level k holds boxes 8 b
/// to 8 b + 7 of level k - 1, and level 0 has a box for each leaf. Boxes of the same parent lie
/// together, feature by feature: eight lowest values, then eight highest; one that does not exist
/// is empty.
inline constexpr std::size_t kFan = 8;
struct BoxLevels {
  std::span<const double* const> levels;  // lowest first
  std::size_t dims = 0;
};

/// A box of a level; level 0 is a leaf.
struct BoxId {
  std::uint32_t level = 0;
  std::uint32_t box = 0;
};

// The inner loops, compiled for each vector width by Highway and picked at run time. Squares are
// added feature by feature with no fused operation, as BruteForce does, so that every width and
// every index decides alike which row lies within a radius.

/// Leaves that the box from `low` to `high` comes within sqrt(reach2) of, and boxes that lie within
/// it as a whole, wherever in the query box one stands. `stack` is working memory.
void find_boxes(const BoxLevels& tree, const double* low, const double* high, double reach2,
                std::vector<BoxId>& stack, std::vector<std::uint32_t>& leaves,
                std::vector<BoxId>& inside);

/// Squared distances from a query to the eight boxes from `first` on (a multiple of eight).
void box_gaps(const BoxLevels& tree, std::uint32_t level, std::uint32_t first, const double* query,
              double out[kFan]);

/// Rows of the leaves within sqrt(reach2) of the query, written from `out` on. Returns how many.
/// `out` has room for all rows of the leaves and kLeafRows more.
std::size_t rows_near_point(const LeafStore& store, std::span<const std::uint32_t> leaves,
                            const double* query, double reach2, RowKey* out);

/// The same with a first look in single precision: squared distances of the floats decide up to
/// `sure` and beyond `out`, and only rows between are measured in double precision.
struct FloatScreen {
  const float* query = nullptr;  // less the center
  float sure = 0.0F;
  float out = 0.0F;
};
std::size_t rows_near_point_screened(const LeafStore& store, std::span<const std::uint32_t> leaves,
                                     const double* query, double reach2, const FloatScreen& screen,
                                     RowKey* out);

/// The same for all points of a box at once: `sure` gets the rows that every point of the box
/// reaches, `maybe` those that some may.
struct BoxCounts {
  std::size_t sure = 0;
  std::size_t maybe = 0;
};
BoxCounts rows_near_box(const LeafStore& store, std::span<const std::uint32_t> leaves,
                        const double* low, const double* high, double reach2, RowKey* sure,
                        RowKey* maybe);

/// Bit i of the mask: row i lies within sqrt(reach2) of the query. `columns` holds `dims` columns,
/// `stride` values apart, of 64 * words values each.
void mask_near(const double* columns, std::size_t stride, std::size_t dims, std::size_t words,
               const double* query, double reach2, std::uint64_t* mask);

/// before[w] = bits set in words before w, for w = 0 up to words. Returns the last of them: all
/// bits.
std::uint32_t count_bits(const std::uint64_t* mask, std::size_t words, std::uint32_t* before);

/// slots[j] = the bit with ranks[j] - 1 set bits before it. Ranks ascend; `before` is count_bits'.
void select_bits(const std::uint64_t* mask, const std::uint32_t* before,
                 std::span<const std::uint32_t> ranks, std::uint32_t* slots);

/// Two lists of rows in the order of places: the sure ones, of which only the number counts, and
/// others, of which those with a bit in the mask count. sure_before has an entry for each bit: the
/// sure rows before that other row.
struct TwoLists {
  std::uint32_t sure = 0;
  std::size_t words = 0;
  const std::uint32_t* sure_before = nullptr;
  const std::uint64_t* mask = nullptr;
  const std::uint32_t* before = nullptr;  // as mask_near gives it
};

/// slots[j] = the ranks[j]-th row, counted from 1, of both lists together: slot s < sure is the
/// s-th sure row, slot sure + b the other row of bit b. Ranks ascend.
void select_ranks(const TwoLists& lists, std::span<const std::uint32_t> ranks,
                  std::uint32_t* slots);

/// out[r] = squared distance of row r of the leaf.
void leaf_distances(const LeafStore& store, std::uint32_t leaf, const double* query,
                    double out[kLeafRows]);

}  // namespace tare
