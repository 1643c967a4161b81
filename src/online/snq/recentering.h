// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "online/snq/discounted_regression.h"

namespace tare {

/// Predicts the error of a row from its regressors: what the model has left unexplained. Several
/// corrections, among them none at all, are averaged with weights by their recent losses.
class Recentering {
 public:
  /// None, a regression on all rows, one that forgets, and the mean of these three.
  static constexpr std::size_t kCorrections = 4;

  explicit Recentering(std::size_t regressors);

  struct Correction {
    std::array<double, kCorrections> each = {};
    double center = 0.0;  // their average: the predicted error
    double size = 0.0;    // predicted absolute difference between error and center; positive
  };
  /// `unit` is a typical size of an error.
  Correction correct(std::span<const double> x, double unit) const;
  void learn(std::span<const double> x, const Correction& correction, double error, double unit);

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  DiscountedRegression slow_;  // of the error and of the size of what is left
  DiscountedRegression fast_;
  std::array<double, kCorrections> losses_ = {};
  double usual_ = 0.0;  // absolute difference, discounted
  double count_ = 0.0;  // of the rows in it
};

}  // namespace tare
