// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/threshold_method.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/fail.h"
#include "online/reference/learned_error.h"

namespace tare {

ThresholdMethod::ThresholdMethod(const OnlineSetup& setup, ScoreKind kind, std::size_t window,
                                 std::unique_ptr<const ThresholdRule> rule)
    : levels_(setup.levels, kind),
      most_scores_(window),
      rule_(std::move(rule)),
      state_(levels_.tracks().size() * rule_->state_size()),
      windows_(kind == ScoreKind::kSigned ? 2 : 1, ScoreWindow(window)) {
  const std::size_t width = rule_->state_size();
  for (std::size_t k = 0; k < levels_.tracks().size(); ++k) {
    rule_->start(levels_.tracks()[k].alpha, std::span(state_).subspan(k * width, width));
  }
}

TrackPast ThresholdMethod::past(std::size_t track) const {
  const Track& one = levels_.tracks()[track];
  return {one.alpha, learned_, windows_[one.is_mirrored ? 1 : 0]};
}

void ThresholdMethod::answer(const OnlineRow& row, OnlineAnswer& out) const {
  const std::size_t tracks = levels_.tracks().size();
  const std::size_t width = rule_->state_size();
  const std::size_t note_width = rule_->note_size();
  out.note.resize(tracks * note_width);
  std::vector<double> thresholds(tracks);
  for (std::size_t k = 0; k < tracks; ++k) {
    const auto note = std::span(out.note).subspan(k * note_width, note_width);
    rule_->answer(past(k), std::span(state_).subspan(k * width, width), note);
    thresholds[k] = note[0];
  }
  levels_.quantiles(row.prediction, thresholds, out.quantiles);
}

void ThresholdMethod::learn(const OnlineRow& row, const OnlineAnswer& answer, double target) {
  const double error = learned_error(row, target);
  const std::size_t tracks = levels_.tracks().size();
  const std::size_t width = rule_->state_size();
  const std::size_t note_width = rule_->note_size();
  if (answer.note.size() != tracks * note_width ||
      std::any_of(answer.note.begin(), answer.note.end(), [](double v) { return std::isnan(v); })) {
    fail(ErrorCode::kInvalidArgument,
         "the note of row {} is not what this method answered for it: it has {} numbers, and {} "
         "that are not NaN are needed",
         row.time, answer.note.size(), tracks * note_width);
  }
  for (std::size_t k = 0; k < tracks; ++k) {
    rule_->learn(past(k), std::span(answer.note).subspan(k * note_width, note_width),
                 levels_.score(levels_.tracks()[k], error),
                 std::span(state_).subspan(k * width, width));
  }
  windows_[0].add(levels_.score({}, error));
  if (windows_.size() > 1) windows_[1].add(levels_.score({0.0, true}, error));
  ++learned_;
}

void ThresholdMethod::save(const TensorWriter& out) const {
  out.value("learned", learned_);
  out.tensor("state", std::span<const double>(state_),
             {levels_.tracks().size(), rule_->state_size()});
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    windows_[i].save(out, "scores_" + std::to_string(i));
  }
}

void ThresholdMethod::load(const TensorReader& in) {
  const std::size_t width = rule_->state_size();
  learned_ = in.count("learned", kMostLearnedRows);
  state_ = in.values<double>("state", {levels_.tracks().size(), width}, Must::kBeFinite);
  for (std::size_t k = 0; k < levels_.tracks().size(); ++k) {
    if (!rule_->is_possible(learned_, std::span(state_).subspan(k * width, width))) {
      fail(ErrorCode::kCorruptFile, "the state of an online method is not one that it can reach");
    }
  }
  const std::size_t kept = std::min<std::uint64_t>(learned_, most_scores_);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    windows_[i].load(in, "scores_" + std::to_string(i), kept);
    const auto sorted = windows_[i].sorted();
    const bool is_negative = !sorted.empty() && sorted.front() < 0.0;
    if (levels_.kind() == ScoreKind::kAbsolute && is_negative) {
      fail(ErrorCode::kCorruptFile, "the absolute scores of an online method have a negative one");
    }
  }
}

}  // namespace tare
