// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "model/nn/graph/graph.h"

namespace tare::nn {

/// The squared maximum mean discrepancy between two samples of the same size, n x 1 each: the mean
/// of k(a_i, a_j) - 2 k(a_i, b_j) + k(b_i, b_j) over all pairs, where k is the mean over the
/// bandwidths h of exp(-d^2 / 2 h^2). Never below 0 but for rounding; 1 x 1. The order of either
/// sample does not matter. Defined for float and double.
template <class T>
Var<T> squared_mmd(Var<T> a, Var<T> b, std::span<const double> bandwidths);
/// The same with pairs weighted by the product of the rows' weights, n x 1, of positive sum; row i
/// of either sample has weight i.
template <class T>
Var<T> squared_mmd(Var<T> a, Var<T> b, std::span<const double> bandwidths, Var<T> weight);

}  // namespace tare::nn
