// SPDX-License-Identifier: BSD-3-Clause
#include "index/dense/dense_rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace tare {
namespace {

// Squares of norms up to this, and their sums, are far from overflow in single precision.
constexpr double kLargestNorm = 1e12;
// Where the rows lie that fill up the last chunk: out of reach at every bandwidth up to
// kWidestDense.
constexpr double kFarAway = 1e18;
// Times any weight of a kernel that counts, this is still a normal number.
constexpr float kLeastWeight = 1e-25F;
constexpr double kUnit = 0x1.0p-24;  // relative error of one rounding

}  // namespace

DenseRows::DenseRows(std::span<const double> columns, std::size_t rows, std::size_t dims,
                     std::span<const double> weights)
    : rows_(rows), dims_(dims), means_(dims, 0.0) {
  assert(columns.size() == rows * dims && "the columns do not fill the rows");
  if (rows_ == 0 || dims_ == 0) return;
  values_.assign(chunks() * kDenseChunk * dims_, 0.0F);
  low_.assign(values_.size(), 0.0F);
  norms_.assign(chunks() * kDenseChunk, std::numeric_limits<float>::infinity());
  centre(columns);
  measure_norms();
  if (weights.empty()) return;
  const double largest = *std::max_element(weights.begin(), weights.end());
  weights_.assign(chunks() * kDenseChunk, 0.0F);
  for (std::size_t i = 0; i < rows_; ++i) weights_[i] = static_cast<float>(weights[i] / largest);
  usable_ = usable_ &&
            std::all_of(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(rows_),
                        [](float weight) { return weight >= kLeastWeight; });
}

void DenseRows::centre(std::span<const double> columns) {
  for (std::size_t j = 0; j < dims_; ++j) {
    const auto column = columns.subspan(j * rows_, rows_);
    for (const double value : column) means_[j] += value / static_cast<double>(rows_);
    for (std::size_t i = 0; i < chunks() * kDenseChunk; ++i) {
      const std::size_t at = (i / kDenseChunk * dims_ + j) * kDenseChunk + i % kDenseChunk;
      const double value = i < rows_ ? column[i] - means_[j] : kFarAway;
      values_[at] = static_cast<float>(value);
      low_[at] = static_cast<float>(value - static_cast<double>(values_[at]));
    }
  }
}

void DenseRows::measure_norms() {
  double largest = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) {
    double norm = 0.0;
    for (std::size_t j = 0; j < dims_; ++j) {
      const std::size_t at = (i / kDenseChunk * dims_ + j) * kDenseChunk + i % kDenseChunk;
      const auto value = static_cast<double>(values_[at]);
      norm += value * value;
    }
    norms_[i] = static_cast<float>(norm);
    largest = std::max(largest, norm);
    sum += norm;
  }
  typical_norm_ = std::sqrt(sum / static_cast<double>(rows_));
  largest_norm_ = std::sqrt(largest);
  usable_ = std::isfinite(sum) && largest_norm_ <= 0.5 * kLargestNorm;  // any row is a query, too
}

DenseRowsView DenseRows::view() const noexcept {
  return {values_.data(), low_.data(), norms_.data(), weights_.empty() ? nullptr : weights_.data(),
          dims_};
}

DenseQueries::DenseQueries(const DenseRows& rows, DenseMetric metric)
    : means_(rows.means()),
      metric_(metric),
      values_(rows.dims() * kDenseBlock, 0.0F),
      low_(rows.dims() * kDenseBlock, 0.0F),
      norms_(kDenseBlock, 0.0F),
      root_norms_(kDenseBlock, 0.0) {}

bool DenseQueries::set(std::size_t lane, std::span<const double> query) {
  assert(query.size() == means_.size() && lane < kDenseBlock);
  double norm = 0.0;
  for (std::size_t j = 0; j < query.size(); ++j) {
    norm += (query[j] - means_[j]) * (query[j] - means_[j]);
  }
  const bool fits = norm <= kLargestNorm * kLargestNorm;  // false for NaN
  norm = 0.0;
  for (std::size_t j = 0; j < query.size(); ++j) {
    const double centred = fits ? query[j] - means_[j] : 0.0;
    const auto value = static_cast<float>(centred);
    low_[j * kDenseBlock + lane] = static_cast<float>(centred - static_cast<double>(value));
    norm += static_cast<double>(value) * static_cast<double>(value);
    values_[j * kDenseBlock + lane] = metric_ == DenseMetric::kProduct ? -2.0F * value : value;
  }
  norms_[lane] = static_cast<float>(norm);
  root_norms_[lane] = std::sqrt(norm);
  return fits;
}

namespace {

/// How far rounding moves two points apart. One rounding moves each by at most kUnit of its norm;
/// twice that leaves room for second-order terms.
double moved_apart(DenseMetric metric, const DensePair& pair) {
  const double unit = metric == DenseMetric::kSplit ? kUnit * kUnit : kUnit;
  return 2.0 * unit * (pair.query_norm + pair.row_norm);
}

}  // namespace

// A chain of k operations adds k roundings of its largest partial sum.

double dense_distance_error(DenseMetric metric, const DensePair& pair) {
  return moved_apart(metric, pair) + (static_cast<double>(pair.dims) + 4.0) * kUnit * pair.distance;
}

double dense_squared_error(DenseMetric metric, const DensePair& pair) {
  const double moved = moved_apart(metric, pair);
  const double norms = pair.query_norm + pair.row_norm;
  const double largest_sum =
      metric == DenseMetric::kProduct ? norms * norms : pair.distance * pair.distance;
  return (2.0 * pair.distance + moved) * moved +
         (static_cast<double>(pair.dims) + 6.0) * kUnit * largest_sum;
}

}  // namespace tare
