// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cache_aligned.h"
#include "index/coarse_kernels.h"
#include "tare/base/matrix.h"

namespace tare {

/// Coordinates as whole numbers of steps from a center.
struct CoarseGrid {
  std::vector<double> center;
  double step = 0.0;      // 0 where there is no grid
  double farthest = 0.0;  // coordinate, in steps

  /// Whether the grid is fine enough for windows of this radius. It is not if some rows lie
  /// thousands of steps away from the others, nor with very many features.
  bool serves(double radius) const;
};
CoarseGrid coarse_grid(std::span<const double> columns, std::size_t rows, std::size_t dims);

/// All rows on a grid that is fine enough to decide for nearly every row whether it lies within a
/// radius.
///
/// Coordinates become whole numbers of a few thousand steps. A row and a query are moved by known
/// lengths; where their distance on the grid is nearer to the radius than the sum of both, the row
/// is measured again in double precision, as BruteForce does. The result is therefore exact, and
/// testing a row costs one multiplication for two features.
///
/// Rows are stored either in the order of their places, and then all are tested, with many queries
/// sharing a row; or in small boxes of 64 rows, and then a query tests boxes first. Boxes are
/// faster if few of them are in reach.
class CoarseRows {
 public:
  enum class Arrangement : std::uint8_t { kByPlace, kInBoxes };

  /// `columns` holds dims columns of `rows` values and must outlive this; a row's place is its
  /// position in a column.
  CoarseRows(std::span<const double> columns, std::size_t rows, std::size_t dims,
             Arrangement arrangement = Arrangement::kByPlace);

  bool serves(double radius) const { return grid_.serves(radius); }

  /// Words of 64 bits that hold a bit for each row.
  std::size_t words() const noexcept { return (rows_ + 63) / 64; }

  /// Reused from call to call, one per thread.
  struct Scratch {
    std::vector<std::int16_t> queries;
    std::vector<CoarseTest> tests;
    std::vector<std::uint64_t> possible;
    std::vector<std::uint64_t> sure;
    std::vector<std::uint32_t> boxes;
    std::vector<float> query;
  };
  /// Bit i of masks[q * words()] and on: the row at place i lies within sqrt(reach2) of query q.
  /// Many queries at a time share the rows that are in the cache. Needs serves(sqrt(reach2)).
  void near(MatrixView queries, double reach2, Scratch& scratch,
            std::span<std::uint64_t> masks) const;

  /// The share of the boxes that a query has to search.
  double share_of_boxes(std::span<const double> query, double reach2, Scratch& scratch) const;

 private:
  /// A query on the grid, and the squared distance from it beyond which nothing is near.
  struct CoarseQuery {
    CoarseTest test;
    double farthest2 = 0.0;
  };
  void place_rows();
  void fill_boxes();
  std::size_t place(std::size_t row) const { return order_.empty() ? row : order_[row]; }
  std::size_t at(std::size_t row, std::size_t feature) const;
  CoarseQuery prepare(std::span<const double> query, double reach2, std::int16_t* out) const;
  bool within(std::size_t row, std::span<const double> query, double reach2) const;
  void settle(const CoarseTest& test, std::size_t first, std::size_t last,
              std::span<const double> query, double reach2) const;

  void near_among_all(MatrixView queries, double reach2, Scratch& scratch,
                      std::span<std::uint64_t> masks) const;
  void near_in_boxes(std::span<const double> query, double reach2, Scratch& scratch,
                     std::uint64_t* mask) const;
  std::size_t find_boxes(const CoarseQuery& coarse, Scratch& scratch) const;

  std::span<const double> columns_;
  std::size_t rows_;
  std::size_t dims_;
  std::size_t pairs_;
  CoarseGrid grid_;
  double row_error_ = 0.0;  // how far a row is moved at most, in steps
  AlignedVector<std::int16_t> values_;
  AlignedVector<std::int32_t> norms_;
  std::vector<std::uint32_t> order_;  // places, where rows stand in boxes
  AlignedVector<float> boxes_;
};

}  // namespace tare
