// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/local_rows.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "base/sorted_place.h"
#include "online/snq/history.h"

namespace tare {
namespace {

constexpr double kForgetRows = 300.0;
/// exp of it is a float, and so is exp of its negative.
constexpr double kMostRebase = 60.0;

/// A billionth of a new row. Not less, so that products with weights are not denormal numbers
/// (kernel_lanes.h).
constexpr float kLeastRecency = 0x1p-30F;

/// Moves the values between two places by one, from the place that is free towards it, and puts a
/// value into the place that is then free.
template <class Values>
void move_and_put(Values& values, std::size_t free, std::size_t to,
                  typename Values::value_type value) {
  const auto at = [&](std::size_t place) {
    return values.begin() + static_cast<std::ptrdiff_t>(place);
  };
  if (to <= free) {
    std::move_backward(at(to), at(free), at(free + 1));
  } else {
    std::move(at(free + 1), at(to + 1), at(free));
  }
  values[to] = value;
}

/// A column with its last block filled.
AlignedVector<float> in_blocks(const std::vector<float>& values, float filler) {
  AlignedVector<float> column(values.begin(), values.end());
  column.resize((values.size() + kBlockRows - 1) / kBlockRows * kBlockRows, filler);
  return column;
}

}  // namespace

LocalRows::LocalRows(std::size_t rows) : most_(rows) {
  residuals_.reserve(rows);
  recency_.reserve(rows + kBlockRows);
  for (auto& column : point_) column.reserve(rows + kBlockRows);
}

void LocalRows::clear(std::size_t dims) {
  dims_ = dims;
  residuals_.clear();
  recency_.clear();
  recency_sums_.clear();
  for (auto& column : point_) column.clear();
  arrivals_.clear();
  base_ = 0;
}

void LocalRows::rebase(std::int64_t now) {
  if (static_cast<double>(now - base_) <= kMostRebase * kForgetRows) return;
  const auto factor = static_cast<float>(std::exp(-static_cast<double>(now - base_) / kForgetRows));
  // Not to zero: a row of no weight at all would be no row.
  for (std::size_t i = 0; i < size(); ++i) {
    recency_[i] = std::max(recency_[i] * factor, kLeastRecency);
  }
  base_ = now;
  if (size() > 0) sum_recency(0, size() - 1);
}

void LocalRows::sum_recency(std::size_t first_row, std::size_t last_row) {
  recency_sums_.resize(recency_.size() / kBlockRows);
  sum_recencies(recency_.data(), first_row / kBlockRows, last_row / kBlockRows + 1,
                recency_sums_.data());
}

std::size_t LocalRows::take_oldest() {
  const double oldest = arrivals_.front();
  arrivals_.pop_front();
  return sorted_place(std::span<const double>(residuals_), [&](double r) { return r < oldest; });
}

void LocalRows::add(std::uint64_t time, double residual, const KernelPoint& point) {
  const auto now = static_cast<std::int64_t>(time);
  rebase(now);
  std::size_t to =
      sorted_place(std::span<const double>(residuals_), [&](double r) { return r <= residual; });
  // The place of the oldest row becomes free, or one behind the last row.
  const bool is_full = size() == most_;
  const std::size_t free = is_full ? take_oldest() : size();
  if (to > free) --to;
  if (!is_full) {
    residuals_.emplace_back();
    if (free == recency_.size()) {
      recency_.resize(free + kBlockRows, 0.0F);
      for (std::size_t j = 0; j < dims_; ++j) {
        point_[j].resize(free + kBlockRows, KernelRows::kFarAway);
      }
    }
  }
  const double age = static_cast<double>(now - base_) / kForgetRows;
  move_and_put(residuals_, free, to, residual);
  move_and_put(recency_, free, to, std::max(static_cast<float>(std::exp(age)), kLeastRecency));
  sum_recency(std::min(free, to), std::max(free, to));
  for (std::size_t j = 0; j < dims_; ++j) {
    move_and_put(point_[j], free, to,
                 std::clamp(point[j], -KernelRows::kFarAway, KernelRows::kFarAway));
  }
  arrivals_.push_back(residual);
}

KernelRows LocalRows::kernel_rows() const {
  KernelRows rows{.point = {},
                  .recency = recency_.data(),
                  .recency_sums = recency_sums_.data(),
                  .count = size(),
                  .dims = dims_};
  for (std::size_t j = 0; j < dims_; ++j) rows.point[j] = point_[j].data();
  return rows;
}

void LocalRows::weigh(const KernelPoint& point, Weights& weights) const {
  sum_kernels(kernel_rows(), point, weights);
}

double LocalRows::quantile(const Weights& weights, std::size_t window, double level) const {
  double out = 0.0;
  const WindowLevel asked{window, level};
  quantiles(weights, std::span(&asked, 1), std::span(&out, 1));
  return out;
}

void LocalRows::quantiles(const Weights& weights, std::span<const WindowLevel> asked,
                          std::span<double> out) const {
  const KernelRows rows = kernel_rows();
  std::array<Sought, kSearchesAtOnce> sought;
  std::array<Reached, kSearchesAtOnce> reached;
  for (std::size_t done = 0; done < asked.size(); done += kSearchesAtOnce) {
    const std::size_t count = std::min(kSearchesAtOnce, asked.size() - done);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [window, level] = asked[done + i];
      sought[i] = {window, level * weights.totals[window]};
    }
    find_rows(rows, weights, std::span(sought).first(count), reached);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [row, share] = reached[i];
      const double before = residuals_[row > 0 ? row - 1 : 0];
      // Rounding must not carry it past the row: a higher level may begin there.
      out[done + i] = std::min(before + share * (residuals_[row] - before), residuals_[row]);
    }
  }
}

