// SPDX-License-Identifier: BSD-3-Clause
#include "index/brute_force.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "math/vector_targets.h"

namespace tare {
namespace {

constexpr std::size_t kBlockRows =
    1024;  // 8 KiB of sums: they stay in the first-level cache over all features

TARE_VECTOR_TARGETS void add_squares(const double* column, double query, double* sum,
                                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double difference = column[i] - query;
    sum[i] += difference * difference;
  }
}

}  // namespace

BruteForce::BruteForce(MatrixView rows, std::span<const std::size_t> order)
    : rows_(order.size()), dims_(rows.cols()) {
  std::vector<double> columns(rows_ * dims_);
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t j = 0; j < dims_; ++j) columns[j * rows_ + i] = rows(order[i], j);
  }
  columns_ = Buffer<double>(std::move(columns));
}

BruteForce::BruteForce(Buffer<double> columns, std::size_t rows, std::size_t dims)
    : columns_(std::move(columns)), rows_(rows), dims_(dims) {
  assert(columns_.size() == rows * dims && "the columns do not fill the rows");
}

std::vector<double> BruteForce::row(std::size_t i) const {
  std::vector<double> values(dims_);
  for (std::size_t j = 0; j < dims_; ++j) values[j] = columns_[j * rows_ + i];
  return values;
}

void BruteForce::squared_distances(std::span<const double> query, std::span<double> out) const {
  assert(query.size() == dims_ && out.size() == rows_ && "sizes differ");
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t first = 0; first < rows_; first += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, rows_ - first);
    for (std::size_t j = 0; j < dims_; ++j) {
      add_squares(columns_.data() + j * rows_ + first, query[j], out.data() + first, count);
    }
  }
}

}  // namespace tare
