// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "model/nn/regression.h"
#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace tare {

class TensorReader;
class TensorWriter;
struct SparseGpLayer;

/// The map of beta calibration from a level q to a level: sigmoid(a log q - b log(1 - q) + c), with
/// a = exp(w[0]), b = exp(w[1]), c = w[2]. It rises from 0 to 1; w = 0 is the identity.
using BetaParameters = std::array<double, 3>;

/// log q and log(1 - q) for the level q = Phi(score), and the size of their slopes by the score.
struct LogLevels {
  double below = 0.0, above = 0.0;
  double below_slope = 0.0, above_slope = 0.0;
  static LogLevels of(double score);
};

/// The mean of several beta maps, from scores (normal quantiles of levels) to levels.
class MeanBetaMap {
 public:
  /// At least one; parameters are limited to 20 in size.
  explicit MeanBetaMap(std::span<const BetaParameters> maps);

  /// The mapped level of Phi(score), and 1 minus it.
  double level_of(double score) const { return level_and_slope(LogLevels::of(score)).below; }
  /// The score whose mapped level is `level`; within 38 of 0, where a level is as good as 0 or 1.
  double score_at(Level level) const;

 private:
  struct Mapped {
    double below = 0.0, above = 0.0;  // the level, and 1 minus it with its own digits
    double slope = 0.0;               // by the score
  };
  Mapped level_and_slope(const LogLevels& level) const;

  std::vector<double> a_, b_, c_;
  std::vector<double> below_, above_;  // at the scores of a fixed grid
};

/// What a link learns from: for each row the distribution that a model predicted, described by
/// numbers, and the score (y - mean) / sd of its target.
struct BetaLinkRows {
  MatrixView law;                  // any columns of about unit size
  std::span<const double> score;   // finite
  std::span<const double> weight;  // empty or positive
};

struct BetaLinkOptions {
  std::size_t points = 32;  // inducing points, at most
  nn::FitOptions training;
};

/// The GP-Beta link (Song, Diethe, Kull, Flach 2019): the three parameters of a beta calibration
/// map are Gaussian processes of the predicted distribution. A sparse variational approximation (32
/// inducing points) is fitted to the likelihood of the targets; a level is mapped by the mean map
/// under the approximate posterior, from 16 fixed draws.
///
/// The three processes are independent, with a squared exponential kernel in common; the paper
/// correlates them.
class BetaLink {
 public:
  static constexpr std::size_t kOutputs = 3;
  static constexpr std::size_t kMaxPoints = 1000;
  static constexpr std::size_t kMaxInputs = 1000;

  /// The identity, for distributions with `inputs` numbers.
  explicit BetaLink(std::size_t inputs = 2);
  /// `rows` has at least one.
  static BetaLink fit(const BetaLinkRows& rows, const BetaLinkOptions& options, Seed seed,
                      const Execution& how);

  /// With the parameters of a layer of kOutputs outputs, which `values` holds.
  static BetaLink of(const SparseGpLayer& layer, std::span<const float> values);

  std::size_t inputs() const { return length_.size(); }

  /// The approximate posterior of the parameters for one predicted distribution.
  struct Posterior {
    BetaParameters mean{}, sd{};
  };
  Posterior posterior(std::span<const double> law) const;
  /// Draws of the parameters, always the same for the same posterior.
  static std::vector<BetaParameters> draws(const Posterior& posterior);

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static BetaLink load(const TensorReader& in);

 private:
  void factorise();

  std::vector<double> points_;  // M x inputs
  std::vector<double> length_;  // of each input
  double variance_ = 1.0;
  std::vector<double> mean_;    // m, M x kOutputs
  std::vector<double> factor_;  // S, kOutputs x M x M, lower triangles
  std::vector<double> root_;    // L with L L' = K(Z, Z), M x M; not stored in files
};

}  // namespace tare
