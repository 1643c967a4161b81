// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/calibrate/warnings.h"
#include "tare/evaluate/scorecard.h"

namespace tare {

/// Predictions and targets of the test rows, row by row, as a report draws them.
struct Outcomes {
  static constexpr double kConfidence = 0.9;  // of the intervals

  std::vector<double> y;
  std::vector<double> lower, median, upper;  // of the central interval
  /// Of ties; empty: there are none, and a target at an end counts as inside.
  std::vector<TargetJump> jumps;
  std::vector<double> effective_n;  // of at most 2,000; empty without bands
  std::size_t fallback_rows = 0;
  std::size_t outside_rows =
      0;  // farther from the calibration rows than 99 % of these are from each other
  bool knows_outside = false;

  std::size_t rows() const noexcept { return y.size(); }
  /// The share of a row that is in its interval, and that is at most its median: 0 or 1, except for
  /// a tie with an end or the median, which counts by the share of its jump.
  double covered(std::size_t row) const;
  double below_median(std::size_t row) const;

 private:
  TargetJump jump(std::size_t row) const { return jumps.empty() ? TargetJump{} : jumps[row]; }
};

/// Shares of rows below the quantiles, against their levels.
struct ReliabilityCurve {
  std::size_t rows = 0;
  std::vector<double> level;
  std::vector<double> observed;  // as observed_levels: ties are split
  bool ties = false;             // some target equals one of its quantiles
  // Holds 95 % of perfect forecasters with this many rows, level by level (binomial); more than 95
  // % with ties, because shares vary less.
  std::vector<double> noise_low, noise_high;
  // 95 % of perfect forecasters stay within this distance of the diagonal at all levels at once
  // (Dvoretzky, Kiefer, Wolfowitz, with Massart's constant).
  double reach = 0.0;
  // The largest distance from the diagonal, and its level.
  double largest = 0.0;
  double largest_at = 0.0;
};

/// The range of the share of rows in one of `bins` equal bins of the probability integral transform
/// that holds 95 % of perfect forecasters with this many rows (more with ties).
struct BinNoise {
  double low = 0.0, high = 1.0;
};
BinNoise pit_noise(std::size_t rows, std::size_t bins);

/// The shape of the histogram, if it is more than chance. Two tests, each at 1 %: are the two
/// halves equal, and do the outer fifths have their share?
enum class PitShape : std::uint8_t {
  kEven,
  kTooShort,  // high at both ends
  kTooWide,   // high in the middle
  kTooLarge,  // targets lie low in their predicted distributions
  kTooSmall,
};
PitShape pit_shape(std::span<const double> pit, std::size_t rows);

/// Scores a model batch by batch as Scorecard does, and keeps the rows for the figures of a report.
/// All batches are of one model, which must outlive this.
class Examination {
 public:
  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});

  const Outcomes& outcomes() const noexcept { return outcomes_; }
  /// Throws kInvalidArgument where no row was added.
  Scores scores(Seed seed) const { return card_.finish(seed); }
  ReliabilityCurve reliability() const;
  /// Warnings about the answers at the metric levels. Small effective_n and rows outside are in
  /// outcomes(); a report has a figure and a finding for each.
  std::vector<PredictionWarning> warnings() const;

 private:
  Scorecard card_;
  Outcomes outcomes_;
  std::vector<double> below_;  // rows below each metric level
  bool ties_ = false;
  std::optional<WarningTally> tally_;
};

}  // namespace tare
