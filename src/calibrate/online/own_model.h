// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/model/regressor.h"

namespace tare {

/// A point model of an online stream that has no predictions: the mean of boosted trees, of
/// a forest and of random trees on the last rows. It is fitted after kFirstFit rows, and again
/// whenever a tenth more rows have come than at the last fit. Before that it predicts 0.
class OwnModel {
 public:
  static constexpr std::size_t kFirstFit = 100;
  static constexpr std::size_t kMostRows = 10'000;

  OwnModel(std::size_t features, Seed seed);

  std::size_t features() const noexcept { return features_; }
  void predict(MatrixView x, std::span<double> out) const;
  void learn(std::span<const double> x, double y);

  void save(const TensorWriter& out) const;
  static OwnModel load(const TensorReader& in, std::size_t features);

 private:
  void fit();

  std::size_t features_;
  Seed seed_;
  std::vector<double> x_;  // the last rows, as a ring
  std::vector<double> y_;
  std::uint64_t learned_ = 0;
  std::uint64_t next_fit_ = kFirstFit;
  struct Member {
    std::string_view kind;
    std::unique_ptr<const Regressor> model;
  };
  std::vector<Member> members_;
};

}  // namespace tare
