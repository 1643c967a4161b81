// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "index/kd_kernels.h"
#include "index/row_key.h"

namespace tare {

/// Rows near a query or near a box of queries, from a tree of boxes.
///
/// The rows are halved along their widest feature until kLeafRows are left. A leaf's values lie
/// column by column, so that whole vectors of rows are tested at once. Each eight leaves, and each
/// eight boxes of a level, have a box around them, tested eight at a time as well; a box's rows lie
/// side by side, so that one inside the radius is copied without a test. Bounds are computed with
/// the same operations in the same order as distances; rounding keeps order, so a bound never
/// contradicts the distance that BruteForce computes, and no slack is needed. With five features or
/// more, rows are first tested in single precision, and again in double precision if that cannot
/// decide.
class KdTree {
 public:
  /// `columns` holds dims columns of `rows` values, a row's place being its position in a column.
  /// At least one row and one feature, fewer than 2^31 rows.
  KdTree(std::span<const double> columns, std::size_t rows, std::size_t dims);
  KdTree(const KdTree&) = delete;
  KdTree& operator=(const KdTree&) = delete;

  std::size_t rows() const noexcept { return rows_; }
  std::size_t dims() const noexcept { return dims_; }
  /// Value of feature j of the row with the index's own number `row`.
  double value(std::uint32_t row, std::size_t j) const {
    return values_[(row / kLeafRows * dims_ + j) * kLeafRows + row % kLeafRows];
  }

  /// Rows found, and working memory that is reused from query to query.
  struct Found {
    KeyList sure;   // within reach of every query
    KeyList maybe;  // within reach of some
    std::vector<std::uint32_t> leaves;
    std::vector<BoxId> inside;
    std::vector<BoxId> stack;
    std::vector<float> query;  // in single precision
  };

  /// Rows within sqrt(reach2) of the query: found.sure, in no order.
  void near_point(std::span<const double> query, double reach2, Found& found) const;
  /// The same for the points of a box.
  void near_box(std::span<const double> low, std::span<const double> high, double reach2,
                Found& found) const;
  /// Working memory of nearest.
  struct Nearest {
    struct Step {
      double gap2;
      BoxId at;
      bool siblings;  // the box stands for itself and the seven after it
    };
    std::vector<double> kept;
    std::vector<Step> stack;
  };
  /// The squared distance within which the `count` nearest rows lie; that of the farthest where
  /// there are fewer rows. Distances are cut at `farthest`.
  double nearest(std::span<const double> query, std::size_t count, double farthest,
                 Nearest& spare) const;

 private:
  void build(std::span<const double> columns, std::span<std::uint32_t> order,
             std::size_t first_leaf);
  void fill_leaf(std::span<const double> columns, std::span<const std::uint32_t> order,
                 std::size_t leaf);
  void add_level_above();
  void set_box(std::size_t level, std::size_t box, std::size_t j, double low, double high);
  void find(std::span<const double> low, std::span<const double> high, double reach2,
            Found& found) const;
  static std::size_t first_row(BoxId box);
  void fill_floats();
  std::optional<FloatScreen> screen(std::span<const double> query, double reach2,
                                    Found& found) const;
  LeafStore store() const {
    return {values_.data(), floats_.empty() ? nullptr : floats_.data(), places_.data(), dims_};
  }
  BoxLevels boxes() const { return {level_starts_, dims_}; }

  std::size_t rows_;
  std::size_t dims_;
  std::vector<double> values_;
  std::vector<float> floats_;  // the values less the center; only where there are many features
  std::vector<double> center_;
  std::vector<std::uint32_t> places_;
  std::vector<std::vector<double>> levels_;  // boxes, as BoxLevels wants them
  std::vector<const double*> level_starts_;
};

}  // namespace tare
