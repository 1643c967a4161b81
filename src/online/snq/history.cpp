// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"

namespace tare {

History::History(std::size_t rows, std::size_t columns)
    : columns_(columns),
      times_(rows, -1),
      errors_(rows),
      predictions_(rows),
      features_(rows * columns) {}

std::uint64_t History::begin() const noexcept {
  return end_ > times_.size() ? end_ - times_.size() : 0;
}

void History::learn(std::uint64_t time, double prediction, std::span<const double> columns,
                    double error) {
  ++learned_;
  if (time < begin()) return;
  const std::size_t at = place(time);
  times_[at] = static_cast<std::int64_t>(time);
  errors_[at] = error;
  predictions_[at] = prediction;
  std::copy(columns.begin(), columns.end(),
            features_.begin() + static_cast<std::ptrdiff_t>(at * columns_));
  end_ = std::max(end_, time + 1);
}

bool History::knows(std::uint64_t time) const noexcept {
  return times_[place(time)] == static_cast<std::int64_t>(time);
}

double History::error(std::uint64_t time) const noexcept {
  return knows(time) ? errors_[place(time)] : 0.0;
}

double History::prediction(std::uint64_t time) const noexcept { return predictions_[place(time)]; }

std::span<const double> History::row(std::uint64_t time) const noexcept {
  return std::span(features_).subspan(place(time) * columns_, columns_);
}

void History::save(const TensorWriter& out) const {
  out.value("end", end_);
  out.value("learned", learned_);
  out.tensor("times", times_);
  out.tensor("errors", errors_);
  out.tensor("predictions", predictions_);
  out.tensor("features", features_);
}

void History::load(const TensorReader& in) {
  constexpr std::size_t kMostRows = std::size_t{1} << 53;  // JSON's whole numbers
  const std::size_t rows = times_.size();
  std::uint64_t known = 0;
  end_ = in.count("end", kMostRows);
  learned_ = in.count("learned", kMostRows);
  times_ = in.values<std::int64_t>("times", {rows});
  errors_ = in.values<double>("errors", {rows}, Must::kBeFinite);
  predictions_ = in.values<double>("predictions", {rows}, Must::kBeFinite);
  features_ = in.values<double>("features", {rows * columns_}, Must::kBeFinite);
  for (std::size_t i = 0; i < rows; ++i) {
    if (std::abs(errors_[i]) > kFarthestError) {
      fail(ErrorCode::kCorruptFile, "the state has errors that are too large");
    }
    const std::int64_t time = times_[i];
    if (time == -1) continue;
    ++known;
    if (time < 0 || static_cast<std::uint64_t>(time) >= end_ ||
        place(static_cast<std::uint64_t>(time)) != i) {
      fail(ErrorCode::kCorruptFile, "the state has a row at a wrong time");
    }
  }
  if ((end_ > 0 && !knows(end_ - 1)) || learned_ < known) {
    fail(ErrorCode::kCorruptFile, "the state does not have its newest row");
  }
}

}  // namespace tare
