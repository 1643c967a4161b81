// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/recalibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "base/fail.h"
#include "math/isotonic.h"
#include "math/normal.h"

namespace tare {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
// A score that no level of a normal law reaches, and small enough to be multiplied by an sd.
constexpr double kFarthestRecalibrated = 1e100;
// A weighted level that is short of the one asked by less than rounding has reached it.
constexpr double kRounding = 1e-12;

/// The score at share t of the probability between two scores, of which one may be infinite.
double between_scores(double low, double high, double t) {
  if (low >= 0.0) return -between_scores(-high, -low, 1.0 - t);  // small tails keep their digits
  const double below = normal_cdf(low);
  const double score = normal_quantile(below + t * (normal_cdf(high) - below));
  if (std::isfinite(score)) return std::clamp(score, low, high);
  return std::isfinite(low) && (score < 0.0 || !std::isfinite(high)) ? low : high;
}

}  // namespace

Recalibration::Recalibration(std::span<const double> scores, std::span<const double> weight) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scores[i]; });
  const auto count = static_cast<double>(scores.size());
  // In units of the largest weight, so that no sum overflows.
  const double largest = weight.empty() ? 1.0 : std::ranges::max(weight);
  const auto weight_of = [&](std::size_t i) { return weight.empty() ? 1.0 : weight[i] / largest; };
  double total = 0.0;
  for (const std::size_t i : order) total += weight_of(i);
  const double whole = total + total / count;

  double reached = 0.0;
  std::vector<double> observed;
  for (const std::size_t i : order) {
    reached += weight_of(i);
    score_.push_back(std::clamp(scores[i], -kFarthestRecalibrated, kFarthestRecalibrated));
    observed.push_back(reached / whole);  // i / (n + 1), rounded once, where there are no weights
  }
  observed_ = isotonic_regression(observed);
}

double Recalibration::score(Level level) const {
  const double tau = level.value();
  const auto reached =
      std::ranges::lower_bound(observed_, tau, {}, [](double o) { return o * (1.0 + kRounding); });
  const auto k = static_cast<std::size_t>(reached - observed_.begin());
  const bool last = k == score_.size();
  const double low = k == 0 ? -kNoEnd : score_[k - 1];
  const double high = last ? kNoEnd : score_[k];
  const double from = k == 0 ? 0.0 : observed_[k - 1];
  const double to = last ? 1.0 : observed_[k];
  if (!last && (tau * (1.0 + kRounding) >= to || low == high)) return high;
  return between_scores(low, high, (tau - from) / (to - from));
}

void Recalibration::save(const TensorWriter& out) const {
  out.tensor("score", score_);
  out.tensor("observed", observed_);
}

Recalibration Recalibration::load(const TensorReader& in) {
  Recalibration loaded;
  const Shape shape = {in.length("score")};
  loaded.score_ = in.values<double>("score", shape, Must::kAscend);
  loaded.observed_ = in.values<double>("observed", shape, Must::kAscend);
  const auto near = [](double value) { return std::abs(value) <= kFarthestRecalibrated; };
  const auto inside = [](double value) { return value >= 0.0 && value < 1.0; };
  if (loaded.score_.empty() || !std::ranges::all_of(loaded.score_, near) ||
      !std::ranges::all_of(loaded.observed_, inside)) {
    fail(ErrorCode::kCorruptFile, "the model file's recalibration does not ascend from 0 to 1");
  }
  return loaded;
}

}  // namespace tare
