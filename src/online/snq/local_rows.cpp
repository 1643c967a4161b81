// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/local_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/fail.h"
#include "math/exponential.h"
#include "math/vector_targets.h"
#include "online/snq/history.h"

namespace tare {
namespace {

constexpr double kForgetRows = 300.0;
/// The largest bandwidth, in units of the coordinates; each following one is half of it, so that
/// its weights are fourth powers.
constexpr float kLargestBandwidth = 2.8F;
/// The weight of rows far away: it decides where there is no row nearby.
constexpr float kFloor = 1e-3F;
constexpr std::size_t kBlockRows = 64;
constexpr std::size_t kLanes = 8;
/// exp of it is a float, and so is exp of its negative.
constexpr double kMostRebase = 60.0;

using Sums = std::array<double, LocalRows::kWindows>;

/// One block of rows, whose number is at most kBlockRows.
struct Block {
  std::array<const float*, kKernelDims> point;
  std::size_t rows;
};

using BlockFloats = std::array<float, kBlockRows>;

/// The weights of rows by both kernels with the largest bandwidth. Column by column, in local
/// memory: the compiler sees that nothing overlaps, and uses vectors.
TARE_VECTOR_TARGETS void kernel_weights(const Block& block, const float* at, float* near,
                                        float* around) {
  constexpr float kFactor = -0.5F / (kLargestBandwidth * kLargestBandwidth);
  BlockFloats squares = {};
  BlockFloats weights;
  const auto add_column = [&](std::size_t j) {
    const float* const column = block.point[j];
    const float x = at[j];
    const auto add_rows = [&](std::size_t rows) {
      for (std::size_t i = 0; i < rows; ++i) {
        const float d = column[i] - x;
        squares[i] += d * d;
      }
    };
    if (block.rows == kBlockRows) {
      add_rows(kBlockRows);
    } else {
      add_rows(block.rows);
    }
  };
  for (std::size_t j = 0; j < kNearDims; ++j) add_column(j);
  for (std::size_t i = 0; i < kBlockRows; ++i) weights[i] = exp_negative(kFactor * squares[i]);
  std::copy_n(weights.begin(), kBlockRows, near);
  for (std::size_t j = kNearDims; j < kKernelDims; ++j) add_column(j);
  for (std::size_t i = 0; i < kBlockRows; ++i) weights[i] = exp_negative(kFactor * squares[i]);
  std::copy_n(weights.begin(), kBlockRows, around);
}

/// Eight sums side by side: a vector of the compiler, so that its lanes are added in the order that
/// is written here with any instruction set.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

/// Sums of the weights of a block for all bandwidths of one kernel, without and with the discount.
/// Behind the last row `present` and `recency` are 0; before it, `present` is 1.
TARE_VECTOR_TARGETS void add_kernel(const float* weights, const BlockFloats& recency,
                                    const BlockFloats& present, double* sums) {
  constexpr std::size_t kCount = 2 * LocalRows::kBandwidths;
  Lanes lanes[kCount] = {};
  for (std::size_t i = 0; i < kBlockRows; i += kLanes) {
    Lanes w;
    Lanes old;
    Lanes is_row;
    std::memcpy(&w, weights + i, sizeof w);
    std::memcpy(&old, &recency[i], sizeof old);
    std::memcpy(&is_row, &present[i], sizeof is_row);
    for (std::size_t b = 0; b < LocalRows::kBandwidths; ++b) {
      const Lanes plain = (w + kFloor) * is_row;
      lanes[2 * b] += plain;
      lanes[2 * b + 1] += plain * old;
      w *= w;
      w *= w;
    }
  }
  for (std::size_t k = 0; k < kCount; ++k) {
    const Lanes& s = lanes[k];
    sums[k] =
        static_cast<double>(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
  }
}

/// Each addition of a sum waits for the one before it, so several sums are taken at once.
constexpr std::size_t kChains = 4;

/// Sums over each of the next kChains blocks.
std::array<double, kChains> added_recency(std::span<const float> recency) {
  std::array<double, kChains> sums = {};
  if (recency.size() >= kChains * kBlockRows) {
    for (std::size_t i = 0; i < kBlockRows; ++i) {
      for (std::size_t c = 0; c < kChains; ++c) {
        sums[c] += static_cast<double>(recency[c * kBlockRows + i]);
      }
    }
    return sums;
  }
  for (std::size_t i = 0; i < recency.size(); ++i) {
    sums[i / kBlockRows] += static_cast<double>(recency[i]);
  }
  return sums;
}

}  // namespace

LocalRows::LocalRows(std::size_t rows) : most_(rows) {
  residuals_.reserve(rows + 1);
  times_.reserve(rows + 1);
  recency_.reserve(rows + 1);
  for (auto& column : point_) column.reserve(rows + 1);
}

void LocalRows::clear() {
  residuals_.clear();
  times_.clear();
  recency_.clear();
  for (auto& column : point_) column.clear();
  arrivals_.clear();
  base_ = 0;
}

void LocalRows::rebase(std::uint64_t time) {
  const auto now = static_cast<std::int64_t>(time);
  if (static_cast<double>(now - base_) <= kMostRebase * kForgetRows) return;
  const auto factor = static_cast<float>(std::exp(-static_cast<double>(now - base_) / kForgetRows));
  // Not to zero: a row of no weight at all would be no row.
  for (float& r : recency_) r = std::max(r * factor, 1e-30F);
  base_ = now;
}

std::size_t LocalRows::take_oldest() {
  const auto [time, residual] = arrivals_.front();
  arrivals_.pop_front();
  const auto first = std::lower_bound(residuals_.begin(), residuals_.end(), residual);
  auto at = static_cast<std::size_t>(first - residuals_.begin());
  while (times_[at] != time) ++at;  // equal residuals stand together
  return at;
}

void LocalRows::add(std::uint64_t time, double residual, const KernelPoint& point) {
  rebase(time);
  const auto now = static_cast<std::int64_t>(time);
  auto to = static_cast<std::size_t>(
      std::upper_bound(residuals_.begin(), residuals_.end(), residual) - residuals_.begin());
  // The place of the oldest row becomes free, or one behind the last row.
  const bool is_full = size() == most_;
  const std::size_t from = is_full ? take_oldest() : size();
  if (to > from) --to;
  const auto put = [&](auto& values, auto value) {
    if (!is_full) values.emplace_back();
    const auto at = [&](std::size_t place) {
      return values.begin() + static_cast<std::ptrdiff_t>(place);
    };
    if (to <= from) {
      std::move_backward(at(to), at(from), at(from + 1));
    } else {
      std::move(at(from + 1), at(to + 1), at(from));
    }
    values[to] = value;
  };
  const double age = static_cast<double>(now - base_) / kForgetRows;
  put(residuals_, residual);
  put(times_, now);
  put(recency_, static_cast<float>(std::exp(std::max(age, -kMostRebase))));
  for (std::size_t j = 0; j < kKernelDims; ++j) put(point_[j], point[j]);
  arrivals_.emplace_back(now, residual);
}

void LocalRows::weigh(const KernelPoint& point, Weights& weights) const {
  const std::size_t n = size();
  const std::size_t blocks = (n + kBlockRows - 1) / kBlockRows;
  weights.near.resize(blocks * kBlockRows);
  weights.around.resize(blocks * kBlockRows);
  weights.blocks.resize(blocks);
  weights.totals = {};
  std::array<double, kChains> aged = {};
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::size_t first = k * kBlockRows;
    if (k % kChains == 0) aged = added_recency(std::span(recency_).subspan(first));
    Block block{{}, std::min(kBlockRows, n - first)};
    for (std::size_t j = 0; j < kKernelDims; ++j) block.point[j] = &point_[j][first];
    kernel_weights(block, point.data(), &weights.near[first], &weights.around[first]);
    BlockFloats recency = {};
    BlockFloats present = {};
    std::copy_n(&recency_[first], block.rows, recency.begin());
    std::fill_n(present.begin(), block.rows, 1.0F);
    Sums sums;
    constexpr std::size_t kOne = 2 * kBandwidths;
    add_kernel(&weights.near[first], recency, present, sums.data());
    add_kernel(&weights.around[first], recency, present, sums.data() + kOne);
    sums[2 * kOne] = static_cast<double>(block.rows);
    sums[2 * kOne + 1] = aged[k % kChains];
    for (std::size_t w = 0; w < kWindows; ++w) weights.totals[w] += sums[w];
    weights.blocks[k] = weights.totals;
  }
}

float LocalRows::weight(const Weights& weights, std::size_t window, std::size_t row) const {
  const std::size_t kernel = window / 2;
  const float old = window % 2 == 1 ? recency_[row] : 1.0F;
  if (kernel == kKernels - 1) return old;
  float w = kernel < kBandwidths ? weights.near[row] : weights.around[row];
  for (std::size_t b = kernel % kBandwidths; b > 0; --b) {
    w *= w;
    w *= w;
  }
  return (w + kFloor) * old;
}

double LocalRows::quantile(const Weights& weights, std::size_t window, double level) const {
  const double target = level * weights.totals[window];
  // The first block whose end reaches the target, or the last one.
  const auto found =
      std::lower_bound(weights.blocks.begin(), weights.blocks.end() - 1, target,
                       [&](const Sums& up_to, double sought) { return up_to[window] < sought; });
  const auto block = static_cast<std::size_t>(found - weights.blocks.begin());
  double sum = block > 0 ? weights.blocks[block - 1][window] : 0.0;
  std::size_t row = block * kBlockRows;
  const std::size_t end = std::min(size(), row + kBlockRows);
  for (; row < end; ++row) {
    const auto w = static_cast<double>(weight(weights, window, row));
    if (sum + w >= target) {
      if (row == 0) return residuals_[0];
      const double before = residuals_[row - 1];
      // Rounding must not carry it past the row: a higher level may begin there.
      return std::min(before + (target - sum) / w * (residuals_[row] - before), residuals_[row]);
    }
    sum += w;
  }
  return residuals_[end - 1];
}

double LocalRows::effective_rows(const Weights& weights, std::size_t window) const {
  double total = 0.0;
  double squares = 0.0;
  for (std::size_t row = 0; row < size(); ++row) {
    const auto w = static_cast<double>(weight(weights, window, row));
    total += w;
    squares += w * w;
  }
  return squares > 0.0 ? total * (total / squares) : 0.0;
}

void LocalRows::save(const TensorWriter& out) const {
  std::vector<std::int64_t> order;
  for (const auto& [time, residual] : arrivals_) order.push_back(time);
  out.tensor("residuals", residuals_);
  out.tensor("times", times_);
  out.tensor("recency", recency_);
  for (std::size_t j = 0; j < kKernelDims; ++j) out.tensor(fmt::format("point{}", j), point_[j]);
  out.tensor("order", order);
  out.value("base", static_cast<std::uint64_t>(base_));
}

void LocalRows::load(const TensorReader& in) {
  const std::size_t n = in.length("residuals");
  if (n > most_) fail(ErrorCode::kCorruptFile, "the state has more rows than it may keep");
  residuals_ = in.values<double>("residuals", {n}, Must::kAscend);
  times_ = in.values<std::int64_t>("times", {n});
  recency_ = in.values<float>("recency", {n}, Must::kBePositive);
  // Larger ones do not come about, and their sums would not be finite.
  const auto most_recent = static_cast<float>(std::exp(kMostRebase + 1.0));
  if (n > 0 && (*std::max_element(recency_.begin(), recency_.end()) > most_recent ||
                residuals_.front() < -kFarthestError || residuals_.back() > kFarthestError)) {
    fail(ErrorCode::kCorruptFile, "the state has rows that are too far away");
  }
  for (std::size_t j = 0; j < kKernelDims; ++j) {
    point_[j] = in.values<float>(fmt::format("point{}", j), {n}, Must::kBeFinite);
  }
  constexpr std::size_t kMostRows = std::size_t{1} << 53;
  base_ = static_cast<std::int64_t>(in.count("base", kMostRows));
  // The order of arrival must be a permutation of the rows.
  std::vector<std::pair<std::int64_t, double>> known;
  for (std::size_t i = 0; i < n; ++i) known.emplace_back(times_[i], residuals_[i]);
  std::sort(known.begin(), known.end());
  std::vector<bool> used(n);
  arrivals_.clear();
  for (const std::int64_t time : in.values<std::int64_t>("order", {n})) {
    const auto at =
        std::lower_bound(known.begin(), known.end(), time,
                         [](const auto& row, std::int64_t t) { return row.first < t; }) -
        known.begin();
    const auto place = static_cast<std::size_t>(at);
    if (place == n || known[place].first != time || used[place]) {
      fail(ErrorCode::kCorruptFile, "the state has rows in an order that cannot be");
    }
    used[place] = true;
    arrivals_.push_back(known[place]);
  }
}

}  // namespace tare
