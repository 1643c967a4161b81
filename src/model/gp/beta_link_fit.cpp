// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "model/gp/beta_link.h"
#include "model/gp/sparse_gp.h"
#include "model/nn/graph/operations.h"

namespace tare {
namespace {

using nn::Var;

constexpr double kLearnedScore = 8.0;  // a target farther away counts as one at this score
constexpr std::size_t kTrainingDraws = 2;
constexpr std::size_t kValidationPairs = 4;

/// Rows as the likelihood needs them. Up to a constant of the row, minus the logarithm of the
/// density of the mapped level is softplus(t) + softplus(-t) - log(a p + b r), with t the log-odds,
/// p : r = 1 / q : 1 / (1 - q), the larger of them 1.
struct LinkRows {
  std::size_t inputs = 0;
  std::vector<float> law;
  std::vector<float> below, above;  // log q and log(1 - q)
  std::vector<float> p, r;
  std::vector<float> weight;  // mean 1; empty if all are equal
};

LinkRows link_rows(const BetaLinkRows& rows) {
  LinkRows result;
  result.inputs = rows.law.cols();
  double total = 0.0;
  for (const double weight : rows.weight) total += weight / static_cast<double>(rows.weight.size());
  for (std::size_t i = 0; i < rows.score.size(); ++i) {
    for (const double value : rows.law.row(i)) result.law.push_back(static_cast<float>(value));
    const LogLevels level = LogLevels::of(std::clamp(rows.score[i], -kLearnedScore, kLearnedScore));
    const double most = std::max(-level.below, -level.above);
    result.below.push_back(static_cast<float>(level.below));
    result.above.push_back(static_cast<float>(level.above));
    result.p.push_back(static_cast<float>(std::exp(-level.below - most)));
    result.r.push_back(static_cast<float>(std::exp(-level.above - most)));
    if (total > 0.0) result.weight.push_back(static_cast<float>(rows.weight[i] / total));
  }
  return result;
}

struct LinkTask {
  const LinkRows& rows;
  const SparseGpLayer& layer;
  const std::vector<float>& fixed;  // standard normal numbers of each row, for validation
  std::size_t train_rows;
};

/// The expected loss of each row, over draws of the parameters from their posterior.
nn::Batch record_link(const LinkTask& task, nn::Graph<float>& graph, std::size_t count,
                      Rng* noise) {
  constexpr std::size_t kOutputs = BetaLink::kOutputs;
  const LinkRows& rows = task.rows;
  const Var<float> law = graph.input(count, rows.inputs);
  const Var<float> below = graph.input(count, 1), above = graph.input(count, 1);
  const Var<float> p = graph.input(count, 1), r = graph.input(count, 1);
  const Var<float> weight = graph.input(count, 1);
  const SparseGpLayer::Law<float> posterior = task.layer(law);
  const Var<float> sd = sqrt(posterior.variance);
  const std::size_t pairs = noise != nullptr ? kTrainingDraws : kValidationPairs;
  std::vector<Var<float>> draws;
  Var<float> sum = graph.constant(0.0F);
  for (std::size_t k = 0; k < pairs; ++k) {
    draws.push_back(graph.input(count, kOutputs));
    for (const float sign : {1.0F, -1.0F}) {  // in pairs, which cancel what is odd
      const Var<float> w = posterior.mean + sd * (sign * draws.back());
      const Var<float> a = exp(slice_cols(w, 0, 1)), b = exp(slice_cols(w, 1, 1));
      const Var<float> odds = a * below - b * above + slice_cols(w, 2, 1);
      sum = sum + (softplus(odds) + softplus(-1.0F * odds) - log(a * p + b * r));
    }
  }
  nn::Batch batch;
  batch.loss = nn::mean(sum * weight) / static_cast<float>(2 * pairs);
  if (noise != nullptr) {
    batch.loss = batch.loss + task.layer.divergence(graph) / static_cast<float>(task.train_rows);
  }
  batch.load = [=, &rows, fixed = &task.fixed](std::span<const std::size_t> chosen) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::size_t row = chosen[i];
      for (std::size_t j = 0; j < rows.inputs; ++j)
        law.value()[i * rows.inputs + j] = rows.law[row * rows.inputs + j];
      below.value()[i] = rows.below[row];
      above.value()[i] = rows.above[row];
      p.value()[i] = rows.p[row];
      r.value()[i] = rows.r[row];
      weight.value()[i] = rows.weight.empty() ? 1.0F : rows.weight[row];
      for (std::size_t k = 0; k < pairs * kOutputs; ++k) {
        draws[k / kOutputs].value()[i * kOutputs + k % kOutputs] =
            noise != nullptr ? static_cast<float>(noise->normal())
                             : (*fixed)[row * kValidationPairs * kOutputs + k];
      }
    }
  };
  return batch;
}

