// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/partition.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/math/kernel.h"

namespace tare {

/// The option behind --guarantee, which every method has.
std::span<const ParamInfo> guarantee_options();

/// The maximum number of held-out rows. With this number the coverage of a level has a standard
/// deviation of 0.2 % or less, and further rows are more useful in the fit.
inline constexpr std::size_t kMostGuaranteeRows = 50'000;

/// The answer if there are too few ranked rows for a level: the outermost bound, extended by the
/// model's own quantiles; or infinity, which is the only bound that keeps the level.
enum class OuterLevels : std::uint8_t { kOwnTail, kInfinite };

/// Which levels a split answers with: those of the ranks; the model's own as far as the ranks
/// allow; or the model's own unless the ranks differ by more than a standard error (own_levels.h).
enum class SplitLevels : std::uint8_t { kRanked, kOwn, kNear };

/// The requested guarantee. Text: none, auto, split, split:SHARE, cross, cross:FOLDS, loose,
/// loose:SHARE; split, cross and auto may end in ",strict" for OuterLevels::kInfinite, and split in
/// ",own" or ",near" for SplitLevels::kOwn or kNear. rowwise_rule.h has the forms whose ranks
/// differ from row to row.
struct GuaranteeRule {
  enum class Form : std::uint8_t {
    kNone,
    kAuto,
    kSplit,
    kCross,
    kLoose,
    kLocal,
    kConditional
  } form = Form::kNone;
  double share = 0.2;     // of the rows that are held out, for all forms but cross; of loose 0: set
                          // by the number of rows
  std::size_t folds = 5;  // for cross, 2 to kMostFolds
  OuterLevels outer = OuterLevels::kOwnTail;
  SplitLevels levels = SplitLevels::kRanked;  // for split
  bool fixed = false;                         // for local: without the draw
  KernelKind kernel = KernelKind::kGaussian;  // for local
  std::vector<std::string> conditions = {};  // for conditional: columns, "groups", "kernel[:COUNT]"

  /// Whether the ranks differ from row to row.
  bool is_rowwise() const noexcept { return form == Form::kLocal || form == Form::kConditional; }
};
inline constexpr std::size_t kMostFolds = 20;
/// Throws kInvalidArgument.
GuaranteeRule parse_guarantee(const Params& params);

/// The order of the rows. Of a series (kTime) the last rows are held out, because neighbouring rows
/// resemble each other.
enum class RowOrder : std::uint8_t { kNone, kTime };

/// The meaning of `auto` for a number of rows that may be held out. From 2,000 rows on: a split of
/// a twentieth of them, at most 2,000, which costs the fit little. Below: loose, because a tenth of
/// few rows is missed in the fit and cannot keep the outer levels, and folds are expensive
/// (decision 35). None below `loose_from`, and for fewer than 2,000 rows of a series, for which
/// nothing could be proven.
GuaranteeRule resolve_guarantee(const GuaranteeRule& rule, std::size_t rows, RowOrder order,
                                std::size_t loose_from);

/// Rows for the fit (first) and rows held out (second): drawn at random, or the last ones. If
/// FitInput::calibrate_rows marks the calibration rows, the share refers to these and the held-out
/// rows are drawn from these. A row of zero weight is never held out. FitInput::held_out_rows
/// overrides all of this. Throws kBadData, with the number of rows needed, if fewer than
/// kRowsForNinety would be held out, or too few for the two parts of a loose guarantee.
Partition guarantee_partition(const FitInput& input, const GuaranteeRule& rule, RowOrder order);

/// Rows that may be held out: rows of positive weight and, with a split by a column, only
/// calibration rows.
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
