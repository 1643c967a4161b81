// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "calibrate/bands/band_rule.h"
#include "io/tensor_store.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// A model that knows how far its quantiles are from the true ones: beside the model, fitted on all
/// rows, it keeps models of the same method that were fitted on random halves of them.
///
/// What the halves disagree about with the whole is the sampling error of everything that was
/// fitted: center, scale and window together. It also has the part of the bias that changes with
/// the number of rows. It does not have what no fit of this method sees: a bias that is the same
/// for half of the rows, the error of a prediction that was given, rows that come from another
/// distribution.
///
/// The band of a level is the answer, plus and minus 1.645 standard errors. A
/// standard error is the root mean square of (half's quantile - whole's quantile) over the halves,
/// times deviation_scale. Two more errors are added to its square. With a guarantee: that of its
/// ranks, sqrt(tau (1 - tau) / n) on the scale of levels. Without one: the bias over all rows. Each
/// half is asked about rows that it left out, and a share p(tau) of these lies below its quantiles;
/// the quantile of level tau is then off by its distance from that of the level whose share is tau.
class BandedModel final : public QuantileModel {
 public:
  using Models = std::vector<std::unique_ptr<const QuantileModel>>;
  /// What is needed to turn deviations into standard errors.
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
              const Counts& counts);

  std::size_t features() const override { return whole_->features(); }
  std::size_t given() const override { return whole_->given(); }
  GivenForm given_form() const override { return whole_->given_form(); }
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override {
    return whole_->delivered(rows, levels);
  }
  Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                       const Execution& how) const override {
    return whole_->own_quantiles(rows, levels, how);
  }
  void add_reliability(const Rows& rows, std::span<const Level> levels, const Execution& how,
                       Prediction& answer) const override;

  const QuantileModel* wrapped() const noexcept override { return whole_.get(); }
  const Counts& counts() const noexcept { return counts_; }

  void save(const TensorWriter& out) const override;
  /// `load_whole` reads the model inside, `load_half` the method's own. Throws kCorruptFile.
  static std::unique_ptr<BandedModel> load(const TensorReader& in, const LoadMethod& load_whole,
                                           const LoadMethod& load_half);
  /// Whether a file's model part has one.
  static bool is_in(const TensorReader& in) { return in.has_value("bands.halves"); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    return whole_->predict(rows, levels, how);
  }

 private:
  struct Asked;
  void add_block(const Asked& asked, const Rows& rows, std::size_t first, const Execution& how,
                 Prediction& answer) const;

  std::unique_ptr<const QuantileModel> whole_;
  Models halves_;
  Shares below_;
  Counts counts_;
};

/// The bands of a model, in whatever it is wrapped; null where there are none.
const BandedModel* bands_of(const QuantileModel& model);

/// Fits a method on some rows.
using FitHalf =
    std::function<std::unique_ptr<const QuantileModel>(const FitInput&, const Execution&)>;

/// Puts bands around `whole`, a fit on `input`, by fits on halves of these rows, side by side on
/// the threads of `how`. `ranked` rows are behind its guarantee. Returns `whole` as it is where a
/// half has too few rows for the method.
std::unique_ptr<QuantileModel> add_bands(std::unique_ptr<QuantileModel> whole,
                                         const FitInput& input, std::size_t ranked,
                                         const FitHalf& fit, const Execution& how);

}  // namespace tare
