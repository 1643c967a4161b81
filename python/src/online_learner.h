// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "calibrate/online/online_model.h"
#include "tare/base/execution.h"
#include "tare/calibrate/model_file.h"

namespace tare::python {

/// A row that was answered, with the target that it will have.
struct WaitingRow {
  PendingRow row;
  std::vector<double> x;  // all features, as known with the target
  double target = 0.0;    // NaN: it never comes
};

/// An online model that is taught rows with their targets, block after block.
///
/// With a delay, a row must be answered as it was `delay` rows before its target came, when the
/// targets of the rows between were not known. So a second model stays `delay` rows behind and
/// answers; the first one learns each target at once, with that answer. The first model is then
/// the one that `tare track` would leave after the same rows, however they were divided into
/// blocks. Without a delay there is one model.
class OnlineLearner {
 public:
  /// `fitted` holds an online model that nobody else teaches.
  explicit OnlineLearner(FittedModel fitted);
  OnlineLearner(FittedModel fitted, const FittedModel& behind, std::deque<WaitingRow> waiting);

  using Answered = std::function<void(std::size_t, const PendingRow&)>;
  /// Answers and learns each row in turn; NaN is a target that never comes. Rows from `end` on are
  /// answered only. The rows before one whose error is too large for a number are learned, if
  /// predictions change from row to row; otherwise none is. Throws kBadData and kShapeMismatch.
  void teach(const Rows& rows, std::span<const double> targets, std::size_t end,
             const Answered& answered, const Execution& how);
  /// One row with its target; the same as teach() with it.
  void teach_next(const Rows& row, double target);
  /// The quantiles of one row as the next of the stream, at some of its levels. The answer is kept,
  /// so that a target that comes next for the same row does not have it computed again. False: too
  /// few targets are known.
  bool answer_next(const Rows& row, std::span<const std::size_t> places, std::span<double> out);
  void restart_drift();

  /// With the rows so far; it changes with the next one.
  FittedModel model() const;
  const OnlineModel& online() const noexcept { return *now_; }
  /// Calls `work` while no row is learned.
  void read(const std::function<void(const OnlineStream&)>& work) const;

  /// All of it, as bytes of model files and rows; `behind` is empty without a delay. Waits for the
  /// end of a block.
  struct State {
    std::vector<std::byte> now;
    std::vector<std::byte> behind;
    std::deque<WaitingRow> waiting;
  };
  State state() const;

 private:
  std::size_t delay() const { return now_->stream().options().delay; }
  bool has_own_model() const { return now_->base() == nullptr && now_->given() == 0; }
  void check(const Rows& rows, std::span<const double> targets) const;
  void settle_due();
  void take(const OnlineModel& source, double prediction, std::span<const double> x, double target,
            std::size_t i, const Answered& answered);
  FittedModel behind() const;
  void answer_rest(const Rows& rows, std::span<const double> ready, std::size_t end,
                   const Answered& answered) const;

  FittedModel fitted_;
  std::shared_ptr<OnlineModel> now_;
  std::shared_ptr<OnlineModel> behind_;  // the same as now_ without a delay
  std::deque<WaitingRow> waiting_;       // learned by now_ and not yet by behind_
  struct Last {
    PendingRow row;
    std::vector<double> x;
    bool is_next = false;  // answer_next() has answered it since the last target
  };
  Last last_;                    // its memory is used from row to row
  mutable std::mutex teaching_;  // one block at a time
  mutable std::mutex row_;       // one row, or one look at the state
};

}  // namespace tare::python
