// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/families.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "calibrate/automatic/family_training.h"
#include "calibrate/automatic/means_family.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/automatic/scale_training.h"
#include "calibrate/automatic/tree_kinds.h"
#include "model/boosting/light_boosting.h"

namespace tare::automatic {
namespace {

constexpr double kLargestReweight = 1.5;  // of the log scale from its median, either way
constexpr std::size_t kMedianHead = nn::kHeadLevels.size() / 2;

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

void add_means(const FamilyTraining& shop, const Effort& effort, const Means& means,
               std::vector<Candidate>& candidates) {
  const auto [center, spread, scale] = std::array{means.center, means.spread, means.log_scale};
  candidates.push_back({"mean", center, scale, {center, scale}});
  if (!effort.rough) candidates.push_back({"raw", center, {}, {}});
  candidates.push_back({"raw_local", center, {}, {center, scale, spread}});
  if (!effort.rough || !find_point_masses(shop.fit.rows().y).empty()) {
    candidates.push_back({"target", {}, {}, {center, scale, spread}});
  }
  add_mass_laws(shop, center, candidates);
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
  if (means.networks_count) {
    members.push_back(shop.networks("networks, reweighted",
                                    network_options(nn::Heads::kMean, means.networks), weight, 30));
  }
  const RegressionData rows{shop.fit.rows().x, shop.fit.rows().y, weight};
  if (shop.processes != nullptr) {
    // Kernels of their own: without weights the noisiest rows rule the likelihood.
    const std::vector<std::size_t> columns =
        shop.gaussian_processes("Gaussian process, reweighted", rows, shop.fit.folds(),
                                shop.learn_kernels(rows, shop.fit.folds(), 35), 34);
    members.insert(members.end(), columns.begin(), columns.end());
  }
  const auto add_boosting = [&](const FoldBoostingOptions& trees, std::uint64_t stream) {
    members.push_back(shop.boosting("boosting, reweighted", rows, shop.fit.folds(), {},
                                    for_rows(trees, rows.y.size()), stream));
  };
  if (means.trees_count) add_boosting(means.calm_is_better ? kCalmTrees : kSharpTrees, 31);
  const std::size_t center = shop.blend(members, shop.blend_shares(members, rows.y, weight));
  const std::size_t spread = shop.fit.add_formula(Step::Kind::kLogSpread, members, {kLeastSpread});
  const std::size_t scale = train_log_scale(shop, center, std::array{spread}, 32);
  candidates.push_back({"reweighted", center, scale, {center, scale}});
}

void add_normal(const FamilyTraining& shop, const Means& means,
                std::vector<Candidate>& candidates) {
  if (!means.networks_count) return;
  const std::size_t first = shop.networks(
      "networks of normal laws", network_options(nn::Heads::kNormal, means.networks), {}, 40);
  const std::size_t scale =
      shop.fit.add_formula(Step::Kind::kLogSd, {first, first + 1}, {kLeastSpread});
  candidates.push_back({"normal", first, scale, {first, scale}});
}

void add_quantiles(const FamilyTraining& shop, const Means& means,
                   std::vector<Candidate>& candidates) {
  std::vector<std::size_t> medians;
  std::vector<std::size_t> widths;
  const auto add = [&](const char* name, std::size_t first) {
    medians.push_back(first + kMedianHead);
    widths.push_back(shop.log_width(first));
    candidates.push_back({name, medians.back(), widths.back(), {medians.back(), widths.back()}});
  };
  if (means.networks_count) {
    add("quantile", shop.networks("networks of quantiles",
                                  network_options(nn::Heads::kQuantiles, means.networks), {}, 50));
  }
  if (means.trees_count && shop.fit.rows().y.size() <= kManyRows) {
    add("quantile_trees", shop.quantile_boosting(51));
  }
  if (medians.empty()) return;
  const std::vector<double> equal(medians.size(), 1.0 / static_cast<double>(medians.size()));
  const std::size_t center = shop.fit.add_formula(Step::Kind::kBlend, medians, equal);
  const std::size_t scale = train_log_scale(shop, center, widths, 52);
  candidates.push_back({"median", center, scale, {center, scale}});
}

/// Quantiles of the target that are smooth in x: best where features are few and rows, too. The
/// lengths that the Gaussian processes found for each feature, in place of one for all, were no
/// better.
void add_smooth(const FamilyTraining& shop, std::vector<Candidate>& candidates) {
  constexpr std::size_t kMostSmoothRows = 2'000;  // the time goes with the square
  if (shop.processes == nullptr || shop.fit.rows().y.size() > kMostSmoothRows) return;
  candidates.push_back({.name = "smooth", .smooth = true});
}

/// Whether Gaussian processes can be trained in a few tenths of a second, and predicting a row from
/// its neighbours in a table is fair: not in a series.
bool suit_processes(const CrossFit& fit) {
  constexpr std::size_t kMostRows = 20'000;
  constexpr std::size_t kMostColumns = 100;
  const std::size_t cols = fit.rows().x.cols();
  return !fit.folds().in_time() && fit.rows().y.size() <= kMostRows && cols > 0 &&
         cols <= kMostColumns;
}

/// Roughly, on a set of 8,000 rows, if nothing is left out.
double total_seconds(const FamilyTraining& shop, const Effort& effort) {
  const std::vector<NetworkShape> ladder =
      network_ladder(shop.fit.rows().y.size(), effort.rungs, effort.steps);
  double seconds = effort.all_families ? 9.0 : 5.0;
  for (const NetworkShape& shape : ladder) seconds += network_seconds(shape.units, shape.steps);
  const double last = network_seconds(ladder.back().units, ladder.back().steps);
  const double kinds = effort.all_families ? 4.0 : 1.0;
  seconds += last * (kinds - 1.0);
  return static_cast<double>(effort.folds) * seconds;
}

}  // namespace

std::vector<Candidate> train_families(CrossFit& fit, const Effort& effort, Seed seed,
                                      const Execution& how) {
  Progress progress(how, 1.0);
  GpKernels kernels;
  const bool processes = effort.processes && suit_processes(fit);
  const FamilyTraining shop{fit, seed, how, progress, processes ? &kernels : nullptr};
  progress.set_total(total_seconds(shop, effort));
  std::vector<Candidate> candidates;
  const Means means = train_means(shop, effort);
  add_means(shop, effort, means, candidates);
  if (effort.all_families) {
    add_reweighted(shop, means, candidates);
    add_normal(shop, means, candidates);
    add_quantiles(shop, means, candidates);
  }
  if (effort.smooth) add_smooth(shop, candidates);
  return candidates;
}

std::vector<Candidate> train_given_families(CrossFit& fit, std::size_t center,
                                            std::optional<std::size_t> log_scale, Seed seed,
                                            const Execution& how) {
  Progress progress(how, static_cast<double>(fit.folds().count));
  const FamilyTraining shop{fit, seed, how, progress};
  std::vector<std::size_t> more;
  if (log_scale) more.push_back(*log_scale);
  const std::size_t scale = train_log_scale(shop, center, more, 20);
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
    Progress progress(how, static_cast<double>(fit.folds().count));
    const FamilyTraining shop{fit, seed, how, progress};
    probability = shop.probability(heaviest, {center, spread}, 60);
  } else {
    std::vector<double> hit;
    for (const double y : fit.rows().y) hit.push_back(y == heaviest ? 1.0 : 0.0);
    std::vector<std::size_t> inputs = {center, spread};
    const Matrix x = fit.x_and(inputs);
    LightBoosting trees =
        fit_light_boosting(LightRows(x, fit.rows().weight, how), hit, {}, seed, how);
    if (trees.model) {
      std::vector<FoldModel> model;
      model.emplace_back(NamedRegressor{"boosting", std::move(trees.model)});
      probability = fit.add_models_of_all(FoldModels(std::move(model), 1), std::move(inputs),
                                          std::move(trees.out_of_fold));
    }
  }
  if (probability) {
    candidates.push_back({"target_mass", {}, {}, {center, *probability}});
    candidates.push_back({"target_probability", {}, {}, {*probability}});
  }
  return candidates;
}

}  // namespace tare::automatic
