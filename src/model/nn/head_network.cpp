// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/head_network.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/fail.h"
#include "io/tensor_store.h"
#include "model/nn/gaussian_loss.h"
#include "model/nn/graph/operations.h"
#include "model/nn/stored_network.h"

namespace tare::nn {
namespace {

constexpr std::size_t kHeadBatch = 64;
constexpr double kHeadDecay = 1e-3;
constexpr double kHeadValidation = 0.125;
constexpr float kLeastSd = 1e-3F;  // in units of the target

std::size_t raw_heads(Heads heads) { return head_count(heads); }

Var<float> sd_of(Var<float> raw) { return softplus(raw) + kLeastSd; }

/// The loss of each row: count x 1.
Var<float> head_losses(Heads heads, Var<float> raw, Var<float> y) {
  if (heads == Heads::kMean) return square(raw - y);
  if (heads == Heads::kNormal) {
    return gaussian_loss(NormalHeads<float>{slice_cols(raw, 0, 1), sd_of(slice_cols(raw, 1, 1))},
                         y);
  }
  Var<float> tau = raw.graph().input(1, kHeadLevels.size());
  std::ranges::transform(kHeadLevels, tau.value().begin(),
                         [](double level) { return static_cast<float>(level); });
  const Var<float> above = y - raw;
  return row_sums(maximum(tau * above, (tau - 1.0F) * above));
}

/// Rises to 1 in the first tenth of the steps, then falls to 0, both along a cosine.
double one_cycle(double share) {
  constexpr double kRise = 0.1;
  constexpr double kStart = 0.04;
  const auto wave = [](double from, double to, double part) {
    return to + (from - to) * 0.5 * (1.0 + std::cos(std::numbers::pi * part));
  };
  return share < kRise ? wave(kStart, 1.0, share / kRise)
                       : wave(1.0, 1e-4, (share - kRise) / (1.0 - kRise));
}

/// From what the network puts out to an answer that may be averaged.
void finish_heads(Heads heads, std::span<const float> raw, std::span<double> out) {
  if (heads == Heads::kNormal) {
    const double mean = static_cast<double>(raw[0]);
    const double linear = static_cast<double>(raw[1]);
    const double sd = std::max(linear, 0.0) + std::log1p(std::exp(-std::abs(linear))) +
                      static_cast<double>(kLeastSd);
    out[0] = mean;
    out[1] = bounded(mean * mean + sd * sd);
    return;
  }
  for (std::size_t k = 0; k < raw.size(); ++k) out[k] = static_cast<double>(raw[k]);
  std::ranges::sort(out);
}

}  // namespace

std::size_t head_count(Heads heads) {
  if (heads == Heads::kMean) return 1;
  return heads == Heads::kNormal ? 2 : kHeadLevels.size();
}

HeadNetwork::HeadNetwork(Heads heads, std::vector<std::size_t> hidden, Scaling scaling)
    : heads_(heads),
      hidden_(std::move(hidden)),
      scaling_(std::move(scaling)),
      mlp_(layout_, scaling_.features(), hidden_, raw_heads(heads)) {
  mlp_.activation = Unary::kSilu;
}

Network HeadNetwork::network() const {
  Network network;
  network.parameters = layout_.size();
  network.initialise = [this](std::span<float> values, Rng& rng) { mlp_.initialise(values, rng); };
  network.output = [this](Var<float> x, Rng* noise) { return mlp_(x, noise); };
  return network;
}

HeadNetwork HeadNetwork::fit(const RegressionData& data, const HeadNetworkOptions& options,
                             Seed seed, const std::function<void()>& stop) {
  HeadNetwork made(options.heads, options.hidden, Scaling::of_columns(data));
  const ScaledRows rows(data, made.scaling_);
  Rng rng(split(seed, 0));
  const double held_out = options.keep == Keep::kBest ? kHeadValidation : 0.0;
  const Division division = options.gap > 0 && held_out > 0.0
                                ? Division(rows.rows(), held_out, options.gap, rng)
                                : Division(rows.rows(), held_out, rng);

  TrainProblem problem;
  problem.parameters = made.layout_.size();
  problem.train = division.train;
  problem.validation = division.validation;
  problem.initialise = [&](std::span<float> values, Rng& start) {
    made.mlp_.initialise(values, start);
  };
  problem.record = [&](Graph<float>& graph, std::size_t count, Rng* noise) {
    const RowInputs in(graph, rows, count);
    Batch batch;
    batch.loss = mean(in.weighted(head_losses(options.heads, made.mlp_(in.x, noise), in.y)));
    batch.load = [in](std::span<const std::size_t> chosen) { in.load(chosen); };
    return batch;
  };

  TrainOptions training;
  training.adam.learning_rate = options.rate;
  training.adam.weight_decay = kHeadDecay;
  training.batch = kHeadBatch;
  const std::size_t in_epoch = (division.train.size() + kHeadBatch - 1) / kHeadBatch;
  training.epochs = std::max<std::size_t>(1, (options.steps + in_epoch / 2) / in_epoch);
  training.patience = training.epochs;
  training.keep = options.keep;
  training.seed = split(seed, 1);
  training.schedule = one_cycle;
  if (stop) training.progress = [&](std::size_t, double) { stop(); };
  made.fitted_ = {train(problem, training), kHeadBatch};
  return made;
}

void HeadNetwork::predict(MatrixView x, MatrixSpan out, const Execution& how) const {
  if (x.cols() != features() || out.rows() != x.rows() || out.cols() != heads()) {
    fail(ErrorCode::kShapeMismatch,
         "head network: {} columns and {} answers, asked about {} and {}", features(), heads(),
         x.cols(), out.cols());
  }
  evaluate_rows(
      network(), fitted_.result.parameters, scaling_, x, how,
      [&](std::size_t i, std::span<const float> raw) { finish_heads(heads_, raw, out.row(i)); });
}

void HeadNetwork::save(const TensorWriter& out) const {
  out.value("heads", static_cast<std::size_t>(heads_));
  out.value("hidden", hidden_);
  scaling_.save(out);
  save_training(fitted_, out);
  for (std::size_t k = 0; k < mlp_.layers.size(); ++k) {
    const TensorWriter layer = out.part("layer" + std::to_string(k));
    save_block(fitted_.result.parameters, mlp_.layers[k].weight, "weight", layer);
    save_block(fitted_.result.parameters, mlp_.layers[k].bias, "bias", layer);
  }
}

HeadNetwork HeadNetwork::load(const TensorReader& in) {
  const auto heads = static_cast<Heads>(in.count("heads", 2));
  HeadNetwork made(heads, load_units("hidden", in), Scaling(in));
  made.fitted_ = load_training(in);
  for (std::size_t k = 0; k < made.mlp_.layers.size(); ++k) {
    const TensorReader layer = in.part("layer" + std::to_string(k));
    load_block(layer, "weight", made.mlp_.layers[k].weight, made.fitted_.result.parameters);
    load_block(layer, "bias", made.mlp_.layers[k].bias, made.fitted_.result.parameters);
  }
  return made;
}

}  // namespace tare::nn
