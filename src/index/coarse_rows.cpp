// SPDX-License-Identifier: BSD-3-Clause
#include "index/coarse_rows.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "index/box_order.h"

namespace tare {
namespace {

constexpr std::size_t kCoarseWord = 64;                // rows
constexpr std::size_t kCoarseBlockBytes = 128 * 1024;  // of rows, which stay in the cache
constexpr double kRoom = 1.125;  // for queries beyond the rows, which else would be doubtful
// Spreads whose squares, and those of their steps, are far from overflow and underflow.
constexpr double kNarrowestSpread = 1e-140;
constexpr double kWidestSpread = 1e140;

/// Coordinates up to this leave room for a sum of |x|^2 - 2 q.x in 32 bits, and twice of it fits
/// in 16.
double farthest_coordinate(std::size_t dims) {
  constexpr double kLargestSum = 0x1.fffffp30;
  return std::floor(std::min(16383.0, std::sqrt(kLargestSum / (3.0 * static_cast<double>(dims)))));
}

std::int32_t clamp_limit(double value) {
  constexpr double kLargest = 0x7ffffffe;  // below kCoarseNowhere
  return static_cast<std::int32_t>(std::clamp(value, -kLargest, kLargest));
}

/// Words that are compared at once: few have a doubtful row.
constexpr std::size_t kSettleWords = 8;

bool differ(const std::uint64_t* a, const std::uint64_t* b) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kSettleWords; ++i) bits |= a[i] ^ b[i];
  return bits != 0;
}

}  // namespace

CoarseGrid coarse_grid(std::span<const double> columns, std::size_t rows, std::size_t dims) {
  CoarseGrid grid;
  if (rows == 0 || dims == 0) return grid;
  grid.center.resize(dims);
  double spread = 0.0;
  for (std::size_t j = 0; j < dims; ++j) {
    const auto column = columns.subspan(j * rows, rows);
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    const double half = 0.5 * *high - 0.5 * *low;
    grid.center[j] = *low + half;
    spread = std::max(spread, half);
  }
  grid.farthest = farthest_coordinate(dims);
  if (spread >= kNarrowestSpread && spread <= kWidestSpread && grid.farthest >= 1.0) {
    grid.step = kRoom * spread / grid.farthest;
  }
  return grid;
}

bool CoarseGrid::serves(double radius) const {
  // Row and query are moved by about sqrt(d / 12) steps each. Around distance r there are at most
  // about 0.8 sqrt(d) / r of all rows per unit of distance, as for normal features: so two percent
  // of the rows are doubtful.
  const auto dims = static_cast<double>(center.size());
  return step > 0.0 && std::isfinite(radius) && 48.0 * dims * step <= radius;
}

CoarseRows::CoarseRows(std::span<const double> columns, std::size_t rows, std::size_t dims,
                       Arrangement arrangement)
    : columns_(columns),
      rows_(rows),
      dims_(dims),
      pairs_((dims + 1) / 2),
      grid_(coarse_grid(columns, rows, dims)) {
  assert(columns.size() == rows * dims && "the columns do not fill the rows");
  if (!(grid_.step > 0.0)) return;
  if (arrangement == Arrangement::kInBoxes) order_ = box_order(columns, rows, kCoarseWord);
  place_rows();
  if (!order_.empty()) fill_boxes();
}

std::size_t CoarseRows::at(std::size_t row, std::size_t feature) const {
  const std::size_t pair = row / kCoarseWord * pairs_ + feature / 2;
  return (pair * kCoarseWord + row % kCoarseWord) * 2 + feature % 2;
}

void CoarseRows::place_rows() {
  values_.assign(words() * kCoarseWord * pairs_ * 2, 0);
  norms_.assign(words() * kCoarseWord, kCoarseNowhere);
  double largest = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) {
    std::int32_t norm = 0;
    double error = 0.0;
    for (std::size_t j = 0; j < dims_; ++j) {
      const double steps = (columns_[j * rows_ + place(i)] - grid_.center[j]) / grid_.step;
      const auto coordinate = static_cast<std::int16_t>(std::lround(steps));
      values_[at(i, j)] = coordinate;
      norm += std::int32_t{coordinate} * coordinate;
      error += (steps - coordinate) * (steps - coordinate);
    }
    norms_[i] = norm;
    largest = std::max(largest, error);
  }
  row_error_ = std::sqrt(largest);
}

