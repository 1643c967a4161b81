// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/mmd.h"

#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

/// The sum over bandwidths of the kernel for every pair, n x n.
template <class T>
Var<T> kernel_matrix(Var<T> a, Var<T> b, std::span<const double> bandwidths) {
  const Var<T> squared = square(a - transposed(b));
  Var<T> total;
  for (std::size_t k = 0; k < bandwidths.size(); ++k) {
    const Var<T> one = exp(squared * T(-0.5 / (bandwidths[k] * bandwidths[k])));
    total = k == 0 ? one : total + one;
  }
  return total;
}

template <class T>
Var<T> all_pairs(Var<T> a, Var<T> b, std::span<const double> bandwidths) {
  const Var<T> across = kernel_matrix(a, b, bandwidths);
  const Var<T> within = kernel_matrix(a, a, bandwidths) + kernel_matrix(b, b, bandwidths);
  return (within - T(2) * across) * T(1.0 / static_cast<double>(bandwidths.size()));
}

}  // namespace

template <class T>
Var<T> squared_mmd(Var<T> a, Var<T> b, std::span<const double> bandwidths) {
  return mean(all_pairs(a, b, bandwidths));
}

template <class T>
Var<T> squared_mmd(Var<T> a, Var<T> b, std::span<const double> bandwidths, Var<T> weight) {
  const Var<T> share = weight / sum(weight);
  return matmul_tn(share, matmul(all_pairs(a, b, bandwidths), share));
}

#define TARE_NN_DEFINE(T)                                               \
  template Var<T> squared_mmd(Var<T>, Var<T>, std::span<const double>); \
  template Var<T> squared_mmd(Var<T>, Var<T>, std::span<const double>, Var<T>);
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn
