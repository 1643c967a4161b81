// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "calibrate/guarantee/rowwise_rule.h"
#include "calibrate/rows/row_split.h"
#include "data/rows.h"

namespace tare {
namespace {

constexpr std::array kGuaranteeOptions = std::to_array<ParamInfo>({
    {"guarantee", "none",
     "finite-sample guarantee of coverage, on average over exchangeable rows, by held-out rows: "
     "none, split, split:SHARE, cross, cross:FOLDS, loose; auto (the default of method auto) means "
     "split:0.05,near from 2,000 rows on and loose from 30 to 1,999 (60 for other methods); "
     "split,own: the model's own "
     "levels as far as the ranks allow; split,near: the model's own levels unless the ranks differ "
     "by more than a standard error, which is what the proof then lacks; loose: a model of all "
     "rows, whose answers reach at least "
     "as far out as a second model's bound, proven with at most twice the misses; local (ranks "
     "near the row), conditional:COLUMNS "
     "(coverage also for every reweighting of rows by these columns; conditional:groups, "
     "conditional:kernel). If there are too few rows for a level, the "
     "answer is the model's own quantile, or infinite with ',strict' (split,strict)"},
});

template <class T>
std::vector<T> entries(std::span<const T> values, std::span<const std::size_t> rows) {
  std::vector<T> result;
  if (values.empty()) return result;
  for (const std::size_t i : rows) result.push_back(values[i]);
  return result;
}

/// Of loose: the ninth of nine rows is the rank of 0.9, on which the 95 % quantile rests.
constexpr std::size_t kRankedForLoose = 9;

/// An eighth of the rows, but enough for the 95 % quantile as far as a third of them permit, and
/// not more than tell a level apart from the next per cent.
double loose_share(std::size_t rows) {
  const std::size_t least = std::clamp(rows / 3, kRankedForLoose, kRowsForNinety);
  const std::size_t count = std::clamp<std::size_t>(rows / 8, least, 2000);
  return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(rows, 1));
}

/// The rows that the caller has held out.
Partition stated_partition(std::span<const std::uint8_t> held_out) {
  Partition parts = flagged_partition(held_out);
  if (parts.second.size() < kRowsForNinety) {
    fail(ErrorCode::kBadData, {.remedies = {advice("hold out more rows")}},
         "{} of {} rows are held out for the guarantee, but a finite 90 % interval needs {}",
         parts.second.size(), held_out.size(), kRowsForNinety);
  }
  return parts;
}

/// The second model of `loose` needs rows that train it and rows that it ranks.
void check_loose(const Partition& drawn, double share) {
  if (drawn.second.size() >= kRankedForLoose && drawn.first.size() >= kMinCalibrationRows) return;
  constexpr std::size_t kLeast = kRankedForLoose + kMinCalibrationRows;
  const std::size_t count = drawn.first.size() + drawn.second.size();
  std::size_t enough = kLeast;
  std::vector<Remedy> remedies;
  if (count >= kLeast) {  // the share is at fault
    const double ranked = std::ceil(static_cast<double>(kRankedForLoose) / share);
    const double trained = std::ceil(static_cast<double>(kMinCalibrationRows) / (1.0 - share));
    enough = static_cast<std::size_t>(std::max(ranked, trained));
    const char* other =
        drawn.first.size() < kMinCalibrationRows ? "use a smaller share:" : "use a larger share:";
    remedies.push_back({other, "guarantee", "loose:SHARE", ""});
  }
  remedies.insert(remedies.begin(), advice(fmt::format("give at least {} rows", enough)));
  fail(ErrorCode::kBadData, {.remedies = std::move(remedies)},
       "the second model of a loose guarantee would train on {} and rank {} of the rows, but it "
       "needs {} and {}",
       drawn.first.size(), drawn.second.size(), kMinCalibrationRows, kRankedForLoose);
}

}  // namespace

std::vector<std::size_t> rows_to_draw_from(const FitInput& input) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < input.x.rows(); ++i) {
    const bool counts = input.weight.empty() || input.weight[i] > 0.0;
    const bool stands = input.calibrate_rows.empty() || input.calibrate_rows[i] != 0;
    if (counts && stands) rows.push_back(i);
  }
  return rows;
}

std::span<const ParamInfo> guarantee_options() { return kGuaranteeOptions; }

