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

/// Warnings about answers. The tool, the service and the Python package all use these, so they give
/// the same warnings for the same rows.
enum class WarningCode : std::uint8_t {
  kNoGuarantee,       // about the model: it was fitted without one, or an online one proves nothing
  kInfiniteAnswer,    // some quantile of the row is infinite
  kBeyondKeptLevels,  // a level for which the guarantee has too few rows, or that an online model
                      // does not keep
  kFallback,          // no calibration row within the bandwidth
  kFewEffectiveRows,  // effective_n is below kFewRows
  kOutside,           // far from all calibration rows
};

/// A stable name: "no_guarantee", "infinite_answer", "beyond_kept_levels", "fallback",
/// "few_effective_rows", "outside".
std::string_view warning_name(WarningCode code);

struct PredictionWarning {
  WarningCode code = WarningCode::kNoGuarantee;
  std::size_t rows = 0;        // number of rows concerned; 0: it concerns the model
  std::vector<double> levels;  // levels concerned; empty: all
  std::string text;            // a sentence
};

inline constexpr double kFewRows = 20.0;

/// The warnings about every answer of the model: kNoGuarantee or none.
std::vector<PredictionWarning> model_warnings(const QuantileModel& model);

/// Collects warnings about answers, batch by batch.
///
/// kFewEffectiveRows and kOutside concern the reliability of an answer. They are given only for
/// predictions with diagnostics (Execution::diagnostics). The others are always given.
class WarningTally {
 public:
  /// The model must live longer.
  WarningTally(const QuantileModel& model, std::vector<Level> levels);

  /// The first columns of the quantiles are at the tally's levels; others may follow. Throws
  /// kShapeMismatch if the prediction does not match the rows.
  void add(const Rows& rows, const Prediction& prediction);

  /// In the order of WarningCode, each code at most once.
  std::vector<PredictionWarning> list() const;

 private:
  void count_levels_beyond(const Rows& rows);

  struct Count {
    std::size_t rows = 0;
    std::vector<std::uint8_t> at_level;  // 1 for a level concerned
  };

  const QuantileModel& model_;
  std::vector<Level> levels_;
  bool online_ = false;  // the model follows a stream
  std::size_t all_ = 0;
  Count infinite_, beyond_;
  std::size_t fallback_ = 0, few_ = 0, outside_ = 0;
};

/// The same for one prediction.
std::vector<PredictionWarning> prediction_warnings(const QuantileModel& model, const Rows& rows,
                                                   std::span<const Level> levels,
                                                   const Prediction& prediction);

}  // namespace tare
