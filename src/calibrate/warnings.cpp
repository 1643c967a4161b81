// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/online/online_model.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

// Levels beyond all realistic requests: the level delivered there is that of the outermost kept
// level.
constexpr double kOutermost = 1e-6;

/// Of ascending levels.
std::string levels_text(const std::vector<double>& levels) {
  constexpr std::size_t kNamed = 6;
  std::vector<std::string> names;
  for (const double level : levels) names.push_back(fmt::format("{:.6g}", level));
  const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  const std::string text = (levels.size() == 1 ? "level " : "levels ") + join(names, ", ");
  return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

std::string rows_of_all(std::size_t rows, std::size_t all) {
  return fmt::format("{} of {} rows", rows, all);
}

std::vector<double> levels_at(std::span<const std::uint8_t> flags, std::span<const Level> levels) {
  std::vector<double> found;
  for (std::size_t j = 0; j < flags.size(); ++j) {
    if (flags[j] != 0) found.push_back(levels[j].value());
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

/// A model that follows a stream keeps its levels by what it learns, or proves nothing.
std::vector<PredictionWarning> online_warnings(const OnlineModel& model) {
  Description description;
  model.describe(description);
  const auto& levels = description.online->levels;
  const bool proven = std::ranges::any_of(
      levels, [](const OnlineDescription::KeptLevel& kept) { return kept.bound < 1.0; });
  if (proven) return {};
  return {{WarningCode::kNoGuarantee,
           0,
           {},
           "Nothing is proven yet about the levels of this online model: it has learned too few "
           "rows, or its method proves nothing for them."}};
}

}  // namespace

std::string_view warning_name(WarningCode code) {
  switch (code) {
    case WarningCode::kNoGuarantee:
      return "no_guarantee";
    case WarningCode::kInfiniteAnswer:
      return "infinite_answer";
    case WarningCode::kBeyondKeptLevels:
      return "beyond_kept_levels";
    case WarningCode::kFallback:
      return "fallback";
    case WarningCode::kFewEffectiveRows:
      return "few_effective_rows";
    case WarningCode::kOutside:
      return "outside";
  }
  return "";
}

std::vector<PredictionWarning> model_warnings(const QuantileModel& model) {
  if (model.has_guarantee()) return {};
  if (const auto* const online = dynamic_cast<const OnlineModel*>(&model)) {
    return online_warnings(*online);
  }
  return {{WarningCode::kNoGuarantee,
           0,
           {},
           "The model was fitted without a finite-sample guarantee: only the method determines how "
           "well the levels are kept."}};
}

WarningTally::WarningTally(const QuantileModel& model, std::vector<Level> levels)
    : model_(model), levels_(std::move(levels)) {
  infinite_.at_level.assign(levels_.size(), 0);
  beyond_.at_level.assign(levels_.size(), 0);
  const auto* const online = dynamic_cast<const OnlineModel*>(&model_);
  if (online == nullptr) return;
  online_ = true;
  const std::vector<Level>& kept = online->stream().options().levels;  // never change
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    beyond_.at_level[j] = std::ranges::find(kept, levels_[j]) == kept.end() ? 1 : 0;
  }
}

void WarningTally::add(const Rows& rows, const Prediction& prediction) {
  const Matrix& q = prediction.quantiles;
  if (q.rows() != rows.x.rows() || q.cols() < levels_.size()) {
    fail(ErrorCode::kShapeMismatch, "warnings: {} x {} quantiles for {} rows and {} levels",
         q.rows(), q.cols(), rows.x.rows(), levels_.size());
  }
  if (q.rows() == 0) return;
  all_ += q.rows();
  for (std::size_t i = 0; i < q.rows(); ++i) {
    bool any = false;
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      if (!std::isinf(q(i, j))) continue;
      any = true;
      infinite_.at_level[j] = 1;
    }
    infinite_.rows += std::size_t{any};
  }
  for (const std::uint8_t flag : prediction.fallback) fallback_ += flag;
  count_levels_beyond(rows);
  for (const double n : prediction.effective_n) few_ += std::size_t{n < kFewRows};
  for (const std::uint8_t flag : prediction.outside) outside_ += flag;
}

