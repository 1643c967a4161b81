// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "calibrate/answers/each_level.h"
#include "calibrate/guarantee/guarantee.h"
#include "io/tensor_store.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The model of a fold if each fold has its own given prediction (GivenKind::kFoldPoints). It
/// receives the columns of all folds and uses its own column, or the mean of all. The inner model
/// receives one point prediction.
class FoldGivenModel final : public QuantileModel, public EachLevelAlone {
 public:
  /// `column` is that of a fold, or `folds` for the mean.
  FoldGivenModel(std::unique_ptr<const QuantileModel> inner, std::size_t column, std::size_t folds);

  std::size_t features() const override { return inner_->features(); }
  std::size_t given() const override { return folds_; }
  GivenForm given_form() const override {
    return {.kind = GivenKind::kFoldPoints, .levels = {}, .folds = folds_};
  }
  void describe(Description& description) const override { inner_->describe(description); }
  bool answers_each_level_alone() const override { return tare::answers_each_level_alone(*inner_); }
  void save(const TensorWriter& out) const override;

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  std::unique_ptr<const QuantileModel> inner_;
  std::size_t column_;
  std::size_t folds_;
};

/// What GuaranteedModel::cross calls for folds 0, 1, ... in this order: `fit` on the fold's own
/// column of FitInput::given, and the adapter around its model.
GuaranteedModel::FitRows fit_on_fold_columns(GuaranteedModel::FitRows fit);

/// For a fit on rows of all folds, for example on a half: `fit` on the out-of-fold predictions of
/// each row. New rows then use the mean over the folds.
GuaranteedModel::FitRows fit_on_fold_means(GuaranteedModel::FitRows fit);

/// A fold's model of a file: with the adapter where it was saved with one, and as `load_inner`
/// reads it otherwise. Throws kCorruptFile.
std::unique_ptr<const QuantileModel> load_fold_model(const TensorReader& in,
                                                     const GuaranteedModel::LoadInner& load_inner);

}  // namespace tare
