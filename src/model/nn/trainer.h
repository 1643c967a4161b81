// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/nn/adam.h"
#include "model/nn/graph/graph.h"
#include "tare/base/rng.h"

namespace tare::nn {

/// A loss recorded for a fixed number of rows, and how those rows get into its inputs.
struct Batch {
  Var<float> loss;  // a mean over the rows
  std::function<void(std::span<const std::size_t> rows)> load;
};

/// What is to be learned. Row numbers mean whatever `record` takes them to mean.
struct TrainProblem {
  std::size_t parameters = 0;
  std::span<const std::size_t> train;       // at least one
  std::span<const std::size_t> validation;  // at least one; may be the same rows
  std::function<void(std::span<float> parameters, Rng& rng)> initialise;
  /// Records the loss of `rows` rows. `noise` is for dropout and the like; null for validation.
  std::function<Batch(Graph<float>& graph, std::size_t rows, Rng* noise)> record;
};

/// What happens to the rows of an epoch that do not fill a minibatch.
enum class Remainder : std::uint8_t {
  kTrain,  // they are a smaller minibatch of their own: every row counts in every epoch
  kDrop,   // left out of this epoch, for losses that need a certain number of rows; others are left
           // out next time
};

/// Which parameters a training ends with.
enum class Keep : std::uint8_t {
  kBest,  // those with the lowest validation loss
  kLast,  // the last ones, for a schedule that ends in small steps; nothing is validated
};

struct TrainOptions {
  AdamOptions adam;
  std::size_t batch = 64;  // fewer where there are fewer rows
  std::size_t epochs = 1000;
  std::size_t patience = 20;
  Remainder remainder = Remainder::kTrain;
  Keep keep = Keep::kBest;
  Seed seed;
  /// Factor of the learning rate when this share of all steps, in [0, 1), is done; empty: always 1.
  std::function<double(double share)> schedule;
  /// Called after each epoch; may throw to stop.
  std::function<void(std::size_t epoch, double validation_loss)> progress;
};

struct TrainResult {
  std::vector<float> parameters;  // as Keep says
  double validation_loss = 0.0;
  std::size_t best_epoch = 0;  // counted from 1
  std::size_t epochs = 0;      // how many were run
  double learning_rate = 0.0;  // the one that worked
};

/// Adam on minibatches, reshuffled each epoch, until the lowest validation loss is `patience`
/// epochs old or `epochs` have passed. A loss that is not finite starts everything anew at a third
/// of the learning rate; a second one is kBadData. No allocation after the first step. Trainings
/// may run side by side in several threads.
TrainResult train(const TrainProblem& problem, const TrainOptions& options);

}  // namespace tare::nn