GuaranteeRule parse_guarantee(const Params& params) {
  using enum GuaranteeRule::Form;
  const std::string text = params.text("guarantee", "none");
  const std::vector<std::string> words = split_text(text, ',');
  const std::vector<std::string> parts = split_text(words[0], ':');
  const std::string form = canonical_name(parts[0]);
  const bool plain = parts.size() == 1;
  if (form == "local" || form == "conditional") return parse_rowwise(text);
  GuaranteeRule rule;
  rule.form = form == "split"   ? kSplit
              : form == "cross" ? kCross
              : form == "loose" ? kLoose
              : form == "auto"  ? kAuto
                                : kNone;
  const auto has_word = [&](std::string_view word) {
    return std::ranges::count_if(words.begin() + 1, words.end(), [&](const std::string& other) {
             return canonical_name(other) == word;
           }) == 1;
  };
  const bool strict = has_word("strict");
  const bool own = has_word("own") && rule.form == kSplit;
  const bool near = has_word("near") && rule.form == kSplit && !own;
  if (rule.form == kLoose) rule.share = 0.0;
  if (strict) rule.outer = OuterLevels::kInfinite;
  if (own) rule.levels = SplitLevels::kOwn;
  if (near) rule.levels = SplitLevels::kNear;
  const std::size_t known = 1U + (strict ? 1U : 0U) + (own || near ? 1U : 0U);
  const bool may_have_words = rule.form != kNone && rule.form != kLoose;
  const bool readable = words.size() == known && (known == 1 || may_have_words);
  if (readable && plain && (rule.form != kNone || form == "none")) return rule;
  if (readable && (rule.form == kSplit || rule.form == kLoose) && parts.size() == 2) {
    rule.share = parse_number(parts[1]).value_or(0.0);
    if (rule.share > 0.0 && rule.share < 1.0) return rule;
  }
  if (readable && rule.form == kCross && parts.size() == 2) {
    rule.folds = parse_count(parts[1]).value_or(0);
    if (rule.folds >= 2 && rule.folds <= kMostFolds) return rule;
  }
  fail_option(
      "guarantee", text,
      fmt::format(
          "must be none, auto, split, split:SHARE or loose:SHARE with a share between 0 and "
          "1, loose, cross, cross:FOLDS with 2 to {} folds, local, or conditional:COLUMNS; "
          "all except none and loose may end in ',strict', and split in ',own' or ',near'",
          kMostFolds));
}

GuaranteeRule resolve_guarantee(const GuaranteeRule& rule, std::size_t rows, RowOrder order,
                                std::size_t loose_from) {
  constexpr std::size_t kRowsToSplit = 2000;
  constexpr double kMostHeldOut = 2000.0;
  constexpr double kHeldOutShare = 0.05;
  using enum GuaranteeRule::Form;
  GuaranteeRule resolved = rule;
  if (rule.form == kAuto && rows >= kRowsToSplit) {
    resolved.form = kSplit;
    resolved.share = std::min(kHeldOutShare, kMostHeldOut / static_cast<double>(rows));
    resolved.levels = SplitLevels::kNear;
  } else if (rule.form == kAuto) {
    const bool possible = rows >= loose_from && order == RowOrder::kNone;
    resolved.form = possible && rule.outer == OuterLevels::kOwnTail ? kLoose : kNone;
    resolved.share = 0.0;
  }
  if (resolved.form == kLoose && resolved.share == 0.0) {
    resolved.share = loose_share(rows);
  }
  return resolved;
}

Partition guarantee_partition(const FitInput& input, const GuaranteeRule& rule, RowOrder order) {
  constexpr std::uint64_t kSeedPart = 3001;
  if (!input.held_out_rows.empty()) return stated_partition(input.held_out_rows);
  const std::vector<std::size_t> candidates = rows_to_draw_from(input);
  const std::size_t count = candidates.size();
  const double most = static_cast<double>(kMostGuaranteeRows);
  const double share = std::min(rule.share, most / std::max(1.0, static_cast<double>(count)));
  const Partition drawn = order == RowOrder::kTime
                              ? time_partition(count, share)
                              : random_partition(count, share, split(input.seed, kSeedPart));
  const bool loose = rule.form == GuaranteeRule::Form::kLoose;
  if (loose) check_loose(drawn, rule.share);
  if (!loose && drawn.second.size() < kRowsForNinety) {
    const double enough = std::ceil(static_cast<double>(kRowsForNinety) / rule.share);
    fail(ErrorCode::kBadData,
         {.remedies = {advice(fmt::format("give at least {} rows", enough)),
                       {"use a larger share:", "guarantee", "split:SHARE", ""}}},
         "the guarantee would hold out {} of {} rows, but a 90 % interval needs {}",
         drawn.second.size(), count, kRowsForNinety);
  }
  std::vector<std::uint8_t> held_out(input.x.rows(), 0);
  for (const std::size_t k : drawn.second) held_out[candidates[k]] = 1;
  return flagged_partition(held_out);
}

InputPart::InputPart(const FitInput& input, std::span<const std::size_t> rows)
    : whole_(input),
      x_(take_rows(input.x, rows)),
      y_(take_rows(input.y, rows)),
      weight_(take_rows(input.weight, rows)),
      calibrate_rows_(entries(input.calibrate_rows, rows)),
      group_(entries(input.group, rows)),
      fold_(entries(input.fold, rows)) {
  if (input.given.cols() > 0) given_ = take_rows(input.given, rows);
}

FitInput InputPart::input() const {
  FitInput part = whole_;
  part.x = x_;
  part.y = y_;
  part.weight = weight_;
  part.given = given_;
  part.calibrate_rows = calibrate_rows_;
  part.group = group_;
  part.fold = fold_;
  part.held_out_rows = {};  // is about all rows of a fit
  return part;
}

}  // namespace tare
