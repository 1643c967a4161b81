// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tare::nn {

// Row-major, in place, on the product kernel of kernels.h. A wide vector unit gets its use from it,
// where a library compiled for any machine does not. `scratch` has room for 12 n elements (n: rows
// of the triangle).

/// Replaces the lower triangle of `a` (n x n) by L with L L' = a. The rest stays as it was. False
/// when a pivot is not positive.
template <class T>
bool factor_lower(T* a, std::size_t n, T* scratch);

/// n x n elements of which the lower triangle counts; a row starts `stride` elements after the one
/// before.
template <class T>
struct LowerTriangle {
  const T* values;
  std::size_t n;
  std::size_t stride;
};

/// Replaces x (n x cols) by L^-1 x.
template <class T>
void solve_with_lower(LowerTriangle<T> l, T* x, std::size_t cols, T* scratch);

/// Replaces x (n x cols) by L'^-1 x.
template <class T>
void solve_with_lower_transposed(LowerTriangle<T> l, T* x, std::size_t cols, T* scratch);

inline constexpr std::size_t kFactorBlock = 12;

}  // namespace tare::nn
