// SPDX-License-Identifier: BSD-3-Clause
// How a quantile network is trained; what it is otherwise lies in quantile_network.cpp.
#include "model/quantile/quantile_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "math/pinball.h"
#include "model/nn/graph/operations.h"
#include "model/nn/stored_network.h"

namespace tare {
namespace {

using nn::Var;

// Chosen on hetero_1, hetero_2 and bimodal_2, 4,000 rows, cqr, six seeds from 2000 on, check score
// of other rows: with two rounds of refinement and 16 levels a rate of 0.01 gives 0.1800, 0.1831
// and 0.1925, 0.002 gives 0.1802, 0.1839 and 0.1933; without refinement the best of these rates
// gives 0.1841 and 0.1942 on the latter two; a third round changes nothing. (The truth scores
// 0.1786, 0.1792 and 0.1866.)
constexpr double kQuantileRate = 1e-2;
constexpr std::uint64_t kRefinements = 2;
constexpr double kRefinedRate = 0.3;
// On the same data at rate 0.005, refined twice, 4, 16 and 32 levels for each row and step give
// 0.1837, 0.1833 and 0.1831 on hetero_2, 0.1927, 0.1924 and 0.1926 on bimodal_2, in 0.8, 2.2 and
// 4.2 s a fit.
constexpr std::size_t kDefaultLevels = 8;
constexpr std::size_t kMaxLevels = 1000;
constexpr std::size_t kValidationLevels = 20;

/// The levels that are ever drawn in training, midpoints of equal parts of (0, 1), and their
/// features: a look-up costs less than a normal quantile for each row, level and step.
class LevelGrid {
 public:
  static constexpr std::size_t kSize = 1000;

  static const LevelGrid& instance() {
    static const LevelGrid grid;
    return grid;
  }
  static double tau(std::size_t index) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(kSize);
  }
  std::span<const float> features(std::size_t index) const {
    return std::span<const float>(features_).subspan(index * nn::kLevelFeatures,
                                                     nn::kLevelFeatures);
  }

 private:
  LevelGrid() : features_(kSize * nn::kLevelFeatures) {
    for (std::size_t i = 0; i < kSize; ++i) {
      nn::level_features(
          tau(i), std::span<float>(features_).subspan(i * nn::kLevelFeatures, nn::kLevelFeatures));
    }
  }
  std::vector<float> features_;
};

/// An index into the grid, in part `part` of `parts` equal parts: random, or the middle.
std::size_t place_in(std::size_t part, std::size_t parts, std::size_t size, Rng* rng) {
  const double within = rng == nullptr ? 0.5 : rng->uniform();
  const double share = (static_cast<double>(part) + within) / static_cast<double>(parts);
  return std::min(size - 1, static_cast<std::size_t>(share * static_cast<double>(size)));
}

/// The levels of one row; without an rng always the same.
void draw_levels(LevelDraw draw, Rng* rng, std::span<std::size_t> out) {
  if (draw == LevelDraw::kEachRow) {
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = place_in(k, out.size(), LevelGrid::kSize, rng);
    return;
  }
  const std::size_t half = out.size() / 2;
  for (std::size_t k = 0; k < half; ++k) {
    out[k] = place_in(k, half, LevelGrid::kSize / 2, rng);
    out[half + k] = LevelGrid::kSize - 1 - out[k];
  }
}

/// The inputs of a minibatch that have to do with levels. In the network a level's rows lie one
/// above the other, level after level, so that what it makes of x is repeated as a block.
struct LevelInputs {
  Var<float> features;  // levels * rows x kLevelFeatures
  Var<float> tau;       // rows x levels
  Var<float> target;    // rows x levels, where there is one

