// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/rows/row_split.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {

SplitRule parse_split(const Params& params) {
  SplitRule rule;
  rule.folds = params.count("folds", 5, 2, 1000);
  const std::string text = params.text("split", "0.3");
  const std::vector<std::string> parts = split_text(text, ':');
  const std::string kind = canonical_name(parts[0]);
  const auto share_from = [&](const std::string& value) {
    const auto share = parse_number(value);
    if (!share || !(*share > 0.0 && *share < 1.0)) {
      fail_option("split", text,
                  "must be a share between 0 and 1, cross, time, time:SHARE or by:COL=VALUE");
    }
    return *share;
  };
  if (kind == "cross" && parts.size() == 1) {
    rule.kind = SplitRule::Kind::kCross;
  } else if (kind == "time" && parts.size() <= 2) {
    rule.kind = SplitRule::Kind::kTime;
    if (parts.size() == 2) rule.share = share_from(parts[1]);
  } else {
    rule.share = share_from(text);
  }
  return rule;
}

Params with_series_split(const Params& given, const FitInput& input) {
  Params params = given;
  if (input.window == 1) return params;
  const bool chosen = input.given.cols() > 0 || !input.calibrate_rows.empty();
  if (!params.has("split")) params.set("split", "time");
  if (!chosen && parse_split(params).kind == SplitRule::Kind::kShare) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "split",
          .value = params.text("split", ""),
          .remedies = {use("split", "time"), use("split", "time:SHARE"), use("split", "cross")},
          .named_in_problem = true},
         "with a window of {} the rows are a series, so a random share cannot be held out",
         input.window);
  }
  return params;
}

Partition hold_out(const FitInput& input, const SplitRule& rule) {
  if (!input.calibrate_rows.empty()) return flagged_partition(input.calibrate_rows);
  const std::size_t rows = input.x.rows();
  switch (rule.kind) {
    case SplitRule::Kind::kTime:
      return time_partition(rows, rule.share);
    case SplitRule::Kind::kShare:
      return random_partition(rows, rule.share, split(input.seed, 0));
    case SplitRule::Kind::kCross:
      break;
  }
  fail(ErrorCode::kInvalidArgument, {.option = "split", .value = "cross"},
       "must be a share, time, time:SHARE or by:COL=VALUE, not cross: this method holds out rows "
       "for its calibration");
}

void check_calibration_rows(std::size_t usable) {
  if (usable >= kMinCalibrationRows) return;
  fail(ErrorCode::kBadData,
       {.remedies = {advice("give more rows"),
                     {"a larger", "split", "", ""},
                     use("split", "cross", "if the method supports it")}},
       "{} calibration rows are too few: at least {} are needed", usable, kMinCalibrationRows);
}

std::vector<std::size_t> usable_rows(const FitInput& input, std::span<const std::size_t> held_out,
                                     std::size_t most) {
  std::vector<std::size_t> rows;
  for (const std::size_t i : held_out) {
    if (input.weight.empty() || input.weight[i] > 0.0) rows.push_back(i);
  }
  check_calibration_rows(rows.size());
  if (rows.size() > most) {
    Rng rng(split(input.seed, 2));
    shuffle(std::span<std::size_t>(rows), rng);
    rows.resize(most);
    std::ranges::sort(rows);
  }
  return rows;
}

}  // namespace tare
