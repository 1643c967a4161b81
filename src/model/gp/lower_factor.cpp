// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/lower_factor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "model/nn/kernels/factor.h"

namespace tare {
namespace {

constexpr std::size_t kStrip = 32;  // columns

/// Columns of the unit matrix.
void fill_unit(std::size_t first, Matrix& strip) {
  for (std::size_t j = 0; j < strip.cols(); ++j) strip(first + j, j) = 1.0;
}

}  // namespace

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
  std::vector<double> scratch(nn::kFactorBlock * size());
  nn::solve_with_lower(l_.values().data(), size(), b.data(), 1, scratch.data());
  nn::solve_with_lower_transposed(l_.values().data(), size(), b.data(), 1, scratch.data());
  return b;
}

template <class Fill, class Visit>
void LowerFactor::each_strip(std::size_t cols, const Execution& how, Fill fill, Visit visit) const {
  parallel_blocks(how, cols, kStrip, [&](std::size_t first, std::size_t last) {
    Matrix strip(size(), last - first);
    std::vector<double> scratch(nn::kFactorBlock * size());
    fill(first, strip);
    nn::solve_with_lower(l_.values().data(), size(), strip.values().data(), strip.cols(),
                         scratch.data());
    visit(first, strip);
  });
}

Matrix LowerFactor::inverse(const Execution& how) const {
  Matrix result(size(), size());
  each_strip(size(), how, fill_unit, [&](std::size_t first, Matrix& strip) {
    std::vector<double> scratch(nn::kFactorBlock * size());
    nn::solve_with_lower_transposed(l_.values().data(), size(), strip.values().data(), strip.cols(),
                                    scratch.data());
    for (std::size_t i = 0; i < size(); ++i) {
      std::ranges::copy(strip.row(i), result.row(i).subspan(first).begin());
    }
  });
  return result;
}

std::vector<double> LowerFactor::inverse_diagonal(const Execution& how) const {
  std::vector<double> diagonal(size());
  each_strip(size(), how, fill_unit, [&](std::size_t first, const Matrix& strip) {
    for (std::size_t j = 0; j < strip.cols(); ++j) {
      double sum = 0.0;
      for (std::size_t i = first; i < size(); ++i) sum += strip(i, j) * strip(i, j);
      diagonal[first + j] = sum;
    }
  });
  return diagonal;
}

std::vector<double> LowerFactor::squared_lengths(MatrixView rows, const Execution& how) const {
  std::vector<double> lengths(rows.rows());
  const auto across = [&](std::size_t first, Matrix& strip) {
    for (std::size_t j = 0; j < strip.cols(); ++j) {
      const auto row = rows.row(first + j);
      for (std::size_t i = 0; i < strip.rows(); ++i) strip(i, j) = row[i];
    }
  };
  each_strip(rows.rows(), how, across, [&](std::size_t first, const Matrix& strip) {
    for (std::size_t i = 0; i < strip.rows(); ++i) {
      for (std::size_t j = 0; j < strip.cols(); ++j)
        lengths[first + j] += strip(i, j) * strip(i, j);
    }
  });
  return lengths;
}

}  // namespace tare
