// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/quantile_vertex.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tare {
namespace {

// A dual variable outside its range by less than this is rounding: it sums n numbers below 1.
constexpr double kDualSlack = 1e-9;
constexpr std::size_t kPivotsBetweenInversions = 64;
// About ten pivots a column are usual, also among 50,000 rows (bench/imputed_path.cpp). What needs
// far more comes from a damaged file.
constexpr std::size_t kMostSearchPivots = 500;
constexpr std::size_t kPivotsOfAColumn = 100;
constexpr double kNoSlope = 1e-12;  // of unit features: a residual that does not move

/// Rows in the order of their distance from a first guess: the least squares fit, which is the
/// mean of phi times score where second moments are the identity, moved to the level.
std::vector<std::uint32_t> rows_near_guess(MatrixView phi, std::span<const double> score,
                                           double tau) {
  const std::size_t rows = phi.rows();
  std::vector<double> guess(phi.cols(), 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < guess.size(); ++j) guess[j] += phi(i, j) * score[i];
  }
  for (double& value : guess) value /= static_cast<double>(rows);
  std::vector<double> residual(rows);
  for (std::size_t i = 0; i < rows; ++i) residual[i] = score[i] - dot(phi.row(i), guess);
  std::vector<double> sorted = residual;
  const auto place = std::min(static_cast<std::size_t>(tau * static_cast<double>(rows)), rows - 1);
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(place));
  for (double& value : residual) value = std::abs(value - sorted[place]);
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return residual[a] != residual[b] ? residual[a] < residual[b] : a < b;
  });
  return order;
}

/// The first rows of the order that are independent, well separated if possible.
std::vector<std::uint32_t> independent_rows(MatrixView phi, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> chosen;
  std::vector<std::vector<double>> axes;  // orthonormal
  std::vector<double> rest(phi.cols());
  for (const double least : {0.1, 1e-3, 1e-6, 1e-9}) {
    for (const std::uint32_t i : order) {
      if (chosen.size() == phi.cols()) return chosen;
      const auto row = phi.row(i);
      rest.assign(row.begin(), row.end());
      for (const auto& axis : axes) {
        const double along = dot(rest, axis);
        for (std::size_t j = 0; j < rest.size(); ++j) rest[j] -= along * axis[j];
      }
      const double length = std::sqrt(dot(rest, rest));
      if (!(length > least * std::sqrt(dot(row, row)))) continue;
      for (double& value : rest) value /= length;
      axes.push_back(rest);
      chosen.push_back(i);
    }
  }
  return chosen;
}

/// Gauss and Jordan, with the largest pivot of each column. False where a pivot is zero.
bool invert_basis(MatrixView phi, QuantileVertex& vertex) {
  const std::size_t n = phi.cols();
  Matrix left(n, n);
  Matrix inverse(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    std::ranges::copy(phi.row(vertex.basis[k]), left.row(k).begin());
    inverse(k, k) = 1.0;
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t best = c;
    for (std::size_t k = c + 1; k < n; ++k) {
      if (std::abs(left(k, c)) > std::abs(left(best, c))) best = k;
    }
    const double pivot = left(best, c);
    if (!(std::abs(pivot) > 0.0)) return false;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(left(c, j), left(best, j));
      std::swap(inverse(c, j), inverse(best, j));
      left(c, j) /= pivot;
      inverse(c, j) /= pivot;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = left(k, c);
      if (k == c || factor == 0.0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        left(k, j) -= factor * left(c, j);
        inverse(k, j) -= factor * inverse(c, j);
      }
    }
  }
  // Row k of `edge` is column k of the inverse.
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) vertex.edge(k, j) = inverse(j, k);
  }
  return true;
}

/// The search for the optimal vertex.
class VertexSearch {
 public:
  VertexSearch(MatrixView phi, std::span<const double> score, double tau)
      : phi_(phi), score_(score), tau_(tau), residual_(phi.rows()), in_basis_(phi.rows(), 0) {}

  QuantileVertex run() {
    const std::size_t width = phi_.cols();
    vertex_.edge = Matrix(width, width);
    vertex_.dual.assign(width, 0.0);
    vertex_.basis = independent_rows(phi_, rows_near_guess(phi_, score_, tau_));
    if (vertex_.basis.size() < width || !invert_basis(phi_, vertex_)) return vertex_;
    for (const std::uint32_t i : vertex_.basis) in_basis_[i] = 1;
    const std::size_t most = kMostSearchPivots + kPivotsOfAColumn * width;
    for (std::size_t pivots = 0; pivots < most; ++pivots) {
      if (pivots % kPivotsBetweenInversions == kPivotsBetweenInversions - 1 &&
          !invert_basis(phi_, vertex_)) {
        return vertex_;
      }
      measure();
      if (!step()) {
        vertex_.optimal = finite();
        return vertex_;
      }
    }
    return vertex_;
  }

