// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// A view of a row-major matrix in memory that it does not own: row i starts at data + i * stride.
/// Cheap to copy.
template <class T>
class BasicMatrixView {
 public:
  BasicMatrixView() = default;
  BasicMatrixView(T* data, std::size_t rows, std::size_t cols)
      : BasicMatrixView(data, rows, cols, cols) {}
  BasicMatrixView(T* data, std::size_t rows, std::size_t cols, std::size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}

  /// A mutable view converts to a read-only one.
  operator BasicMatrixView<const T>() const { return {data_, rows_, cols_, stride_}; }

  std::size_t rows() const noexcept { return rows_; }
  std::size_t cols() const noexcept { return cols_; }
  std::size_t stride() const noexcept { return stride_; }
  T* data() const noexcept { return data_; }
  T& operator()(std::size_t i, std::size_t j) const {
    assert(i < rows_ && j < cols_ && "index outside the matrix");
    return data_[i * stride_ + j];
  }
  std::span<T> row(std::size_t i) const {
    assert(i < rows_ && "row outside the matrix");
    return {data_ + i * stride_, cols_};
  }
  /// Rows first, first + 1, ..., first + count - 1.
  BasicMatrixView middle_rows(std::size_t first, std::size_t count) const {
    assert(first + count <= rows_ && "rows outside the matrix");
    return {data_ + first * stride_, count, cols_, stride_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
};

using MatrixView = BasicMatrixView<const double>;
using MatrixSpan = BasicMatrixView<double>;

/// A row-major matrix that owns its memory.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols, double value = 0.0)
      : values_(rows * cols, value), rows_(rows), cols_(cols) {}
  Matrix(std::vector<double> values, std::size_t rows, std::size_t cols)
      : values_(std::move(values)), rows_(rows), cols_(cols) {
    assert(values_.size() == rows * cols && "values do not fill the matrix");
  }

  operator MatrixView() const { return {values_.data(), rows_, cols_}; }
  operator MatrixSpan() { return {values_.data(), rows_, cols_}; }
  MatrixView view() const { return *this; }
  MatrixSpan span() { return *this; }

  std::size_t rows() const noexcept { return rows_; }
  std::size_t cols() const noexcept { return cols_; }
  double& operator()(std::size_t i, std::size_t j) { return span()(i, j); }
  double operator()(std::size_t i, std::size_t j) const { return view()(i, j); }
  std::span<double> row(std::size_t i) { return span().row(i); }
  std::span<const double> row(std::size_t i) const { return view().row(i); }
  std::span<const double> values() const noexcept { return values_; }
  std::span<double> values() noexcept { return values_; }

 private:
  std::vector<double> values_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

}  // namespace tare
