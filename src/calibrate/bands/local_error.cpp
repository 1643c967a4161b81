// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/local_error.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/fail.h"
#include "math/normal.h"
#include "model/boosting/light_boosting.h"
#include "model/tree/tree_ensemble.h"

namespace tare {
namespace {

/// Mean and root mean square distance from it.
struct Spread {
  double mean = 0.0;
  double rms = 0.0;

  Spread(std::span<const double> values, std::span<const double> weight) {
    double all = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double w = weight.empty() ? 1.0 : weight[i];
      mean += w * values[i];
      squares += w * values[i] * values[i];
      all += w;
    }
    if (!(all > 0.0)) return;
    mean /= all;
    rms = std::sqrt(std::max(0.0, squares / all - mean * mean));
  }
};

/// How much of an error at the median there is at normal score z.
double near_median(double z) { return std::exp(-0.5 * z * z); }

}  // namespace

LocalError LocalError::fit(MatrixView columns, std::span<const double> score,
                           std::span<const double> weight, Seed seed, const Execution& how) {
  LocalError error;
  ResidualTrees::Fitted fitted = ResidualTrees::fit(columns, score, weight, split(seed, 0), how);
  const Spread center(fitted.frame.center, weight);
  error.mean_center_ = center.mean;
  error.rms_center_ = center.rms;
  error.mean_log_size_ = Spread(fitted.frame.log_size, weight).mean;
  std::vector<double> size = std::move(fitted.frame.log_size);
  for (double& value : size) value = std::exp(value - error.mean_log_size_);
  error.rms_size_ = Spread(size, weight).rms;
  error.trees_ = std::move(fitted.trees);

  // A share of targets below the median that is b too large is, where the density is that of a
  // normal score, a median that is b sqrt(2 pi) too high.
  constexpr double kScoreOfShare = std::numbers::sqrt2 / std::numbers::inv_sqrtpi;
  std::vector<double> side(score.size());
  for (std::size_t i = 0; i < side.size(); ++i) {
    const double left = score[i] - (fitted.frame.center[i] - center.mean);
    side[i] = left <= 0.0 ? -kScoreOfShare : 0.0;
  }
  LightBoosting found =
      fit_light_boosting(LightRows(columns, weight, how), side, {}, split(seed, 1), how);
  const Spread sides(found.out_of_fold, weight);
  error.mean_side_ = sides.mean;
  error.rms_side_ = sides.rms;
  error.side_ = std::move(found.model);
  return error;
}

double LocalError::Values::level(std::size_t i, double tau) const {
  const double z = normal_quantile(tau);
  return normal_cdf(center[i] + size[i] * (z + side[i] * near_median(z)));
}

LocalError::Values LocalError::at(MatrixView columns, const Execution& how) const {
  ResidualTrees::Frame frame = trees_.frame(columns, how);
  Values values{std::move(frame.center), std::move(frame.log_size),
                std::vector<double>(columns.rows(), 0.0)};
  for (double& center : values.center) center -= mean_center_;
  // Normal scores of 1 % and 99 % are 2.3: a size beyond these limits says nothing more.
  constexpr double kMostLogSize = 5.0;
  for (double& size : values.size) {
    size = std::exp(std::clamp(size - mean_log_size_, -kMostLogSize, kMostLogSize));
  }
  if (side_) side_->predict(columns, values.side, how);
  for (double& side : values.side) side -= mean_side_;
  return values;
}

double LocalError::usual(double tau) const {
  const double z = normal_quantile(tau);
  return std::hypot(rms_center_, rms_size_ * z, rms_side_ * near_median(z));
}

void LocalError::save(const TensorWriter& out) const {
  trees_.save(out);
  out.value("has_side", side_ != nullptr);
  if (side_) side_->save(out.part("side"));
  out.tensor("mean", std::vector<double>{mean_center_, mean_log_size_, mean_side_});
  out.tensor("rms", std::vector<double>{rms_center_, rms_size_, rms_side_});
}

LocalError LocalError::load(const TensorReader& in, std::size_t columns) {
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's bands are damaged");
  };
  LocalError error;
  error.trees_ = ResidualTrees::load(in, columns);
  if (in.get<bool>("has_side")) {
    error.side_ = load_trees(in.part("side"));
    require(error.side_->features() == columns);
  }
  const auto mean = in.values<double>("mean", {3}, Must::kBeFinite);
  const auto rms = in.values<double>("rms", {3}, Must::kNotBeNegative);
  require(std::ranges::all_of(rms, [](double value) { return value < 1e6; }));
  error.mean_center_ = mean[0];
  error.mean_log_size_ = mean[1];
  error.mean_side_ = mean[2];
  error.rms_center_ = rms[0];
  error.rms_size_ = rms[1];
  error.rms_side_ = rms[2];
  return error;
}

}  // namespace tare