double LocalRows::effective_rows(const Weights& weights, std::size_t window) const {
  const KernelRows rows = kernel_rows();
  double total = 0.0;
  double squares = 0.0;
  for (std::size_t row = 0; row < size(); ++row) {
    const auto w = static_cast<double>(window_weight(rows, weights, window, row));
    total += w;
    squares += w * w;
  }
  return squares > 0.0 ? total * (total / squares) : 0.0;
}

void LocalRows::save(const TensorWriter& out) const {
  const auto of_rows = [&](const AlignedVector<float>& column) {
    return std::vector<float>(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(size()));
  };
  out.tensor("arrived", std::vector<double>(arrivals_.begin(), arrivals_.end()));
  out.tensor("recency", of_rows(recency_));
  for (std::size_t j = 0; j < dims_; ++j) {
    out.tensor(fmt::format("point{}", j), of_rows(point_[j]));
  }
  out.value("base", static_cast<std::uint64_t>(base_));
}

void LocalRows::load(const TensorReader& in) {
  const std::size_t n = in.length("arrived");
  if (n > most_) fail(ErrorCode::kCorruptFile, "the state has more rows than it may keep");
  clear(dims_);
  residuals_ = in.values<double>("arrived", {n}, Must::kBeFinite);
  arrivals_.assign(residuals_.begin(), residuals_.end());
  std::stable_sort(residuals_.begin(), residuals_.end());
  const auto recency = in.values<float>("recency", {n}, Must::kBePositive);
  // Larger ones do not come about, and their sums would not be finite.
  const auto most_recent = static_cast<float>(std::exp(kMostRebase + 1.0));
  if (n > 0 && (*std::max_element(recency.begin(), recency.end()) > most_recent ||
                residuals_.front() < -kFarthestError || residuals_.back() > kFarthestError)) {
    fail(ErrorCode::kCorruptFile, "the state has rows that are too far away");
  }
  recency_ = in_blocks(recency, 0.0F);
  if (n > 0) sum_recency(0, n - 1);
  for (std::size_t j = 0; j < dims_; ++j) {
    const auto points = in.values<float>(fmt::format("point{}", j), {n}, Must::kBeFinite);
    if (std::ranges::any_of(points, [](float p) { return std::abs(p) > KernelRows::kFarAway; })) {
      fail(ErrorCode::kCorruptFile, "the state has rows that are too far away");
    }
    point_[j] = in_blocks(points, KernelRows::kFarAway);
  }
  constexpr std::size_t kMostRows = std::size_t{1} << 53;
  base_ = static_cast<std::int64_t>(in.count("base", kMostRows));
}

}  // namespace tare
