// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "tare/base/export.h"
#include "tare/base/level.h"

namespace TARE_PUBLIC tare {

/// The 1,009 levels among which risk control chooses: 0.001, 0.002, ..., 0.999, and five more on
/// each side down to 0.000001. They are fixed, as the proof requires.
std::span<const Level> risk_levels();

/// A loss that grows with the distance of the action from the target, on one side: `rate` for each
/// unit that the action is less than the target (kUnder), or more (kOver).
struct UnitLoss {
  enum class Side : std::uint8_t { kUnder, kOver };
  Side side = Side::kUnder;
  double rate = 1.0;

  double at(double action, double outcome) const;
  /// "under=1" or "over=0.5". Throws kInvalidArgument.
  static UnitLoss parse(std::string_view text);
};

/// What to keep: the expected loss of a new row at most `at_most`, where no loss is above `bound`.
struct RiskTarget {
  double at_most = 0.0;
  double bound = 0.0;
  /// kUnder: losses fall with the level, and the lowest level is wanted; kOver: the other way
  /// round.
  UnitLoss::Side side = UnitLoss::Side::kUnder;
};

/// The level that was chosen, and the inequality behind it.
struct RiskChoice {
  std::optional<std::size_t> place;  // among the levels; none: no level satisfies the inequality
  std::size_t rows = 0;
  double mean_loss = 0.0;      // of the calibration rows at that level
  double corrected = 0.0;      // rows / (rows + 1) mean_loss + bound / (rows + 1), <= at_most
  std::size_t at_bound = 0;    // rows whose loss there is `bound` or more
  std::size_t least_rows = 0;  // fewer could not satisfy the inequality, whatever their losses
};

/// Conformal risk control (Angelopoulos, Bates, Fisch, Lei, Schuster 2024): from the losses of
/// calibration rows at each of some levels, the first level, from the side with the large losses,
/// with
///
///     n / (n + 1) R + B / (n + 1) <= alpha,
///
/// where R is the mean loss of n rows. If the n rows and a new one are exchangeable, the new row's
/// expected loss at the chosen level is at most alpha; a refusal to choose counts as no loss. The
/// expectation is over the calibration rows and the new row together. The inequality is evaluated
/// without rounding, with alpha and B as the decimal numbers that were written.
class RiskControl {
 public:
  /// Throws kInvalidArgument unless 0 < at_most < bound <= 1e100.
  RiskControl(std::size_t levels, RiskTarget target);
  ~RiskControl();
  RiskControl(RiskControl&&) noexcept;
  RiskControl& operator=(RiskControl&&) noexcept;

  /// The losses of one row at each level; what is above the bound counts as the bound. Throws
  /// kShapeMismatch for another number of losses, and kBadData for one that is negative or NaN, or
  /// where they are not monotone as the target says.
  void add(std::span<const double> losses);

  RiskChoice choose() const;
  /// The same, but throws kBadData with what would help where there is no level.
  RiskChoice choose_or_fail() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
