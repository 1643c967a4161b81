// SPDX-License-Identifier: BSD-3-Clause
#include "online/stream/frozen_lags.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "online/snq/lags.h"

namespace tare {
namespace {

constexpr std::size_t kMostErrors = 2'000;
/// Fewer errors say too little about what follows them.
constexpr std::size_t kFewestErrors = 60;

}  // namespace

FrozenLags::FrozenLags() { errors_.reserve(kMostErrors); }

double FrozenLags::past(std::size_t lag) const {
  return lag <= std::min(count_, kMostErrors) ? errors_[(count_ - lag) % kMostErrors] : mean_;
}

double FrozenLags::left(double error) {
  double left = error;
  if (!lags_.empty()) {
    left -= mean_;
    for (std::size_t k = 0; k < lags_.size(); ++k) left -= weights_[k] * (past(lags_[k]) - mean_);
  }
  if (errors_.size() < kMostErrors) {
    errors_.push_back(error);
  } else {
    errors_[count_ % kMostErrors] = error;
  }
  ++count_;
  return std::isfinite(left) ? left : error;
}

void FrozenLags::freeze() {
  frozen_ = true;
  const std::size_t n = std::min(count_, kMostErrors);
  if (n < kFewestErrors) return;
  std::vector<double> series;
  for (std::size_t k = n; k > 0; --k) series.push_back(past(k));
  double mean = 0.0;
  for (const double e : series) mean += e / static_cast<double>(n);
  double size = 0.0;
  for (const double e : series) size += std::abs(e - mean) / static_cast<double>(n);
  if (!(size > 0.0) || !std::isfinite(size)) return;
  for (double& e : series) e = (e - mean) / size;
  const std::vector<std::size_t> lags = choose_lags(series, find_season(series), 0);
  const LagFit fit = fit_lags(series, lags);
  // More than chance would explain: BIC.
  const double chance = static_cast<double>(lags.size()) * std::log(static_cast<double>(fit.rows));
  if (static_cast<double>(fit.rows) * std::log(fit.before / fit.after) < chance) return;
  mean_ = mean;
  lags_ = lags;
  weights_ = fit.weights;
}

void FrozenLags::save(const TensorWriter& out) const {
  out.tensor("errors", errors_);
  out.value("count", count_);
  out.value("frozen", frozen_);
  out.value("lags", lags_);
  out.tensor("weights", weights_);
  out.tensor("mean", std::vector<double>{mean_});
}

void FrozenLags::load(const TensorReader& in) {
  constexpr std::size_t kMostCount = std::size_t{1} << 53;
  errors_ = in.list<double>("errors", Must::kBeFinite);
  count_ = in.count("count", kMostCount);
  frozen_ = in.get<bool>("frozen");
  lags_ = in.counts("lags", kMostErrors);
  weights_ = in.values<double>("weights", {lags_.size()}, Must::kBeFinite);
  mean_ = in.values<double>("mean", {1}, Must::kBeFinite)[0];
  const bool positive =
      std::all_of(lags_.begin(), lags_.end(), [](std::size_t k) { return k > 0; });
  if (errors_.size() != std::min(count_, kMostErrors) || !positive) {
    fail(ErrorCode::kCorruptFile, "the state has errors that cannot be");
  }
}

}  // namespace tare
