// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/families.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/parallel.h"
#include "calibrate/automatic/point_masses.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/simplex_weights.h"
#include "model/tree/fold_boosting.h"
#include "model/tree/light_boosting.h"

namespace tare::automatic {
namespace {

constexpr double kLeastSpread = 1e-3;     // in units of the target
constexpr double kLargestReweight = 1.5;  // of the log scale from its median, either way

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// For functions that vary slowly, with much noise.
constexpr FoldBoostingOptions kSmallTrees = {.rounds = 400,
                                             .patience = 40,
                                             .learning_rate = 0.05,
                                             .leaves = 8,
                                             .min_leaf = 20.0,
                                             .columns = 0.5,
                                             .shrink = 5.0};

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

/// Trains models of a family on folds, and reports progress: for that the seconds of each on a set
/// of 8,000 rows, roughly.
struct FamilyTraining {
  CrossFit& fit;
  const Effort& effort;
  Seed seed;
  const Execution& how;
  Progress& progress;

  std::size_t networks(std::string_view stage, nn::HeadNetworkOptions options, std::size_t members,
                       std::span<const double> weight, std::uint64_t stream) const {
    const RegressionData data{fit.rows().x, fit.rows().y,
                              weight.empty() ? fit.rows().weight : weight};
    const double seconds = static_cast<double>(options.steps * options.hidden[0]) * 1e-6;
    options.gap = fit.folds().gap;
    const Learner learner = [&](const RegressionData& rows, Seed own) {
      const auto stop = [&] { progress.advance(stage, 0.0); };
      FoldModel model(nn::HeadNetwork::fit(rows, options, own, stop));
      progress.advance(stage, seconds);
      return model;
    };
    return fit.add_models(
        train_folds(data, fit.folds(), members, learner, split(seed, stream), how), fit.folds(), {},
        how);
  }

  std::size_t regressor(std::string_view name, const Params& params, std::uint64_t stream) const {
    const RegressorKind& kind = find_regressor(name);
    const Learner learner = [&](const RegressionData& rows, Seed own) {
      FoldModel model(NamedRegressor{std::string(name), kind.fit(rows, params, own, one_thread())});
      progress.advance(name, 1.0);
      return model;
    };
    return fit.add_models(
        train_folds(fit.rows(), fit.folds(), 1, learner, split(seed, stream), how), fit.folds(), {},
        how);
  }

  std::size_t boosting(std::string_view stage, const RegressionData& data, const Folds& folds,
                       std::vector<std::size_t> inputs, FoldBoostingOptions options,
                       std::uint64_t stream) const {
    std::vector<FoldModel> models;
    options.gap = folds.gap;
    for (auto& model :
         fit_boosting_folds(data, folds.of_row, folds.count, options, split(seed, stream), how)) {
      models.emplace_back(NamedRegressor{"boosting", std::move(model)});
    }
    progress.advance(stage, static_cast<double>(folds.count));
    return fit.add_models({std::move(models), folds.count}, folds, std::move(inputs), how);
  }

  std::size_t quantile_boosting(std::uint64_t stream) const {
    QuantileBoostingOptions options;
    options.members = 1;
    std::vector<Level> levels;
    for (const double tau : nn::kHeadLevels) levels.emplace_back(tau);
    const Learner learner = [&](const RegressionData& rows, Seed own) {
      FoldModel model(fit_quantile_boosting(rows, levels, options, own, fit.folds().gap));
      progress.advance("quantiles by trees", 1.0);
      return model;
    };
    return fit.add_models(
        train_folds(fit.rows(), fit.folds(), 1, learner, split(seed, stream), how), fit.folds(), {},
        how);
  }

  /// The blend of columns with the least mean squared error over the rows, weighted.
  std::size_t blend(std::span<const std::size_t> inputs, std::span<const double> weight) const {
    const std::size_t count = inputs.size();
    const std::span<const double> y = fit.rows().y;
    std::vector<double> gram(count * count, 0.0);
    std::vector<double> error(count);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t k = 0; k < count; ++k) error[k] = fit.column(inputs[k])[i] - y[i];
      const double w = weight.empty() ? 1.0 : weight[i];
      for (std::size_t k = 0; k < count * count; ++k)
        gram[k] += w * error[k / count] * error[k % count];
    }
    const std::vector<double> share = simplex_weights(gram, count);
    std::vector<std::size_t> used;
    std::vector<double> numbers;
    for (std::size_t k = 0; k < count; ++k) {
      if (share[k] <= 0.0) continue;
      used.push_back(inputs[k]);
      numbers.push_back(share[k]);
    }
    return fit.add_formula(Step::Kind::kBlend, std::move(used), std::move(numbers));
  }

