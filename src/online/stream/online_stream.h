// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/tensor_store.h"
#include "online/drift/drift_watch.h"
#include "online/online_method.h"
#include "online/stream/frozen_lags.h"
#include "tare/base/level.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace tare {

struct StreamOptions {
  std::string method = "snq";
  std::vector<Level> levels;  // ascending, without repetition
  std::size_t features = 0;
  std::size_t start = 0;                 // rows that are learned before answers count
  std::size_t delay = 0;                 // rows between a row and its target
  std::vector<std::size_t> known_later;  // features that are known only with the target, ascending
  Params params;                         // of the method
  double drift_rate = 0.01;              // of false alarms, over the whole stream
  Seed seed{};
};

/// A row that was answered and whose target is still to come.
struct PendingRow {
  std::uint64_t time = 0;
  double prediction = 0.0;
  std::vector<double> features;  // as they were known at the answer
  OnlineAnswer answer;
  /// Whether enough targets were known when it was answered. If not, the answer is none for a user:
  /// it serves to learn the row.
  bool is_ready = false;
};

/// Throws kInvalidArgument where rows would be answered before any target is known, because targets
/// come too late for `start`. For streams whose answers are shown from `start` on: one that only
/// learns at first may have any delay, and so may a saved one.
void check_start(const StreamOptions& options);

/// Rows in time order: each is answered before its target is known, and learned afterwards. Holds
/// the method, what has been known of columns that come late, the coverage so far and the watch for
/// drift. The state is a function of the calls, so that it goes on with the same bits after save
/// and load. Several threads may answer at once, but none while another learns.
class OnlineStream {
 public:
  /// Throws kInvalidArgument and kNotFound for options that cannot be.
  explicit OnlineStream(StreamOptions options);

  const StreamOptions& options() const noexcept { return options_; }
  std::uint64_t time() const noexcept { return time_; }          // rows learned or passed over
  std::uint64_t answered() const noexcept { return answered_; }  // learned rows since `start`
  /// Share of the targets since `start` that were at or below the answer of level j; NaN before.
  double share_below(std::size_t j) const;
  /// Share of them between the answers of levels i and j, both included; NaN before.
  double share_between(std::size_t i, std::size_t j) const;
  double bound(std::size_t j) const { return method_->bound(j); }
  /// Whether enough targets are known for an answer.
  bool is_ready() const { return method_->is_ready(); }
  const DriftWatch& drift() const noexcept { return drift_; }
  /// Whether the watch sees errors less what past errors predict, because those before `start`
  /// depended on each other. The rate of false alarms is then measured, not proven.
  bool drift_without_past() const noexcept { return drift_input_.subtracts(); }
  void restart_drift() { drift_.restart(); }

  /// Answers a row as the one after `ahead` others whose targets are still to come. Features that
  /// are known later may hold anything. Throws kBadData for a prediction or another feature that is
  /// not finite, and kShapeMismatch for another number of features.
  PendingRow answer(double prediction, std::span<const double> features,
                    std::uint64_t ahead = 0) const;
  /// The same in the memory of `out`. What it holds after an exception is no answer.
  void answer(double prediction, std::span<const double> features, std::uint64_t ahead,
              PendingRow& out) const;
  /// Replaces features that are known later by their last known values.
  void as_known(std::span<double> features) const;
  double effective_rows(const PendingRow& row) const;
  /// Learns the target of the row that was answered first. `features` are all of them, as known
  /// now. Throws kBadData where the error or a feature is not finite, and kShapeMismatch or
  /// kInvalidArgument where the row is not one of this stream; the state is then unchanged.
  void learn(const PendingRow& row, std::span<const double> features, double target);
  /// Passes over a row whose target will not come.
  void pass();

  void save(const TensorWriter& out) const;
  static OnlineStream load(const TensorReader& in);

 private:
  OnlineStream(StreamOptions options, const TensorReader* state);
  OnlineRow row_of(const PendingRow& row) const;

  StreamOptions options_;
  std::unique_ptr<OnlineMethod> method_;
  DriftWatch drift_;
  FrozenLags drift_input_;    // what the watch sees of errors
  std::vector<double> late_;  // the last known values of known_later
  std::uint64_t time_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<std::int64_t> below_;     // targets at or below the answer, by level
  std::vector<std::int64_t> strictly_;  // targets below it
};

}  // namespace tare
