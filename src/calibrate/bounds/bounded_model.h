// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "calibrate/answers/model_around.h"
#include "calibrate/bounds/bounds.h"
#include "io/tensor_store.h"

namespace tare {

/// A model whose answers are limited to the bounds of the target: a value outside, finite or
/// infinite, becomes the bound. An interval still covers every target that it covered before, and
/// quantiles do not cross. The outermost of all wrappers; in a model file it is two values beside
/// those of the model inside.
class BoundedModel final : public TransparentModel {
 public:
  BoundedModel(std::unique_ptr<const QuantileModel> inner, const TargetBounds& bounds)
      : TransparentModel(std::move(inner)), bounds_(bounds) {}

  /// Moves what lies outside to the bounds.
  void keep(Matrix& values) const;

  /// Bands are kept within the bounds, too.
  void add_reliability(const Rows& rows, std::span<const Level> levels, const Execution& how,
                       Prediction& answer) const override;
  /// Parts of a set outside of the bounds are left out.
  bool ranked_sets(const Rows& rows, std::span<const Level> coverages, const Execution& how,
                   ShortestSets& sets) const override;
  void describe(Description& description) const override;
  void save(const TensorWriter& out) const override;
  /// Whether a file's model part has bounds.
  static bool is_in(const TensorReader& in);
  /// Around the model that the rest of the part was read into. Throws kCorruptFile.
  static std::unique_ptr<BoundedModel> load(const TensorReader& in,
                                            std::unique_ptr<const QuantileModel> inner);

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  TargetBounds bounds_;
};

}  // namespace tare
