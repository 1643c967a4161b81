// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "calibrate/answers/model_around.h"
#include "calibrate/bands/band_rule.h"
#include "calibrate/bands/local_error.h"
#include "io/tensor_store.h"

namespace tare {

/// A model that estimates the error of its quantiles. In addition to the model fitted on all rows,
/// it keeps models of the same method that were fitted on random halves of the rows.
///
/// The differences between the halves and the whole estimate the sampling error of all fitted
/// parts: center, scale and window together. The rows that a half left out show its bias: the mean
/// over all rows, and the part that trees predict from the features (LocalError). Not included are
/// a bias that neither the method nor the trees detect, and rows from a different distribution.
///
/// The band of a level is the answer, plus and minus 1.645 standard errors. The square of a
/// standard error is the sum of
/// - the sampling error: the variance of the halves' quantiles, or the square of their mean's
///   distance from the whole's if that is larger, times the square of deviation_scale; or, if that
///   is larger, the square of the local error that rows usually have (left-out rows contain both,
///   so their sum would count much of the error twice);
/// - with a guarantee, that of its ranks: sqrt(tau (1 - tau) / n) on the scale of levels;
///   without one, the bias over all rows. A share p(tau) of the rows left out lies below the
///   halves' quantiles, and the answer is off by its distance from the quantile of the level whose
///   share is tau;
/// - on the side to which it points, the local error at this row.
class BandedModel final : public TransparentModel {
 public:
  using Models = std::vector<std::unique_ptr<const QuantileModel>>;
  /// The numbers that turn deviations into standard errors.
  struct Counts {
    std::size_t rows = 0;    // that the whole was fitted on
    std::size_t half = 0;    // of each half
    std::size_t ranked = 0;  // behind a guarantee; 0: there is none
  };
  /// The shares of left-out rows below the halves' quantiles at 0.01, ..., 0.99.
  using Shares = std::vector<double>;
  using LoadMethod = std::function<std::unique_ptr<const QuantileModel>(const TensorReader&)>;

  /// At least two halves.
  BandedModel(std::unique_ptr<const QuantileModel> whole, Models halves, Shares below,
              LocalError local, const Counts& counts);

  void add_reliability(const Rows& rows, std::span<const Level> levels, const Execution& how,
                       Prediction& answer) const override;

  void describe(Description& description) const override;

  void save(const TensorWriter& out) const override;
  /// `load_whole` reads the model inside, `load_half` the method's own. Throws kCorruptFile.
  static std::unique_ptr<BandedModel> load(const TensorReader& in, const LoadMethod& load_whole,
                                           const LoadMethod& load_half);
  /// Whether a file's model part has one.
  static bool is_in(const TensorReader& in) { return in.has_value("bands.halves"); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    return inner().predict(rows, levels, how);
  }

 private:
  struct Asked;
  void add_block(const Asked& asked, const Rows& rows, std::size_t first, const Execution& how,
                 Prediction& answer) const;

  Models halves_;
  Shares below_;
  LocalError local_;
  Counts counts_;
};

/// Fits a method on some rows.
using FitHalf =
    std::function<std::unique_ptr<const QuantileModel>(const FitInput&, const Execution&)>;

/// Puts bands around `whole`, a fit on `input`, by fits on halves of these rows, side by side on
/// the threads of `how`. `ranked` rows are behind its guarantee. Returns `whole` unchanged if no
/// valid band exists: a half has too few rows for the method, or many targets share a value that
/// the method's quantiles never take.
std::unique_ptr<QuantileModel> add_bands(std::unique_ptr<QuantileModel> whole,
                                         const FitInput& input, std::size_t ranked,
                                         const FitHalf& fit, const Execution& how);

}  // namespace tare
