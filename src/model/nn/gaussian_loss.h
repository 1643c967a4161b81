// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/nn/graph/graph.h"

namespace tare::nn {

/// A normal distribution for each row, as nodes of a graph: count x 1 each.
template <class T>
struct NormalHeads {
  Var<T> mean;
  Var<T> sd;  // above 0
};

/// The negative log-likelihood of each row, log sd + ((y - mean) / sd)^2 / 2, without its constant:
/// count x 1. Its gradient is multiplied by sd^(2 beta), as if that factor were a constant weight
/// of the row (Seitzer et al. 2022): with beta 0 it is the gradient, with beta 1 the mean learns as
/// from squared errors. The value does not depend on beta. Defined for float and double.
template <class T>
Var<T> gaussian_loss(const NormalHeads<T>& law, Var<T> y, double beta = 0.0);

}  // namespace tare::nn