void CoarseRows::fill_boxes() {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::size_t groups = (words() + kCoarseBoxes - 1) / kCoarseBoxes;
  boxes_.assign(groups * dims_ * 2 * kCoarseBoxes, kInfinite);  // nothing is near an empty box
  for (std::size_t w = 0; w < words(); ++w) {
    const std::size_t last = std::min(rows_, (w + 1) * kCoarseWord);
    for (std::size_t j = 0; j < dims_; ++j) {
      float low = kInfinite;
      float high = -kInfinite;
      for (std::size_t i = w * kCoarseWord; i < last; ++i) {
        low = std::min(low, static_cast<float>(values_[at(i, j)]));
        high = std::max(high, static_cast<float>(values_[at(i, j)]));
      }
      float* sides = boxes_.data() + (w / kCoarseBoxes * dims_ + j) * 2 * kCoarseBoxes;
      sides[w % kCoarseBoxes] = low;
      sides[kCoarseBoxes + w % kCoarseBoxes] = high;
    }
  }
}

CoarseRows::CoarseQuery CoarseRows::prepare(std::span<const double> query, double reach2,
                                            std::int16_t* out) const {
  bool inside = true;
  double error2 = 0.0;
  double norm = 0.0;
  for (std::size_t j = 0; j < dims_; ++j) {
    const double steps = (query[j] - grid_.center[j]) / grid_.step;
    const double in_box = std::clamp(steps, -grid_.farthest, grid_.farthest);
    const double coordinate = std::round(in_box);
    inside = inside && in_box == steps;
    error2 += (in_box - coordinate) * (in_box - coordinate);
    norm += coordinate * coordinate;
    out[j] = static_cast<std::int16_t>(-2.0 * coordinate);
  }
  // In steps. Moving a query from outside to the rim of a box that holds all rows brings it no
  // farther from any of them: it reaches no row that it would not have reached, but of those it
  // reaches none is sure. The last term is for the rounding of the sums in double precision.
  const double reach = std::sqrt(reach2) / grid_.step;
  const double moved = row_error_ + std::sqrt(error2) + 1e-9;
  const double rounding = reach * 1e-15 * static_cast<double>(dims_ + 8);
  const double farther = reach + 1.0001 * moved + rounding;
  const double nearer = reach - 1.0001 * moved - rounding;
  CoarseTest test;
  test.query = out;
  test.possible_limit = clamp_limit(std::ceil(farther * farther - norm) + 1.0);
  test.sure_limit = inside && nearer > 0.0 ? clamp_limit(std::floor(nearer * nearer - norm))
                                           : std::numeric_limits<std::int32_t>::min();
  test.sure_limit = std::min(test.sure_limit, test.possible_limit);
  return {test, farther * farther};
}

bool CoarseRows::within(std::size_t row, std::span<const double> query, double reach2) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < dims_; ++j) {
    const double difference = columns_[j * rows_ + row] - query[j];
    sum += difference * difference;
  }
  return sum <= reach2;
}

/// Measures the doubtful rows of the words first, ..., last - 1.
void CoarseRows::settle(const CoarseTest& test, std::size_t first, std::size_t last,
                        std::span<const double> query, double reach2) const {
  std::uint64_t* sure = test.sure;
  const std::uint64_t* possible = test.possible;
  for (std::size_t w = 0; w < last - first; ++w) {
    if (w % kSettleWords == 0 && w + kSettleWords <= last - first &&
        !differ(sure + w, possible + w)) {
      w += kSettleWords - 1;
      continue;
    }
    for (std::uint64_t left = possible[w] & ~sure[w]; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(left));
      if (within((first + w) * kCoarseWord + bit, query, reach2)) {
        sure[w] |= std::uint64_t{1} << bit;
      }
    }
  }
}

void CoarseRows::near(MatrixView queries, double reach2, Scratch& scratch,
                      std::span<std::uint64_t> masks) const {
  assert(queries.cols() == dims_ && masks.size() >= queries.rows() * words());
  if (order_.empty()) return near_among_all(queries, reach2, scratch, masks);
  for (std::size_t q = 0; q < queries.rows(); ++q) {
    near_in_boxes(queries.row(q), reach2, scratch, masks.data() + q * words());
  }
}

