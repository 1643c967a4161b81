// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/online/online_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "math/normal.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

/// A quantile at a level between or outside those of the stream.
double between_levels(std::span<const Level> levels, std::span<const double> quantiles,
                      const Level& wanted) {
  const auto above = std::lower_bound(levels.begin(), levels.end(), wanted);
  auto hi = static_cast<std::size_t>(above - levels.begin());
  if (hi < levels.size() && levels[hi] == wanted) return quantiles[hi];
  if (levels.size() == 1) return quantiles[0];
  hi = std::clamp<std::size_t>(hi, 1, levels.size() - 1);
  const double low = quantiles[hi - 1];
  const double high = quantiles[hi];
  if (low == high) return low;
  const double z_low = normal_quantile(levels[hi - 1].value());
  const double z_high = normal_quantile(levels[hi].value());
  const double share = (normal_quantile(wanted.value()) - z_low) / (z_high - z_low);
  if (!std::isfinite(low) || !std::isfinite(high)) return share < 0.5 ? low : high;
  // Halves, so that the distance of two answers at the ends of the numbers is finite; and rounding
  // must not carry it past an answer whose level is higher or lower.
  const double value = 2.0 * (0.5 * low + share * (0.5 * high - 0.5 * low));
  if (share < 0.0) return std::max(std::min(value, low), -std::numeric_limits<double>::max());
  if (share > 1.0) return std::min(std::max(value, high), std::numeric_limits<double>::max());
  return std::clamp(value, low, high);
}

}  // namespace

std::vector<Level> usual_stream_levels() {
  std::vector<Level> levels;
  for (const double tau : {0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975}) {
    levels.emplace_back(tau);
  }
  return levels;
}

OnlineModel::OnlineModel(std::optional<FittedModel> base, std::optional<OwnModel> own,
                         OnlineStream stream)
    : base_(std::move(base)), own_(std::move(own)), stream_(std::move(stream)) {}

OnlineModel::OnlineModel(FittedModel base, StreamOptions options)
    : OnlineModel(std::optional(std::move(base)), std::nullopt, OnlineStream(std::move(options))) {
  if (!stream_.options().known_later.empty()) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "known_later",
          .remedies = {advice("fit the model without these columns, and pass its predictions")},
          .named_in_problem = true},
         "the model needs every column for its prediction, so none can be known later");
  }
}

OnlineModel::OnlineModel(std::size_t features, bool given, StreamOptions options)
    : OnlineModel(std::nullopt,
                  given ? std::nullopt : std::optional(OwnModel(features, options.seed)),
                  OnlineStream(std::move(options))) {}

void OnlineModel::look(const std::function<void(const OnlineStream&)>& see) const {
  const auto lock = asking();
  see(stream_);
}

std::size_t OnlineModel::given() const {
  if (base_) return base_->model->given();
  return own_ ? 0 : 1;
}

GivenForm OnlineModel::given_form() const {
  return base_ ? base_->model->given_form() : GivenForm{};
}

std::shared_lock<std::shared_mutex> OnlineModel::asking() const {
  const std::lock_guard turn(turn_);
  return std::shared_lock(guard_);
}

std::unique_lock<std::shared_mutex> OnlineModel::teaching() const {
  const std::lock_guard turn(turn_);
  return std::unique_lock(guard_);
}

std::vector<double> OnlineModel::predictions_now(const Rows& rows, const Execution& how) const {
  std::vector<double> out(rows.x.rows());
  if (base_) {
    const std::array median = {Level(0.5)};
    const Matrix q = base_->model->predict(rows, median, how).quantiles;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = q(i, 0);
  } else if (own_ && !stream_.options().known_later.empty()) {
    Matrix known(rows.x.rows(), rows.x.cols());
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::ranges::copy(rows.x.row(i), known.row(i).begin());
      stream_.as_known(known.row(i));
    }
    own_->predict(known, out);
  } else if (own_) {
    own_->predict(rows.x, out);
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = rows.given(i, 0);
  }
  return out;
}

std::vector<double> OnlineModel::predictions(const Rows& rows, const Execution& how) const {
  const auto lock = asking();
  return predictions_now(rows, how);
}

double OnlineModel::prediction(const Rows& row) const {
  // A given one does not wait for who teaches.
  return base_ || own_ ? predictions(row)[0] : row.given(0, 0);
}

PendingRow OnlineModel::answer(double prediction, std::span<const double> x,
                               std::uint64_t ahead) const {
  const auto lock = asking();
  return stream_.answer(prediction, x, ahead);
}

void OnlineModel::answer(double prediction, std::span<const double> x, std::uint64_t ahead,
                         PendingRow& out) const {
  const auto lock = asking();
  stream_.answer(prediction, x, ahead, out);
}

void OnlineModel::learn(const PendingRow& row, std::span<const double> x, double target) {
  const auto lock = teaching();
  stream_.learn(row, x, target);
  if (own_) own_->learn(row.features, target);
}

void OnlineModel::pass() {
  const auto lock = teaching();
  stream_.pass();
}

