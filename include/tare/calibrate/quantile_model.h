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

/// The group of a row that belongs to none of those seen at fit.
inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

/// Rows to be predicted. `given` holds what an outside model says about each row, its columns as
/// FitInput::given_form says; it has no columns where the method has a model of its own. `group` is
/// needed by a model whose guarantee holds within groups, and numbers them as at fit.
struct Rows {
  MatrixView x;
  MatrixView given = {};
  std::span<const std::uint32_t> group = {};
};

/// What a method is fitted on. Values are finite.
struct FitInput {
  MatrixView x;
  std::span<const double> y;
  std::span<const double> weight = {};          // empty: all equal; else not negative
  MatrixView given = {};                        // as in Rows
  GivenForm given_form = {};                    // of `given`; one column with a point by default
  std::vector<std::string> names = {};          // of the columns of x, for messages; may be empty
  std::vector<std::size_t> model_columns = {};  // columns the point model may use; empty: all
  std::vector<std::size_t> calibrate_columns = {};  // columns of the kernel; empty: all
  std::span<const std::uint8_t> calibrate_rows =
      {};  // 1 for a row that only calibrates; empty: the method splits
  std::span<const std::uint32_t> group =
      {};  // 0, 1, ...: within which a guarantee holds; empty: it holds overall
  /// 1 for a row that the caller has held out of every training: guarantee=split ranks these rows
  /// and uses them for nothing else. Empty: the rows are drawn here.
  std::span<const std::uint8_t> held_out_rows = {};
  /// The fold 0, 1, ... of each row for guarantee=cross, where `given` is of kind kFoldPoints.
  /// Column k of `given` holds predictions of a model that has not been trained on fold k, and for
  /// a row of another fold j of one that has not been trained on fold j either. Folds are of equal
  /// size. Empty: the folds are drawn here.
  std::span<const std::uint32_t> fold = {};
  /// What `weight` was multiplied with, for a guarantee to ask about new rows (weigh_towards); or
  /// none.
  std::shared_ptr<const Shift> shift = {};
  std::size_t window = 1;  // steps of a series that lie side by side in a row of x, oldest first
  Seed seed = {};
};

/// A fitted quantile predictor: the one interface behind which every method sits.
class QuantileModel {
 public:
  virtual ~QuantileModel() = default;

  /// Number of columns that Rows::x and Rows::given must have.
  virtual std::size_t features() const = 0;
  virtual std::size_t given() const = 0;
  /// What the columns of Rows::given mean, where there are any.
  virtual GivenForm given_form() const { return {}; }

  /// Quantiles at the levels, in the order given; for one row they never decrease with the level.
  /// May be called from several threads at once. Throws kShapeMismatch.
  Prediction predict(const Rows& rows, std::span<const Level> levels,
                     const Execution& how = {}) const;

  /// Throws kShapeMismatch for rows that predict would refuse.
  void check_shapes(const Rows& rows) const;

  /// The levels that a finite-sample guarantee keeps for these rows, (i, j) for row i and
  /// levels[j]: from 0.5 on P(y <= Q) is at least this, below 0.5 P(y < Q) at most this, on average
  /// over new rows exchangeable with those behind the guarantee. No columns where there is no
  /// guarantee.
  virtual Matrix delivered(const Rows& /*rows*/, std::span<const Level> /*levels*/) const {
    return {};
  }
  /// Whether delivered() has columns: a guarantee is there, and what it keeps is known.
  virtual bool delivers_levels() const { return false; }
  /// Whether a finite-sample guarantee was built at fit. What it keeps need not be known: see
  /// delivers_levels().
  virtual bool has_guarantee() const { return false; }

  /// The quantiles that a guarantee starts from: those of the method itself. Without a guarantee
  /// they are predict()'s.
  virtual Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const {
    return predict(rows, levels, how).quantiles;
  }

  /// Adds bands and effective_n to `answer`, which predict() gave for the same rows and levels.
  /// Does nothing for a model that was fitted without bands.
  virtual void add_reliability(const Rows& /*rows*/, std::span<const Level> /*levels*/,
                               const Execution& /*how*/, Prediction& /*answer*/) const {}

  /// Adds what the model knows about itself. What comes from the columns of the fit is there
  /// already: describe(FittedModel) calls it. A model around others has these speak first.
  virtual void describe(Description& /*description*/) const {}

  /// Writes what the method's load function reads; the file adds name, version and checksum.
  virtual void save(const TensorWriter& out) const = 0;

 protected:
  /// The work of predict: shapes are right, levels ascend without repetition.
  virtual Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                                       const Execution& how) const = 0;
};

}  // namespace tare
