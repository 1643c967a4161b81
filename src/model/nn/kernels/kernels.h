// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::nn {

/// The few loops in which training spends its time. Matrices are row-major. Each function compiles
/// for several vector widths, chosen at load time. On one machine the result of an element depends
/// on its operands only, never on its place in the matrix or on the matrix's size, so rows may be
/// batched in any way.

/// C += A B, element by element in the order of the inner index. A has m x k elements a[i * a_row +
/// q * a_col], so a transposed A costs nothing; rows of B (k x n) and C (m x n) are contiguous.
template <class T>
struct Product {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  const T* a = nullptr;
  std::size_t a_row = 0;
  std::size_t a_col = 1;
  const T* b = nullptr;
  std::size_t b_row = 0;
  T* c = nullptr;
  std::size_t c_row = 0;
};

void accumulate_product(const Product<float>& p);
void accumulate_product(const Product<double>& p);

/// Writes the transpose of `from` (rows x cols, contiguous) to `to`.
template <class T>
void transpose(const T* from, std::size_t rows, std::size_t cols, T* to);

enum class Unary : std::uint8_t {
  kLeakyRelu,  // slope 0.2 below 0
  kRelu,       // NaN stays NaN
  kSilu,
  kTanh,
  kSigmoid,
  kSoftplus,
  kExp,
  kLog,
  kSquare,
  kSqrt,
  kAbs,
};

/// y[i] = f(x[i]).
void apply_unary(Unary f, const float* x, float* y, std::size_t count);
void apply_unary(Unary f, const double* x, double* y, std::size_t count);

/// The same, and slope[i] = f'(x[i]), which costs little beside y.
void apply_unary_with_slope(Unary f, const float* x, float* y, float* slope, std::size_t count);
void apply_unary_with_slope(Unary f, const double* x, double* y, double* slope, std::size_t count);

/// dx[i] += dy[i] slope[i].
void add_product(const float* slope, const float* dy, float* dx, std::size_t count);
void add_product(const double* slope, const double* dy, double* dx, std::size_t count);

/// One step of an LSTM cell for `rows` rows of `size` units.
template <class T>
struct LstmStep {
  std::size_t rows = 0;
  std::size_t size = 0;
  const T* gates =
      nullptr;  // rows x 4 size: input, forget, candidate, output, before their functions
  const T* before = nullptr;  // rows x size: the cell state that came in
  T* open = nullptr;          // rows x 4 size: the gates after their functions
  T* bent = nullptr;          // rows x size: tanh of the new cell state
  T* out = nullptr;           // rows x 2 size: hidden state, then cell state
};
void lstm_forward(const LstmStep<float>& s);
void lstm_forward(const LstmStep<double>& s);

/// Adds to d_gates and d_before (where not null) what follows from d_out.
template <class T>
struct LstmSlope {
  LstmStep<T> step;
  const T* d_out = nullptr;
  T* d_gates = nullptr;
  T* d_before = nullptr;
};
void lstm_backward(const LstmSlope<float>& s);
void lstm_backward(const LstmSlope<double>& s);

/// One update of `count` parameters by Adam with decoupled weight decay.
template <class T>
struct AdamStep {
  T* value = nullptr;
  const T* gradient = nullptr;
  T* first = nullptr;   // running mean of the gradient
  T* second = nullptr;  // running mean of its square
  std::size_t count = 0;
  T rate = 0;          // with the correction of the first moment in it
  T second_scale = 1;  // 1 / (1 - beta2^t)
  T keep = 1;          // 1 - rate * decay
  T beta1 = 0;
  T beta2 = 0;
  T epsilon = 0;
};
void adam_step(const AdamStep<float>& s);
void adam_step(const AdamStep<double>& s);

}  // namespace tare::nn
