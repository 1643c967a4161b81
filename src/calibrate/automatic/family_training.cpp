// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/family_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/simplex_weights.h"
#include "model/gp/gaussian_process.h"
#include "model/gp/gp_learning.h"

namespace tare::automatic {
namespace {

/// In a series the rows that stop the trees are stretches with gaps around them.
QuantileBoosting fit_quantile_boosting(const RegressionData& data, std::span<const Level> levels,
                                       const QuantileBoostingOptions& options, Seed seed,
                                       std::size_t gap) {
  constexpr double kStops = 0.15;
  if (gap == 0) return QuantileBoosting::fit(data, levels, options, seed, one_thread());
  Rng rng(split(seed, 1));
  const Partition parts = stretch_partition(data.y.size(), kStops, gap, rng);
  std::vector<std::size_t> rows = parts.first;
  rows.insert(rows.end(), parts.second.begin(), parts.second.end());
  std::vector<std::uint8_t> stops(rows.size(), 0);
  std::fill(stops.begin() + static_cast<std::ptrdiff_t>(parts.first.size()), stops.end(), 1);
  const Matrix x = take_rows(data.x, rows);
  const std::vector<double> y = take_rows(data.y, rows);
  const std::vector<double> weight = take_rows(data.weight, rows);
  return QuantileBoosting::fit({x, y, weight}, levels, options, split(seed, 2), one_thread(),
                               stops);
}

}  // namespace

double network_seconds(std::size_t units, std::size_t steps) {
  return static_cast<double>(units * steps) * 0.8e-6;
}

double squared_error(const CrossFit& fit, std::size_t column) {
  const RegressionData& rows = fit.rows();
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const double error = fit.column(column)[i] - rows.y[i];
    sum += (rows.weight.empty() ? 1.0 : rows.weight[i]) * error * error;
  }
  return sum;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Learner FamilyTraining::network_learner(std::string_view stage,
                                        nn::HeadNetworkOptions options) const {
  const double seconds = network_seconds(options.hidden.front(), options.steps);
  options.gap = fit.folds().gap;
  return [this, stage, options, seconds](const RegressionData& rows, Seed own) {
    const auto stop = [&] { progress.advance(stage, 0.0); };
    FoldModel model(nn::HeadNetwork::fit(rows, options, own, stop));
    progress.advance(stage, seconds);
    return model;
  };
}

std::size_t FamilyTraining::networks(std::string_view stage, const nn::HeadNetworkOptions& options,
                                     std::size_t members, std::span<const double> weight,
                                     std::uint64_t stream) const {
  const RegressionData data{fit.rows().x, fit.rows().y,
                            weight.empty() ? fit.rows().weight : weight};
  return fit.add_models(train_folds(data, fit.folds(), members, network_learner(stage, options),
                                    split(seed, stream), how),
                        fit.folds(), {}, how);
}

std::size_t FamilyTraining::regressor(std::string_view name, const Params& params,
                                      std::uint64_t stream) const {
  const RegressorKind& kind = find_regressor(name);
  const Learner learner = [&](const RegressionData& rows, Seed own) {
    FoldModel model(NamedRegressor{std::string(name), kind.fit(rows, params, own, one_thread())});
    progress.advance(name, 1.0);
    return model;
  };
  return fit.add_models(train_folds(fit.rows(), fit.folds(), 1, learner, split(seed, stream), how),
                        fit.folds(), {}, how);
}

std::size_t FamilyTraining::boosting(std::string_view stage, const RegressionData& data,
                                     const Folds& folds, std::vector<std::size_t> inputs,
                                     FoldBoostingOptions options, std::uint64_t stream) const {
  std::vector<FoldModel> models;
  options.gap = folds.gap;
  for (auto& model :
       fit_boosting_folds(data, folds.of_row, folds.count, options, split(seed, stream), how)) {
    models.emplace_back(NamedRegressor{"boosting", std::move(model)});
  }
  progress.advance(stage, static_cast<double>(folds.count));
  return fit.add_models({std::move(models), folds.count}, folds, std::move(inputs), how);
}

std::vector<GpKernel> FamilyTraining::learn_kernels(const RegressionData& data,
                                                    std::uint64_t stream) const {
  const Seed own = split(seed, stream);
  std::vector<GpKernel> kernels = {learn_gp_kernel(data, GpForm::kTogether, own, how)};
  if (data.x.cols() > 1) {
    kernels.push_back(learn_gp_kernel(data, GpForm::kTogetherAndAlone, own, how));
  }
  return kernels;
}

std::vector<std::size_t> FamilyTraining::gaussian_processes(std::string_view stage,
                                                            const RegressionData& data,
                                                            const Folds& folds,
                                                            std::span<const GpKernel> kernels,
                                                            std::uint64_t stream) const {
  std::vector<std::size_t> columns;
  for (const GpKernel& kernel : kernels) {
    GpFit made = fit_gaussian_process(data, kernel, folds.of_row, split(seed, stream), how);
    progress.advance(stage, 1.0);
    if (!made.model) continue;
    columns.push_back(fit.add_model(FoldModel(NamedRegressor{"gp", std::move(made.model)}), {},
                                    std::move(made.without)));
  }
  return columns;
}

std::size_t FamilyTraining::quantile_boosting(std::uint64_t stream) const {
  QuantileBoostingOptions options;
  options.members = 1;
  std::vector<Level> levels;
  for (const double tau : nn::kHeadLevels) levels.emplace_back(tau);
  const Learner learner = [&](const RegressionData& rows, Seed own) {
    FoldModel model(fit_quantile_boosting(rows, levels, options, own, fit.folds().gap));
    progress.advance("quantiles by trees", 1.0);
    return model;
  };
  return fit.add_models(train_folds(fit.rows(), fit.folds(), 1, learner, split(seed, stream), how),
                        fit.folds(), {}, how);
}

std::vector<double> FamilyTraining::blend_shares(std::span<const std::size_t> inputs,
                                                 std::span<const double> y,
                                                 std::span<const double> weight) const {
  const std::size_t count = inputs.size();
  std::vector<double> gram(count * count, 0.0);
  std::vector<double> error(count);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t k = 0; k < count; ++k) error[k] = fit.column(inputs[k])[i] - y[i];
    const double w = weight.empty() ? 1.0 : weight[i];
    for (std::size_t k = 0; k < count * count; ++k)
      gram[k] += w * error[k / count] * error[k % count];
  }
  return simplex_weights(gram, count);
}

std::size_t FamilyTraining::blend(std::span<const std::size_t> inputs,
                                  std::span<const double> share) const {
  std::vector<std::size_t> used;
  std::vector<double> numbers;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (share[k] <= 0.0) continue;
    used.push_back(inputs[k]);
    numbers.push_back(share[k]);
  }
  return fit.add_formula(Step::Kind::kBlend, std::move(used), std::move(numbers));
}

std::size_t FamilyTraining::probability(double value, std::vector<std::size_t> inputs,
                                        std::uint64_t stream) const {
  std::vector<double> hit;
  for (const double y : fit.rows().y) hit.push_back(y == value ? 1.0 : 0.0);
  const Matrix x = fit.x_and(inputs);
  return boosting("masses", {x, hit, fit.rows().weight}, fit.folds(), std::move(inputs),
                  kSmallTrees, stream);
}

std::size_t FamilyTraining::log_width(std::size_t first_quantile) const {
  return fit.add_formula(Step::Kind::kLogWidth,
                         {first_quantile, first_quantile + nn::kHeadLevels.size() - 1},
                         {kLeastSpread});
}

}  // namespace tare::automatic
