// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/recentering.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"

namespace tare {
namespace {

constexpr double kSlowKeep = 0.9998;
constexpr double kFastKeep = 0.997;
constexpr double kRidge = 3.0;
constexpr double kLossKeep = 0.99;
constexpr double kLossWeight = 0.3;
constexpr double kUsualKeep = 0.995;
/// Rows farther from the center than this many usual differences count less, as in Huber's loss.
constexpr double kHuber = 5.0;
constexpr double kLargestInUnits = 1e30;
constexpr double kFarthestCorrection = 1e300;

/// The product of a unit and a prediction, which are finite; it may not be.
double corrected_by(double unit, double prediction) {
  return std::clamp(unit * prediction, -kFarthestCorrection, kFarthestCorrection);
}

}  // namespace

Recentering::Recentering(std::size_t regressors)
    : slow_(regressors, 2, kSlowKeep, kRidge), fast_(regressors, 1, kFastKeep, kRidge) {}

Recentering::Correction Recentering::correct(std::span<const double> x, double unit) const {
  Correction c;
  c.each[1] = corrected_by(unit, slow_.predict(x, 0));
  c.each[2] = corrected_by(unit, fast_.predict(x, 0));
  c.each[3] = (c.each[1] + c.each[2]) / 3.0;
  const double least = *std::min_element(losses_.begin(), losses_.end());
  double total = 0.0;
  for (std::size_t k = 0; k < kCorrections; ++k) {
    const double weight = std::exp(-kLossWeight * (losses_[k] - least));
    total += weight;
    c.center += weight * c.each[k];
  }
  c.center /= total;
  const double usual = count_ > 0.0 ? usual_ / count_ : unit;
  c.size = std::clamp(corrected_by(unit, slow_.predict(x, 1)), 0.1 * usual, 10.0 * usual);
  return c;
}

void Recentering::learn(std::span<const double> x, const Correction& correction, double error,
                        double unit) {
  const double left = std::min(std::abs(error - correction.center), kLargestInUnits * unit);
  const double usual = count_ > 0.0 ? usual_ / count_ : left;
  const double weight = left > kHuber * usual ? kHuber * usual / left : 1.0;
  const double in_units = std::clamp(error / unit, -kLargestInUnits, kLargestInUnits);
  const std::array<double, 2> targets = {in_units, left / unit};
  slow_.learn(x, targets, weight);
  fast_.learn(x, std::span(targets).first(1), weight);
  usual_ = kUsualKeep * usual_ + left;
  count_ = kUsualKeep * count_ + 1.0;
  const double size = usual_ / count_;
  for (std::size_t k = 0; k < kCorrections; ++k) {
    const double loss = size > 0.0 ? std::abs(error - correction.each[k]) / size : 0.0;
    losses_[k] = kLossKeep * losses_[k] + std::min(loss, 10.0);
  }
}

void Recentering::save(const TensorWriter& out) const {
  slow_.save(out.part("slow"));
  fast_.save(out.part("fast"));
  out.tensor("losses", std::vector<double>(losses_.begin(), losses_.end()));
  out.tensor("usual", std::vector<double>{usual_, count_});
}

void Recentering::load(const TensorReader& in) {
  slow_.load(in.part("slow"));
  fast_.load(in.part("fast"));
  const auto losses = in.values<double>("losses", {kCorrections}, Must::kNotBeNegative);
  std::copy(losses.begin(), losses.end(), losses_.begin());
  const auto usual = in.values<double>("usual", {2}, Must::kNotBeNegative);
  usual_ = usual[0];
  count_ = usual[1];
  if (usual_ > 4.0 * kFarthestCorrection * count_) {
    fail(ErrorCode::kCorruptFile, "the state has errors that are too large");
  }
}

}  // namespace tare
