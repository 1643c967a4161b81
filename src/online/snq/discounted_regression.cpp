// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/discounted_regression.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "base/fail.h"

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
  for (std::size_t i = 0; i < p_; ++i) {
    const double xi = weight * x[i];
    for (std::size_t k = 0; k <= i; ++k) {
      gram_[i * p_ + k] = keep_ * gram_[i * p_ + k] + xi * x[k];
    }
    for (std::size_t j = 0; j < targets_; ++j) {
      moments_[j * p_ + i] = keep_ * moments_[j * p_ + i] + xi * targets[j];
    }
  }
}

void DiscountedRegression::solve() {
  waiting_ = 0;
  const auto p = static_cast<Eigen::Index>(p_);
  // Rows of `gram_` are columns here, so its lower triangle is the upper one.
  Eigen::MatrixXd gram = Eigen::Map<const Eigen::MatrixXd>(gram_.data(), p, p);
  gram.diagonal().array() += ridge_;
  const Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> factor(gram);
  if (factor.info() != Eigen::Success) return;  // rounding alone: the last solution stays
  const auto targets = static_cast<Eigen::Index>(targets_);
  const Eigen::MatrixXd solution =
      factor.solve(Eigen::Map<const Eigen::MatrixXd>(moments_.data(), p, targets));
  if (!solution.allFinite()) return;
  Eigen::Map<Eigen::MatrixXd>(weights_.data(), p, targets) = solution;
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
