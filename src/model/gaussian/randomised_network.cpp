// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/randomised_network.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/stages.h"
#include "io/tensor_store.h"
#include "model/nn/graph/operations.h"
#include "model/nn/rank_loss.h"
#include "model/nn/stored_network.h"

namespace tare {
namespace {

/// x with one more column.
Matrix with_column(MatrixView x, std::span<const double> last) {
  Matrix wider(x.rows(), x.cols() + 1);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    std::ranges::copy(x.row(i), wider.row(i).begin());
    wider(i, x.cols()) = last[i];
  }
  return wider;
}

/// What a training learns from; must outlive it.
struct RandomisedTask {
  const GaussianLayers& layers;
  const nn::ScaledRows& rows;
  const std::vector<double>& fixed_r;  // of each row, for validation
  float r_at_0, r_at_1;                // the last column for these values
  float alpha;
};

/// A row gets a new r in each training step, and keeps its own in validation, so that epochs can be
/// compared.
nn::Batch record_randomised(const RandomisedTask& task, nn::Graph<float>& graph, std::size_t count,
                            Rng* noise) {
  const nn::RowInputs in(graph, task.rows, count);
  const nn::Var<float> r = graph.input(count, 1);
  const nn::NormalHeads<float> law = task.layers.heads(in.x, noise);
  const nn::Var<float> losses =
      task.alpha * nn::rank_loss(law, in.y, r) + (1.0F - task.alpha) * nn::gaussian_loss(law, in.y);
  nn::Batch batch;
  batch.loss = nn::mean(in.weighted(losses));
  batch.load = [in, r, noise, &task](std::span<const std::size_t> chosen) {
    in.load(chosen);
    const std::size_t cols = task.rows.cols;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto drawn =
          static_cast<float>(noise != nullptr ? noise->uniform() : task.fixed_r[chosen[i]]);
      r.value()[i] = drawn;
      in.x.value()[i * cols + cols - 1] = task.r_at_0 + drawn * (task.r_at_1 - task.r_at_0);
    }
  };
  return batch;
}

nn::Fitted train_randomised(const RandomisedTask& task, const GaussianOptions& options, Seed seed,
                            const Execution& how) {
  const nn::Division division = gaussian_division(task.rows.rows(), options, seed);
  nn::TrainProblem problem;
  problem.parameters = task.layers.parameters();
  problem.train = division.train;
  problem.validation = division.validation;
  problem.initialise = [&](std::span<float> values, Rng& rng) {
    task.layers.initialise(values, rng);
  };
  problem.record = [&](nn::Graph<float>& graph, std::size_t count, Rng* noise) {
    return record_randomised(task, graph, count, noise);
  };
  constexpr const char* kStage = "randomised forecaster";
  const std::size_t parts = options.refine > 0.0 ? 2 : 1;
  nn::Fitted fitted =
      nn::fit_grid(problem, options.training, {}, split(seed, 1), part_of(how, 0, parts), kStage);
  if (parts == 1) return fitted;
  problem.initialise = [&](std::span<float> values, Rng&) {
    std::ranges::copy(fitted.result.parameters, values.begin());
  };
  nn::FitOptions slower = options.training;
  slower.learning_rates = {options.refine * fitted.result.learning_rate};
  slower.batches = {fitted.batch};
  nn::Fitted second =
      nn::fit_grid(problem, slower, {}, split(seed, 2), part_of(how, 1, parts), kStage);
  return second.result.validation_loss < fitted.result.validation_loss ? second : fitted;
}

}  // namespace

Gaussians RandomisedNetwork::forecast(MatrixView x, std::span<const double> r,
                                      const Execution& how) const {
  if (r.size() != x.rows()) {
    fail(ErrorCode::kShapeMismatch, "{} rows and {} values of r", x.rows(), r.size());
  }
  return network_.predict(with_column(x, r), how);
}

RandomisedNetwork RandomisedNetwork::load(const TensorReader& in) {
  GaussianNetwork network = GaussianNetwork::load(in);
  if (network.features() == 0 || network.shape().window != 0) {
    fail(ErrorCode::kCorruptFile, "the model file's randomised forecaster has no column for r");
  }
  return RandomisedNetwork(std::move(network));
}

RandomisedNetwork fit_randomised_network(const RegressionData& data, const Params& params,
                                         Seed seed, const Execution& how) {
  GaussianOptions options = GaussianOptions::feed_forward(params);
  const double alpha = params.number("alpha", 0.5, 0.0, 1.0);
  // Equally spaced values in random order: each row's r in validation, and the scale of the column.
  std::vector<double> fixed_r;
  Rng rng(split(seed, 3));
  for (const std::size_t place : random_permutation(data.y.size(), rng)) {
    fixed_r.push_back((static_cast<double>(place) + 0.5) / static_cast<double>(data.y.size()));
  }
  const Matrix wider = with_column(data.x, fixed_r);
  const RegressionData with_r{wider, data.y, data.weight};
  if (nn::is_trivial(with_r)) {
    return RandomisedNetwork(fit_gaussian_network(with_r, options, seed, how));
  }

  options.shape.features = wider.cols();
  nn::Scaling scaling(with_r);
  const GaussianLayers layers(options.shape);
  const nn::ScaledRows rows(with_r, scaling);
  std::vector<double> row(wider.cols(), 0.0);
  std::array<float, 2> ends{};
  std::vector<float> scaled(wider.cols());
  for (const std::size_t end : {0U, 1U}) {
    row.back() = static_cast<double>(end);
    scaling.scale_row(row, scaled);
    ends[end] = scaled.back();
  }
  const RandomisedTask task{layers, rows, fixed_r, ends[0], ends[1], static_cast<float>(alpha)};
  nn::Fitted fitted = train_randomised(task, options, seed, how);
  return RandomisedNetwork(GaussianNetwork(options.shape, std::move(scaling), std::move(fitted),
                                           GaussianNetwork::Target::kVaries));
}

}  // namespace tare
