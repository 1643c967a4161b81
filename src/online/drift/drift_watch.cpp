// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/drift_watch.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"

namespace tare {
namespace {

constexpr std::size_t kLeastWatchedRows = 100;
constexpr std::size_t kMostWatchedRows = 1'000'000;
constexpr std::size_t kMostWatchedFeatures = 100'000;
constexpr std::size_t kMostStreamRows = std::size_t{1} << 52;

constexpr double kLeastRate = 1e-12;  // evidence stays far from the largest double

bool is_rate(double rate) { return rate >= kLeastRate && rate < 1.0; }

void check_options(const DriftOptions& options) {
  if (!is_rate(options.rate)) {
    fail_option("rate", fmt::format("{}", options.rate),
                "rate is the probability of a false alarm, at least 1e-12 and below 1");
  }
  if (options.most_rows < kLeastWatchedRows || options.most_rows > kMostWatchedRows) {
    fail_option("most_rows", fmt::format("{}", options.most_rows),
                "most_rows is a number of rows from 100 to 1000000");
  }
  if (options.features > kMostWatchedFeatures) {
    fail_option("features", fmt::format("{}", options.features),
                "features is a number of columns up to 100000");
  }
}

[[noreturn]] void fail_not_finite(std::uint64_t row, std::string column, double value) {
  ErrorDetails details;
  details.row = row;
  details.column = std::move(column);
  details.value = fmt::format("{}", value);
  details.remedies = {advice("leave the row out"), advice("replace the value by a number")};
  fail(ErrorCode::kBadData, std::move(details), "{} is not a finite number", value);
}

/// Strictly between 0 and 1.
double tie_place(Rng& rng) { return (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1.0p-52; }

}  // namespace

DriftWatch::DriftWatch(const DriftOptions& options)
    : options_(options), reference_(options.most_rows) {
  check_options(options);
}

void DriftWatch::step(double score, std::span<const double> features) {
  if (features.size() != options_.features) {
    fail(ErrorCode::kShapeMismatch, "drift: row {} has {} features, and the watch was made for {}",
         rows_, features.size(), options_.features);
  }
  if (!std::isfinite(score)) fail_not_finite(rows_, "score", score);
  for (std::size_t j = 0; j < features.size(); ++j) {
    if (!std::isfinite(features[j])) {
      fail_not_finite(rows_, fmt::format("feature {}", j), features[j]);
    }
  }

  keep(score, features);
  if (!alarm_) {
    // The row's own numbers, so that nothing but the row count is state.
    Rng rng(split(options_.seed, rows_));
    RankDraw draw;
    draw.tie = tie_place(rng);
    draw.removed = rng.below(reference_.size() + 1);
    bets_.step(reference_.place(score, draw));
    if (bets_.wealth() >= 1.0 / options_.rate) {
      const RankChange change = bets_.likely_change();
      alarm_ = DriftAlarm{rows_, start_ + change.row, change.bet.shift, change.bet.scale};
    }
  }
  ++rows_;
}

/// After an alarm rows are kept until half of the ring is from after the change, so that the rows
/// before it are not lost.
void DriftWatch::keep(double score, std::span<const double> features) {
  if (alarm_ && start_ + written_ >= alarm_->change + options_.most_rows / 2 &&
      written_ >= options_.most_rows) {
    return;
  }
  const std::size_t width = options_.features + 1;
  const std::size_t at = static_cast<std::size_t>(written_ % options_.most_rows) * width;
  if (at == ring_.size()) ring_.resize(at + width);
  ring_[at] = score;
  std::ranges::copy(features, ring_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  ++written_;
}

std::size_t DriftWatch::kept() const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(written_, options_.most_rows));
}

double DriftWatch::log_e() const { return std::log(bets_.wealth()); }

void DriftWatch::restart() {
  reference_ = RankReference(options_.most_rows);
  bets_ = RankBets();
  alarm_.reset();
  ring_.clear();
  written_ = 0;
  start_ = rows_;
}

std::vector<DriftCause> DriftWatch::explain(double level) const {
  if (!(level > 0.0 && level < 1.0)) {
    fail_option("level", fmt::format("{}", level),
                "level is the probability of a range that is named wrongly, above 0 and below 1");
  }
  if (!alarm_) return {};

  const std::size_t width = options_.features + 1;
  const std::uint64_t first = written_ - kept();
  DriftRows rows;
  rows.columns = options_.features;
  for (std::uint64_t i = first; i < written_; ++i) {
    const auto at = ring_.begin() + static_cast<std::ptrdiff_t>(i % options_.most_rows * width);
    rows.scores.push_back(*at);
    rows.features.insert(rows.features.end(), at + 1, at + static_cast<std::ptrdiff_t>(width));
    rows.before += std::size_t{start_ + i < alarm_->change};
  }
  return find_drift_causes(rows, level);
}

void DriftWatch::save(const TensorWriter& out) const {
  out.value("seed", options_.seed.value);
  out.value("features", options_.features);
  out.value("most_rows", options_.most_rows);
  out.value("rows", rows_);
  out.value("start", start_);
  out.value("written", written_);
  out.tensor("rate", std::vector{options_.rate});
  out.tensor("reference", reference_.sorted(), {reference_.size()});
  out.tensor("ring", std::span<const double>(ring_), {kept(), options_.features + 1});
  bets_.save(out.part("bets"));
  out.value("alarm", alarm_.has_value());
  if (!alarm_) return;
  out.value("alarm_row", alarm_->row);
  out.value("alarm_change", alarm_->change);
  out.tensor("alarm_kind", std::vector{alarm_->shift, alarm_->scale});
}

DriftWatch DriftWatch::load(const TensorReader& in) {
  DriftOptions options;
  options.seed.value = in.count("seed", SIZE_MAX);
  options.features = in.count("features", kMostWatchedFeatures);
  options.most_rows = in.count("most_rows", kMostWatchedRows);
  options.rate = in.values<double>("rate", {1})[0];
  if (!is_rate(options.rate) || options.most_rows < kLeastWatchedRows) {
    fail(ErrorCode::kCorruptFile, "the state of the drift alarm has a rate of {} and {} rows",
         options.rate, options.most_rows);
  }
  DriftWatch watch(options);
  watch.rows_ = in.count("rows", kMostStreamRows);
  watch.start_ = in.count("start", watch.rows_);
  watch.bets_ = RankBets::load(in.part("bets"));
  if (in.get<bool>("alarm")) {
    const auto kind = in.values<double>("alarm_kind", {2}, Must::kBeFinite);
    const std::size_t row = in.count("alarm_row", watch.rows_);
    watch.alarm_ = DriftAlarm{row, in.count("alarm_change", row), kind[0], kind[1]};
  }
  watch.load_kept(in);
  return watch;
}

void DriftWatch::load_kept(const TensorReader& in) {
  written_ = in.count("written", rows_ - start_);
  const std::uint64_t most = options_.most_rows;
  const bool has_alarm = alarm_.has_value();
  const std::uint64_t bet = has_alarm ? alarm_->row + 1 - start_ : rows_ - start_;
  const bool alarm_fits = !has_alarm || (alarm_->row < rows_ && alarm_->change >= start_);
  // keep() stops after an alarm, where both of its conditions hold.
  const std::uint64_t since_alarm =
      alarm_fits && has_alarm ? std::max({bet, most, alarm_->change - start_ + most / 2}) : bet;
  const bool ring_fits = written_ == std::min(rows_ - start_, since_alarm);
  const bool wealth_fits = has_alarm == (bets_.wealth() >= 1.0 / options_.rate);
  if (!alarm_fits || !ring_fits || !wealth_fits || bets_.rows() != bet) {
    fail(ErrorCode::kCorruptFile,
         "the state of the drift alarm is damaged: {} rows since row {}, {} kept, {} bet on", rows_,
         start_, written_, bets_.rows());
  }
  const auto size = static_cast<std::size_t>(std::min(bet, most));
  reference_ =
      RankReference(options_.most_rows, in.values<double>("reference", {size}, Must::kAscend));
  ring_ = in.values<double>("ring", {kept(), options_.features + 1}, Must::kBeFinite);
}

}  // namespace tare
