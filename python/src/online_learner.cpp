// SPDX-License-Identifier: BSD-3-Clause
#include "online_learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"

namespace tare::python {
namespace {

constexpr std::size_t kRowsBetweenReports = 64;

std::shared_ptr<OnlineModel> online_model_in(const FittedModel& fitted) {
  std::shared_ptr<OnlineModel> model = online_in(fitted);
  if (!model) fail(ErrorCode::kInvalidArgument, "the model does not follow a stream");
  return model;
}

FittedModel copy_of(const FittedModel& fitted) {
  return load_model_from_memory(save_model_to_memory(fitted), "a copy of the model");
}

/// `model` learns the target of a row that was answered.
void settle(OnlineModel& model, const PendingRow& row, std::span<const double> x, double target) {
  if (std::isnan(target)) {
    model.pass();
  } else {
    model.learn(row, x, target);
  }
}

void settle(OnlineModel& model, const WaitingRow& waiting) {
  settle(model, waiting.row, waiting.x, waiting.target);
}

double own_prediction(const OnlineModel& model, const Rows& rows, std::size_t i) {
  return model.predictions({.x = rows.x.middle_rows(i, 1), .given = {}, .group = {}})[0];
}

void check_error(double target, double prediction, std::size_t i) {
  if (std::isnan(target) || std::isfinite(target - prediction)) return;
  fail(ErrorCode::kBadData,
       {.row = i, .column = "y", .remedies = {advice("use smaller units, or leave the row out")}},
       "target {} minus prediction {} is too large for a number", target, prediction);
}

}  // namespace

OnlineLearner::OnlineLearner(FittedModel fitted)
    : fitted_(std::move(fitted)), now_(online_model_in(fitted_)) {
  behind_ = delay() == 0 ? now_ : online_model_in(copy_of(model()));
}

OnlineLearner::OnlineLearner(FittedModel fitted, const FittedModel& behind,
                             std::deque<WaitingRow> waiting)
    : fitted_(std::move(fitted)),
      now_(online_model_in(fitted_)),
      behind_(online_model_in(behind)),
      waiting_(std::move(waiting)) {}

void OnlineLearner::check(const Rows& rows, std::span<const double> targets) const {
  const std::size_t count = rows.x.rows();
  if (rows.x.cols() != now_->features() || targets.size() != count ||
      (now_->given() > 0 && (rows.given.rows() != count || rows.given.cols() != now_->given()))) {
    fail(ErrorCode::kShapeMismatch,
         "{} rows of {} features, {} targets and {} columns of predictions: the model has {} "
         "features and {} columns",
         count, rows.x.cols(), targets.size(), rows.given.cols(), now_->features(), now_->given());
  }
}

/// Targets that are known by now come to the model behind.
void OnlineLearner::settle_due() {
  while (waiting_.size() > delay()) {
    settle(*behind_, waiting_.front());
    waiting_.pop_front();
  }
}

void OnlineLearner::take(const OnlineModel& source, double prediction, std::span<const double> x,
                         double target, std::size_t i, const Answered& answered) {
  const std::lock_guard lock(row_);
  check_error(target, prediction, i);
  const bool is_next = std::exchange(last_.is_next, false);
  PendingRow& row = last_.row;
  if (!is_next || row.prediction != prediction || !std::ranges::equal(last_.x, x)) {
    source.answer(prediction, x, waiting_.size(), row);
  }
  if (answered) answered(i, row);
  settle(*now_, row, x, target);
  if (delay() > 0) waiting_.push_back({row, {x.begin(), x.end()}, target});
}

void OnlineLearner::teach(const Rows& rows, std::span<const double> targets, std::size_t end,
                          const Answered& answered, const Execution& how) {
  const std::lock_guard block(teaching_);
  check(rows, targets);
  const bool own = has_own_model();
  const std::vector<double> ready =
      own ? std::vector<double>{} : now_->predictions(rows, how);  // they do not depend on targets
  for (std::size_t i = 0; i < ready.size() && i < end; ++i) check_error(targets[i], ready[i], i);
  for (std::size_t i = 0; i < end; ++i) {
    settle_due();
    const double prediction = own ? own_prediction(*behind_, rows, i) : ready[i];
    take(*behind_, prediction, rows.x.row(i), targets[i], i, answered);
    if (how.progress && i % kRowsBetweenReports == 0) {
      how.progress("rows", static_cast<double>(i) / static_cast<double>(rows.x.rows()));
    }
  }
  if (end < rows.x.rows() && answered) answer_rest(rows, ready, end, answered);
}

void OnlineLearner::teach_next(const Rows& row, double target) {
  const std::lock_guard block(teaching_);
  check(row, std::span(&target, 1));
  double prediction = 0.0;
  if (!has_own_model()) {  // it changes with each row that is settled
    prediction = now_->prediction(row);
    check_error(target, prediction, 0);
  }
  settle_due();
  if (has_own_model()) prediction = behind_->prediction(row);
  take(*behind_, prediction, row.x.row(0), target, 0, {});
}

void OnlineLearner::answer_rest(const Rows& rows, std::span<const double> ready, std::size_t end,
                                const Answered& answered) const {
  // Targets that are still to come, as seen from these rows, come to a copy. Rows without one keep
  // their times, as in `tare track`.
  const auto source = delay() == 0 ? now_ : online_model_in(copy_of(behind()));
  std::deque<WaitingRow> due = waiting_;
  for (std::size_t i = end; i < rows.x.rows(); ++i) {
    while (!due.empty() && due.size() + (i - end) > delay()) {
      settle(*source, due.front());
      due.pop_front();
    }
    const double prediction = ready.empty() ? own_prediction(*source, rows, i) : ready[i];
    answered(i, source->answer(prediction, rows.x.row(i), due.size() + (i - end)));
  }
}

bool OnlineLearner::answer_next(const Rows& row, std::span<const std::size_t> places,
                                std::span<double> out) {
  const std::lock_guard lock(row_);  // prediction and answer are of one state
  const double prediction = now_->prediction(row);
  const auto x = row.x.row(0);
  last_.is_next = false;
  now_->answer(prediction, x, 0, last_.row);
  if (!last_.row.is_ready) return false;
  for (std::size_t k = 0; k < places.size(); ++k) {
    out[k] = last_.row.answer.quantiles.at(places[k]);
  }
  last_.x.assign(x.begin(), x.end());
  last_.is_next = delay() == 0;  // a delay has other answers, of the model behind
  return true;
}

void OnlineLearner::restart_drift() {
  const std::lock_guard lock(row_);
  now_->restart_drift();
}

FittedModel OnlineLearner::model() const {
  FittedModel fitted = fitted_;
  read([&](const OnlineStream& stream) { fitted.rows = stream.time(); });
  return fitted;
}

void OnlineLearner::read(const std::function<void(const OnlineStream&)>& work) const {
  const std::lock_guard lock(row_);
  work(now_->stream());
}

FittedModel OnlineLearner::behind() const {
  FittedModel fitted = fitted_;
  fitted.model = behind_;
  fitted.rows = behind_->stream().time();
  return fitted;
}

OnlineLearner::State OnlineLearner::state() const {
  const std::lock_guard block(teaching_);
  State state{.now = save_model_to_memory(model()), .behind = {}, .waiting = waiting_};
  if (behind_ != now_) state.behind = save_model_to_memory(behind());
  return state;
}

}  // namespace tare::python
