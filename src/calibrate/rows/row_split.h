// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/partition.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// Fewer calibration rows are an error, because only quantiles near the median would be meaningful.
inline constexpr std::size_t kMinCalibrationRows = 10;

/// How rows are shared between the model and its calibration. Texts as in --split.
struct SplitRule {
  enum class Kind { kShare, kTime, kCross } kind = Kind::kShare;
  double share = 0.3;  // of the rows that calibrate; the paper's
  std::size_t folds = 5;
};
SplitRule parse_split(const Params& params);

/// Where rows are windows of a series: split=time unless another one is given. Windows overlap, so
/// rows drawn at random would train on what they are tested on; asking for a random share is
/// kInvalidArgument. Folds of a series are stretches of time.
Params with_series_split(const Params& params, const FitInput& input);

/// The rows that train (first) and those that calibrate (second), for a method that trains once.
/// FitInput::calibrate_rows overrides the rule. kInvalidArgument for kCross.
Partition hold_out(const FitInput& input, const SplitRule& rule);

/// kBadData for fewer rows with a weight than kMinCalibrationRows.
void check_calibration_rows(std::size_t usable);

/// The held-out rows that a calibration can use: those with a weight, and of more than `most` so
/// many, drawn at random, in their order. kBadData for fewer than kMinCalibrationRows.
std::vector<std::size_t> usable_rows(const FitInput& input, std::span<const std::size_t> held_out,
                                     std::size_t most);

}  // namespace tare
