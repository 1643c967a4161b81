// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/level_mlp.h"
#include "model/nn/options.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare {

/// What QuantileTask reads.
inline constexpr auto kQuantileNetworkOptions =
    join_options(nn::kBodyOptions,
                 std::to_array<ParamInfo>({
                     {"levels", "8", "levels at which each row of a minibatch is judged; even"},
                 }),
                 nn::training_options("0.01"));

/// Which levels the rows of a minibatch are judged at. Either way they are drawn afresh for each
/// step, one from each of as many equal parts of (0, 1) as there are levels.
enum class LevelDraw : std::uint8_t {
  kEachRow,  // each row has its own, ascending
  kPairs,    // all rows have the same: the first half below 1/2, the k-th of the second half is 1
             // less the k-th of the first
};

/// A minibatch as a loss sees it, everything in the network's units: rows by levels, but for y and
/// the weights, which are columns and repeat.
struct LevelBatch {
  nn::RowInputs rows;  // y, and weighted() for a row's weight
  nn::Var<float> tau;
  nn::Var<float> quantile;  // the network's answer at tau
  nn::Var<float> target;    // where the task has one
};

/// The task of a network, and how it is trained.
struct QuantileTask {
  using Loss = std::function<nn::Var<float>(const LevelBatch&)>;

  /// Reads kQuantileNetworkOptions. Throws kInvalidArgument.
  explicit QuantileTask(const Params& params);

  std::vector<std::size_t> hidden;
  nn::Unary activation;
  std::size_t levels;
  nn::FitOptions training;

  LevelDraw draw = LevelDraw::kEachRow;
  nn::Remainder remainder = nn::Remainder::kTrain;
  /// A mean over the rows. `validation` decides when to stop and which pair of the grid is taken,
  /// at levels that stay the same; none: it is `loss`.
  Loss loss;
  Loss validation;
  /// LevelBatch::target in the user's units; may be none.
  std::function<double(std::size_t row, double tau)> target;
  std::string_view stage = "quantile network";  // in reports of progress
};

/// The mean pinball loss, weighted.
nn::Var<float> pinball_loss(const LevelBatch& batch);

/// A network on (x, tau) whose output estimates the tau-quantile of the target. It works in float
/// on a standardised target; answers are in the user's units.
class QuantileNetwork {
 public:
  /// Trains, on at least one row. A constant target gives a network that answers just that.
  static QuantileNetwork fit(const RegressionData& data, const QuantileTask& task, Seed seed,
                             const Execution& how);

  std::size_t features() const { return scaling_.features(); }
  /// The mean pinball loss of the validation rows in units of the target's standard deviation,
  /// for any training loss, so that networks with different losses can be compared.
  double validation_pinball() const { return validation_pinball_; }

  /// Row i's quantiles at `knots`, ascending, sorted so that they do not cross. A row's answer does
  /// not depend on the other rows, but it depends on all knots, so always use the same knots.
  Matrix quantiles(MatrixView x, std::span<const Level> knots, const Execution& how) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static QuantileNetwork load(const TensorReader& in);

 private:
  struct Form {
    std::size_t features = 0;
    std::vector<std::size_t> hidden;
    nn::Unary activation = nn::Unary::kLeakyRelu;
  };
  QuantileNetwork(const Form& form, nn::Scaling scaling);
  void train(const RegressionData& data, const QuantileTask& task, Seed seed, const Execution& how);

  std::vector<std::size_t> hidden_;
  nn::Layout layout_;
  nn::LevelMlp body_;
  nn::Scaling scaling_;
  nn::Fitted fitted_;
  double validation_pinball_ = 0.0;
};

}  // namespace tare
