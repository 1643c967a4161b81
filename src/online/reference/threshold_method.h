// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "online/online_method.h"
#include "online/reference/score_window.h"
#include "online/reference/tracked_levels.h"

namespace tare {

/// What a rule may look at: nothing but the rows learned so far.
struct TrackPast {
  double alpha = 0.0;         // wanted share of misses
  std::uint64_t learned = 0;  // rows
  const ScoreWindow& window;  // their last scores
};

/// How a method moves one threshold. The state of a threshold is a few numbers, so that saving and
/// loading is the same for all methods.
class ThresholdRule {
 public:
  virtual ~ThresholdRule() = default;

  virtual std::size_t state_size() const = 0;
  virtual std::size_t note_size() const = 0;
  virtual void start(double alpha, std::span<double> state) const = 0;
  /// Writes what learn() needs, the threshold first. Infinite values are possible, NaN is not.
  virtual void answer(const TrackPast& past, std::span<const double> state,
                      std::span<double> note) const = 0;
  /// Moves the state. `note` is from the time of the answer; `past` is without `score`.
  virtual void learn(const TrackPast& past, std::span<const double> note, double score,
                     std::span<double> state) const = 0;
  /// Whether learn() can have led to a state; its numbers are finite.
  virtual bool is_possible(std::uint64_t learned, std::span<const double> state) const = 0;
};

/// A method of thresholds on the scores of errors. A row is missed if its score exceeds the
/// threshold that was answered, whenever its target arrives.
class ThresholdMethod final : public OnlineMethod {
 public:
  ThresholdMethod(const OnlineSetup& setup, ScoreKind kind, std::size_t window,
                  std::unique_ptr<const ThresholdRule> rule);

  void answer(const OnlineRow& row, OnlineAnswer& out) const override;
  void learn(const OnlineRow& row, const OnlineAnswer& answer, double target) override;
  bool is_ready() const override { return learned_ >= kFewestKnownTargets; }
  void save(const TensorWriter& out) const override;
  /// Replaces the state by a saved one.
  void load(const TensorReader& in);

 private:
  TrackPast past(std::size_t track) const;

  TrackedLevels levels_;
  std::size_t most_scores_;
  std::unique_ptr<const ThresholdRule> rule_;
  std::uint64_t learned_ = 0;
  std::vector<double> state_;         // of each track in turn
  std::vector<ScoreWindow> windows_;  // of scores, and of mirrored ones where they are signed
};

}  // namespace tare
