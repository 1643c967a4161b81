// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/tensor_store.h"
#include "model/boosting/quantile_boosting.h"
#include "model/nn/head_network.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare::automatic {

/// A regressor and its name in the table, by which it is loaded again.
struct NamedRegressor {
  std::string name;
  std::unique_ptr<Regressor> model;
};

/// One trained model: from a row to a few answers that may be averaged over models.
class FoldModel {
 public:
  using Any = std::variant<nn::HeadNetwork, NamedRegressor, QuantileBoosting>;
  explicit FoldModel(Any model) : model_(std::move(model)) {}

  std::size_t features() const;
  std::size_t answers() const;
  Matrix predict(MatrixView x, const Execution& how) const;

  void save(const TensorWriter& out) const;
  static FoldModel load(const TensorReader& in);

 private:
  Any model_;
};

/// Which fold each row belongs to.
struct Folds {
  std::vector<std::uint32_t> of_row;
  std::size_t count = 0;
  std::size_t gap = 0;  // above 0: rows in time order, of which those so near to a fold's row do
                        // nothing for that fold

  /// Folds of equal size, at random.
  static Folds random(std::size_t rows, std::size_t count, Seed seed);
  /// Folds that are stretches of rows.
  static Folds stretches(std::size_t rows, std::size_t count, std::size_t gap);
  /// The same, later by half a stretch: the first fold is the series' first and last half stretch.
  static Folds shifted_stretches(std::size_t rows, std::size_t count, std::size_t gap);
  /// Whether rows are in time order.
  bool in_time() const noexcept { return gap > 0; }
  /// The rows outside a fold and its gap, or inside it.
  std::vector<std::size_t> outside(std::size_t fold) const;
  std::vector<std::size_t> inside(std::size_t fold) const;
};

/// Models of one kind, the same number for each fold, each trained without the rows of its fold.
class FoldModels {
 public:
  FoldModels() = default;
  /// `models` fold after fold; at least one for each.
  FoldModels(std::vector<FoldModel> models, std::size_t folds);

  std::size_t features() const { return models_.front().features(); }
  std::size_t answers() const { return models_.front().answers(); }
  /// The mean over all models, for rows that are new.
  Matrix predict(MatrixView x, const Execution& how) const;
  /// For the rows of the fit: out-of-fold predictions.
  Matrix out_of_fold(MatrixView x, const Folds& folds, const Execution& how) const;

  void save(const TensorWriter& out) const;
  static FoldModels load(const TensorReader& in);

 private:
  std::vector<FoldModel> models_;
  std::size_t folds_ = 0;
};

/// Reports the progress of a fit, from any thread.
class Progress {
 public:
  Progress(const Execution& how, double total) : how_(how), total_(total) {}
  /// `stage` names the work, `units` is its part of the total. May throw to stop the work.
  void advance(std::string_view stage, double units);
  /// Before the first call of advance.
  void set_total(double total) { total_ = total; }

 private:
  Execution how_;
  double total_;
  double done_ = 0.0;
  std::mutex guard_;
};

/// Trains a model on the rows it is given, on one thread.
using Learner = std::function<FoldModel(const RegressionData& data, Seed seed)>;

/// Folds first, ..., last - 1.
struct FoldRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Trains `members` models for each fold of the range, fold after fold, side by side on the threads
/// of `how`. The result does not depend on them, nor a fold's models on the range.
std::vector<FoldModel> train_fold_range(const RegressionData& data, const Folds& folds,
                                        const FoldRange& range, std::size_t members,
                                        const Learner& learner, Seed seed, const Execution& how);
/// The same for all folds.
FoldModels train_folds(const RegressionData& data, const Folds& folds, std::size_t members,
                       const Learner& learner, Seed seed, const Execution& how);

}  // namespace tare::automatic
