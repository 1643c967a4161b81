// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "model/gaussian/gaussian_network.h"
#include "model/gaussian/gaussian_training.h"

namespace tare {

/// Several networks that predict a normal distribution each. The answer is the mean and the sd of
/// their equal mixture, so the sd includes the disagreement of the members.
class GaussianEnsemble {
 public:
  /// At least one member; all have the same number of features.
  explicit GaussianEnsemble(std::vector<GaussianNetwork> members);

  std::size_t features() const { return members_[0].features(); }
  const std::vector<GaussianNetwork>& members() const { return members_; }

  /// As GaussianNetwork::predict.
  Gaussians predict(MatrixView x, const Execution& how = {}) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static GaussianEnsemble load(const TensorReader& in);

  static constexpr std::size_t kMaxMembers = 1000;

 private:
  std::vector<GaussianNetwork> members_;
};

struct EnsembleOptions {
  GaussianOptions network;
  std::size_t members = 5;  // 1 to GaussianEnsemble::kMaxMembers
};

/// Trains the members side by side, member k with split(seed, k): its own start, its own order of
/// rows and its own validation rows, so that hardly any row is lost to all of them. Each chooses
/// from the grid by itself.
GaussianEnsemble fit_gaussian_ensemble(const RegressionData& data, const EnsembleOptions& options,
                                       Seed seed, const Execution& how);

}  // namespace tare
