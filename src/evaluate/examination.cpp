// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/examination.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "evaluate/effective_sizes.h"
#include "math/proportion.h"

namespace tare {
namespace {

constexpr double kNoiseConfidence = 0.95;

/// What the scores need, and behind it the interval and the median.
std::vector<Level> examined_levels() {
  const auto scored = Scorecard::levels();
  std::vector<Level> levels(scored.begin(), scored.end());
  const auto [lower, upper] = interval_levels(Outcomes::kConfidence);
  levels.insert(levels.end(), {lower, Level{0.5}, upper});
  return levels;
}

}  // namespace

double Outcomes::covered(std::size_t row) const {
  static const auto kLevels = interval_levels(kConfidence);
  return share_inside(y[row], lower[row], upper[row], kLevels.first.value(), kLevels.second.value(),
                      jump(row));
}

double Outcomes::below_median(std::size_t row) const {
  return share_below(y[row], median[row], 0.5, jump(row));
}

BinNoise pit_noise(std::size_t rows, std::size_t bins) {
  const CountRange noise = binomial_range(rows, 1.0 / static_cast<double>(bins), kNoiseConfidence);
  const auto n = static_cast<double>(rows);
  return {static_cast<double>(noise.low) / n, static_cast<double>(noise.high) / n};
}

PitShape pit_shape(std::span<const double> pit, std::size_t rows) {
  constexpr double kShapeConfidence = 0.99;
  const auto count = [&](std::size_t from, std::size_t to) {
    double sum = 0.0;
    for (std::size_t b = from; b < to; ++b) sum += pit[b];
    return sum * static_cast<double>(rows);
  };
  const auto outside = [&](double seen, double p) {  // -1, 0, 1
    const CountRange range = binomial_range(rows, p, kShapeConfidence);
    return seen < static_cast<double>(range.low) ? -1 : seen > static_cast<double>(range.high);
  };
  const std::size_t bins = pit.size();
  const std::size_t edge = bins / 10;
  const int left = outside(count(0, bins / 2), 0.5);
  if (left != 0) return left > 0 ? PitShape::kTooLarge : PitShape::kTooSmall;
  const int ends = outside(count(0, edge) + count(bins - edge, bins), 0.2);
  if (ends != 0) return ends > 0 ? PitShape::kTooShort : PitShape::kTooWide;
  return PitShape::kEven;
}

void Examination::add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
                      const Execution& how) {
  if (rows.x.rows() != y.size()) {
    fail(ErrorCode::kShapeMismatch, "report: {} rows of features, {} targets", rows.x.rows(),
         y.size());
  }
  if (y.empty()) return;
  static const std::vector<Level> kLevels = examined_levels();
  static const std::size_t kCurve = metric_levels().size();  // they come first
  Prediction prediction = model.predict(rows, kLevels, how);
  prediction.effective_n = effective_sizes(model, rows, outcomes_.effective_n.size(), how);
  card_.add(prediction, y);
  if (!tally_) tally_.emplace(model, metric_levels());
  tally_->add(rows, prediction);

  const std::vector<TargetJump> jumps = target_jumps(y, prediction.quantiles, kLevels);
  below_.resize(kCurve, 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto q = prediction.quantiles.row(i);
    for (std::size_t j = 0; j < kCurve; ++j) {
      below_[j] += share_below(y[i], q[j], kLevels[j].value(), jumps[i]);
    }
    ties_ = ties_ || !jumps[i].empty();
    const auto last = q.last(3);
    outcomes_.lower.push_back(last[0]);
    outcomes_.median.push_back(last[1]);
    outcomes_.upper.push_back(last[2]);
  }
  outcomes_.y.insert(outcomes_.y.end(), y.begin(), y.end());
  outcomes_.jumps.insert(outcomes_.jumps.end(), jumps.begin(), jumps.end());
  outcomes_.effective_n.insert(outcomes_.effective_n.end(), prediction.effective_n.begin(),
                               prediction.effective_n.end());
  for (const std::uint8_t flag : prediction.fallback) outcomes_.fallback_rows += flag;
  for (const std::uint8_t flag : prediction.outside) outcomes_.outside_rows += flag;
  outcomes_.knows_outside = outcomes_.knows_outside || !prediction.outside.empty();
}

std::vector<PredictionWarning> Examination::warnings() const {
  if (!tally_) return {};
  std::vector<PredictionWarning> warnings = tally_->list();
  std::erase_if(warnings, [](const PredictionWarning& warning) {
    return warning.code == WarningCode::kFewEffectiveRows || warning.code == WarningCode::kOutside;
  });
  return warnings;
}

ReliabilityCurve Examination::reliability() const {
  ReliabilityCurve curve;
  curve.rows = outcomes_.rows();
  curve.ties = ties_;
  if (curve.rows == 0) return curve;
  const auto n = static_cast<double>(curve.rows);
  const std::vector<Level> levels = metric_levels();
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double tau = levels[j].value();
    curve.level.push_back(tau);
    curve.observed.push_back(below_[j] / n);
    const CountRange noise = binomial_range(curve.rows, tau, kNoiseConfidence);
    curve.noise_low.push_back(static_cast<double>(noise.low) / n);
    curve.noise_high.push_back(static_cast<double>(noise.high) / n);
    const double off = std::fabs(curve.observed.back() - tau);
    if (off > curve.largest) {
      curve.largest = off;
      curve.largest_at = tau;
    }
  }
  curve.reach = std::min(1.0, std::sqrt(std::log(2.0 / (1.0 - kNoiseConfidence)) / (2.0 * n)));
  return curve;
}

}  // namespace tare
