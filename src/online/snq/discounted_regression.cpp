// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/discounted_regression.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "math/vector_targets.h"

namespace tare {
namespace {

/// Solving costs p^3 / 6, a row p^2: with this many rows between two solutions both cost the same.
std::size_t rows_between_solutions(std::size_t regressors) {
  return std::max<std::size_t>(1, regressors / 24);
}

/// Sums and solutions of targets in units are smaller; products of larger ones may not be finite.
constexpr double kLargestSum = 1e100;

bool are_moderate(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return std::abs(v) <= kLargestSum; });
}

/// sums = keep * sums + x factor x', of which the upper triangle is kept.
TARE_VECTOR_TARGETS void add_products(double* sums, double keep, double factor, const double* x,
                                      std::size_t p) {
  for (std::size_t i = 0; i < p; ++i) {
    const double xi = factor * x[i];
    double* const row = sums + i * p;
    TARE_INDEPENDENT_STEPS
    for (std::size_t k = i; k < p; ++k) row[k] = keep * row[k] + xi * x[k];
  }
}

TARE_VECTOR_PART void subtract(double* from, double factor, const double* row, std::size_t begin,
                               std::size_t end) {
  TARE_INDEPENDENT_STEPS
  for (std::size_t i = begin; i < end; ++i) from[i] -= factor * row[i];
}

/// Replaces the upper triangle of a matrix by U with U'U = the matrix, and each z by the solution
/// of U'v = z. Whole rows at a time, whose numbers do not depend on each other. False where the
/// matrix is not positive definite.
TARE_VECTOR_TARGETS bool eliminate(double* matrix, std::size_t p, double* z, std::size_t count) {
  for (std::size_t k = 0; k < p; ++k) {
    double* const row = matrix + k * p;
    if (!(row[k] > 0.0)) return false;
    const double root = std::sqrt(row[k]);
    for (std::size_t i = k; i < p; ++i) row[i] /= root;
    for (std::size_t i = k + 1; i < p; ++i) subtract(matrix + i * p, row[i], row, i, p);
    for (std::size_t j = 0; j < count; ++j) {
      z[j * p + k] /= root;
      subtract(z + j * p, z[j * p + k], row, k + 1, p);
    }
  }
  return true;
}

}  // namespace

DiscountedRegression::DiscountedRegression(std::size_t regressors, std::size_t targets, double keep,
                                           double ridge)
    : p_(regressors),
      targets_(targets),
      keep_(keep),
      ridge_(ridge),
      gram_(regressors * regressors),
      moments_(targets * regressors),
      weights_(targets * regressors) {}

double DiscountedRegression::predict(std::span<const double> x, std::size_t j) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < p_; ++i) sum += weights_[j * p_ + i] * x[i];
  return sum;
}

void DiscountedRegression::learn(std::span<const double> x, std::span<const double> targets,
                                 double weight) {
  add(x, targets, weight);
  if (++waiting_ >= rows_between_solutions(p_)) solve();
}

void DiscountedRegression::add(std::span<const double> x, std::span<const double> targets,
                               double weight) {
  add_products(gram_.data(), keep_, weight, x.data(), p_);
  for (std::size_t j = 0; j < targets_; ++j) {
    for (std::size_t i = 0; i < p_; ++i) {
      moments_[j * p_ + i] = keep_ * moments_[j * p_ + i] + weight * x[i] * targets[j];
    }
  }
}

void DiscountedRegression::solve() {
  waiting_ = 0;
  factor_ = gram_;
  solution_ = moments_;
  for (std::size_t i = 0; i < p_; ++i) factor_[i * p_ + i] += ridge_;
  // By rounding alone it may fail: the last solution stays.
  if (!eliminate(factor_.data(), p_, solution_.data(), targets_)) return;
  for (std::size_t j = 0; j < targets_; ++j) {
    double* const z = &solution_[j * p_];
    for (std::size_t k = p_; k-- > 0;) {
      for (std::size_t i = k + 1; i < p_; ++i) z[k] -= factor_[k * p_ + i] * z[i];
      z[k] /= factor_[k * p_ + k];
      if (!std::isfinite(z[k])) return;
    }
  }
  weights_ = solution_;
}

void DiscountedRegression::save(const TensorWriter& out) const {
  out.value("waiting", waiting_);
  out.tensor("gram", gram_);
  out.tensor("moments", moments_);
  out.tensor("weights", weights_);
}

void DiscountedRegression::load(const TensorReader& in) {
  waiting_ = in.count("waiting", rows_between_solutions(p_));
  gram_ = in.values<double>("gram", {p_ * p_}, Must::kBeFinite);
  moments_ = in.values<double>("moments", {targets_ * p_}, Must::kBeFinite);
  weights_ = in.values<double>("weights", {targets_ * p_}, Must::kBeFinite);
  if (!are_moderate(gram_) || !are_moderate(moments_) || !are_moderate(weights_)) {
    fail(ErrorCode::kCorruptFile, "the state has sums that are too large");
  }
}

}  // namespace tare
