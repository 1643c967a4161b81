// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/score_window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tare {

void ScoreWindow::add(double value) {
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), value);
  if (values_.size() < most_) {
    values_.push_back(value);
    sorted_.insert(place, value);
    return;
  }
  const double old = values_[oldest_];
  values_[oldest_] = value;
  oldest_ = (oldest_ + 1) % most_;
  // Only what lies between the two places moves.
  const auto gone = std::lower_bound(sorted_.begin(), sorted_.end(), old);
  if (place <= gone) {
    std::move_backward(place, gone, gone + 1);
    *place = value;
  } else {
    std::move(gone + 1, place, gone);
    *(place - 1) = value;
  }
}

double ScoreWindow::range_with(double value) const {
  if (sorted_.empty()) return 0.0;
  return std::max(sorted_.back(), value) - std::min(sorted_.front(), value);
}

double ScoreWindow::conformal_quantile(double alpha) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kRounding = 1e-9;  // 0.9 * 10 is rank 9 in any rounding
  if (alpha <= 0.0) return kInfinite;
  if (alpha >= 1.0) return -kInfinite;
  const double count = static_cast<double>(sorted_.size());
  const double rank = std::max(1.0, std::ceil((1.0 - alpha) * (count + 1.0) - kRounding));
  return rank > count ? kInfinite : sorted_[static_cast<std::size_t>(rank) - 1];
}

double ScoreWindow::conformal_share(double value) const {
  const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), value);
  return (static_cast<double>(sorted_.end() - first) + 1.0) /
         (static_cast<double>(sorted_.size()) + 1.0);
}

void ScoreWindow::save(const TensorWriter& out, std::string_view name) const {
  std::vector<double> in_time(values_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                              values_.end());
  in_time.insert(in_time.end(), values_.begin(),
                 values_.begin() + static_cast<std::ptrdiff_t>(oldest_));
  out.tensor(name, in_time);
}

void ScoreWindow::load(const TensorReader& in, std::string_view name, std::size_t expected) {
  values_ = in.values<double>(name, {expected}, Must::kBeFinite);
  for (double& value : values_) value += 0.0;  // as a score has it: no negative zero
  oldest_ = 0;
  sorted_ = values_;
  std::sort(sorted_.begin(), sorted_.end());
}

}  // namespace tare
