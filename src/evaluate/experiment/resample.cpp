// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/resample.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace tare {
namespace {

using EigenRows =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

EigenRows as_eigen(MatrixView x) {
  return {x.data(), static_cast<Eigen::Index>(x.rows()), static_cast<Eigen::Index>(x.cols()),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(x.stride()))};
}

}  // namespace

std::vector<std::size_t> resample_around(MatrixView train, MatrixView pool, std::size_t count,
                                         Seed seed) {
  constexpr double kSpread = 0.3;  // the paper's
  const EigenRows x = as_eigen(train);
  const Eigen::RowVectorXd mean = x.colwise().mean();
  const Eigen::MatrixXd centred = x.rowwise() - mean;
  const Eigen::MatrixXd covariance =
      centred.transpose() * centred / static_cast<double>(train.rows() - 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(covariance);
  const double least = 1e-10 * axes.eigenvalues().maxCoeff();

  // In whitened coordinates the point is standard normal and S is the identity.
  Rng rng(seed);
  std::vector<double> log_density(pool.rows(), 0.0);
  const Eigen::MatrixXd there = as_eigen(pool).rowwise() - mean;
  for (Eigen::Index k = 0; k < axes.eigenvalues().size(); ++k) {
    const double place = rng.normal();
    if (!(axes.eigenvalues()[k] > least)) continue;
    const Eigen::VectorXd along =
        there * axes.eigenvectors().col(k) / std::sqrt(axes.eigenvalues()[k]);
    for (std::size_t i = 0; i < log_density.size(); ++i) {
      const double off = along[static_cast<Eigen::Index>(i)] - place;
      log_density[i] -= off * off / (2.0 * kSpread);
    }
  }

  // Relative to the densest row, so that a distant point does not make every density 0.
  const double highest = *std::ranges::max_element(log_density);
  std::vector<double> cumulative;
  double total = 0.0;
  for (const double value : log_density) cumulative.push_back(total += std::exp(value - highest));
  std::vector<std::size_t> chosen(count);
  for (std::size_t& row : chosen) {
    const auto found = std::ranges::upper_bound(cumulative, rng.uniform() * total);
    row = std::min(static_cast<std::size_t>(found - cumulative.begin()), pool.rows() - 1);
  }
  return chosen;
}

}  // namespace tare
