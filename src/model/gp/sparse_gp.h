// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "model/nn/graph/graph.h"
#include "model/nn/graph/parameters.h"

namespace tare {

/// softplus(raw) + floor: how every positive parameter of a Gaussian process is stored. A step of
/// Adam then moves large ones by a length and small ones by a factor.
template <class T>
nn::Var<T> positive(nn::Var<T> raw, double floor);
/// The raw value of `value` > floor.
double raw_of_positive(double value, double floor);

/// Several Gaussian processes with one squared exponential kernel, one length for each input and
/// mean 0, known through their values at M inducing points: the layer of Salimbeni & Deisenroth
/// 2017.
///
/// Notation: Z inducing points, K = K(Z, Z) = L L' (with kJitter of the variance on its diagonal),
/// A = L^-1 K(Z, x). The values at Z are L v, and q(v_j) = N(m_j, S_j S_j') for output j, whose
/// prior is N(0, I). Then f_j(x) has mean A' m_j and variance k(x, x) - |A|^2 + |S_j' A|^2.
///
/// Like the layers of a network it holds the offsets of its parameters, not their values.
struct SparseGpLayer {
  SparseGpLayer(nn::Layout& layout, std::size_t points, std::size_t inputs, std::size_t outputs);

  template <class T>
  struct Law {
    nn::Var<T> mean;      // rows x outputs
    nn::Var<T> variance;  // rows x outputs, at least kVarianceFloor of k(x, x)
  };
  /// The marginal distributions of the outputs at the rows of x.
  template <class T>
  Law<T> operator()(nn::Var<T> x) const;

  /// Sum over the outputs of KL(q(v_j) || N(0, I)), 1 x 1.
  template <class T>
  nn::Var<T> divergence(nn::Graph<T>& graph) const;

  static constexpr double kJitter = 1e-5;
  static constexpr double kVarianceFloor = 1e-6;
  static constexpr double kLengthFloor = 1e-2;
  static constexpr double kScaleFloor = 1e-4;

  nn::Block points;               // Z
  nn::Block length;               // raw, 1 x inputs
  nn::Block scale;                // raw, 1 x 1: the kernel's variance
  nn::Block mean;                 // m, M x outputs
  std::vector<nn::Block> factor;  // S_j, M x M; what lies above the diagonal is not used
};

}  // namespace tare
