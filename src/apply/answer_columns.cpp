// SPDX-License-Identifier: BSD-3-Clause
#include "apply/answer_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tare {
namespace {

constexpr std::size_t kDecisionColumns = 3;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The level of a quantile, or what lies between those of an interval's ends: nothing where these
/// are weaker than together 1.
double kept_level(std::span<const double> levels, const LevelColumns::Delivered& column) {
  if (column.lower == column.upper) return levels[column.lower];
  return std::max(0.0, levels[column.upper] - levels[column.lower]);
}

}  // namespace

AnswerColumns::AnswerColumns(std::vector<std::string> names)
    : names_(std::move(names)), flag_(names_.size()), levels_(names_.size()) {}

AnswerColumns::AnswerColumns(const QuantileModel& model, const LevelColumns& levels, Parts parts)
    : levels_(levels.names.size()), parts_(std::move(parts)) {
  for (const std::string& name : levels.names) add(name);
  for (const double coverage : parts_.sets) {
    for (std::size_t p = 1; p <= kMostSetParts; ++p) {
      const std::string part = p > 1 ? fmt::to_string(p) : "";
      add(fmt::format("lower{}_{}", part, coverage));
      add(fmt::format("upper{}_{}", part, coverage));
    }
  }
  if (parts_.decision) {
    add("action");
    add("cost");
    add("cost_of_mean");
  }
  if (!parts_.diagnostics) return;
  add("effective_n");
  add("nearest");
  add("fallback", true);
  add("outside", true);
  for (const std::string& name : levels.names) {
    add(name + "_low");
    add(name + "_high");
  }
  if (!model.delivers_levels()) return;
  delivered_ = levels.delivered;
  for (const auto& column : delivered_) add(column.name);
  set_delivered_ = names_.size();
  for (const double coverage : parts_.sets) add(fmt::format("delivered_{}", coverage));
}

void AnswerColumns::add(std::string name, bool flag) {
  names_.push_back(std::move(name));
  flag_.push_back(flag ? 1 : 0);
}

void AnswerColumns::fill(const Prediction& prediction, std::size_t i, std::span<double> out) const {
  std::size_t next = 0;
  for (std::size_t j = 0; j < levels_; ++j) out[next++] = prediction.quantiles(i, j);
  next += kSetColumns * parts_.sets.size();
  if (parts_.decision) next += kDecisionColumns;
  if (!parts_.diagnostics) return;
  const bool near = !prediction.nearest.empty();
  out[next++] = prediction.effective_n.empty() ? kUnknown : prediction.effective_n[i];
  out[next++] = near ? prediction.nearest[i] : kUnknown;
  out[next++] = near ? prediction.fallback[i] : kUnknown;
  out[next++] = near ? prediction.outside[i] : kUnknown;
  const bool bands = prediction.band_low.cols() > 0;
  for (std::size_t j = 0; j < levels_; ++j) {
    out[next++] = bands ? prediction.band_low(i, j) : kUnknown;
    out[next++] = bands ? prediction.band_high(i, j) : kUnknown;
  }
  for (const auto& column : delivered_) {
    out[next++] = kept_level(prediction.delivered.row(i), column);
  }
}

void AnswerColumns::fill_decision(const Decision& decision, std::span<double> out) const {
  const std::size_t first = levels_ + kSetColumns * parts_.sets.size();
  out[first] = decision.action;
  out[first + 1] = decision.cost;
  out[first + 2] = decision.cost_of_mean;
}

void AnswerColumns::fill_sets(const ShortestSets& sets, std::size_t i,
                              std::span<double> out) const {
  std::ranges::copy(sets.ends.row(i), out.begin() + static_cast<std::ptrdiff_t>(levels_));
  if (set_delivered_ == 0) return;
  for (std::size_t k = 0; k < parts_.sets.size(); ++k) {
    out[set_delivered_ + k] = sets.delivered.cols() > 0 ? sets.delivered(i, k) : kUnknown;
  }
}

std::string AnswerColumns::set_at(std::size_t column) const {
  if (column < levels_ || (column - levels_) % kSetColumns != 0) return {};
  const std::size_t k = (column - levels_) / kSetColumns;
  return k < parts_.sets.size() ? fmt::format("set_{}", parts_.sets[k]) : "";
}

}  // namespace tare