  /// A model of the log of the absolute residual of `center` on x, the center and `more`. Its folds
  /// are its own: a residual and the models that a row's residual depends on share the first ones.
  std::size_t log_scale(std::size_t center, std::span<const std::size_t> more,
                        std::uint64_t stream) const {
    std::vector<std::size_t> inputs = {center};
    inputs.insert(inputs.end(), more.begin(), more.end());
    const std::span<const double> y = fit.rows().y;
    std::vector<double> size(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) size[i] = std::abs(y[i] - fit.column(center)[i]);
    const double little = std::max(1e-2 * median_of(size), 1e-9);
    for (double& value : size) value = std::log(value + little);
    const Folds folds = fit.folds().in_time()
                            ? Folds::shifted_stretches(y.size(), fit.folds().count, fit.folds().gap)
                            : Folds::random(y.size(), fit.folds().count, split(seed, stream + 1));
    const Matrix x = fit.x_and(inputs);
    return boosting("scale", {x, size, fit.rows().weight}, folds, std::move(inputs), kSmallTrees,
                    stream);
  }

  /// A model of the probability that the target is `value`, on x and `inputs`.
  std::size_t probability(double value, std::vector<std::size_t> inputs,
                          std::uint64_t stream) const {
    std::vector<double> hit;
    for (const double y : fit.rows().y) hit.push_back(y == value ? 1.0 : 0.0);
    const Matrix x = fit.x_and(inputs);
    return boosting("masses", {x, hit, fit.rows().weight}, fit.folds(), std::move(inputs),
                    kSmallTrees, stream);
  }

  std::size_t log_width(std::size_t first_quantile) const {
    return fit.add_formula(Step::Kind::kLogWidth,
                           {first_quantile, first_quantile + nn::kHeadLevels.size() - 1},
                           {kLeastSpread});
  }
};

// Two kinds of boosting that win on different tables. Error of rows left out (eight folds, root
// mean square) on energy, yacht, concrete, boston: 0.356, -, 3.83, - with the calm one, 0.320,
// 0.456, 3.99, 2.80 with the sharp one; of twelve settings tried none was good on all.
constexpr FoldBoostingOptions kCalmTrees = {.rounds = 2000,
                                            .patience = 150,
                                            .learning_rate = 0.05,
                                            .leaves = 15,
                                            .min_leaf = 5.0,
                                            .columns = 0.7,
                                            .row_share = 0.8,
                                            .shrink = 1.0};
constexpr FoldBoostingOptions kSharpTrees = {.rounds = 2000,
                                             .patience = 150,
                                             .learning_rate = 0.1,
                                             .leaves = 8,
                                             .min_leaf = 1.0,
                                             .columns = 1.0,
                                             .row_share = 0.8,
                                             .shrink = 0.1};

constexpr std::size_t kMedianHead = nn::kHeadLevels.size() / 2;

/// The columns of the family of means that other families use.
struct Means {
  std::vector<std::size_t> members;
  std::size_t log_scale = 0;
};

/// Candidates for the target itself, in addition to "target", if many rows share a value: with a
/// kernel on x, and with a kernel on the center and the probability of the heaviest mass.
void add_mass_laws(const FamilyTraining& shop, std::size_t center,
                   std::vector<Candidate>& candidates) {
  const std::vector<PointMass> masses = find_point_masses(shop.fit.rows().y);
  if (masses.empty()) return;
  const PointMass heaviest = *std::ranges::max_element(masses, {}, &PointMass::rows);
  const std::size_t probability = shop.probability(heaviest.value, {}, 60);
  candidates.push_back({"target_x", {}, {}, {}});
  candidates.push_back({"target_mass", {}, {}, {center, probability}});
}

