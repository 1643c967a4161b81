// SPDX-License-Identifier: BSD-3-Clause
#include "index/kd_tree.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "index/box_order.h"

namespace tare {
namespace {

constexpr std::size_t kScreenedDims = 5;  // with fewer, hits are too large a part of the rows

/// Boxes that hold nothing and are near nothing, in groups of kFan.
std::vector<double> empty_boxes(std::size_t count, std::size_t dims) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const std::size_t groups = (count + kFan - 1) / kFan;
  std::vector<double> boxes(groups * dims * 2 * kFan);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    boxes[i] = i % (2 * kFan) < kFan ? kInfinite : -kInfinite;
  }
  return boxes;
}

}  // namespace

KdTree::KdTree(std::span<const double> columns, std::size_t rows, std::size_t dims)
    : rows_(rows), dims_(dims) {
  assert(rows > 0 && dims > 0 && columns.size() == rows * dims && "columns do not fill the rows");
  const std::size_t leaves = (rows + kLeafRows - 1) / kLeafRows;
  values_.assign(leaves * dims * kLeafRows, std::numeric_limits<double>::infinity());
  places_.assign(leaves * kLeafRows, 0);
  levels_.emplace_back(empty_boxes(leaves, dims));
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  build(columns, order, 0);
  if (dims >= kScreenedDims) fill_floats();
  while (levels_.back().size() > 2 * dims * kFan) add_level_above();
  for (const auto& level : levels_) level_starts_.push_back(level.data());
}

void KdTree::build(std::span<const double> columns, std::span<std::uint32_t> order,
                   std::size_t first_leaf) {
  if (order.size() <= kLeafRows) {
    fill_leaf(columns, order, first_leaf);
    return;
  }
  // The left half holds a power of two of full leaves, so that the boxes of eight leaves are parts
  // of the tree.
  const std::size_t leaves = (order.size() + kLeafRows - 1) / kLeafRows;
  const std::size_t left_leaves = std::bit_ceil(leaves) / 2;
  const std::size_t left = left_leaves * kLeafRows;
  const double* column = columns.data() + widest_feature(columns, rows_, order) * rows_;
  // By place among equals, so that the tree is defined whatever the library's algorithm is.
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(left), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return column[a] < column[b] || (column[a] == column[b] && a < b);
                   });
  build(columns, order.first(left), first_leaf);
  build(columns, order.subspan(left), first_leaf + left_leaves);
}

void KdTree::fill_leaf(std::span<const double> columns, std::span<const std::uint32_t> order,
                       std::size_t leaf) {
  for (std::size_t i = 0; i < order.size(); ++i) places_[leaf * kLeafRows + i] = order[i];
  for (std::size_t j = 0; j < dims_; ++j) {
    double* out = values_.data() + (leaf * dims_ + j) * kLeafRows;
    for (std::size_t i = 0; i < order.size(); ++i) out[i] = columns[j * rows_ + order[i]];
    const auto [low, high] = std::minmax_element(out, out + order.size());
    set_box(0, leaf, j, *low, *high);
  }
}

void KdTree::set_box(std::size_t level, std::size_t box, std::size_t j, double low, double high) {
  double* at = levels_[level].data() + (box / kFan * dims_ + j) * 2 * kFan + box % kFan;
  at[0] = low;
  at[kFan] = high;
}

void KdTree::add_level_above() {
  const std::vector<double>& below = levels_.back();
  const std::size_t parents = below.size() / (2 * dims_ * kFan);
  const std::size_t level = levels_.size();
  std::vector<double> lows(parents * dims_);
  std::vector<double> highs(parents * dims_);
  for (std::size_t box = 0; box < parents; ++box) {
    for (std::size_t j = 0; j < dims_; ++j) {
      const double* children = below.data() + (box * dims_ + j) * 2 * kFan;
      lows[box * dims_ + j] = *std::min_element(children, children + kFan);
      highs[box * dims_ + j] = *std::max_element(children + kFan, children + 2 * kFan);
    }
  }
  levels_.emplace_back(empty_boxes(parents, dims_));
  for (std::size_t box = 0; box < parents; ++box) {
    for (std::size_t j = 0; j < dims_; ++j) {
      set_box(level, box, j, lows[box * dims_ + j], highs[box * dims_ + j]);
    }
  }
}

std::size_t KdTree::first_row(BoxId box) {
  std::size_t leaves = 1;
  for (std::uint32_t level = 0; level < box.level; ++level) leaves *= kFan;
  return box.box * leaves * kLeafRows;
}

void KdTree::find(std::span<const double> low, std::span<const double> high, double reach2,
                  Found& found) const {
  find_boxes(boxes(), low.data(), high.data(), reach2, found.stack, found.leaves, found.inside);
  found.sure.clear();
  found.maybe.clear();
  for (const BoxId& box : found.inside) {
    const std::size_t first = first_row(box);
    const std::size_t last = std::min(rows_, first_row({box.level, box.box + 1}));
    RowKey* out = found.sure.room(last - first);
    for (std::size_t row = first; row < last; ++row) {
      *out++ = row_key(places_[row], static_cast<std::uint32_t>(row));
    }
    found.sure.grow(last - first);
  }
}