void OnlineModel::restart_drift() {
  const auto lock = teaching();
  stream_.restart_drift();
}

void OnlineModel::learn_rows(const Rows& rows, std::span<const double> targets) {
  check_shapes(rows);
  if (targets.size() != rows.x.rows()) {
    fail(ErrorCode::kShapeMismatch, "{} rows have {} targets", rows.x.rows(), targets.size());
  }
  // A model of its own may change with each row; the predictions of others do not.
  const std::vector<double> ready = own_ ? std::vector<double>{} : predictions(rows);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Rows one{.x = rows.x.middle_rows(i, 1), .given = {}, .group = {}};
    const double prediction = own_ ? predictions(one)[0] : ready[i];
    learn(answer(prediction, rows.x.row(i)), rows.x.row(i), targets[i]);
  }
}

Prediction OnlineModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                          const Execution& how) const {
  constexpr std::size_t kRowsAtATime = 64;
  const auto lock = asking();
  const std::size_t count = rows.x.rows();
  if (!stream_.is_ready()) {
    fail(
        ErrorCode::kInvalidArgument, {.remedies = {advice("teach it more rows with update first")}},
        "the model cannot answer yet: it follows a stream of which fewer than {} targets are known",
        kFewestKnownTargets);
  }
  const std::vector<double> prediction = predictions_now(rows, how);
  const std::vector<Level>& kept = stream_.options().levels;
  Prediction out;
  out.quantiles = Matrix(count, levels.size());
  if (how.diagnostics) out.window_n.resize(count);
  parallel_blocks(how, count, kRowsAtATime, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const PendingRow row = stream_.answer(prediction[i], rows.x.row(i));
      for (std::size_t j = 0; j < levels.size(); ++j) {
        out.quantiles(i, j) = between_levels(kept, row.answer.quantiles, levels[j]);
      }
      if (how.diagnostics) out.window_n[i] = stream_.effective_rows(row);
    }
  });
  return out;
}

void OnlineModel::describe(Description& description) const {
  const auto lock = asking();
  const StreamOptions& options = stream_.options();
  OnlineDescription online;
  online.method = options.method;
  online.source = base_ ? "model" : own_ ? "own" : "column";
  if (base_) online.base_method = base_->method;
  online.rows = stream_.time();
  online.answered = stream_.answered();
  online.start = options.start;
  online.delay = options.delay;
  for (std::size_t j = 0; j < options.levels.size(); ++j) {
    online.levels.push_back({.level = options.levels[j].value(),
                             .share_below = stream_.share_below(j),
                             .bound = stream_.bound(j)});
  }
  online.drift_rate = options.drift_rate;
  online.drift_log_e = stream_.drift().log_e();
  if (const auto& alarm = stream_.drift().alarm()) {
    online.drift_alarm = alarm->row + options.start;
    online.drift_change = alarm->change + options.start;
  }
  description.online = std::move(online);
}

void OnlineModel::save(const TensorWriter& out) const {
  const auto lock = asking();
  stream_.save(out.part("stream"));
  out.value("source", base_ ? "model" : own_ ? "own" : "column");
  if (own_) own_->save(out.part("own"));
  if (base_) {
    const TensorWriter part = out.part("base");
    part.value("method", base_->method);
    part.value("params", base_->params.all());
    part.value("seed", base_->seed.value);
    part.value("rows", base_->rows);
    base_->model->save(part.part("model"));
  }
}

std::shared_ptr<OnlineModel> OnlineModel::load(const TensorReader& in, const LoadBase& load_base) {
  OnlineStream stream = OnlineStream::load(in.part("stream"));
  const auto source = in.get<std::string>("source");
  const std::size_t features = stream.options().features;
  std::optional<FittedModel> base;
  std::optional<OwnModel> own;
  if (source == "model") {
    base = load_base(in.part("base"));
    if (base->model->features() != features) {
      fail(ErrorCode::kCorruptFile, "the stream has other columns than its model");
    }
  } else if (source == "own") {
    own = OwnModel::load(in.part("own"), features);
  } else if (source != "column") {
    fail(ErrorCode::kCorruptFile, "the source of its predictions is '{}'", source);
  }
  return std::shared_ptr<OnlineModel>(
      new OnlineModel(std::move(base), std::move(own), std::move(stream)));
}

std::shared_ptr<OnlineModel> online_in(const FittedModel& fitted) {
  return std::dynamic_pointer_cast<OnlineModel>(
      std::const_pointer_cast<QuantileModel>(fitted.model));
}

std::shared_ptr<OnlineModel> teachable(const FittedModel& fitted, StreamOptions options) {
  if (online_in(fitted)) {
    const FittedModel copy = load_model_from_memory(save_model_to_memory(fitted));
    return online_in(copy);
  }
  if (options.levels.empty()) options.levels = usual_stream_levels();
  options.features = fitted.model->features();
  FittedModel base = fitted;
  base.schema = nullptr;  // the online model has it
  return std::make_shared<OnlineModel>(std::move(base), std::move(options));
}

}  // namespace tare
