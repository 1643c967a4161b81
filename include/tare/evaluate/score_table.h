// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/evaluate/target_jumps.h"

namespace TARE_PUBLIC tare {

/// Rows with known targets and the answers of a model: the input of a score.
struct ScoredRows {
  std::span<const double> y;
  MatrixView q;  // at `levels`, those of MACE
  std::span<const Level> levels;
  std::span<const TargetJump> jumps;  // of each row, as all levels of the scorecard show them
  std::span<const double> lower;      // ends of the interval
  std::span<const double> upper;
  double confidence = 0.9;                   // of the interval
  double crps = 0.0;                         // mean over rows
  std::span<const double> effective_n;       // of some rows; empty: the model has none
  std::optional<std::size_t> fallback_rows;  // nothing: not known
  Seed group_seed;                           // of AGCE's groups
  Seed floor_seed;                           // of the simulation of AGCE's floor
};

/// Where a score is shown.
enum class ScoreRole : std::uint8_t {
  kScore,     // everywhere
  kFloor,     // beside a score: the value of a perfect forecaster
  kWithTies,  // only with ties
};

/// A row of the table of scores, which defines the scores in JSON, text, reports, comparisons and
/// Python's `tare.metrics.scores`.
struct ScoreInfo {
  std::string_view name;          // "mace": of JSON, of --fail-if, of the table in the terminal
  std::string_view title = {};    // "MACE": of reports; empty: not there
  std::string_view contest = {};  // "MACE": of result files; empty: not there
  std::string_view at_confidence = {};  // "coverage" of "coverage_90": its name where the caller
                                        // chooses the confidence; empty: `name`
  std::string_view meaning = {};        // a line for reports
  std::string_view perfect =
      {};  // of a perfect forecaster: a number, the name of a score, or empty
  ScoreRole role = ScoreRole::kScore;
  bool is_count = false;
  /// Nothing if the model does not have this score.
  std::optional<double> (*measure)(const ScoredRows& rows) = nullptr;
};

std::span<const ScoreInfo> score_table();

}  // namespace tare
