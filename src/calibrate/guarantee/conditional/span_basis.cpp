// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/span_basis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/fail.h"

namespace tare {
namespace {

// A column of unit variance depends on others if they leave less of it than this.
constexpr double kLeastLeft = 1e-10;
// And so at a row: in units of its standard deviation.
constexpr double kSameAsBefore = 1e-4;

}  // namespace

SpanBasis::SpanBasis(MatrixView columns) {
  const std::size_t rows = columns.rows();
  const std::size_t cols = columns.cols();
  const auto count = static_cast<double>(rows);
  center_.assign(cols, 0.0);
  scale_.assign(cols, 1.0);
  // The constant, column 0, stays as it is, so that centering does not leave the span.
  for (std::size_t j = 1; j < cols; ++j) {
    double largest = 0.0;
    for (std::size_t i = 0; i < rows; ++i) largest = std::max(largest, std::abs(columns(i, j)));
    if (!(largest > 0.0)) continue;
    double sum = 0.0;
    for (std::size_t i = 0; i < rows; ++i) sum += columns(i, j) / largest;
    const double mean = sum / count;
    double squares = 0.0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double rest = columns(i, j) / largest - mean;
      squares += rest * rest;
    }
    const double deviation = std::sqrt(squares / count);
    center_[j] = mean * largest;
    // A constant keeps its size: another value at a new row must show.
    const double scale = deviation > 1e-9 ? deviation * largest : largest;
    scale_[j] = std::isfinite(scale) && scale > 0.0 ? scale : 1.0;
  }
  Matrix moments(cols, cols);
  std::vector<double> row(cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) row[j] = (columns(i, j) - center_[j]) / scale_[j];
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t k = 0; k <= j; ++k) moments(j, k) += row[j] * row[k] / count;
    }
  }
  for (std::size_t j = 0; j < cols; ++j) {
    for (std::size_t k = 0; k < j; ++k) moments(k, j) = moments(j, k);
  }
  std::vector<std::size_t> open(cols);
  for (std::size_t j = 0; j < cols; ++j) open[j] = j;
  Matrix factor(cols, cols);  // by column of the input
  std::vector<double> left(cols);
  for (std::size_t j = 0; j < cols; ++j) left[j] = moments(j, j);
  while (!open.empty()) {
    const auto best = taken_.empty()
                          ? open.begin()
                          : std::ranges::max_element(open, {}, [&](auto j) { return left[j]; });
    const std::size_t pivot = *best;
    if (!(left[pivot] > kLeastLeft)) break;
    const std::size_t step = taken_.size();
    const double root = std::sqrt(left[pivot]);
    taken_.push_back(pivot);
    open.erase(best);
    factor(pivot, step) = root;
    for (const std::size_t j : open) {
      double rest = moments(j, pivot);
      for (std::size_t k = 0; k < step; ++k) rest -= factor(j, k) * factor(pivot, k);
      factor(j, step) = rest / root;
      left[j] -= factor(j, step) * factor(j, step);
    }
  }
  left_ = open;
  factor_ = Matrix(cols, taken_.size());
  std::size_t to = 0;
  for (const auto& list : {taken_, left_}) {
    for (const std::size_t j : list) {
      for (std::size_t k = 0; k < taken_.size(); ++k) factor_(to, k) = factor(j, k);
      ++to;
    }
  }
}

bool SpanBasis::apply(std::span<const double> row, std::span<double> result) const {
  bool usual = true;
  const auto scaled = [&](std::size_t j) { return (row[j] - center_[j]) / scale_[j]; };
  for (std::size_t k = 0; k < taken_.size(); ++k) {
    double rest = scaled(taken_[k]);
    for (std::size_t m = 0; m < k; ++m) rest -= factor_(k, m) * result[m];
    result[k] = rest / factor_(k, k);
    usual = usual && std::isfinite(result[k]);
  }
  for (std::size_t d = 0; d < left_.size(); ++d) {
    double rest = scaled(left_[d]);
    double size = 1.0;
    for (std::size_t m = 0; m < taken_.size(); ++m) {
      const double part = factor_(taken_.size() + d, m) * result[m];
      rest -= part;
      size = std::max(size, std::abs(part));
    }
    usual = usual && std::abs(rest) <= kSameAsBefore * size;
  }
  return usual;
}

void SpanBasis::save(const TensorWriter& out) const {
  out.tensor("center", center_);
  out.tensor("scale", scale_);
  out.tensor("taken", std::vector<std::int64_t>(taken_.begin(), taken_.end()));
  out.tensor("left", std::vector<std::int64_t>(left_.begin(), left_.end()));
  out.tensor("factor", factor_.values(), {factor_.rows(), factor_.cols()});
}

SpanBasis SpanBasis::load(const TensorReader& in, std::size_t inputs) {
  SpanBasis basis;
  basis.center_ = in.values<double>("center", {inputs}, Must::kBeFinite);
  basis.scale_ = in.values<double>("scale", {inputs}, Must::kBePositive);
  std::vector<std::uint8_t> seen(inputs, 0);
  const auto take = [&](const char* name, std::vector<std::size_t>& to) {
    for (const std::int64_t column : in.list<std::int64_t>(name)) {
      const bool right = column >= 0 && static_cast<std::size_t>(column) < inputs &&
                         seen[static_cast<std::size_t>(column)]++ == 0;
      if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
      to.push_back(static_cast<std::size_t>(column));
    }
  };
  take("taken", basis.taken_);
  take("left", basis.left_);
  const std::size_t dims = basis.taken_.size();
  if (dims == 0 || dims + basis.left_.size() != inputs) {
    fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  }
  basis.factor_ =
      Matrix(in.values<double>("factor", {inputs, dims}, Must::kBeFinite), inputs, dims);
  for (std::size_t k = 0; k < dims; ++k) {
    if (!(basis.factor_(k, k) > 0.0)) {
      fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
    }
  }
  return basis;
}

}  // namespace tare
