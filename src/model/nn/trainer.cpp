// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "base/fail.h"

namespace tare::nn {
namespace {

constexpr std::size_t kValidationBlock = 256;  // rows; its activations stay in the second cache

/// The same loss recorded for full blocks of rows and for what is left over.
class BlockedLoss {
 public:
  BlockedLoss(const TrainProblem& problem, std::size_t rows, std::size_t block, Rng* noise,
              std::span<const float> values, std::span<float> gradient)
      : block_(std::min(rows, block)) {
    full_ = recorded(problem, block_, noise, values, gradient);
    const std::size_t left = rows % block_;
    if (left > 0) rest_ = recorded(problem, left, noise, values, gradient);
  }

  /// Calls visit(graph, loss, rows) for each block, with its rows loaded.
  template <class Visit>
  void each(std::span<const std::size_t> rows, Visit visit) {
    for (std::size_t first = 0; first < rows.size(); first += block_) {
      const auto part = rows.subspan(first, std::min(block_, rows.size() - first));
      Recorded& one = part.size() == block_ ? full_ : rest_;
      one.batch.load(part);
      if (!visit(*one.graph, one.batch.loss, part.size())) return;
    }
  }

  /// The mean loss of the rows, without training on them.
  double mean_over(std::span<const std::size_t> rows) {
    double sum = 0.0;
    each(rows, [&](Graph<float>& graph, const Var<float>& loss, std::size_t count) {
      graph.forward();
      sum += static_cast<double>(loss.value()[0]) * static_cast<double>(count);
      return true;
    });
    return sum / static_cast<double>(rows.size());
  }

  std::size_t block() const { return block_; }

 private:
  struct Recorded {
    std::unique_ptr<Graph<float>> graph;
    Batch batch;
  };

  static Recorded recorded(const TrainProblem& problem, std::size_t rows, Rng* noise,
                           std::span<const float> values, std::span<float> gradient) {
    Recorded made{std::make_unique<Graph<float>>(values, gradient), {}};
    made.batch = problem.record(*made.graph, rows, noise);
    return made;
  }

  std::size_t block_;
  Recorded full_;
  Recorded rest_;
};

/// A training from scratch; nothing when a loss is not finite.
std::optional<TrainResult> attempt(const TrainProblem& problem, const TrainOptions& options) {
  TrainResult result;
  result.learning_rate = options.adam.learning_rate;
  std::vector<float> values(problem.parameters);
  std::vector<float> gradient(problem.parameters);
  Rng start(split(options.seed, 0));
  Rng order_rng(split(options.seed, 1));
  Rng noise(split(options.seed, 2));
  problem.initialise(values, start);
  result.parameters = values;  // takes the snapshot's memory now, and not at the first good epoch

  std::vector<std::size_t> order(problem.train.begin(), problem.train.end());
  BlockedLoss training(problem, order.size(), options.batch, &noise, values, gradient);
  BlockedLoss validation(problem, problem.validation.size(), kValidationBlock, nullptr, values, {});
  const std::size_t used = options.remainder == Remainder::kDrop
                               ? order.size() / training.block() * training.block()
                               : order.size();
  const double all_rows = static_cast<double>(used) * static_cast<double>(options.epochs);
  Adam adam(problem.parameters, options.adam);

  double best = std::numeric_limits<double>::infinity();
  double rows_done = 0.0;
  for (std::size_t epoch = 1; epoch <= options.epochs; ++epoch) {
    shuffle(std::span<std::size_t>(order), order_rng);
    bool finite = true;
    training.each(std::span<const std::size_t>(order).first(used),
                  [&](Graph<float>& graph, const Var<float>& loss, std::size_t rows) {
                    std::ranges::fill(gradient, 0.0F);
                    graph.forward();
                    finite = std::isfinite(loss.value()[0]);
                    if (!finite) return false;
                    graph.backward(loss);
                    adam.step(values, gradient,
                              options.schedule ? options.schedule(rows_done / all_rows) : 1.0);
                    rows_done += static_cast<double>(rows);
                    return true;
                  });
    if (!finite) return std::nullopt;

    const bool look = options.keep == Keep::kBest || epoch == options.epochs;
    const double current = look ? validation.mean_over(problem.validation) : best;
    if (!std::isfinite(current) && look) return std::nullopt;
    if (current < best) {
      best = current;
      result.best_epoch = epoch;
      result.parameters = values;
    }
    result.epochs = epoch;
    if (options.progress) options.progress(epoch, current);
    if (options.keep == Keep::kBest && epoch - result.best_epoch >= options.patience) break;
  }
  result.validation_loss = best;
  return result;
}

}  // namespace

TrainResult train(const TrainProblem& problem, const TrainOptions& options) {
  if (auto result = attempt(problem, options)) return *std::move(result);
  TrainOptions slower = options;
  slower.adam.learning_rate /= 3.0;
  if (auto result = attempt(problem, slower)) return *std::move(result);
  fail(ErrorCode::kBadData,
       "training diverged: the loss is not finite at learning rate {}, nor at a third of it (give "
       "a smaller "
       "learning_rate, or look for extreme values in the data)",
       options.adam.learning_rate);
}

}  // namespace tare::nn
