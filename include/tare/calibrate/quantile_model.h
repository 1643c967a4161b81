// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/calibrate/prediction.h"
#include "tare/data/given_form.h"

namespace TARE_PUBLIC tare {

class Shift;
class TensorWriter;
struct Description;
struct ShortestSets;

/// The group of a row whose group did not occur at fit.
inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

/// Rows to predict. `given` holds the predictions of an outside model; FitInput::given_form defines
/// its columns. It has no columns if the method has its own model. A model whose guarantee holds
/// within groups needs `group`, with the same numbers as at fit.
struct Rows {
  MatrixView x;
  MatrixView given = {};
  std::span<const std::uint32_t> group = {};
};

/// The data of a fit. Values are finite.
struct FitInput {
  MatrixView x;
  std::span<const double> y;
  std::span<const double> weight = {};          // empty: all equal; else not negative
  MatrixView given = {};                        // as in Rows
  GivenForm given_form = {};                    // of `given`; one column with a point by default
  std::vector<std::string> names = {};          // of the columns of x, for messages; may be empty
  std::vector<std::size_t> model_columns = {};  // columns that the point model may use; empty: all
  std::vector<std::size_t> calibrate_columns = {};  // features of the kernel; empty: all
  std::span<const std::uint8_t> calibrate_rows =
      {};  // 1 for a row that only calibrates; empty: the method splits
  std::span<const std::uint32_t> group =
      {};  // 0, 1, ...: the groups of the guarantee; empty: it holds overall
  /// 1 for a row that the caller has excluded from all training: guarantee=split or conditional
  /// ranks these rows and uses them for nothing else; local chooses its kernel on a part of them
  /// and ranks the others. Empty: the fit draws the rows.
  std::span<const std::uint8_t> held_out_rows = {};
  /// The fold 0, 1, ... of each row for guarantee=cross, where `given` is of kind kFoldPoints.
  /// Column k of `given` holds predictions of a model that was not trained on fold k. For a row of
  /// another fold j, that model was not trained on fold j either. Folds have equal size. Empty: the
  /// fit draws the folds.
  std::span<const std::uint32_t> fold = {};
  /// Whether rows depend on each other: whole groups were kept together, or models were trained on
  /// the rows before. A guarantee then states no bound, which is proven for exchangeable rows only.
  bool rows_depend = false;
  /// The density ratio by which `weight` was multiplied (weigh_towards), or none. A guarantee
  /// evaluates it at new rows.
  std::shared_ptr<const Shift> shift = {};
  std::size_t window = 1;  // time steps of a series in a row of x, oldest first
  Seed seed = {};
};

/// A fitted quantile predictor: the common interface of all methods.
class QuantileModel {
 public:
  virtual ~QuantileModel() = default;

  /// Number of columns that Rows::x and Rows::given must have.
  virtual std::size_t features() const = 0;
  virtual std::size_t given() const = 0;
  /// The meaning of the columns of Rows::given, if there are any.
  virtual GivenForm given_form() const { return {}; }

  /// Quantiles at the levels, in the order given; for one row they never decrease with the level.
  /// May be called from several threads at once. Throws kShapeMismatch.
  Prediction predict(const Rows& rows, std::span<const Level> levels,
                     const Execution& how = {}) const;

  /// Throws kShapeMismatch for rows that predict does not accept.
  void check_shapes(const Rows& rows) const;

  /// The levels that a finite-sample guarantee keeps for these rows, (i, j) for row i and
  /// levels[j]: from 0.5 on P(y <= Q) is at least this, below 0.5 P(y < Q) at most this, on average
  /// over new rows that are exchangeable with the ranked rows. No columns if there is no guarantee.
  virtual Matrix delivered(const Rows& /*rows*/, std::span<const Level> /*levels*/) const {
    return {};
  }
  /// Whether delivered() has columns: there is a guarantee, and the levels that it keeps are known.
  virtual bool delivers_levels() const { return false; }
  /// Whether delivered() may differ between rows of the same group.
  virtual bool delivers_by_row() const { return false; }
  /// Whether the model was fitted with a finite-sample guarantee. The levels that it keeps need not
  /// be known: see delivers_levels().
  virtual bool has_guarantee() const { return false; }

  /// The quantiles of the method itself, before the guarantee adjusts levels. Without a guarantee
  /// they equal those of predict().
  virtual Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const {
    return predict(rows, levels, how).quantiles;
  }

  /// Fills `sets` (shortest_sets.h) with those that a guarantee's ranks keep. False, and nothing
  /// filled, if the model has no such ranks; shortest_sets() then has the row's own sets.
  virtual bool ranked_sets(const Rows& /*rows*/, std::span<const Level> /*coverages*/,
                           const Execution& /*how*/, ShortestSets& /*sets*/) const {
    return false;
  }

  /// Adds bands and effective_n to `answer`, the result of predict() for the same rows and levels.
  /// Does nothing if the model was fitted without bands.
  virtual void add_reliability(const Rows& /*rows*/, std::span<const Level> /*levels*/,
                               const Execution& /*how*/, Prediction& /*answer*/) const {}

  /// Adds the parts that the model knows. describe(FittedModel) calls it after it has filled in
  /// what comes from the columns of the fit. A model that wraps others calls theirs first.
  virtual void describe(Description& /*description*/) const {}

  /// Writes what the method's load function reads; the file adds name, version and checksum.
  virtual void save(const TensorWriter& out) const = 0;

 protected:
  /// Implements predict. Shapes have been checked; levels ascend without repetition.
  virtual Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                                       const Execution& how) const = 0;
};

}  // namespace tare
