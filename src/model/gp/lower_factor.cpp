// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/lower_factor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "model/nn/kernels/factor.h"

namespace tare {

LowerFactor::LowerFactor(Matrix a) : l_(std::move(a)) {
  std::vector<double> scratch(nn::kFactorBlock * size());
  ok_ = nn::factor_lower(l_.values().data(), size(), scratch.data());
}

double LowerFactor::log_determinant() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < size(); ++i) sum += 2.0 * std::log(l_(i, i));
  return sum;
}

std::vector<double> LowerFactor::solve(std::vector<double> b) const {
  const nn::LowerTriangle<double> l{l_.values().data(), size(), size()};
  std::vector<double> scratch(nn::kFactorBlock * size());
  nn::solve_with_lower(l, b.data(), 1, scratch.data());
  nn::solve_with_lower_transposed(l, b.data(), 1, scratch.data());
  return b;
}

/// A strip of columns at a time, from the diagonal down: L^-1 has nothing above, and neither these
/// columns of L^-1 nor L'^-1 of them need the rows of L above. That is a third of the work of whole
/// columns. The rest follows by symmetry.
Matrix LowerFactor::inverse(const Execution& how) const {
  constexpr std::size_t kStrip = 32;  // columns
  Matrix result(size(), size());
  parallel_blocks(how, size(), kStrip, [&](std::size_t first, std::size_t last) {
    const nn::LowerTriangle<double> rest{&l_.row(first)[first], size() - first, size()};
    Matrix strip(rest.n, last - first);
    for (std::size_t j = 0; j < strip.cols(); ++j) strip(j, j) = 1.0;
    std::vector<double> scratch(nn::kFactorBlock * rest.n);
    nn::solve_with_lower(rest, strip.values().data(), strip.cols(), scratch.data());
    nn::solve_with_lower_transposed(rest, strip.values().data(), strip.cols(), scratch.data());
    for (std::size_t i = 0; i < strip.rows(); ++i) {
      for (std::size_t j = 0; j < std::min(i + 1, strip.cols()); ++j) {
        result(first + i, first + j) = result(first + j, first + i) = strip(i, j);
      }
    }
  });
  return result;
}

}  // namespace tare
