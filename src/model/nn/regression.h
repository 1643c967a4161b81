// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/graph/graph.h"
#include "model/nn/scaling.h"
#include "model/nn/trainer.h"
#include "tare/base/execution.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace tare::nn {

/// The options that every network regressor has.
struct FitOptions {
  /// Reads learning_rate, batch, epochs, patience, weight_decay, validation and grid.
  FitOptions(const Params& params, double default_rate, std::size_t default_batch = 64);

  std::vector<double>
      learning_rates;  // every pair of a rate and a batch is tried, and the best one kept
  std::vector<std::size_t> batches;
  std::size_t epochs;
  std::size_t patience;
  double weight_decay;
  double validation;  // share of the rows
};

/// A network: what it learns and how it is evaluated. Used from several threads.
struct Network {
  std::size_t parameters = 0;
  std::function<void(std::span<float> parameters, Rng& rng)> initialise;
  /// rows x features to rows x outputs. `noise` is null where nothing random is wanted.
  std::function<Var<float>(Var<float> x, Rng* noise)> output;
};

struct Fitted {
  TrainResult result;
  std::size_t batch = 0;
};

/// Training rows and validation rows for early stopping. If there are too few rows, all are both.
struct Division {
  Division(std::size_t rows, double validation_share, Rng& rng);
  /// For rows in time order: validation rows are blocks of time, and rows within `gap` of a block
  /// are neither.
  Division(std::size_t rows, double validation_share, std::size_t gap, Rng& rng);

  std::vector<std::size_t> train;
  std::vector<std::size_t> validation;
};

/// A batch of rows as inputs of a graph.
struct RowInputs {
  RowInputs(Graph<float>& graph, const ScaledRows& rows, std::size_t count);

  /// `losses` (a row each) times the rows' weights, where they have any.
  Var<float> weighted(Var<float> losses) const;
  void load(std::span<const std::size_t> chosen) const;

  const ScaledRows* rows;
  Var<float> x;       // count x columns
  Var<float> y;       // count x 1
  Var<float> weight;  // count x 1, where rows are weighted
};

/// Trains once for each pair of the grid, side by side, from the same start, and keeps the one with
/// the lowest validation loss. `base` gives what the grid does not: the schedule, the remainder.
/// `stage` names the work in the progress reports.
Fitted fit_grid(const TrainProblem& problem, const FitOptions& options, const TrainOptions& base,
                Seed seed, const Execution& how, std::string_view stage);

/// Minimises the weighted mean squared error, in units of the target's variance; pairs of the grid
/// run side by side. `stage` names the work in the progress reports.
Fitted fit_least_squares(const Network& network, const ScaledRows& rows, const FitOptions& options,
                         Seed seed, const Execution& how, std::string_view stage);

/// Evaluates a network on rows in the user's units, in blocks over the threads of `how`, in float.
/// `take` gets the output of row i; the value does not depend on the other rows or on the threads.
void evaluate_rows(const Network& network, std::span<const float> parameters,
                   const Scaling& scaling, MatrixView x, const Execution& how,
                   const std::function<void(std::size_t i, std::span<const float> output)>& take);

}  // namespace tare::nn