void KdTree::fill_floats() {
  center_.assign(dims_, 0.0);
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t j = 0; j < dims_; ++j) {
      center_[j] += value(static_cast<std::uint32_t>(row), j) / static_cast<double>(rows_);
    }
  }
  floats_.resize(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    floats_[i] = static_cast<float>(values_[i] - center_[i / kLeafRows % dims_]);
  }
}

std::optional<FloatScreen> KdTree::screen(std::span<const double> query, double reach2,
                                          Found& found) const {
  // Squares stay far from the ends of what floats can hold.
  constexpr double kNarrowest = 1e-12;
  constexpr double kWidest = 1e12;
  constexpr double kFarthest = 1e4;  // of the query from the center, in radii
  const double reach = std::sqrt(reach2);
  if (floats_.empty() || !(reach > kNarrowest && reach < kWidest)) return std::nullopt;
  found.query.resize(dims_);
  double norm2 = 0.0;
  for (std::size_t j = 0; j < dims_; ++j) {
    const double offset = query[j] - center_[j];
    norm2 += offset * offset;
    found.query[j] = static_cast<float>(offset);
  }
  const double norm = std::sqrt(norm2);
  if (!(norm < kFarthest * reach)) return std::nullopt;
  // With u = 2^-24, a coordinate difference is off by at most 2.01 u (|difference| + |offset|), and
  // the sum of d fused squares by (d + 1) u of itself: together u ((d + 6) s + 4.1 sqrt(s) norm)
  // and terms in u^2, at s = reach2. Half as much again for good measure.
  constexpr double kFloatUnit = 0x1.0p-24;
  const auto dims = static_cast<double>(dims_);
  const double error = 1.5 * kFloatUnit * ((dims + 6.0) * reach2 + 4.1 * reach * norm) +
                       16.0 * kFloatUnit * kFloatUnit * (reach2 + norm2);
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  return FloatScreen{found.query.data(),
                     std::nextafter(static_cast<float>(reach2 - error), -kInfinite),
                     std::nextafter(static_cast<float>(reach2 + error), kInfinite)};
}

void KdTree::near_point(std::span<const double> query, double reach2, Found& found) const {
  find(query, query, reach2, found);
  RowKey* out = found.sure.room((found.leaves.size() + 1) * kLeafRows);
  const auto floats = screen(query, reach2, found);
  found.sure.grow(
      floats ? rows_near_point_screened(store(), found.leaves, query.data(), reach2, *floats, out)
             : rows_near_point(store(), found.leaves, query.data(), reach2, out));
}

void KdTree::near_box(std::span<const double> low, std::span<const double> high, double reach2,
                      Found& found) const {
  find(low, high, reach2, found);
  const std::size_t room = (found.leaves.size() + 1) * kLeafRows;
  RowKey* sure = found.sure.room(room);
  RowKey* maybe = found.maybe.room(room);
  const BoxCounts counts =
      rows_near_box(store(), found.leaves, low.data(), high.data(), reach2, sure, maybe);
  found.sure.grow(counts.sure);
  found.maybe.grow(counts.maybe);
}

double KdTree::nearest(std::span<const double> query, std::size_t count, double farthest,
                       Nearest& spare) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::size_t wanted = std::min(count, rows_);
  // Distances seen so far that may be among the wanted; cut down when there are twice as many.
  std::vector<double>& kept = spare.kept;
  kept.clear();
  double bound = kNone;
  const auto cut = [&] {
    const auto last = kept.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(kept.begin(), last, kept.end());
    kept.resize(wanted);
    bound = kept[wanted - 1];
  };
  spare.stack.assign(1, {0.0, {static_cast<std::uint32_t>(levels_.size() - 1), 0}, true});
  while (!spare.stack.empty()) {
    const Nearest::Step step = spare.stack.back();
    spare.stack.pop_back();
    if (std::min(step.gap2, farthest) > bound) continue;
    if (step.siblings) {
      double gaps[kFan];
      box_gaps(boxes(), step.at.level, step.at.box, query.data(), gaps);
      const std::size_t first = spare.stack.size();
      for (std::uint32_t k = 0; k < kFan; ++k) {
        if (first_row({step.at.level, step.at.box + k}) >= rows_) break;  // no such box
        if (std::min(gaps[k], farthest) > bound) continue;
        spare.stack.push_back({gaps[k], {step.at.level, step.at.box + k}, false});
      }
      // The nearest last: it is looked at first and lowers the bound for the rest.
      std::sort(spare.stack.begin() + static_cast<std::ptrdiff_t>(first), spare.stack.end(),
                [](const auto& a, const auto& b) { return a.gap2 > b.gap2; });
      continue;
    }
    if (step.at.level > 0) {
      const auto child = step.at.box * static_cast<std::uint32_t>(kFan);
      spare.stack.push_back({step.gap2, {step.at.level - 1, child}, true});
      continue;
    }
    double squares[kLeafRows];
    leaf_distances(store(), step.at.box, query.data(), squares);
    const std::size_t in_leaf = std::min(kLeafRows, rows_ - step.at.box * kLeafRows);
    for (std::size_t i = 0; i < in_leaf; ++i) {
      const double r2 = std::min(squares[i], farthest);
      if (r2 < bound || kept.size() < wanted) kept.push_back(r2);
    }
    if (kept.size() >= 2 * wanted || (bound == kNone && kept.size() >= wanted)) cut();
  }
  cut();
  return bound;
}

}  // namespace tare
