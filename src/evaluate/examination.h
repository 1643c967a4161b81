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

/// What a model said about test rows, and what came of it: row by row what a report draws.
struct Outcomes {
  static constexpr double kConfidence = 0.9;  // of the intervals

  std::vector<double> y;
  std::vector<double> lower, median, upper;  // of the central interval
  /// Where targets repeat; empty: none does, and a target at an end is inside.
  std::vector<TargetJump> jumps;
  std::vector<double> effective_n;  // of at most 2,000; empty without bands
  std::size_t fallback_rows = 0;
  std::size_t outside_rows = 0;  // farther from the calibration rows than these are
  bool knows_outside = false;

  std::size_t rows() const noexcept { return y.size(); }
  /// The share of a row that is in its interval, and not above its median: 0 or 1 but for a target
  /// that is exactly at an end, or at the median, which counts by the share of its jump.
  double covered(std::size_t row) const;
  double below_median(std::size_t row) const;

 private:
  TargetJump jump(std::size_t row) const { return jumps.empty() ? TargetJump{} : jumps[row]; }
};

/// Shares of rows below the quantiles, against the levels that these should have.
struct ReliabilityCurve {
  std::size_t rows = 0;
  std::vector<double> level;
  std::vector<double> observed;  // as observed_levels: ties are split
  bool ties = false;             // some target is exactly one of its quantiles
  // Where 95 % of perfect forecasters are with that many rows, level by level, by the binomial law:
  // more of them where targets repeat, because shares vary less.
  std::vector<double> noise_low, noise_high;
  // 95 % of perfect forecasters stay within this distance of the diagonal at all levels at once
  // (Dvoretzky, Kiefer, Wolfowitz, with Massart's constant).
  double reach = 0.0;
  // The largest distance, and at which level.
  double largest = 0.0;
  double largest_at = 0.0;
};

/// Where the share of rows in one of `bins` equal bins of the probability integral transform lies
/// for 95 % of perfect forecasters with that many rows; more of them where targets repeat.
struct BinNoise {
  double low = 0.0, high = 1.0;
};
BinNoise pit_noise(std::size_t rows, std::size_t bins);

/// What the bins say together, where it is more than chance (1 in 100 for each of two questions:
/// are the halves even, and are the outer fifths as full as they should be).
enum class PitShape : std::uint8_t {
  kEven,
  kTooShort,  // high at both ends
  kTooWide,   // high in the middle
  kTooLarge,  // targets lie low in their laws
  kTooSmall,
};
PitShape pit_shape(std::span<const double> pit, std::size_t rows);

/// Scores a model batch by batch as Scorecard does, and keeps what the pictures of a report need.
/// All batches are of one model, which must live as long.
class Examination {
 public:
  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});

  const Outcomes& outcomes() const noexcept { return outcomes_; }
  /// Throws kInvalidArgument where no row was added.
  Scores scores(Seed seed) const { return card_.finish(seed); }
  ReliabilityCurve reliability() const;
  /// What there is to say about the answers at the metric levels. Few rows behind an answer, and
  /// rows outside, are in outcomes(), and a report has a picture and a finding of its own for them.
  std::vector<PredictionWarning> warnings() const;

 private:
  Scorecard card_;
  Outcomes outcomes_;
  std::vector<double> below_;  // rows below each metric level
  bool ties_ = false;
  std::optional<WarningTally> tally_;
};

}  // namespace tare
