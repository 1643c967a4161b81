// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibrate/answers/model_around.h"
#include "calibrate/automatic/local_law.h"
#include "calibrate/automatic/rank_scale.h"
#include "calibrate/automatic/statistics.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/rows/training_rows.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The option behind --masses, which every method has.
std::span<const ParamInfo> masses_options();
enum class MassesRule : std::uint8_t { kAuto, kYes, kNo };
/// Text: auto, yes, no. Throws kInvalidArgument.
MassesRule parse_masses(const Params& params);

/// A model beside a guide: a law of the target itself, which hits the values that many rows share.
/// Residuals of a center smear such a mass, and quantiles pass it by: a model around predictions of
/// a count says P(y < 0) > 0. The guide sees what the model says about a row (its median and the
/// width of its 80 % interval) and, by way of a boosted probability of the heaviest mass, the
/// features. Quantiles of places among the targets are places of quantiles; with places, neither
/// heavy tails nor piles rule the guide's windows. Where the guide's quantile is at a mass the
/// answer is that mass; elsewhere the answer is the model's where it lies between the same masses,
/// and else the guide's. Where all targets are whole numbers so are the answers.
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

/// The method, with a guide where the target has masses and where rows left out lose no more than a
/// thousandth by it. The guide learns from rows that the method had not seen when it answered them:
/// up to 10,000 rows with a given prediction in three folds, otherwise on a fifth of the rows, at
/// most 20,000, that is held out of a first fit. The method is then fitted on all rows. In a series
/// folds are stretches, and the fifth is the last.
std::unique_ptr<QuantileModel> fit_with_masses(const FitRows& fit, const FitInput& input,
                                               RowOrder order, const Execution& how);

}  // namespace tare
