// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/evaluate/scorecard.h"

namespace tare {

/// What a model said about test rows, and what came of it: row by row what a report draws.
struct Outcomes {
  static constexpr double kConfidence = 0.9;  // of the intervals

  std::vector<double> y;
  std::vector<double> lower, median, upper;  // of the central interval
  std::vector<double> effective_n;           // empty for a method without a neighbourhood
  std::size_t fallback_rows = 0;
  std::size_t outside_rows = 0;  // farther from the calibration rows than these are
  bool knows_outside = false;

  std::size_t rows() const noexcept { return y.size(); }
};

/// Shares of rows below the quantiles, against the levels that these should have.
struct ReliabilityCurve {
  std::size_t rows = 0;
  std::vector<double> level;
  // Shares of rows with y <= q and with y < q. They differ where targets repeat, and a quantile is
  // right as long as its level is not outside of the two.
  std::vector<double> reached, below;
  // Where 95 % of perfect forecasters are with that many rows, level by level.
  std::vector<double> noise_low, noise_high;
  // 95 % of perfect forecasters stay within this distance of the diagonal at all levels at once
  // (Dvoretzky, Kiefer, Wolfowitz, with Massart's constant).
  double reach = 0.0;
  // The largest distance, and at which level.
  double largest = 0.0;
  double largest_at = 0.0;
};

/// Where the share of rows in one of `bins` equal bins of the probability integral transform lies
/// for 95 % of perfect forecasters with that many rows.
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
class Examination {
 public:
  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});

  const Outcomes& outcomes() const noexcept { return outcomes_; }
  /// Throws kInvalidArgument where no row was added.
  Scores scores(Seed seed) const { return card_.finish(seed); }
  ReliabilityCurve reliability() const;

 private:
  Scorecard card_;
  Outcomes outcomes_;
  std::vector<std::size_t> reached_, below_;  // rows at each metric level
};

}  // namespace tare