Means add_means(const FamilyTraining& shop, std::vector<Candidate>& candidates) {
  Means means;
  const Effort& effort = shop.effort;
  if (effort.small_networks > 0) {
    means.members.push_back(shop.networks("networks",
                                          {.heads = nn::Heads::kMean, .steps = effort.steps},
                                          effort.small_networks, {}, 10));
  }
  if (effort.large_networks > 0) {
    means.members.push_back(shop.networks("large networks",
                                          {.heads = nn::Heads::kMean,
                                           .hidden = {128, 128},
                                           .steps = effort.large_steps,
                                           .rate = 2e-3,
                                           .keep = nn::Keep::kLast},
                                          effort.large_networks, {}, 11));
  }
  const RegressionData& rows = shop.fit.rows();
  means.members.push_back(shop.boosting("boosting", rows, shop.fit.folds(), {}, kCalmTrees, 12));
  means.members.push_back(shop.boosting("boosting", rows, shop.fit.folds(), {}, kSharpTrees, 15));
  Params trees;
  trees.set("trees", std::to_string(effort.trees));
  means.members.push_back(shop.regressor("extra_trees", trees, 13));
  means.members.push_back(shop.regressor("ridge", {}, 14));

  const std::size_t center = shop.blend(means.members, shop.fit.rows().weight);
  const std::size_t spread =
      shop.fit.add_formula(Step::Kind::kLogSpread, means.members, {kLeastSpread});
  const std::size_t scale = shop.log_scale(center, std::array{spread}, 20);
  means.log_scale = scale;
  candidates.push_back({"mean", center, scale, {center, scale}});
  candidates.push_back({"raw", center, {}, {}});
  candidates.push_back({"raw_local", center, {}, {center, scale, spread}});
  candidates.push_back({"target", {}, {}, {center, scale, spread}});
  add_mass_laws(shop, center, candidates);
  return means;
}

/// 1 / scale^2, clipped, times the row's own weight.
std::vector<double> noise_weights(const CrossFit& fit, std::size_t log_scale) {
  const std::span<const double> scale = fit.column(log_scale);
  const double middle = median_of({scale.begin(), scale.end()});
  std::vector<double> weight(scale.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double away = std::clamp(scale[i] - middle, -kLargestReweight, kLargestReweight);
    weight[i] = std::exp(-2.0 * away) * (fit.rows().weight.empty() ? 1.0 : fit.rows().weight[i]);
  }
  return weight;
}

void add_reweighted(const FamilyTraining& shop, const Means& means,
                    std::vector<Candidate>& candidates) {
  const std::vector<double> weight = noise_weights(shop.fit, means.log_scale);
  std::vector<std::size_t> members = means.members;
  members.push_back(shop.networks("networks, reweighted",
                                  {.heads = nn::Heads::kMean, .steps = shop.effort.steps},
                                  shop.effort.small_networks, weight, 30));
  const RegressionData rows{shop.fit.rows().x, shop.fit.rows().y, weight};
  members.push_back(
      shop.boosting("boosting, reweighted", rows, shop.fit.folds(), {}, kCalmTrees, 31));
  members.push_back(
      shop.boosting("boosting, reweighted", rows, shop.fit.folds(), {}, kSharpTrees, 33));
  const std::size_t center = shop.blend(members, weight);
  const std::size_t spread = shop.fit.add_formula(Step::Kind::kLogSpread, members, {kLeastSpread});
  const std::size_t scale = shop.log_scale(center, std::array{spread}, 32);
  candidates.push_back({"reweighted", center, scale, {center, scale}});
}

void add_normal(const FamilyTraining& shop, std::vector<Candidate>& candidates) {
  const std::size_t first = shop.networks("networks of normal laws",
                                          {.heads = nn::Heads::kNormal, .steps = shop.effort.steps},
                                          shop.effort.small_networks, {}, 40);
  const std::size_t scale =
      shop.fit.add_formula(Step::Kind::kLogSd, {first, first + 1}, {kLeastSpread});
  candidates.push_back({"normal", first, scale, {first, scale}});
}

