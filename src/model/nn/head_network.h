// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/nn/layers.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare::nn {

/// The outputs of a network for a row, and their loss. Outputs may be averaged over networks, and
/// the average is again a valid output.
enum class Heads : std::uint8_t {
  kMean,       // the mean, by squared error
  kNormal,     // the mean and the mean square of a normal distribution, by its likelihood
  kQuantiles,  // the quantiles at kHeadLevels, by pinball loss
};

inline constexpr std::array<double, 5> kHeadLevels = {0.1, 0.25, 0.5, 0.75, 0.9};

/// The number of answers.
std::size_t head_count(Heads heads);

struct HeadNetworkOptions {
  Heads heads = Heads::kMean;
  std::vector<std::size_t> hidden = {64, 64};
  std::size_t steps = 6000;  // of minibatches of 64 rows
  double rate = 3e-3;        // the largest of a one-cycle schedule
  Keep keep = Keep::kBest;   // kBest holds out an eighth of the rows
  std::size_t gap = 0;  // above 0: rows are in time order, and the eighth consists of blocks at
                        // this distance from the training rows
};

/// A feed-forward network (SiLU, Adam with weight decay, one cycle of the learning rate) for a
/// target that is already in units of about 1.
class HeadNetwork {
 public:
  /// `stop` is asked once an epoch and may throw.
  static HeadNetwork fit(const RegressionData& data, const HeadNetworkOptions& options, Seed seed,
                         const std::function<void()>& stop = {});

  std::size_t features() const { return scaling_.features(); }
  std::size_t heads() const { return head_count(heads_); }
  /// out(i, k): answer k for row i of x. Throws kShapeMismatch.
  void predict(MatrixView x, MatrixSpan out, const Execution& how) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static HeadNetwork load(const TensorReader& in);

 private:
  HeadNetwork(Heads heads, std::vector<std::size_t> hidden, Scaling scaling);
  Network network() const;

  Heads heads_;
  std::vector<std::size_t> hidden_;
  Scaling scaling_;
  Layout layout_;
  Mlp mlp_;
  Fitted fitted_;
};

}  // namespace tare::nn
