// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/scale_training.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tare::automatic {
namespace {

std::vector<double> absolute_residuals(const CrossFit& fit, std::size_t center) {
  const std::span<const double> y = fit.rows().y;
  std::vector<double> size(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) size[i] = std::abs(y[i] - fit.column(center)[i]);
  return size;
}

/// The mean of the log is a rough measure of a scale: it is ruled by the smallest residuals. The
/// likelihood of a scale with the shape of Laplace's distribution is not, and one step of scoring
/// from a log scale f goes to the regression of f + residual / exp(f) - 1.
std::vector<double> scored(std::span<const double> size, std::span<const double> log_scale) {
  constexpr double kMostScales = 20.0;  // a residual
  constexpr double kFarthest = 3.0;     // a step
  std::vector<double> relative(size.size());
  double mean = 0.0;
  for (std::size_t i = 0; i < size.size(); ++i) {
    relative[i] = std::min(size[i] / std::exp(log_scale[i]), kMostScales);
    mean += relative[i] / static_cast<double>(size.size());
  }
  std::vector<double> target(log_scale.begin(), log_scale.end());
  if (!(mean > 0.0)) return target;
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] += std::min(relative[i] / mean - 1.0, kFarthest);
  }
  return target;
}

}  // namespace

std::size_t train_log_scale(const FamilyTraining& shop, std::size_t center,
                            std::span<const std::size_t> more, std::uint64_t stream) {
  CrossFit& fit = shop.fit;
  const std::vector<double> size = absolute_residuals(fit, center);
  const double little = std::max(1e-2 * median_of(size), 1e-9);
  std::vector<double> logs;
  for (const double value : size) logs.push_back(std::log(value + little));
  // The same for every center, as kernels are learned once and must not know the rows left out.
  const Folds folds =
      fit.folds().in_time()
          ? Folds::shifted_stretches(logs.size(), fit.folds().count, fit.folds().gap)
          : Folds::random(logs.size(), fit.folds().count, split(shop.seed, 21));
  std::vector<std::size_t> inputs = {center};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const Matrix x = fit.x_and(inputs);
  const std::span<const double> weight = fit.rows().weight;
  const std::size_t trees =
      shop.boosting("scale", {x, logs, weight}, folds, std::move(inputs), kSmallTrees, stream);
  if (shop.processes == nullptr) return trees;

  std::vector<std::size_t> members = {trees};
  const auto add_processes = [&](std::span<const double> target, std::vector<PartKernels>& kernels,
                                 std::uint64_t own_stream) {
    const RegressionData data{fit.rows().x, target, weight};
    if (kernels.empty()) kernels = shop.learn_kernels(data, folds, own_stream);
    const std::vector<std::size_t> columns =
        shop.gaussian_processes("scale", data, folds, kernels, own_stream + 1);
    members.insert(members.end(), columns.begin(), columns.end());
  };
  add_processes(logs, shop.processes->scale, stream + 2);
  const std::size_t rough = shop.blend(members, shop.blend_shares(members, logs, weight));

  const std::vector<double> target = scored(size, fit.column(rough));
  add_processes(target, shop.processes->scored_scale, stream + 5);
  return shop.blend(members, shop.blend_shares(members, target, weight));
}

}  // namespace tare::automatic
