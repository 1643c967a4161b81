// SPDX-License-Identifier: BSD-3-Clause
#include "apply/answer_columns.h"

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
    : levels_(levels.names.size()), parts_(parts) {
  for (const std::string& name : levels.names) add(name);
  if (parts.decision) {
    add("action");
    add("cost");
    add("cost_of_mean");
  }
  if (!parts.diagnostics) return;
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
}

void AnswerColumns::add(std::string name, bool flag) {
  names_.push_back(std::move(name));
  flag_.push_back(flag ? 1 : 0);
}

void AnswerColumns::fill(const Prediction& prediction, std::size_t i, std::span<double> out) const {
  std::size_t next = 0;
  for (std::size_t j = 0; j < levels_; ++j) out[next++] = prediction.quantiles(i, j);
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
  out[levels_] = decision.action;
  out[levels_ + 1] = decision.cost;
  out[levels_ + 2] = decision.cost_of_mean;
}

}  // namespace tare
