// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/partition.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The option behind --guarantee, which every method has.
std::span<const ParamInfo> guarantee_options();

/// More held-out rows than this are not taken: with so many a level's coverage has a standard
/// deviation of 0.2 % or less, and further rows do more good in the fit.
inline constexpr std::size_t kMostGuaranteeRows = 50'000;

/// What is answered where the ranked rows are too few for a level: a bound that has at least the
/// outermost level they have, moved by the model's own quantiles; or infinity, which is the only
/// bound that has the level.
enum class OuterLevels : std::uint8_t { kOwnTail, kInfinite };

/// What is asked for. Text: none, auto, split, split:SHARE, cross, cross:FOLDS, and behind each but
/// none ",strict" for OuterLevels::kInfinite.
struct GuaranteeRule {
  enum class Form : std::uint8_t { kNone, kAuto, kSplit, kCross } form = Form::kNone;
  double share = 0.2;     // of the rows that are held out, for split
  std::size_t folds = 5;  // for cross, 2 to kMostFolds
  OuterLevels outer = OuterLevels::kOwnTail;
};
inline constexpr std::size_t kMostFolds = 20;
/// Throws kInvalidArgument.
GuaranteeRule parse_guarantee(const Params& params);

/// What `auto` means for so many rows that may be held out: a tenth of them, but no more than
/// 2,000, where there are at least 2,000 and the fit hardly notices. Below that, nothing: a tenth
/// would not do for the outer levels, and folds cost small data dearly (decision 16).
GuaranteeRule resolve_guarantee(const GuaranteeRule& rule, std::size_t rows);

/// Which rows of a fit come last: those of a series, whose neighbours resemble each other.
enum class RowOrder : std::uint8_t { kNone, kTime };

/// Rows for the fit (first) and rows held out (second): drawn at random, or the last ones. Where
/// FitInput::calibrate_rows says which rows stand for those to come, the share is of these and they
/// are taken from these. A row of zero weight is never held out. FitInput::held_out_rows outranks
/// all of this. Throws kBadData where fewer than
/// kRowsForNinety would be held out, and names how many rows it takes.
Partition guarantee_partition(const FitInput& input, const GuaranteeRule& rule, RowOrder order);

/// Rows that stand for those to come, and that count: not those of weight 0, and of a split by a
/// column only those that calibrate.
std::vector<std::size_t> rows_to_draw_from(const FitInput& input);

/// Some rows of a FitInput, with the memory behind them.
class InputPart {
 public:
  InputPart(const FitInput& input, std::span<const std::size_t> rows);
  FitInput input() const;

 private:
  FitInput whole_;  // for what does not depend on the rows
  Matrix x_, given_;
  std::vector<double> y_, weight_;
  std::vector<std::uint8_t> calibrate_rows_;
  std::vector<std::uint32_t> group_, fold_;
};

}  // namespace tare
