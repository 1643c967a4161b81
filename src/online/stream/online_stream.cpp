// SPDX-License-Identifier: BSD-3-Clause
#include "online/stream/online_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "online/methods/method_table.h"

namespace tare {
namespace {

constexpr std::size_t kMostStreamLevels = 1'000;
constexpr std::size_t kMostTime = std::size_t{1} << 53;  // JSON's whole numbers
constexpr std::size_t kMostDelay = 100'000;

OnlineSetup setup_of(const StreamOptions& options) {
  return {.levels = options.levels,
          .features = options.features,
          .start = options.start,
          .delay = options.delay,
          .params = options.params};
}

void check_stream(const StreamOptions& options) {
  if (options.levels.empty() || options.levels.size() > kMostStreamLevels) {
    fail(ErrorCode::kInvalidArgument, {.option = "levels", .named_in_problem = true},
         "a stream keeps 1 to {} levels, got {}", kMostStreamLevels, options.levels.size());
  }
  if (options.delay > kMostDelay) {
    fail_option("delay", std::to_string(options.delay),
                fmt::format("must be at most {}", kMostDelay));
  }
  if (std::adjacent_find(options.levels.begin(), options.levels.end(),
                         [](const Level& a, const Level& b) { return !(a < b); }) !=
      options.levels.end()) {
    fail(ErrorCode::kInvalidArgument, {.option = "levels", .named_in_problem = true},
         "the levels of a stream must ascend, without repetition");
  }
  for (const std::size_t column : options.known_later) {
    if (column >= options.features) {
      fail(ErrorCode::kInvalidArgument,
           "column {} is known later, and the stream has {} columns, counted from 0", column,
           options.features);
    }
  }
  const OnlineMethodInfo& method = find_online_method(options.method);
  options.params.check_known(method.name, std::vector{method.options});
}

void check_features(std::span<const double> features, std::size_t wanted) {
  if (features.size() != wanted) {
    fail(ErrorCode::kShapeMismatch, "a row has {} features, and the stream was made for {}",
         features.size(), wanted);
  }
}

void check_finite(std::uint64_t time, std::size_t column, double value) {
  if (std::isfinite(value)) return;
  fail(ErrorCode::kBadData, "row {} of the stream: feature {} is {}, not a finite number", time,
       column, value);
}

}  // namespace

void check_start(const StreamOptions& options) {
  // Without a delay the first rows are only not answered: nothing that was asked for contradicts
  // it.
  const std::size_t least = options.delay + kFewestKnownTargets;
  if (options.delay == 0 || options.start >= least) return;
  fail(ErrorCode::kInvalidArgument,
       {.option = "start",
        .value = std::to_string(options.start),
        .remedies = {use("start", std::to_string(least), "or more"),
                     {"use a smaller", "delay", "", ""}}},
       "is {} and the delay {}: the first answer would come before {} targets are known",
       options.start, options.delay, kFewestKnownTargets);
}

OnlineStream::OnlineStream(StreamOptions options) : OnlineStream(std::move(options), nullptr) {}

OnlineStream::OnlineStream(StreamOptions options, const TensorReader* state)
    : options_(std::move(options)),
      drift_({.rate = options_.drift_rate, .features = options_.features, .seed = options_.seed}),
      late_(options_.known_later.size()),
      below_(options_.levels.size()),
      strictly_(options_.levels.size()) {
  check_stream(options_);
  const OnlineMethodInfo& info = find_online_method(options_.method);
  method_ = state == nullptr ? info.make(setup_of(options_))
                             : info.load(setup_of(options_), state->part("method"));
}

double OnlineStream::share_below(std::size_t j) const {
  if (answered_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(below_[j]) / static_cast<double>(answered_);
}

double OnlineStream::share_between(std::size_t i, std::size_t j) const {
  if (answered_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(below_[j] - strictly_[i]) / static_cast<double>(answered_);
}

OnlineRow OnlineStream::row_of(const PendingRow& row) const {
  return {.time = row.time, .prediction = row.prediction, .features = row.features};
}

PendingRow OnlineStream::answer(double prediction, std::span<const double> features,
                                std::uint64_t ahead) const {
  PendingRow row;
  answer(prediction, features, ahead, row);
  return row;
}

void OnlineStream::answer(double prediction, std::span<const double> features, std::uint64_t ahead,
                          PendingRow& out) const {
  if (!std::isfinite(prediction)) {
    fail(ErrorCode::kBadData, "row {} of the stream: the prediction is {}, not a finite number",
         time_ + ahead, prediction);
  }
  check_features(features, options_.features);
  out.time = time_ + ahead;
  out.prediction = prediction;
  out.features.assign(features.begin(), features.end());
  out.is_ready = is_ready();
  as_known(out.features);
  for (std::size_t j = 0; j < features.size(); ++j) check_finite(out.time, j, out.features[j]);
  method_->answer(row_of(out), out.answer);
}

void OnlineStream::as_known(std::span<double> features) const {
  for (std::size_t k = 0; k < late_.size(); ++k) features[options_.known_later[k]] = late_[k];
}

double OnlineStream::effective_rows(const PendingRow& row) const {
  return method_->effective_rows(row_of(row));
}

void OnlineStream::learn(const PendingRow& row, std::span<const double> features, double target) {
  const double error = target - row.prediction;
  if (!std::isfinite(error)) {
    fail(ErrorCode::kBadData,
         "row {} of the stream: target {} and prediction {} are not two numbers with a finite "
         "difference",
         time_, target, row.prediction);
  }
  check_features(features, options_.features);
  check_features(row.features, options_.features);
  if (row.answer.quantiles.size() != options_.levels.size()) {
    fail(ErrorCode::kShapeMismatch, "an answer has {} quantiles, and the stream {} levels",
         row.answer.quantiles.size(), options_.levels.size());
  }
  const std::uint64_t time = time_;
  for (const std::size_t column : options_.known_later)
    check_finite(time, column, features[column]);
  for (std::size_t j = 0; j < row.features.size(); ++j) check_finite(time, j, row.features[j]);
  // The method may refuse an answer that is not its own, so nothing has changed before.
  method_->learn({.time = time, .prediction = row.prediction, .features = row.features}, row.answer,
                 target);
  if (time >= options_.start && !drift_input_.frozen()) drift_input_.freeze();
  const double watched = drift_input_.left(error);
  if (time >= options_.start) {
    drift_.step(watched, row.features);  // a model may burn in before
    ++answered_;
    for (std::size_t j = 0; j < below_.size(); ++j) {
      below_[j] += target <= row.answer.quantiles[j] ? 1 : 0;
      strictly_[j] += target < row.answer.quantiles[j] ? 1 : 0;
    }
  }
  for (std::size_t k = 0; k < late_.size(); ++k) late_[k] = features[options_.known_later[k]];
  ++time_;
}

void OnlineStream::pass() { ++time_; }

void OnlineStream::save(const TensorWriter& out) const {
  out.value("method_name", options_.method);
  std::vector<double> levels;
  for (const Level& level : options_.levels) levels.push_back(level.value());
  out.tensor("levels", levels);
  out.value("features", options_.features);
  out.value("start", options_.start);
  out.value("delay", options_.delay);
  out.value("known_later", options_.known_later);
  out.value("params", options_.params.all());
  out.value("drift_rate", options_.drift_rate);
  out.value("seed", options_.seed.value);
  out.tensor("late", late_);
  out.value("time", time_);
  out.value("answered", answered_);
  out.tensor("below", below_);
  out.tensor("strictly", strictly_);
  method_->save(out.part("method"));
  drift_.save(out.part("drift"));
  drift_input_.save(out.part("drift_input"));
}

OnlineStream OnlineStream::load(const TensorReader& in) {
  constexpr std::size_t kMostFeatures = std::size_t{1} << 32;
  StreamOptions options;
  options.method = in.get<std::string>("method_name");
  const std::vector<double> levels = in.list<double>("levels", Must::kRise);
  if (levels.size() > kMostStreamLevels) {
    fail(ErrorCode::kCorruptFile, "the state has too many levels");
  }
  for (const double level : levels) options.levels.emplace_back(level);
  options.features = in.count("features", kMostFeatures);
  options.start = in.count("start", kMostTime);
  options.delay = in.count("delay", kMostDelay);
  options.known_later = in.counts("known_later", kMostFeatures);
  for (const std::size_t column : options.known_later) {
    if (column >= options.features) {
      fail(ErrorCode::kCorruptFile, "the state has a late column that does not exist");
    }
  }
  for (const auto& [name, value] : in.get<std::map<std::string, std::string>>("params")) {
    options.params.set(name, value);
  }
  options.drift_rate = in.get<double>("drift_rate");
  options.seed = Seed{in.count("seed", std::numeric_limits<std::uint64_t>::max())};
  OnlineStream stream(std::move(options), &in);
  const std::size_t count = stream.options_.levels.size();
  stream.late_ = in.values<double>("late", {stream.late_.size()}, Must::kBeFinite);
  stream.time_ = in.count("time", kMostTime);
  stream.answered_ = in.count("answered", kMostTime);
  stream.below_ = in.values<std::int64_t>("below", {count});
  stream.strictly_ = in.values<std::int64_t>("strictly", {count});
  for (std::size_t j = 0; j < count; ++j) {
    if (stream.strictly_[j] < 0 || stream.below_[j] < stream.strictly_[j] ||
        static_cast<std::uint64_t>(stream.below_[j]) > stream.answered_) {
      fail(ErrorCode::kCorruptFile, "the state counts rows that cannot be");
    }
  }
  stream.drift_ = DriftWatch::load(in.part("drift"));
  stream.drift_input_.load(in.part("drift_input"));
  if (stream.drift_.options().features != stream.options_.features) {
    fail(ErrorCode::kCorruptFile, "the state watches other columns than it has");
  }
  return stream;
}

}  // namespace tare
