// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "model/nn/graph/graph.h"
#include "model/nn/kernels/kernels.h"
#include "tare/base/rng.h"

namespace tare::nn {

// Each function records one operation in the graph of its operands. Shapes that do not fit are a
// bug of the caller and asserted. Defined for float and double.

// Products

template <class T>
Var<T> matmul(Var<T> a, Var<T> b);
/// a' b
template <class T>
Var<T> matmul_tn(Var<T> a, Var<T> b);
/// a b'
template <class T>
Var<T> matmul_nt(Var<T> a, Var<T> b);
/// x w + bias, the bias being 1 x cols.
template <class T>
Var<T> affine(Var<T> x, Var<T> w, Var<T> bias);
/// x w + h u + bias
template <class T>
Var<T> affine(Var<T> x, Var<T> w, Var<T> h, Var<T> u, Var<T> bias);

// Element by element

template <class T>
Var<T> unary(Unary f, Var<T> a);

template <class T>
Var<T> leaky_relu(Var<T> a) {
  return unary(Unary::kLeakyRelu, a);
}
/// max(a, 0)
template <class T>
Var<T> relu(Var<T> a) {
  return unary(Unary::kRelu, a);
}
template <class T>
Var<T> silu(Var<T> a) {
  return unary(Unary::kSilu, a);
}
template <class T>
Var<T> tanh(Var<T> a) {
  return unary(Unary::kTanh, a);
}
template <class T>
Var<T> sigmoid(Var<T> a) {
  return unary(Unary::kSigmoid, a);
}
template <class T>
Var<T> softplus(Var<T> a) {
  return unary(Unary::kSoftplus, a);
}
template <class T>
Var<T> exp(Var<T> a) {
  return unary(Unary::kExp, a);
}
template <class T>
Var<T> log(Var<T> a) {
  return unary(Unary::kLog, a);
}
template <class T>
Var<T> square(Var<T> a) {
  return unary(Unary::kSquare, a);
}
template <class T>
Var<T> sqrt(Var<T> a) {
  return unary(Unary::kSqrt, a);
}
template <class T>
Var<T> abs(Var<T> a) {
  return unary(Unary::kAbs, a);
}

enum class Binary : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide, kMaximum };

/// Either operand may have one row or one column where the other has several: it is then repeated.
template <class T>
Var<T> binary(Binary f, Var<T> a, Var<T> b);

/// The larger one; where they are equal the gradient goes to a.
template <class T>
Var<T> maximum(Var<T> a, Var<T> b) {
  return binary(Binary::kMaximum, a, b);
}
template <class T>
Var<T> operator+(Var<T> a, Var<T> b) {
  return binary(Binary::kAdd, a, b);
}
template <class T>
Var<T> operator-(Var<T> a, Var<T> b) {
  return binary(Binary::kSubtract, a, b);
}
template <class T>
Var<T> operator*(Var<T> a, Var<T> b) {
  return binary(Binary::kMultiply, a, b);
}
template <class T>
Var<T> operator/(Var<T> a, Var<T> b) {
  return binary(Binary::kDivide, a, b);
}
template <class T>
Var<T> operator+(Var<T> a, std::type_identity_t<T> b) {
  return a + a.graph().constant(b);
}
template <class T>
Var<T> operator-(Var<T> a, std::type_identity_t<T> b) {
  return a - a.graph().constant(b);
}
template <class T>
Var<T> operator*(Var<T> a, std::type_identity_t<T> b) {
  return a * a.graph().constant(b);
}
template <class T>
Var<T> operator/(Var<T> a, std::type_identity_t<T> b) {
  return a / a.graph().constant(b);
}
template <class T>
Var<T> operator+(std::type_identity_t<T> a, Var<T> b) {
  return b.graph().constant(a) + b;
}
template <class T>
Var<T> operator-(std::type_identity_t<T> a, Var<T> b) {
  return b.graph().constant(a) - b;
}
template <class T>
Var<T> operator*(std::type_identity_t<T> a, Var<T> b) {
  return b.graph().constant(a) * b;
}
template <class T>
Var<T> operator/(std::type_identity_t<T> a, Var<T> b) {
  return b.graph().constant(a) / b;
}

/// Each element is kept with probability 1 - rate and then divided by it, else 0; drawn anew from
/// `rng`, which must outlive the graph, at each forward(). Rate in [0, 1).
template <class T>
Var<T> dropout(Var<T> a, double rate, Rng& rng);

// Sums and shapes

/// 1 x 1
template <class T>
Var<T> sum(Var<T> a);
/// 1 x 1
template <class T>
Var<T> mean(Var<T> a);
/// rows x 1
template <class T>
Var<T> row_sums(Var<T> a);
/// 1 x cols
template <class T>
Var<T> col_sums(Var<T> a);

template <class T>
Var<T> transposed(Var<T> a);
/// Side by side.
template <class T>
Var<T> concat_cols(std::span<const Var<T>> parts);
/// One above the other.
template <class T>
Var<T> concat_rows(std::span<const Var<T>> parts);
template <class T>
Var<T> slice_cols(Var<T> a, std::size_t first, std::size_t count);
template <class T>
Var<T> slice_rows(Var<T> a, std::size_t first, std::size_t count);

// Factors

/// L with L L' = a, of which only the lower triangle is read. When the factorisation fails it is
/// tried five times more with a growing share of the mean diagonal, from 1e-6 on, added to the
/// diagonal; then forward() throws kBadData.
template <class T>
Var<T> cholesky(Var<T> a);
/// L^-1 b, for a lower triangular L.
template <class T>
Var<T> solve_lower(Var<T> l, Var<T> b);
/// L'^-1 b
template <class T>
Var<T> solve_lower_transposed(Var<T> l, Var<T> b);
/// log det(L L'), 1 x 1.
template <class T>
Var<T> log_determinant(Var<T> l);

// Gaussian processes

/// (i, j): exp(-|a_i - b_j|^2 / 2) for rows a_i and b_j; exactly 1 where they are equal.
template <class T>
Var<T> gaussian_kernel(Var<T> a, Var<T> b);
/// 1 x cols of a: the squared length of each column of L' a, for a lower triangular L. What is
/// stored above the diagonal is neither read nor given a gradient.
template <class T>
Var<T> squared_lengths(Var<T> l, Var<T> a);

// Recurrent

/// One step of an LSTM cell. `gates` has 4 n columns (input, forget, candidate, output; before
/// their functions), `cell` n; the result has 2 n: the hidden state, then the cell state.
template <class T>
Var<T> lstm_cell(Var<T> gates, Var<T> cell);

}  // namespace tare::nn
