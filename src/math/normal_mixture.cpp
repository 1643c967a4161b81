// SPDX-License-Identifier: BSD-3-Clause
#include "math/normal_mixture.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "math/normal.h"

namespace tare {
namespace {

// The cdf on a grid, once for all levels: the Newton steps of a level then start close to the root.
// The grid extends to where each component has 3e-5 in its tail.
constexpr std::size_t kRungs = 33;
constexpr double kReach = 4.0;

}  // namespace

NormalMixture::NormalMixture(std::span<const double> mean, std::span<const double> sd)
    : mean_(mean), sd_(sd), ladder_(kRungs) {
  assert(!mean.empty() && mean.size() == sd.size());
  low_ = mean[0] - kReach * sd[0];
  double high = mean[0] + kReach * sd[0];
  for (std::size_t s = 1; s < mean.size(); ++s) {
    low_ = std::min(low_, mean[s] - kReach * sd[s]);
    high = std::max(high, mean[s] + kReach * sd[s]);
  }
  step_ = (high - low_) / static_cast<double>(kRungs - 1);
  for (std::size_t k = 0; k < kRungs; ++k) ladder_[k] = cdf(low_ + static_cast<double>(k) * step_);
}

double NormalMixture::cdf(double x) const {
  double sum = 0.0;
  for (std::size_t s = 0; s < mean_.size(); ++s) sum += normal_cdf((x - mean_[s]) / sd_[s]);
  return sum / static_cast<double>(mean_.size());
}

double NormalMixture::pdf(double x) const {
  double sum = 0.0;
  for (std::size_t s = 0; s < mean_.size(); ++s) {
    sum += normal_pdf((x - mean_[s]) / sd_[s]) / sd_[s];
  }
  return sum / static_cast<double>(mean_.size());
}

double NormalMixture::quantile(Level tau) const {
  // It lies between the smallest and the largest quantile of the components.
  const double z = normal_quantile(tau.value());
  double low = mean_[0] + sd_[0] * z;
  double high = low;
  for (std::size_t s = 1; s < mean_.size(); ++s) {
    const double own = mean_[s] + sd_[s] * z;
    low = std::min(low, own);
    high = std::max(high, own);
  }
  double start = low + (high - low) / 2.0;
  const auto above = std::ranges::lower_bound(ladder_, tau.value());
  if (above != ladder_.begin() && above != ladder_.end()) {
    const double before = *std::prev(above);
    const auto rung = static_cast<double>(above - ladder_.begin());
    high = std::min(high, low_ + rung * step_);
    low = std::min(std::max(low, low_ + (rung - 1.0) * step_), high);
    start = low_ + (rung - 1.0 + (tau.value() - before) / (*above - before)) * step_;
  }
  return refined(tau.value(), low, high, start);
}

// As bracketed_newton, but it ends as soon as the next step cannot change the result: each step
// evaluates every component twice.
double NormalMixture::refined(double tau, double low, double high, double x) const {
  constexpr int kMaxSteps = 200;
  constexpr double kEnough = 1e-9;  // of a grid step: Newton's next step is about its square
  x = std::min(std::max(x, low), high);
  for (int step = 0; step < kMaxSteps; ++step) {
    const double miss = cdf(x) - tau;
    if (miss == 0.0) return x;
    (miss < 0.0 ? low : high) = x;
    double next = x - miss / pdf(x);
    if (!(next > low && next < high)) {
      next = low + (high - low) / 2.0;
      if (next <= low || next >= high) return x;
    } else if (std::abs(next - x) <= kEnough * step_) {
      return next;
    }
    x = next;
  }
  return x;
}

}  // namespace tare
