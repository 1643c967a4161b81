// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "math/vector_targets.h"
#include "model/nn/kernels/kernels.h"

// Compiled with fused multiply-add (see CMakeLists.txt): each element is one chain acc += a * b in
// the order of the inner index, whatever tile it falls into, so that fusing cannot make rows depend
// on how they are batched.

namespace tare::nn {
namespace {

// Vectors of 256 bits where the clones exist: two columns of them and six rows fill the 16
// registers of AVX2, and on Zen 4 they are as fast as 512 bits. Elsewhere 128 bits, as wider ones
// would be kept in memory.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::size_t kBytes = 32;
#else
constexpr std::size_t kBytes = 16;
#endif

template <class T, std::size_t kWidth>
struct Lanes {
  typedef T Type __attribute__((vector_size(kWidth * sizeof(T))));
};
template <class T>
struct Lanes<T, 1> {
  using Type = T;
};

/// kRows x (kVectors * kWidth) elements of C, held in registers over the inner index.
template <class T, std::size_t kRows, std::size_t kVectors, std::size_t kWidth>
[[gnu::always_inline]] inline void tile(const Product<T>& p, std::size_t i, std::size_t j) {
  using V = typename Lanes<T, kWidth>::Type;
  V acc[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      std::memcpy(&acc[r][v], p.c + (i + r) * p.c_row + j + v * kWidth, sizeof(V));
    }
  }
  const T* a = p.a + i * p.a_row;
  const T* b = p.b + j;
  for (std::size_t q = 0; q < p.k; ++q) {
    V right[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) std::memcpy(&right[v], b + v * kWidth, sizeof(V));
    for (std::size_t r = 0; r < kRows; ++r) {
      const T left = a[r * p.a_row];
      for (std::size_t v = 0; v < kVectors; ++v) acc[r][v] += left * right[v];
    }
    a += p.a_col;
    b += p.b_row;
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      std::memcpy(p.c + (i + r) * p.c_row + j + v * kWidth, &acc[r][v], sizeof(V));
    }
  }
}

/// All rows of a strip of columns.
template <class T, std::size_t kVectors, std::size_t kWidth>
[[gnu::always_inline]] inline void strip(const Product<T>& p, std::size_t j) {
  std::size_t i = 0;
  for (; i + 6 <= p.m; i += 6) tile<T, 6, kVectors, kWidth>(p, i, j);
  if (i + 4 <= p.m) {
    tile<T, 4, kVectors, kWidth>(p, i, j);
    i += 4;
  }
  if (i + 2 <= p.m) {
    tile<T, 2, kVectors, kWidth>(p, i, j);
    i += 2;
  }
  if (i < p.m) tile<T, 1, kVectors, kWidth>(p, i, j);
}

template <class T>
[[gnu::always_inline]] inline void strips(const Product<T>& p) {
  constexpr std::size_t kWidth = kBytes / sizeof(T);
  std::size_t j = 0;
  for (; j + 2 * kWidth <= p.n; j += 2 * kWidth) strip<T, 2, kWidth>(p, j);
  if (j + kWidth <= p.n) {
    strip<T, 1, kWidth>(p, j);
    j += kWidth;
  }
  if (j + kWidth / 2 <= p.n) {
    strip<T, 1, kWidth / 2>(p, j);
    j += kWidth / 2;
  }
  for (; j < p.n; ++j) strip<T, 1, 1>(p, j);
}

/// A column of C from a transposed A is faster as a row: then the long side is contiguous.
template <class T>
Product<T> as_row(const Product<T>& p) {
  Product<T> row;
  row.m = 1;
  row.n = p.m;
  row.k = p.k;
  row.a = p.b;
  row.a_col = p.b_row;
  row.b = p.a;
  row.b_row = p.a_col;
  row.c = p.c;
  row.c_row = p.m;
  return row;
}

template <class T>
bool is_column_of_transposed(const Product<T>& p) {
  return p.n == 1 && p.m > 1 && p.a_row == 1 && p.c_row == 1;
}

TARE_VECTOR_TARGETS void product_float(const Product<float>& p) { strips(p); }
TARE_VECTOR_TARGETS void product_double(const Product<double>& p) { strips(p); }

}  // namespace

void accumulate_product(const Product<float>& p) {
  product_float(is_column_of_transposed(p) ? as_row(p) : p);
}

void accumulate_product(const Product<double>& p) {
  product_double(is_column_of_transposed(p) ? as_row(p) : p);
}

template <class T>
void transpose(const T* from, std::size_t rows, std::size_t cols, T* to) {
  constexpr std::size_t kTile = 8;  // both sides of a tile stay in the first cache
  for (std::size_t i0 = 0; i0 < rows; i0 += kTile) {
    const std::size_t i1 = std::min(rows, i0 + kTile);
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t i = i0; i < i1; ++i) to[j * rows + i] = from[i * cols + j];
    }
  }
}

template void transpose(const float*, std::size_t, std::size_t, float*);
template void transpose(const double*, std::size_t, std::size_t, double*);

}  // namespace tare::nn
