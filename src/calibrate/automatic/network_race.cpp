// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/network_race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/rows.h"

namespace tare::automatic {
namespace {

constexpr std::size_t kPilotFolds = 2;
// Up to this many rows all shapes are trained on all folds: two folds could not tell them apart.
constexpr std::size_t kAllRunRows = 4000;
constexpr double kGainForMore = 0.2;
constexpr double kNearRival = 3.0;
constexpr double kLeastGainOfRung = 2e-3;  // of the error
constexpr double kLossThatEnds = 0.1;      // likewise: what comes next is larger still

/// Whether models of the first folds have a lower squared error on these than `column`, by more
/// than a standard error of the difference.
bool is_better(const FamilyTraining& shop, std::span<const FoldModel> pilots, std::size_t column) {
  const RegressionData& data = shop.fit.rows();
  double saved = 0.0;
  double squares = 0.0;
  double before = 0.0;
  for (std::size_t fold = 0; fold < pilots.size(); ++fold) {
    const std::vector<std::size_t> rows = shop.fit.folds().inside(fold);
    const Matrix predicted = pilots[fold].predict(take_rows(data.x, rows), shop.how);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::size_t i = rows[k];
      const double weight = data.weight.empty() ? 1.0 : data.weight[i];
      const double was = shop.fit.column(column)[i] - data.y[i];
      const double is = predicted(k, 0) - data.y[i];
      const double gain = weight * (was * was - is * is);
      saved += gain;
      squares += gain * gain;
      before += weight * was * was;
    }
  }
  return saved > std::sqrt(squares) && saved > kLeastGainOfRung * before;
}

}  // namespace

nn::HeadNetworkOptions network_options(nn::Heads heads, const NetworkShape& shape) {
  return {.heads = heads,
          .hidden = {shape.units, shape.units},
          .steps = shape.steps,
          .rate = 1e-2,
          .keep = nn::Keep::kLast};
}

std::vector<NetworkShape> network_ladder(std::size_t rows, std::size_t rungs,
                                         std::size_t steps_wanted, bool little_noise) {
  constexpr std::size_t kBatch = 64;
  constexpr std::size_t kFewRows = 500;
  constexpr std::size_t kFewestRows = 150;
  const auto steps = [&](std::size_t passes, std::size_t least, std::size_t most) {
    if (steps_wanted > 0) return steps_wanted;
    if (!little_noise) least = least * std::clamp(rows, kFewestRows, kFewRows) / kFewRows;
    return std::clamp(passes * rows / kBatch, least, most);
  };
  std::vector<NetworkShape> ladder = {{32, steps(50, 1000, 6000)},
                                      {32, steps(150, 3000, 6000)},
                                      {64, steps(150, 3000, 9000)},
                                      {128, steps(300, 6000, 12000)}};
  ladder.resize(std::min(rungs, ladder.size()));
  const auto same = [](const NetworkShape& a, const NetworkShape& b) {
    return a.units == b.units && a.steps == b.steps;
  };
  ladder.erase(std::unique(ladder.begin(), ladder.end(), same), ladder.end());
  return ladder;
}

NetworkRace race_networks(const FamilyTraining& shop, std::span<const NetworkShape> ladder,
                          const RaceRule& rule, std::uint64_t stream) {
  NetworkRace race;
  const Folds& folds = shop.fit.folds();
  const bool all_run = shop.fit.rows().y.size() <= kAllRunRows;
  double lowest = std::numeric_limits<double>::infinity();
  double last_gain = 0.0;  // share of the error
  for (std::size_t rung = 0; rung < ladder.size(); ++rung) {
    const bool promising = rule.little_noise || last_gain >= kGainForMore;
    if (ladder[rung].units > rule.sure_units && !(promising && lowest <= kNearRival * rule.rival))
      break;
    const Learner learner =
        shop.network_learner("networks", network_options(nn::Heads::kMean, ladder[rung]));
    const Seed seed = split(split(shop.seed, stream), rung);
    const bool pilot = !all_run && !race.columns.empty() && folds.count > kPilotFolds;
    const std::size_t first = pilot ? kPilotFolds : folds.count;
    std::vector<FoldModel> models =
        train_fold_range(shop.fit.rows(), folds, {0, first}, 1, learner, seed, shop.how);
    if (pilot && !is_better(shop, models, race.columns.back())) break;
    for (FoldModel& model : train_fold_range(shop.fit.rows(), folds, {first, folds.count}, 1,
                                             learner, seed, shop.how)) {
      models.push_back(std::move(model));
    }
    race.columns.push_back(
        shop.fit.add_models({std::move(models), folds.count}, folds, {}, shop.how));
    const double error = squared_error(shop.fit, race.columns.back());
    last_gain = 1.0 - error / lowest;
    const bool learns_noise = !rule.little_noise && last_gain < -kLossThatEnds;
    if (error < lowest) {
      lowest = error;
      race.winner = ladder[rung];
    }
    if (learns_noise) break;
  }
  return race;
}

}  // namespace tare::automatic