void WarningTally::count_levels_beyond(const Rows& rows) {
  if (online_) {
    if (std::ranges::count(beyond_.at_level, 1) > 0) beyond_.rows += rows.x.rows();
    return;
  }
  std::vector<Level> asked = levels_;
  asked.emplace_back(kOutermost);
  asked.emplace_back(1.0 - kOutermost);
  // Without groups every row is kept to the same levels.
  const bool alike = rows.group.empty() && !model_.delivers_by_row();
  const std::size_t count = alike ? 1 : rows.x.rows();
  const Rows some{rows.x.middle_rows(0, count),
                  rows.given.cols() > 0 ? rows.given.middle_rows(0, count) : rows.given,
                  rows.group};
  const Matrix kept = model_.delivered(some, asked);
  if (kept.cols() == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    bool any = false;
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      const double tau = levels_[j].value();
      // The kept level is too low, and a more extreme level would not be kept better. With folds
      // the proven level is below the requested level everywhere, which does not mean that there
      // are too few rows.
      const bool low = tau < 0.5;
      const bool short_of_it = low ? kept(i, j) > tau : kept(i, j) < tau;
      if (!short_of_it || kept(i, j) != kept(i, levels_.size() + (low ? 0 : 1))) continue;
      any = true;
      beyond_.at_level[j] = 1;
    }
    if (any) beyond_.rows += alike ? rows.x.rows() : 1;
  }
}

std::vector<PredictionWarning> WarningTally::list() const {
  std::vector<PredictionWarning> warnings;
  if (infinite_.rows > 0) {
    const std::vector<double> levels = levels_at(infinite_.at_level, levels_);
    warnings.push_back({WarningCode::kInfiniteAnswer, infinite_.rows, levels,
                        fmt::format("{} have an infinite answer at {}: {}.",
                                    rows_of_all(infinite_.rows, all_), levels_text(levels),
                                    online_ ? "the online method gives no finite answer there now"
                                            : "the fit has too few rows to bound such a level")});
  }
  if (beyond_.rows > 0) {
    const std::vector<double> levels = levels_at(beyond_.at_level, levels_);
    warnings.push_back(
        {WarningCode::kBeyondKeptLevels, beyond_.rows, levels,
         fmt::format(
             "{} have a requested level that the {}, at {}: {}.", rows_of_all(beyond_.rows, all_),
             online_ ? "online model does not keep" : "guarantee cannot keep", levels_text(levels),
             online_ ? "answers there are interpolated from the levels that it keeps, and nothing "
                       "is proven for them"
                     : "it has too few rows for such a level, and the answers there are estimates "
                       "without a guarantee")});
  }
  const auto add = [&](WarningCode code, std::size_t rows, std::string_view what) {
    if (rows > 0) {
      warnings.push_back({code, rows, {}, fmt::format("{} {}", rows_of_all(rows, all_), what)});
    }
  };
  add(WarningCode::kFallback, fallback_,
      "had no calibration row within the bandwidth and used the fallback rows.");
  add(WarningCode::kFewEffectiveRows, few_,
      fmt::format("have an effective_n below {}: their outer quantiles are very uncertain.",
                  kFewRows));
  add(WarningCode::kOutside, outside_,
      "are farther from the nearest calibration row than 99 % of the calibration rows are from "
      "theirs (1 % is usual): their answers are extrapolations.");
  return warnings;
}

std::vector<PredictionWarning> prediction_warnings(const QuantileModel& model, const Rows& rows,
                                                   std::span<const Level> levels,
                                                   const Prediction& prediction) {
  WarningTally tally(model, {levels.begin(), levels.end()});
  tally.add(rows, prediction);
  return tally.list();
}

}  // namespace tare