 private:
  struct Crossing {
    double at;
    double slope;
    std::uint32_t row;
    bool operator<(const Crossing& other) const { return at > other.at; }  // a heap of the nearest
  };

  bool finite() const {
    return std::ranges::all_of(vertex_.coefficient, [](double b) { return std::isfinite(b); });
  }

  /// Coefficients, residuals and duals of the basis.
  void measure() {
    const std::size_t width = phi_.cols();
    vertex_.coefficient.assign(width, 0.0);
    for (std::size_t k = 0; k < width; ++k) {
      const double value = score_[vertex_.basis[k]];
      for (std::size_t j = 0; j < width; ++j) {
        vertex_.coefficient[j] += vertex_.edge(k, j) * value;
      }
    }
    std::vector<double> pull(width, 0.0);  // of the rows outside the basis
    for (std::size_t i = 0; i < phi_.rows(); ++i) {
      const auto row = phi_.row(i);
      residual_[i] = score_[i] - dot(row, vertex_.coefficient);
      if (in_basis_[i] != 0) continue;
      const double dual = residual_[i] > 0.0 ? tau_ : tau_ - 1.0;
      for (std::size_t j = 0; j < width; ++j) pull[j] += dual * row[j];
    }
    for (std::size_t k = 0; k < width; ++k) {
      vertex_.dual[k] = -dot(pull, vertex_.edge.view().row(k));
    }
  }

  /// One pivot; false at the end.
  bool step() {
    double worst = kDualSlack;
    std::size_t leaving = phi_.cols();
    for (std::size_t k = 0; k < phi_.cols(); ++k) {
      const double excess = std::max(vertex_.dual[k] - tau_, tau_ - 1.0 - vertex_.dual[k]);
      if (!(excess > worst)) continue;
      worst = excess;
      leaving = k;
    }
    if (leaving == phi_.cols()) return false;
    const double sign = vertex_.dual[leaving] > tau_ ? -1.0 : 1.0;
    crossings_.clear();
    for (std::uint32_t i = 0; i < phi_.rows(); ++i) {
      if (in_basis_[i] != 0) continue;
      const double moves = sign * dot(phi_.row(i), vertex_.edge.view().row(leaving));
      if (!(std::abs(moves) > kNoSlope) || !(residual_[i] * moves > 0.0)) continue;
      crossings_.push_back({residual_[i] / moves, std::abs(moves), i});
    }
    std::make_heap(crossings_.begin(), crossings_.end());
    double slope = -worst;
    while (!crossings_.empty()) {
      std::pop_heap(crossings_.begin(), crossings_.end());
      const Crossing nearest = crossings_.back();
      crossings_.pop_back();
      slope += nearest.slope;
      if (slope < 0.0 && !crossings_.empty()) continue;
      in_basis_[vertex_.basis[leaving]] = 0;
      in_basis_[nearest.row] = 1;
      vertex_.replace(leaving, nearest.row, phi_.row(nearest.row));
      return true;
    }
    return false;
  }

  MatrixView phi_;
  std::span<const double> score_;
  double tau_;
  QuantileVertex vertex_;
  std::vector<double> residual_;
  std::vector<std::uint8_t> in_basis_;
  std::vector<Crossing> crossings_;
};

}  // namespace

void QuantileVertex::replace(std::size_t k, std::uint32_t entering,
                             std::span<const double> phi_of_it) {
  const double own = dot(phi_of_it, edge.row(k));
  for (double& value : edge.row(k)) value /= own;
  for (std::size_t other = 0; other < basis.size(); ++other) {
    if (other == k) continue;
    const double along = dot(phi_of_it, edge.row(other));
    for (std::size_t j = 0; j < basis.size(); ++j) edge(other, j) -= along * edge(k, j);
  }
  basis[k] = entering;
}

QuantileVertex fit_quantile(MatrixView phi, std::span<const double> score, double tau) {
  return VertexSearch(phi, score, tau).run();
}

}  // namespace tare
