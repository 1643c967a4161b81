// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibrate/answers/model_around.h"
#include "calibrate/automatic/cross_fit/statistics.h"
#include "calibrate/automatic/local_law.h"
#include "calibrate/automatic/masses/rank_scale.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/rows/training_rows.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The option `masses`, which every method has.
std::span<const ParamInfo> masses_options();
enum class MassesRule : std::uint8_t { kAuto, kYes, kNo };
/// Text: auto, yes, no. Throws kInvalidArgument.
MassesRule parse_masses(const Params& params);

/// A model with a guide: a conditional distribution of the target itself, whose quantiles can equal
/// the values that many rows share. Quantiles of residuals spread such a mass out and never equal
/// it: a model of residuals around predicted counts has P(y < 0) > 0. The features of the guide are
/// the model's median and the width of its 80 % interval, and a boosted probability of the heaviest
/// mass, which depends on x. The guide works on ranks among the targets, because quantiles commute
/// with ranks, and neither heavy tails nor masses dominate its windows then. If the guide's
/// quantile is a mass, the answer is that mass. Otherwise the answer is the model's quantile if it
/// lies between the same masses, else the guide's. If all targets are whole numbers, so are the
/// answers.
class MassModel final : public ModelAround {
 public:
  struct Guide {
    ModelColumns columns;  // of x, that the guide reads
    automatic::Statistics statistics;
    automatic::LocalLaw law;
    std::string name;
    std::vector<double> masses;  // ascending
    bool whole = false;
    automatic::RankScale target;  // its law is of places among the targets
    automatic::RankScale center;  // what it sees of the model, as places, too
    automatic::RankScale spread;
    double loss_without = 0.0;  // mean pinball loss of rows left out, of the model alone
    double loss = 0.0;          // and with the guide
  };
  MassModel(std::unique_ptr<const QuantileModel> inner, Guide guide)
      : ModelAround(std::move(inner)), guide_(std::move(guide)) {}

  void describe(Description& description) const override;
  void save(const TensorWriter& out) const override;
  /// Whether a file's model part has a guide.
  static bool is_in(const TensorReader& in);
  /// Around the model that the rest of the part was read into. Throws kCorruptFile.
  static std::unique_ptr<MassModel> load(const TensorReader& in,
                                         std::unique_ptr<const QuantileModel> inner);

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  Guide guide_;
};

/// Fits a method on some rows.
using FitRows =
    std::function<std::unique_ptr<QuantileModel>(const FitInput& rows, const Execution& how)>;

/// Fits the method, with a guide if the target has masses and the guide increases the loss on
/// left-out rows by at most a thousandth. The guide is trained on out-of-fold answers of the
/// method: up to 10,000 rows with a given prediction in three folds, otherwise a fifth of the rows,
/// at most 20,000, that is held out of a first fit. The method is then fitted on all rows. In a
/// series folds are contiguous blocks, and the fifth is the last.
std::unique_ptr<QuantileModel> fit_with_masses(const FitRows& fit, const FitInput& input,
                                               RowOrder order, const Execution& how);

}  // namespace tare
