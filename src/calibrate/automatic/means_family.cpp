// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/means_family.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "calibrate/automatic/scale_training.h"
#include "calibrate/automatic/tree_kinds.h"

namespace tare::automatic {
namespace {

// A kind of model whose share in the blend is below the first number and whose squared error is
// above the second one times the best of the other kind is not trained in other families.
constexpr double kSmallShare = 0.02;
constexpr double kFarBehind = 1.25;

/// Whether the columns [first, last) of `members` deserve more: they have a share in the blend, or
/// are not far behind the others.
bool still_counts(const FamilyTraining& shop, std::span<const std::size_t> members,
                  std::span<const double> share, std::size_t first, std::size_t last) {
  double own = std::numeric_limits<double>::infinity();
  double other = own;
  double sum = 0.0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const bool inside = k >= first && k < last;
    double& best = inside ? own : other;
    best = std::min(best, squared_error(shop.fit, members[k]));
    if (inside) sum += share[k];
  }
  return sum >= kSmallShare || own <= kFarBehind * other;
}

/// The more rows, the less there is to average out.
std::size_t extra_trees_for(std::size_t rows, std::size_t wanted) {
  constexpr std::size_t kFullRows = 10'000;
  constexpr std::size_t kLeast = 8;
  return rows <= kFullRows ? wanted : std::max(kLeast, wanted * kFullRows / rows);
}

/// Whether a model leaves so little of the target that slower learning will find more.
bool has_little_noise(const FamilyTraining& shop, std::size_t column) {
  constexpr double kLittle = 0.01;
  const RegressionData& rows = shop.fit.rows();
  double weight = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const double w = rows.weight.empty() ? 1.0 : rows.weight[i];
    weight += w;
    sum += w * rows.y[i];
    squares += w * rows.y[i] * rows.y[i];
  }
  return squared_error(shop.fit, column) < kLittle * (squares - sum * sum / weight);
}

/// Adds the trees; returns whether there is little noise.
bool add_trees(const FamilyTraining& shop, const Effort& effort, Means& means) {
  const RegressionData& rows = shop.fit.rows();
  const auto boost = [&](const FoldBoostingOptions& trees, std::uint64_t stream) {
    means.members.push_back(shop.boosting("boosting", rows, shop.fit.folds(), {}, trees, stream));
    return squared_error(shop.fit, means.members.back());
  };
  if (effort.rough) {
    boost(rough_trees(), 12);
  } else {
    const double calm = boost(for_rows(kCalmTrees, rows.y.size()), 12);
    const double sharp = boost(for_rows(kSharpTrees, rows.y.size()), 15);
    means.calm_is_better = calm <= sharp;
  }
  const bool little_noise = has_little_noise(shop, means.members.front());
  if (!effort.rough && rows.y.size() > kManyRows && little_noise) {
    boost(kCalmTrees, 16);
    boost(kSharpTrees, 17);
  }
  Params trees;
  trees.set("trees", std::to_string(extra_trees_for(rows.y.size(), effort.trees)));
  means.members.push_back(shop.regressor("extra_trees", trees, 13));
  return little_noise;
}

/// The squared error of the best member so far.
double lowest_error(const FamilyTraining& shop, const Means& means) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const std::size_t column : means.members) {
    lowest = std::min(lowest, squared_error(shop.fit, column));
  }
  return lowest;
}

void add_networks(const FamilyTraining& shop, const Effort& effort, bool little_noise,
                  Means& means) {
  const RaceRule rule{.rival = lowest_error(shop, means), .little_noise = little_noise};
  const std::vector<NetworkShape> ladder =
      network_ladder(shop.fit.rows().y.size(), effort.rungs, effort.steps, little_noise);
  const NetworkRace race = race_networks(shop, ladder, rule, 10);
  means.members.insert(means.members.end(), race.columns.begin(), race.columns.end());
  means.networks = race.winner;
}

void add_process(const FamilyTraining& shop, Means& means) {
  if (shop.processes == nullptr) return;
  const std::vector<std::size_t> columns =
      shop.gaussian_processes("Gaussian process", shop.fit.rows(), shop.fit.folds(),
                              shop.learn_kernels(shop.fit.rows(), shop.fit.folds(), 18), 19);
  means.members.insert(means.members.end(), columns.begin(), columns.end());
}

}  // namespace

Means train_means(const FamilyTraining& shop, const Effort& effort) {
  Means means;
  const bool little_noise = add_trees(shop, effort, means);
  const std::size_t last_tree = means.members.size();
  add_process(shop, means);
  const std::size_t first_network = means.members.size();
  add_networks(shop, effort, little_noise, means);
  const std::size_t last_network = means.members.size();
  means.members.push_back(shop.regressor("ridge", {}, 14));

  const std::vector<double> share =
      shop.blend_shares(means.members, shop.fit.rows().y, shop.fit.rows().weight);
  means.trees_count = still_counts(shop, means.members, share, 0, last_tree);
  means.networks_count = still_counts(shop, means.members, share, first_network, last_network);
  means.center = shop.blend(means.members, share);
  means.spread = shop.fit.add_formula(Step::Kind::kLogSpread, means.members, {kLeastSpread});
  means.log_scale = train_log_scale(shop, means.center, std::array{means.spread}, 20);
  return means;
}

}  // namespace tare::automatic
