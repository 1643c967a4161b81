// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"

namespace tare {

/// Ridge regression of several targets on the same regressors, in which a row counts less the
/// older it is. Sums are kept, and solved after every few rows: O(p^2) a row.
class DiscountedRegression {
 public:
  /// `keep` is the factor by which the weight of a row falls with each later one, in (0, 1].
  /// `ridge` is the weight of the penalty in rows; regressors should be of size one.
  DiscountedRegression(std::size_t regressors, std::size_t targets, double keep, double ridge);

  std::size_t regressors() const noexcept { return p_; }
  /// The prediction of target j.
  double predict(std::span<const double> x, std::size_t j) const;
  void learn(std::span<const double> x, std::span<const double> targets, double weight);
  /// The two steps of learn(): adds a row to the sums, and takes the solution from them.
  void add(std::span<const double> x, std::span<const double> targets, double weight);
  void solve();

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  std::size_t p_;
  std::size_t targets_;
  double keep_;
  double ridge_;
  std::size_t waiting_ = 0;      // rows since the last solution
  std::vector<double> gram_;     // upper triangle in full storage
  std::vector<double> moments_;  // targets x p
  std::vector<double> weights_;  // targets x p: the solution
  std::vector<double> factor_;   // memory of solve()
  std::vector<double> solution_;
};

}  // namespace tare
