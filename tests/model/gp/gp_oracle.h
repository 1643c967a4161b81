// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "model/gp/sparse_gp.h"
#include "model/nn/graph/parameters.h"
#include "tare/base/rng.h"

namespace tare {

/// A sparse Gaussian process layer the slow way: dense matrices in double, values at the inducing
/// points instead of whitened ones, inverses instead of solves.
class DenseGp {
 public:
  template <class T>
  DenseGp(const SparseGpLayer& layer, std::span<const T> values)
      : z(matrix(layer.points, values)), m(matrix(layer.mean, values)) {
    const Eigen::MatrixXd raw = matrix(layer.length, values);
    length = raw.unaryExpr([](double v) { return std::log1p(std::exp(v)) + 1e-2; }).transpose();
    variance = std::log1p(std::exp(static_cast<double>(layer.scale.of(values)[0]))) + 1e-4;
    for (const nn::Block& block : layer.factor) {
      const Eigen::MatrixXd full = matrix(block, values);
      const Eigen::MatrixXd s = full.triangularView<Eigen::Lower>();
      covariance.push_back(s * s.transpose());
    }
    k_zz = kernel(z, z);
    k_zz.diagonal().array() += 1e-5 * variance;
  }

  Eigen::MatrixXd kernel(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const {
    Eigen::MatrixXd k(a.rows(), b.rows());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = 0; j < b.rows(); ++j) {
        const Eigen::VectorXd gap = (a.row(i) - b.row(j)).transpose().cwiseQuotient(length);
        k(i, j) = variance * std::exp(-0.5 * gap.squaredNorm());
      }
    }
    return k;
  }
  Eigen::MatrixXd root() const { return k_zz.llt().matrixL(); }
  Eigen::MatrixXd mean_at(const Eigen::MatrixXd& x) const {
    return kernel(x, z) * k_zz.inverse() * (root() * m);
  }
  Eigen::MatrixXd variance_at(const Eigen::MatrixXd& x) const {
    const Eigen::MatrixXd weights = kernel(x, z) * k_zz.inverse();
    Eigen::MatrixXd out(x.rows(), m.cols());
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      const Eigen::MatrixXd u =
          root() * covariance[static_cast<std::size_t>(j)] * root().transpose();
      out.col(j) = (weights * (u - k_zz) * weights.transpose()).diagonal().array() + variance;
    }
    return out;
  }
  /// Sum of the divergences of N(m, S S') from N(0, I), by the textbook's formula.
  double divergence() const {
    double sum = 0.0;
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      const Eigen::MatrixXd& c = covariance[static_cast<std::size_t>(j)];
      const double log_det = c.fullPivLu().matrixLU().diagonal().array().abs().log().sum();
      sum += 0.5 * (c.trace() + m.col(j).squaredNorm() - static_cast<double>(m.rows()) - log_det);
    }
    return sum;
  }

  template <class T>
  static Eigen::MatrixXd matrix(const nn::Block& block, std::span<const T> values) {
    return rows(block.of(values), block.cols);
  }
  template <class T>
  static Eigen::MatrixXd rows(std::span<const T> values, std::size_t cols) {
    Eigen::MatrixXd out(static_cast<Eigen::Index>(values.size() / cols),
                        static_cast<Eigen::Index>(cols));
    for (std::size_t i = 0; i < values.size(); ++i)
      out(static_cast<Eigen::Index>(i / cols), static_cast<Eigen::Index>(i % cols)) = values[i];
    return out;
  }

  Eigen::MatrixXd z, m, k_zz;
  Eigen::VectorXd length;
  double variance = 0.0;
  std::vector<Eigen::MatrixXd> covariance;  // of the whitened values
};

/// A layer's parameters, none of them special; what lies above a factor's diagonal is 0.
template <class T>
void fill_layer(const SparseGpLayer& layer, std::span<T> values, Rng& rng) {
  for (const nn::Block& block : {layer.points, layer.mean}) {
    for (T& value : block.of(values)) value = static_cast<T>(rng.normal());
  }
  for (T& value : layer.length.of(values)) value = static_cast<T>(rng.uniform(0.0, 1.5));
  layer.scale.of(values)[0] = static_cast<T>(0.7);
  for (const nn::Block& block : layer.factor) {
    for (std::size_t i = 0; i < block.rows; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        block.of(values)[i * block.cols + j] =
            static_cast<T>(0.1 * rng.normal() + (i == j ? 0.8 : 0.0));
      }
    }
  }
}

}  // namespace tare
