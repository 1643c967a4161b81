// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace tare::python {

// NumPy arrays as tare sees them: rows one after the other, never written to. What does not look
// like this is made so in Python, where it can be explained.
template <class T>
using Vector = nanobind::ndarray<const T, nanobind::numpy, nanobind::ndim<1>, nanobind::c_contig,
                                 nanobind::device::cpu>;
template <class T>
using Table2d = nanobind::ndarray<const T, nanobind::numpy, nanobind::ndim<2>, nanobind::c_contig,
                                  nanobind::device::cpu>;
template <class T>
using NewArray = nanobind::ndarray<T, nanobind::numpy>;

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

template <class T>
BasicMatrixView<const T> view_of(const Table2d<T>& array) {
  return {array.data(), array.shape(0), array.shape(1)};
}

/// An array that owns the values, without copying them.
template <class T, class Owner>
NewArray<T> owned_array(Owner values, T* (*first)(Owner&),
                        std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<Owner>(std::move(values));
  T* data = first(*owned);
  nanobind::capsule owner(owned.release(),
                          [](void* memory) noexcept { delete static_cast<Owner*>(memory); });
  return NewArray<T>(data, shape, owner);
}

template <class T>
NewArray<T> table_array(std::vector<T> values, std::size_t rows, std::size_t cols) {
  return owned_array<T, std::vector<T>>(
      std::move(values), [](std::vector<T>& all) { return all.data(); }, {rows, cols});
}

template <class T>
NewArray<T> vector_array(std::vector<T> values) {
  const std::size_t size = values.size();
  return owned_array<T, std::vector<T>>(std::move(values),
                                        [](std::vector<T>& all) { return all.data(); }, {size});
}

inline NewArray<double> matrix_array(Matrix matrix) {
  const std::size_t rows = matrix.rows();
  const std::size_t cols = matrix.cols();
  return owned_array<double, Matrix>(std::move(matrix),
                                     [](Matrix& all) { return all.values().data(); }, {rows, cols});
}

/// Throws kInvalidArgument for one outside (0, 1).
inline std::vector<Level> levels_of(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace tare::python