void CoarseRows::near_among_all(MatrixView queries, double reach2, Scratch& scratch,
                                std::span<std::uint64_t> masks) const {
  const std::size_t count = queries.rows();
  const std::size_t row_bytes = 2 * pairs_ * sizeof(std::int16_t) + sizeof(std::int32_t);
  const std::size_t block = std::max<std::size_t>(1, kCoarseBlockBytes / (kCoarseWord * row_bytes));
  scratch.queries.assign(count * 2 * pairs_, 0);
  scratch.tests.resize(count);
  scratch.possible.resize(count * block);
  for (std::size_t q = 0; q < count; ++q) {
    std::int16_t* query = scratch.queries.data() + q * 2 * pairs_;
    scratch.tests[q] = prepare(queries.row(q), reach2, query).test;
    scratch.tests[q].possible = scratch.possible.data() + q * block;
  }
  const CoarseStore store{values_.data(), norms_.data(), pairs_};
  for (std::size_t first = 0; first < words(); first += block) {
    const std::size_t last = std::min(words(), first + block);
    for (std::size_t q = 0; q < count; ++q) {
      scratch.tests[q].sure = masks.data() + q * words() + first;
    }
    coarse_masks(store, first, last, scratch.tests);
    for (std::size_t q = 0; q < count; ++q) {
      settle(scratch.tests[q], first, last, queries.row(q), reach2);
    }
  }
}

/// The boxes in reach, into scratch.boxes. Returns how many.
std::size_t CoarseRows::find_boxes(const CoarseQuery& coarse, Scratch& scratch) const {
  scratch.boxes.resize(words() + 2 * kCoarseBoxes);
  scratch.query.resize(dims_);
  for (std::size_t j = 0; j < dims_; ++j) {
    scratch.query[j] = -0.5F * static_cast<float>(coarse.test.query[j]);
  }
  // Coordinates and their differences are whole and exact; a square and each sum of squares are
  // off by half a unit in the last of 24 bits.
  const double rounding = 0x1.0p-23 * static_cast<double>(dims_ + 4);
  const auto limit = static_cast<float>(std::min(1e30, coarse.farthest2 * (1.0 + rounding) + 1.0));
  const std::size_t groups = (words() + kCoarseBoxes - 1) / kCoarseBoxes;
  return coarse_boxes_near({boxes_.data(), groups, dims_}, scratch.query.data(), limit,
                           scratch.boxes.data());
}

void CoarseRows::near_in_boxes(std::span<const double> query, double reach2, Scratch& scratch,
                               std::uint64_t* mask) const {
  scratch.queries.assign(2 * pairs_, 0);
  CoarseQuery coarse = prepare(query, reach2, scratch.queries.data());
  const std::size_t boxes = find_boxes(coarse, scratch);
  scratch.possible.resize(words());
  scratch.sure.resize(words());
  coarse.test.possible = scratch.possible.data();
  coarse.test.sure = scratch.sure.data();
  coarse_masks_at({values_.data(), norms_.data(), pairs_}, {scratch.boxes.data(), boxes},
                  coarse.test);
  std::fill_n(mask, words(), 0);
  for (std::size_t k = 0; k < boxes; ++k) {
    const std::size_t first = std::size_t{scratch.boxes[k]} * kCoarseWord;
    for (std::uint64_t left = scratch.possible[k]; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(left));
      const std::size_t at = order_[first + bit];
      if (((scratch.sure[k] >> bit) & 1) != 0 || within(at, query, reach2)) {
        mask[at / 64] |= std::uint64_t{1} << (at % 64);
      }
    }
  }
}

double CoarseRows::share_of_boxes(std::span<const double> query, double reach2,
                                  Scratch& scratch) const {
  assert(!order_.empty() && "rows stand in no boxes");
  scratch.queries.assign(2 * pairs_, 0);
  const CoarseQuery coarse = prepare(query, reach2, scratch.queries.data());
  return static_cast<double>(find_boxes(coarse, scratch)) / static_cast<double>(words());
}

}  // namespace tare