  void put(std::size_t row, std::size_t level, std::size_t place) const {
    const std::span<const float> from = LevelGrid::instance().features(place);
    const std::size_t at = (level * tau.rows() + row) * nn::kLevelFeatures;
    std::ranges::copy(from, features.value().subspan(at).begin());
    tau.value()[row * tau.cols() + level] = static_cast<float>(LevelGrid::tau(place));
  }
};

/// levels * rows x 1, as above, to rows x levels.
Var<float> side_by_side(Var<float> stacked, std::size_t rows) {
  std::vector<Var<float>> columns;
  for (std::size_t first = 0; first < stacked.rows(); first += rows)
    columns.push_back(nn::slice_rows(stacked, first, rows));
  return nn::concat_cols(std::span<const Var<float>>(columns));
}

/// Records the loss of `count` rows.
nn::Batch record_batch(nn::Graph<float>& graph, const nn::LevelMlp& body, const QuantileTask& task,
                       const nn::ScaledRows& rows, const nn::Scaling& scaling, std::size_t count,
                       Rng* noise) {
  const std::size_t levels = noise == nullptr ? kValidationLevels : task.levels;
  LevelInputs in{graph.input(levels * count, nn::kLevelFeatures), graph.input(count, levels), {}};
  if (task.target) in.target = graph.input(count, levels);
  LevelBatch batch{nn::RowInputs(graph, rows, count), in.tau, {}, in.target};
  const std::vector<Var<float>> copies(levels, body.of_rows(batch.rows.x));
  const Var<float> sums =
      nn::concat_rows(std::span<const Var<float>>(copies)) + body.of_levels(in.features);
  batch.quantile = side_by_side(body.finish(sums), count);

  nn::Batch made;
  made.loss = noise == nullptr && task.validation ? task.validation(batch) : task.loss(batch);
  made.load = [in, batch, noise, &task, &scaling, place = std::vector<std::size_t>(levels)](
                  std::span<const std::size_t> chosen) mutable {
    batch.rows.load(chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (i == 0 || task.draw == LevelDraw::kEachRow) draw_levels(task.draw, noise, place);
      for (std::size_t k = 0; k < place.size(); ++k) {
        in.put(i, k, place[k]);
        if (task.target) {
          in.target.value()[i * place.size() + k] =
              scaling.scale_target(task.target(chosen[i], LevelGrid::tau(place[k])));
        }
      }
    }
  };
  return made;
}

/// Of the network's sorted answers, in its units, at the levels of validation.
double mean_pinball(const nn::LevelMlp& body, std::span<const float> parameters,
                    const nn::ScaledRows& rows, std::span<const std::size_t> chosen) {
  std::vector<double> taus;
  for (std::size_t k = 0; k < kValidationLevels; ++k) {
    taus.push_back((static_cast<double>(k) + 0.5) / static_cast<double>(kValidationLevels));
  }
  nn::LevelEvaluation evaluation(body, parameters, taus);
  double sum = 0.0;
  double weights = 0.0;
  for (const std::size_t i : chosen) {
    std::ranges::copy(rows.row(i), evaluation.x.value().begin());
    evaluation.run();
    std::ranges::sort(evaluation.output.value());
    const double weight = rows.weight.empty() ? 1.0 : static_cast<double>(rows.weight[i]);
    for (std::size_t k = 0; k < taus.size(); ++k) {
      sum += weight * pinball_of_error(rows.y[i] - evaluation.output.value()[k], taus[k]);
    }
    weights += weight * static_cast<double>(taus.size());
  }
  return weights > 0.0 ? sum / weights : 0.0;  // no validation row counts
}

/// Continues from the best weights at a third of the rate, repeatedly: with large steps, early
/// stopping ends a training before it is fully accurate.
void refine(const nn::TrainProblem& problem, const QuantileTask& task, Seed seed,
            nn::Fitted& fitted) {
  nn::TrainOptions options;
  options.adam = {.learning_rate = fitted.result.learning_rate,
                  .weight_decay = task.training.weight_decay};
  options.batch = fitted.batch;
  options.epochs = task.training.epochs;
  options.patience = task.training.patience;
  options.remainder = task.remainder;
  for (std::uint64_t round = 0; round < kRefinements; ++round) {
    options.adam.learning_rate *= kRefinedRate;
    options.seed = split(seed, round);
    nn::TrainProblem again = problem;
    const std::vector<float> start = fitted.result.parameters;
    again.initialise = [&start](std::span<float> parameters, Rng&) {
      std::ranges::copy(start, parameters.begin());
    };
    nn::TrainResult result = nn::train(again, options);
    if (result.validation_loss < fitted.result.validation_loss) {
      fitted.result.parameters = std::move(result.parameters);
      fitted.result.validation_loss = result.validation_loss;
      fitted.result.best_epoch = fitted.result.epochs + result.best_epoch;
    }
    fitted.result.epochs += result.epochs;
  }
}

}  // namespace

QuantileTask::QuantileTask(const Params& params)
    : hidden(nn::parse_units("hidden", params.text("hidden", "20,20"))),
      activation(nn::activation_by_name(params.text("activation", "leaky_relu"))),
      levels(params.count("levels", kDefaultLevels, 2, kMaxLevels)),
      training(params, kQuantileRate) {
  if (levels % 2 != 0) {
    fail_option("levels", fmt::to_string(levels), "must be even");
  }
}

Var<float> pinball_loss(const LevelBatch& batch) {
  const Var<float> over = batch.rows.y - batch.quantile;
  return nn::mean(batch.rows.weighted(maximum(batch.tau * over, (batch.tau - 1.0F) * over)));
}

void QuantileNetwork::train(const RegressionData& data, const QuantileTask& task, Seed seed,
                            const Execution& how) {
  const nn::ScaledRows rows(data, scaling_);
  Rng rng(split(seed, 0));
  const nn::Division division(rows.rows(), task.training.validation, rng);
  nn::TrainProblem problem;
  problem.parameters = layout_.size();
  problem.train = division.train;
  problem.validation = division.validation;
  problem.initialise = [this](std::span<float> values, Rng& start) {
    body_.initialise(values, start);
  };
  problem.record = [&](nn::Graph<float>& graph, std::size_t count, Rng* noise) {
    return record_batch(graph, body_, task, rows, scaling_, count, noise);
  };
  nn::TrainOptions base;
  base.remainder = task.remainder;
  fitted_ = nn::fit_grid(problem, task.training, base, split(seed, 1), how, task.stage);
  refine(problem, task, split(seed, 2), fitted_);
  validation_pinball_ = mean_pinball(body_, fitted_.result.parameters, rows, division.validation);
}

}  // namespace tare
