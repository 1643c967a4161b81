// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/observations.h"

#include <fmt/format.h>

#include <utility>

#include "base/strings.h"

namespace tare::serve {
namespace {

bool holds(double lower, double upper, double target) { return lower <= target && target <= upper; }

}  // namespace

Observations::Observations(Options options)
    : options_(std::move(options)),
      slots_(options_.remembered),
      watch_(options_.level, options_.window) {}

std::uint64_t Observations::remember(MatrixView intervals, std::uint32_t model) {
  const std::lock_guard lock(guard_);
  const std::uint64_t first = next_;
  next_ += intervals.rows();
  if (slots_.empty()) return first;
  for (std::size_t i = 0; i < intervals.rows(); ++i) {
    slots_[(first + i) % slots_.size()] = {intervals(i, 0), intervals(i, 1), model, false};
  }
  return first;
}

std::string Observations::id(std::uint64_t number) const {
  return fmt::format("{}-{}", options_.prefix, number);
}

std::optional<std::uint64_t> Observations::number(std::string_view id) const {
  if (!id.starts_with(options_.prefix)) return std::nullopt;
  id.remove_prefix(options_.prefix.size());
  if (!id.starts_with('-')) return std::nullopt;
  const auto count = parse_count(id.substr(1));
  // "ab-01" is another text than "ab-1", and so is another id where ids are compared as texts.
  if (!count || id.substr(1) != std::to_string(*count)) return std::nullopt;
  return *count;
}

Observations::Slot* Observations::find(std::string_view id) {
  const auto number = slots_.empty() ? std::nullopt : this->number(id);
  if (!number || *number >= next_ || next_ - *number > slots_.size()) return nullptr;
  return &slots_[*number % slots_.size()];
}

Observations::Found Observations::observe_one(std::string_view id, double target) {
  Slot* slot = find(id);
  if (slot == nullptr) return Found::kUnknown;
  if (slot->observed) return Found::kRepeated;
  slot->observed = true;
  if (slot->model != model_) return Found::kEarlier;
  watch_.add(holds(slot->lower, slot->upper, target));
  return Found::kCounted;
}

Observations::Outcome Observations::observe(std::span<const std::string> ids,
                                            std::span<const double> targets) {
  const std::lock_guard lock(guard_);
  Outcome outcome;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    switch (observe_one(ids[i], targets[i])) {
      case Found::kCounted:
        ++outcome.counted;
        break;
      case Found::kUnknown:
        ++outcome.unknown;
        break;
      case Found::kRepeated:
        ++outcome.repeated;
        break;
      case Found::kEarlier:
        ++outcome.earlier;
        break;
    }
  }
  return outcome;
}

Observations::Outcome Observations::observe(MatrixView intervals, std::span<const double> targets,
                                            std::uint32_t model) {
  const std::lock_guard lock(guard_);
  Outcome outcome;
  if (model != model_) {
    outcome.earlier = targets.size();
    return outcome;
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    watch_.add(holds(intervals(i, 0), intervals(i, 1), targets[i]));
  }
  outcome.counted = targets.size();
  return outcome;
}

void Observations::start_model(std::uint32_t model) {
  const std::lock_guard lock(guard_);
  model_ = model;
  watch_.clear();
}

CoverageWatch Observations::coverage() const {
  const std::lock_guard lock(guard_);
  return watch_;
}

}  // namespace tare::serve
