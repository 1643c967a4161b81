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

/// How many parts the folds come in for the kernels of Gaussian processes: as few as leave each
/// kernel three quarters of the rows that it can use, and never many, as every part takes time. One
/// where the rows that a kernel is learned from are few among all: it has not seen the others.
std::size_t kernel_parts(std::size_t rows, std::size_t folds) {
  constexpr std::size_t kMostParts = 4;
  constexpr std::size_t kEnough = 3 * kKernelRows / 4;
  constexpr std::size_t kFewAmongAll = 12 * kKernelRows;
  if (rows >= kFewAmongAll) return 1;
  std::size_t parts = 2;
  while (parts < std::min(folds, kMostParts) && rows - rows / parts < kEnough) ++parts;
  return parts;
}

std::size_t part_of_fold(std::size_t fold, std::size_t folds, std::size_t parts) {
  return fold * parts / folds;
}

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
                                     std::span<const double> weight, std::uint64_t stream) const {
  const RegressionData data{fit.rows().x, fit.rows().y,
                            weight.empty() ? fit.rows().weight : weight};
  return fit.add_models(
      train_folds(data, fit.folds(), 1, network_learner(stage, options), split(seed, stream), how),
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

std::vector<PartKernels> FamilyTraining::learn_kernels(const RegressionData& data,
                                                       const Folds& folds,
                                                       std::uint64_t stream) const {
  std::vector<GpForm> forms = {GpForm::kTogether};
  if (data.x.cols() > 1) forms.push_back(GpForm::kTogetherAndAlone);
  const std::size_t parts = kernel_parts(data.y.size(), folds.count);
  std::vector<PartKernels> kernels(forms.size(), PartKernels(parts));
  parallel_for(how, forms.size() * parts, [&](std::size_t job) {
    const std::size_t part = job % parts;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      const bool in_part = part_of_fold(folds.of_row[i], folds.count, parts) == part;
      if (parts == 1 || !in_part) others.push_back(i);
    }
    const Matrix x = take_rows(data.x, others);
    const std::vector<double> y = take_rows(data.y, others);
    const std::vector<double> weight = take_rows(data.weight, others);
    kernels[job / parts][part] = learn_gp_kernel({x, y, weight}, forms[job / parts],
                                                 split(split(seed, stream), part), one_thread());
  });
  return kernels;
}

std::vector<std::size_t> FamilyTraining::gaussian_processes(std::string_view stage,
                                                            const RegressionData& data,
                                                            const Folds& folds,
                                                            std::span<const PartKernels> kernels,
                                                            std::uint64_t stream) const {
  std::vector<std::size_t> columns;
  for (const PartKernels& of_form : kernels) {
    const std::size_t parts = of_form.size();
    std::vector<FoldModel> models;
    std::vector<double> unseen(data.y.size());
    for (std::size_t part = 0; part < parts; ++part) {
      GpFit made =
          fit_gaussian_process(data, of_form[part], folds.of_row, split(seed, stream), how);
      if (!made.model) break;
      models.emplace_back(NamedRegressor{"gp", std::move(made.model)});
      for (std::size_t i = 0; i < unseen.size(); ++i) {
        if (part_of_fold(folds.of_row[i], folds.count, parts) == part) unseen[i] = made.without[i];
      }
    }
    progress.advance(stage, 1.0);
    if (models.size() < parts) continue;
    columns.push_back(
        fit.add_models_of_all(FoldModels(std::move(models), parts), {}, std::move(unseen)));
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
