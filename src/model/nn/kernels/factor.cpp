// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/kernels/factor.h"

#include <algorithm>
#include <cmath>

#include "model/nn/kernels/kernels.h"

namespace tare::nn {
namespace {

/// Row i of x minus `factor` times row j.
template <class T>
void subtract_row(T* x, std::size_t cols, std::size_t i, std::size_t j, T factor) {
  for (std::size_t k = 0; k < cols; ++k) x[i * cols + k] -= factor * x[j * cols + k];
}

template <class T>
void divide_row(T* x, std::size_t cols, std::size_t i, T divisor) {
  for (std::size_t k = 0; k < cols; ++k) x[i * cols + k] /= divisor;
}

}  // namespace

template <class T>
bool factor_lower(T* a, std::size_t n, T* scratch) {
  for (std::size_t first = 0; first < n; first += kFactorBlock) {
    const std::size_t width = std::min(kFactorBlock, n - first);
    // What the finished columns take away from this strip of columns.
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t q = 0; q < first; ++q) scratch[q * width + j] = -a[(first + j) * n + q];
    }
    T* const strip = a + first * n + first;
    for (std::size_t top = 0; top < n - first; top += width) {
      // Block by block, so that nothing above the diagonal blocks is touched.
      const std::size_t height = std::min(width, n - first - top);
      accumulate_product(Product<T>{height, width, first, a + (first + top) * n, n, 1, scratch,
                                    width, strip + top * n, n});
    }
    for (std::size_t j = 0; j < width; ++j) {
      T pivot = strip[j * n + j];
      for (std::size_t q = 0; q < j; ++q) pivot -= strip[j * n + q] * strip[j * n + q];
      if (!(pivot > T(0)) || !std::isfinite(pivot)) return false;
      const T root = std::sqrt(pivot);
      strip[j * n + j] = root;
      for (std::size_t i = j + 1; i < n - first; ++i) {
        T sum = strip[i * n + j];
        for (std::size_t q = 0; q < j; ++q) sum -= strip[i * n + q] * strip[j * n + q];
        strip[i * n + j] = sum / root;
      }
    }
  }
  return true;
}

template <class T>
void solve_with_lower(LowerTriangle<T> l, T* x, std::size_t cols, T* scratch) {
  for (std::size_t first = 0; first < l.n; first += kFactorBlock) {
    const std::size_t height = std::min(kFactorBlock, l.n - first);
    for (std::size_t i = 0; i < height; ++i) {
      const T* const row = l.values + (first + i) * l.stride;
      for (std::size_t q = 0; q < first; ++q) scratch[i * first + q] = -row[q];
    }
    accumulate_product(
        Product<T>{height, cols, first, scratch, first, 1, x, cols, x + first * cols, cols});
    for (std::size_t i = first; i < first + height; ++i) {
      const T* const row = l.values + i * l.stride;
      for (std::size_t j = first; j < i; ++j) subtract_row(x, cols, i, j, row[j]);
      divide_row(x, cols, i, row[i]);
    }
  }
}

template <class T>
void solve_with_lower_transposed(LowerTriangle<T> l, T* x, std::size_t cols, T* scratch) {
  const std::size_t blocks = (l.n + kFactorBlock - 1) / kFactorBlock;
  for (std::size_t block = blocks; block-- > 0;) {
    const std::size_t first = block * kFactorBlock;
    const std::size_t last = std::min(l.n, first + kFactorBlock);
    const std::size_t width = last - first;
    for (std::size_t q = last; q < l.n; ++q) {
      for (std::size_t i = 0; i < width; ++i) {
        scratch[(q - last) * width + i] = -l.values[q * l.stride + first + i];
      }
    }
    accumulate_product(Product<T>{width, cols, l.n - last, scratch, 1, width, x + last * cols, cols,
                                  x + first * cols, cols});
    for (std::size_t i = last; i-- > first;) {
      for (std::size_t j = i + 1; j < last; ++j) {
        subtract_row(x, cols, i, j, l.values[j * l.stride + i]);
      }
      divide_row(x, cols, i, l.values[i * l.stride + i]);
    }
  }
}

template bool factor_lower(float*, std::size_t, float*);
template bool factor_lower(double*, std::size_t, double*);
template void solve_with_lower(LowerTriangle<float>, float*, std::size_t, float*);
template void solve_with_lower(LowerTriangle<double>, double*, std::size_t, double*);
template void solve_with_lower_transposed(LowerTriangle<float>, float*, std::size_t, float*);
template void solve_with_lower_transposed(LowerTriangle<double>, double*, std::size_t, double*);

}  // namespace tare::nn
