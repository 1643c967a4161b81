// SPDX-License-Identifier: BSD-3-Clause
#include "online/coverage_keeper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/fail.h"

namespace tare {
namespace {

/// exp of more overflows.
constexpr double kMostExponent = 700.0;

/// base + spread sinh(theta), finite for any finite theta: the number of the largest size where the
/// product is too large.
double moved(double base, double spread, double theta) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const double size = std::abs(theta);
  double move = spread * std::sinh(std::min(size, kMostExponent));
  if (size > kMostExponent) move *= std::exp(std::min(size - kMostExponent, kMostExponent));
  return std::clamp(base + std::copysign(move, theta), -kLargest, kLargest);
}

/// The theta beyond which an answer is past the target on either side: asinh(|target - base| /
/// spread), also where difference or ratio are too large for a number.
///
/// An answer that is too low by less than half of the distance to the next number is rounded to the
/// target, and the target is then at or below it. So that distance belongs to the difference: where
/// the spread is small beside it, as with targets that are all predicted exactly, theta must go
/// farther. No answer is below the lowest number.
double reached(double target, double base, double spread) {
  using Limits = std::numeric_limits<double>;
  constexpr double kLargeRatio = 1e100;
  constexpr double kUnreachable = 1e300;     // finite, so that it can be saved
  constexpr double kRoundingOfSinh = 1e-12;  // and of theta, for any theta that sinh is asked for
  if (target <= Limits::lowest()) return kUnreachable;
  const double spacing =
      Limits::epsilon() * std::max(std::abs(target), std::abs(base)) + Limits::denorm_min();
  const double half = std::abs(0.5 * target - 0.5 * base) + 0.5 * spacing;
  const double ratio = 2.0 * (half / spread);
  const double theta = ratio < kLargeRatio
                           ? std::asinh(ratio)
                           : 2.0 * std::numbers::ln2 + std::log(half) - std::log(spread);
  return theta + kRoundingOfSinh * (1.0 + theta);
}

}  // namespace

CoverageKeeper::CoverageKeeper(std::vector<Level> levels)
    : levels_(std::move(levels)), below_(levels_.size()), crossed_(levels_.size()) {}

void CoverageKeeper::answer(std::span<const double> base, double spread,
                            std::span<double> out) const {
  const std::size_t middle = anchor();
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = moved(base[j], spread, theta(j));
  // From the middle outwards, so that an answer that crossed its neighbour takes the neighbour's.
  for (std::size_t j = middle + 1; j < out.size(); ++j) out[j] = std::max(out[j], out[j - 1]);
  for (std::size_t j = middle; j-- > 0;) out[j] = std::min(out[j], out[j + 1]);
}

void CoverageKeeper::learn(std::span<const double> base, double spread,
                           std::span<const double> answers, double target, std::uint64_t late) {
  ++rows_;
  late_ = std::max(late_, late);
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    below_[j] += target <= answers[j] ? 1 : 0;
    reach_ = std::max(reach_, reached(target, base[j], spread));
    const std::size_t middle = anchor();
    if (j != middle && answers[j] == answers[j > middle ? j - 1 : j + 1]) crossed_[j] = 1;
  }
}

double CoverageKeeper::theta(std::size_t j) const {
  return kStep * (levels_[j].value() * static_cast<double>(rows_) - static_cast<double>(below_[j]));
}

double CoverageKeeper::share(std::size_t j) const {
  return rows_ > 0 ? static_cast<double>(below_[j]) / static_cast<double>(rows_) : 0.0;
}

double CoverageKeeper::bound(std::size_t j) const {
  if (rows_ == 0) return 1.0;
  const std::size_t middle = anchor();
  const std::size_t away = j > middle ? j - middle : middle - j;
  // An answer that was never moved to its neighbour's is kept as if it were alone.
  const double parts = crossed_[j] != 0 ? 2.0 * static_cast<double>(away) + 1.0 : 1.0;
  const double range = parts * (reach_ + kStep * static_cast<double>(late_ + 1));
  return std::min(1.0, range / (kStep * static_cast<double>(rows_)));
}

void CoverageKeeper::save(const TensorWriter& out) const {
  out.tensor("below", below_);
  out.tensor("crossed", crossed_);
  out.tensor("reach", std::vector<double>{reach_});
  out.value("late", late_);
  out.value("rows", rows_);
}

void CoverageKeeper::load(const TensorReader& in) {
  constexpr std::size_t kMostRows = std::size_t{1} << 53;
  below_ = in.values<std::int64_t>("below", {levels_.size()});
  crossed_ = in.values<std::int64_t>("crossed", {levels_.size()});
  reach_ = in.values<double>("reach", {1}, Must::kNotBeNegative)[0];
  late_ = in.count("late", kMostRows);
  rows_ = in.count("rows", kMostRows);
  for (const std::int64_t below : below_) {
    if (below < 0 || static_cast<std::uint64_t>(below) > rows_) {
      fail(ErrorCode::kCorruptFile, "the state counts more rows below an answer than there are");
    }
  }
}

}  // namespace tare
