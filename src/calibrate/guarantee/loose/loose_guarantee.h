// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/answers/model_around.h"
#include "calibrate/guarantee/guarantee.h"

namespace tare {

/// A model that is trained on all rows, and a bound that rests on a second one.
///
/// A second model (the proof) is trained without some rows and ranks these, as a split does. A
/// quantile is the first model's own, but at least as far out as the proof's at a level nearer to
/// the median (backing_level). So P(y <= Q_tau) is at least that of the proof from 0.5 on, and
/// P(y < Q_tau) at most that of the proof below, for every n and any two models; delivered() has
/// these levels. No row is missing in the first model, and its quantiles are widened only at rows
/// where the second one is far from it.
class LooseGuarantee final : public ModelAround {
 public:
  /// `proof`: a split. Both read the same columns.
  LooseGuarantee(std::unique_ptr<const QuantileModel> whole,
                 std::unique_ptr<const GuaranteedModel> proof);

  /// What the proof keeps; an upper bound without a proof has 0, a lower one 1.
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override;
  bool delivers_levels() const override { return proof_->delivers_levels(); }
  bool has_guarantee() const override { return true; }
  void describe(Description& description) const override;
  /// Of the first model.
  Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                       const Execution& how) const override;

  void save(const TensorWriter& out) const override;
  /// Throws kCorruptFile.
  static std::unique_ptr<LooseGuarantee> load(const TensorReader& in,
                                              const GuaranteedModel::LoadInner& load_inner);
  /// Whether a file's model part has one.
  static bool is_in(const TensorReader& in) { return in.has_value("loose.form"); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  /// The levels of the proof that some of `levels` rest on.
  struct Backing {
    std::vector<Level> levels;
    std::vector<std::optional<std::size_t>> column;  // of each level, in `levels`
  };
  Backing backing_of(std::span<const Level> levels) const;

  std::unique_ptr<const GuaranteedModel> proof_;
};

}  // namespace tare
