// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/quantile_model.h"

namespace TARE_PUBLIC tare {

/// What a reader of answers should know. The tool, the service and the Python package say the same
/// of the same rows: they all ask here.
enum class WarningCode : std::uint8_t {
  kNoGuarantee,       // of the model: none was built at fit
  kInfiniteAnswer,    // some quantile of the row is infinite
  kBeyondKeptLevels,  // a level that the guarantee's rows are too few to keep
  kFallback,          // no calibration row in reach
  kFewEffectiveRows,  // fewer than kFewRows behind the answer
  kOutside,           // far from all calibration rows
};

/// A name that stays: "no_guarantee", "infinite_answer", "beyond_kept_levels", "fallback",
/// "few_effective_rows", "outside".
std::string_view warning_name(WarningCode code);

struct PredictionWarning {
  WarningCode code = WarningCode::kNoGuarantee;
  std::size_t rows = 0;        // that it is about; 0 for one about the model
  std::vector<double> levels;  // that it is about; empty: all
  std::string text;            // a sentence
};

inline constexpr double kFewRows = 20.0;

/// What there is to say about every answer of the model: kNoGuarantee or nothing.
std::vector<PredictionWarning> model_warnings(const QuantileModel& model);

/// Gathers what there is to say about answers, batch by batch.
///
/// kFewEffectiveRows and kOutside are about how far an answer can be trusted, and are given only
/// for predictions with diagnostics (Execution::diagnostics). The others are given always.
class WarningTally {
 public:
  /// The model must live longer.
  WarningTally(const QuantileModel& model, std::vector<Level> levels);

  /// The first columns of the quantiles are at the tally's levels; others may follow. Throws
  /// kShapeMismatch where the prediction is not of these rows.
  void add(const Rows& rows, const Prediction& prediction);

  /// In the order of WarningCode, each code at most once.
  std::vector<PredictionWarning> list() const;

 private:
  void count_levels_beyond(const Rows& rows);

  struct Count {
    std::size_t rows = 0;
    std::vector<std::uint8_t> at_level;  // 1 for a level that it is about
  };

  const QuantileModel& model_;
  std::vector<Level> levels_;
  std::size_t all_ = 0;
  Count infinite_, beyond_;
  std::size_t fallback_ = 0, few_ = 0, outside_ = 0;
};

/// The same for one prediction.
std::vector<PredictionWarning> prediction_warnings(const QuantileModel& model, const Rows& rows,
                                                   std::span<const Level> levels,
                                                   const Prediction& prediction);

}  // namespace tare
