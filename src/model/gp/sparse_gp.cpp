// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/sparse_gp.h"

#include <cmath>

#include "model/nn/graph/operations.h"

namespace tare {

using nn::Graph;
using nn::Var;

template <class T>
Var<T> positive(Var<T> raw, double floor) {
  return softplus(raw) + static_cast<T>(floor);
}

double raw_of_positive(double value, double floor) {
  const double above = value - floor;
  return above + std::log(-std::expm1(-above));
}

SparseGpLayer::SparseGpLayer(nn::Layout& layout, std::size_t count, std::size_t inputs,
                             std::size_t outputs)
    : points(layout.add(count, inputs)),
      length(layout.add(1, inputs)),
      scale(layout.add(1, 1)),
      mean(layout.add(count, outputs)) {
  for (std::size_t j = 0; j < outputs; ++j) factor.push_back(layout.add(count, count));
}

template <class T>
SparseGpLayer::Law<T> SparseGpLayer::operator()(Var<T> x) const {
  Graph<T>& graph = x.graph();
  const std::size_t count = points.rows;
  const Var<T> lengths = positive(graph.parameter(length), kLengthFloor);
  const Var<T> variance = positive(graph.parameter(scale), kScaleFloor);
  const Var<T> z = graph.parameter(points) / lengths;
  const Var<T> jitter = graph.input(count, count);
  for (std::size_t i = 0; i < count; ++i) jitter.value()[i * (count + 1)] = T(kJitter);

  // Everything for a kernel of variance 1, whose factor comes in where matrices are small.
  const Var<T> root = cholesky(gaussian_kernel(z, z) + jitter);
  const Var<T> a = solve_lower(root, gaussian_kernel(z, x / lengths));
  const Var<T> left = maximum(T(1) - col_sums(square(a)), graph.constant(T(kVarianceFloor)));
  std::vector<Var<T>> spread;
  for (const nn::Block& block : factor)
    spread.push_back(left + squared_lengths(graph.parameter(block), a));
  return {matmul_tn(a, graph.parameter(mean)) * sqrt(variance),
          transposed(nn::concat_rows<T>(spread)) * variance};
}

template <class T>
Var<T> SparseGpLayer::divergence(Graph<T>& graph) const {
  // (|m|^2 + |S|^2 - M - log det SS') / 2. What lies above the diagonal of S starts at 0 and gets a
  // gradient of 0 from here, so it counts for nothing.
  const auto size = static_cast<T>(mean.size());
  Var<T> twice = sum(square(graph.parameter(mean))) - size;
  for (const nn::Block& block : factor) {
    const Var<T> s = graph.parameter(block);
    twice = twice + (sum(square(s)) - log_determinant(s));
  }
  return twice * T(0.5);
}

#define TARE_DEFINE(T)                                                    \
  template Var<T> positive(Var<T>, double);                               \
  template SparseGpLayer::Law<T> SparseGpLayer::operator()(Var<T>) const; \
  template Var<T> SparseGpLayer::divergence(Graph<T>&) const;
TARE_DEFINE(float)
TARE_DEFINE(double)
#undef TARE_DEFINE

}  // namespace tare
