// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/principal_axes.h"

#include <Eigen/Dense>
#include <cmath>

namespace tare {

std::vector<float> principal_axes(std::span<const float> x, std::size_t cols, std::size_t count) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto width = static_cast<Eigen::Index>(cols);
  const auto height = static_cast<Eigen::Index>(x.size() / cols);
  const Eigen::MatrixXd rows = Eigen::Map<const Rows>(x.data(), height, width).cast<double>();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(rows.transpose() * rows);

  std::vector<float> axes(cols * count);
  for (std::size_t j = 0; j < count; ++j) {
    Eigen::VectorXd axis = solver.eigenvectors().col(width - 1 - static_cast<Eigen::Index>(j));
    for (const double element : axis) {
      if (std::abs(element) < 1e-6) continue;
      if (element < 0.0) axis = -axis;
      break;
    }
    for (std::size_t k = 0; k < cols; ++k) {
      axes[k * count + j] = static_cast<float>(axis[static_cast<Eigen::Index>(k)]);
    }
  }
  return axes;
}

}  // namespace tare