/// Inducing points are rows; the parameters start at 0, the identity, with a small spread.
void start_link(const LinkTask& task, std::span<const std::size_t> train, std::span<float> values,
                Rng& rng) {
  const SparseGpLayer& layer = task.layer;
  std::ranges::fill(layer.length.of(values),
                    static_cast<float>(raw_of_positive(1.0, SparseGpLayer::kLengthFloor)));
  layer.scale.of(values)[0] = static_cast<float>(raw_of_positive(1.0, SparseGpLayer::kScaleFloor));
  std::ranges::fill(layer.mean.of(values), 0.0F);
  for (const nn::Block& block : layer.factor) {
    const auto s = block.of(values);
    std::ranges::fill(s, 0.0F);
    for (std::size_t i = 0; i < block.rows; ++i) s[i * (block.cols + 1)] = 0.1F;
  }
  std::vector<std::size_t> chosen(train.begin(), train.end());
  shuffle(std::span<std::size_t>(chosen), rng);
  const auto z = layer.points.of(values);
  for (std::size_t i = 0; i < layer.points.rows; ++i) {
    std::ranges::copy(
        std::span(task.rows.law).subspan(chosen[i] * task.rows.inputs, task.rows.inputs),
        z.subspan(i * task.rows.inputs).begin());
  }
}

/// Within what a file may hold; a training does not come near.
std::vector<double> doubles_of(std::span<const float> values) {
  std::vector<double> result;
  for (const float value : values) result.push_back(std::clamp<double>(value, -1e6, 1e6));
  return result;
}

}  // namespace

BetaLink BetaLink::fit(const BetaLinkRows& rows, const BetaLinkOptions& options, Seed seed,
                       const Execution& how) {
  const LinkRows scaled = link_rows(rows);
  Rng rng(split(seed, 0));
  const nn::Division division(rows.score.size(), options.training.validation, rng);
  nn::Layout layout;
  const SparseGpLayer layer(layout, std::min(options.points, division.train.size()),
                            rows.law.cols(), kOutputs);
  std::vector<float> fixed;
  Rng fixed_rng(split(seed, 1));
  for (std::size_t k = 0; k < rows.score.size() * kValidationPairs * kOutputs; ++k)
    fixed.push_back(static_cast<float>(fixed_rng.normal()));
  const LinkTask task{scaled, layer, fixed, division.train.size()};
  nn::TrainProblem problem;
  problem.parameters = layout.size();
  problem.train = division.train;
  problem.validation = division.validation;
  problem.initialise = [&](std::span<float> values, Rng& start) {
    start_link(task, division.train, values, start);
  };
  problem.record = [&](nn::Graph<float>& graph, std::size_t count, Rng* noise) {
    return record_link(task, graph, count, noise);
  };
  const nn::Fitted fitted =
      nn::fit_grid(problem, options.training, {}, split(seed, 2), how, "beta link");
  return of(layer, fitted.result.parameters);
}

BetaLink BetaLink::of(const SparseGpLayer& layer, std::span<const float> values) {
  BetaLink link(layer.points.cols);
  link.points_ = doubles_of(layer.points.of(values));
  link.length_.clear();
  const auto positive_of = [](float raw, double floor) {
    const double value = raw;
    return floor + std::max(value, 0.0) + std::log1p(std::exp(-std::abs(value)));
  };
  for (const float raw : layer.length.of(values))
    link.length_.push_back(positive_of(raw, SparseGpLayer::kLengthFloor));
  link.variance_ =
      std::min(positive_of(layer.scale.of(values)[0], SparseGpLayer::kScaleFloor), 1e6);
  link.mean_ = doubles_of(layer.mean.of(values));
  link.factor_.clear();
  for (const nn::Block& block : layer.factor) {
    const std::vector<double> s = doubles_of(block.of(values));
    link.factor_.insert(link.factor_.end(), s.begin(), s.end());
  }
  link.factorise();
  return link;
}

}  // namespace tare