void add_quantiles(const FamilyTraining& shop, std::vector<Candidate>& candidates) {
  const std::size_t first = shop.networks(
      "networks of quantiles", {.heads = nn::Heads::kQuantiles, .steps = shop.effort.steps},
      shop.effort.small_networks, {}, 50);
  const std::size_t median = first + kMedianHead;
  const std::size_t width = shop.log_width(first);
  candidates.push_back({"quantile", median, width, {median, width}});

  const std::size_t boosted = shop.quantile_boosting(51);
  const std::size_t boosted_median = boosted + kMedianHead;
  const std::size_t boosted_width = shop.log_width(boosted);
  candidates.push_back(
      {"quantile_trees", boosted_median, boosted_width, {boosted_median, boosted_width}});

  const std::size_t center =
      shop.fit.add_formula(Step::Kind::kBlend, {median, boosted_median}, {0.5, 0.5});
  const std::size_t scale = shop.log_scale(center, std::array{width, boosted_width}, 52);
  candidates.push_back({"median", center, scale, {center, scale}});
}

double total_seconds(const Effort& effort) {
  const double small = static_cast<double>(effort.small_networks * effort.steps) * 64e-6;
  const double large = static_cast<double>(effort.large_networks * effort.large_steps) * 128e-6;
  const double all = effort.all_families ? 4.0 * small + large + 9.0 : small + large + 5.0;
  return static_cast<double>(effort.folds) * all;
}

}  // namespace

std::vector<Candidate> train_families(CrossFit& fit, const Effort& effort, Seed seed,
                                      const Execution& how) {
  Progress progress(how, total_seconds(effort));
  const FamilyTraining shop{fit, effort, seed, how, progress};
  std::vector<Candidate> candidates;
  const Means means = add_means(shop, candidates);
  if (effort.all_families) {
    add_reweighted(shop, means, candidates);
    add_normal(shop, candidates);
    add_quantiles(shop, candidates);
  }
  return candidates;
}

std::vector<Candidate> train_given_families(CrossFit& fit, std::size_t center,
                                            std::optional<std::size_t> log_scale, Seed seed,
                                            const Execution& how) {
  const Effort effort;
  Progress progress(how, static_cast<double>(fit.folds().count));
  const FamilyTraining shop{fit, effort, seed, how, progress};
  std::vector<std::size_t> more;
  if (log_scale) more.push_back(*log_scale);
  const std::size_t scale = shop.log_scale(center, more, 20);
  std::vector<Candidate> candidates;
  candidates.push_back({"given", center, scale, {center, scale}});
  candidates.push_back({"raw", center, {}, {}});
  candidates.push_back({"raw_local", center, {}, {center, scale}});
  candidates.push_back({"target", {}, {}, {center, scale}});
  add_mass_laws(shop, center, candidates);
  if (log_scale) {
    candidates.push_back({"given_scale", center, *log_scale, {center, *log_scale}});
    candidates.push_back({"given_scale_x", center, *log_scale, {}});
  }
  return candidates;
}

std::vector<Candidate> train_mass_laws(CrossFit& fit, std::size_t center, std::size_t spread,
                                       double heaviest, Seed seed, const Execution& how) {
  std::vector<Candidate> candidates = {{"target", {}, {}, {center, spread}}};
  std::optional<std::size_t> probability;
  if (fit.folds().in_time()) {
    const Effort effort;
    Progress progress(how, static_cast<double>(fit.folds().count));
    const FamilyTraining shop{fit, effort, seed, how, progress};
    probability = shop.probability(heaviest, {center, spread}, 60);
  } else {
    std::vector<double> hit;
    for (const double y : fit.rows().y) hit.push_back(y == heaviest ? 1.0 : 0.0);
    std::vector<std::size_t> inputs = {center, spread};
    const Matrix x = fit.x_and(inputs);
    LightBoosting trees =
        fit_light_boosting(LightRows(x, fit.rows().weight, how), hit, {}, seed, how);
    if (trees.model) {
      probability = fit.add_model(FoldModel(NamedRegressor{"boosting", std::move(trees.model)}),
                                  std::move(inputs), std::move(trees.out_of_fold));
    }
  }
  if (probability) {
    candidates.push_back({"target_mass", {}, {}, {center, *probability}});
    candidates.push_back({"target_probability", {}, {}, {*probability}});
  }
  return candidates;
}

}  // namespace tare::automatic
