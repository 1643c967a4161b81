// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/members.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "math/exponential.h"
#include "math/pinball.h"
#include "math/vector_targets.h"

namespace tare {
namespace {

constexpr std::array<double, Members::kSteps> kStepSizes = {0.01, 0.04};
constexpr double kMemberKeep = 0.99;
constexpr double kMemberWeight = 8.0;
/// Levels are asked between these: beyond them the outermost rows alone decide.
constexpr double kLowest = 0.002;

TARE_VECTOR_TARGETS void weigh_losses(const double* losses, double least, double* weights) {
  for (std::size_t m = 0; m < Members::kCount; ++m) {
    weights[m] = exp_negative(-kMemberWeight * (losses[m] - least));
  }
}

}  // namespace

Members::Members(std::vector<Level> levels)
    : levels_(std::move(levels)), tracked_(kCount * levels_.size()), losses_(kCount) {
  for (std::size_t i = 0; i < tracked_.size(); ++i) {
    tracked_[i] = levels_[i % levels_.size()].value();
  }
}

void Members::ask(const LocalRows& rows, const LocalRows::Weights& weights,
                  std::span<double> out) const {
  const std::size_t count = levels_.size();
  std::array<LocalRows::WindowLevel, kCount> asked;
  std::array<double, kCount> quantiles;
  for (std::size_t m = 0; m < kCount; ++m) asked[m] = {m / kSteps, kLowest};
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t m = 0; m < kCount; ++m) {
      // Tracked levels may cross; what is asked may not.
      const double level = std::min(tracked_[m * count + j], 1.0 - kLowest);
      asked[m].level = std::max(asked[m].level, level);
    }
    rows.quantiles(weights, asked, quantiles);
    for (std::size_t m = 0; m < kCount; ++m) out[m * count + j] = quantiles[m];
  }
}

void Members::average(std::span<const double> asked, std::span<double> out) const {
  std::array<double, kCount> weight;
  const double least = *std::min_element(losses_.begin(), losses_.end());
  weigh_losses(losses_.data(), least, weight.data());
  double total = 0.0;
  for (const double w : weight) total += w;
  const std::size_t count = levels_.size();
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t m = 0; m < kCount; ++m) {
    const double w = weight[m] / total;
    for (std::size_t j = 0; j < count; ++j) out[j] += w * asked[m * count + j];
  }
}

void Members::learn(std::span<const double> asked, double residual, double unit) {
  const std::size_t count = levels_.size();
  for (std::size_t m = 0; m < kCount; ++m) {
    double loss = 0.0;
    for (std::size_t j = 0; j < count; ++j) {
      const double tau = levels_[j].value();
      const double q = asked[m * count + j];
      loss += pinball_of_error(residual - q, tau);
      double& level = tracked_[m * count + j];
      level += kStepSizes[m % kSteps] * (tau - (residual <= q ? 1.0 : 0.0));
      // It stays on its side of the median.
      level = std::clamp(level, tau > 0.5 ? 0.5 : 0.0, tau < 0.5 ? 0.5 : 1.0);
    }
    // Twice the mean, so that an interval counts as the sum over its ends.
    const double in_units = 2.0 * loss / (static_cast<double>(count) * unit);
    losses_[m] = kMemberKeep * losses_[m] + std::min(in_units, 100.0);
  }
}

std::size_t Members::best_window() const {
  const auto best = std::min_element(losses_.begin(), losses_.end()) - losses_.begin();
  return static_cast<std::size_t>(best) / kSteps;
}

void Members::save(const TensorWriter& out) const {
  out.tensor("tracked", tracked_);
  out.tensor("losses", losses_);
}

void Members::load(const TensorReader& in) {
  tracked_ = in.values<double>("tracked", {kCount * levels_.size()}, Must::kNotBeNegative);
  losses_ = in.values<double>("losses", {kCount}, Must::kNotBeNegative);
}

}  // namespace tare
