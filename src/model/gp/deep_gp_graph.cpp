// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/deep_gp_graph.h"

#include <algorithm>
#include <array>
#include <vector>

#include "model/nn/graph/operations.h"

namespace tare {
namespace {

using nn::Graph;
using nn::Var;

constexpr float kLog2Pi = 1.8378770664093453F;

/// a above itself, `count` times.
Var<float> repeated(Var<float> a, std::size_t count) {
  const std::vector<Var<float>> copies(count, a);
  return nn::concat_rows<float>(copies);
}

/// log of the mean over the blocks of rows of exp(a); rows x 1.
Var<float> log_mean_exp(Var<float> a, std::size_t rows) {
  std::vector<Var<float>> parts;
  for (std::size_t first = 0; first < a.rows(); first += rows)
    parts.push_back(slice_rows(a, first, rows));
  Var<float> top = parts[0];
  for (const Var<float>& part : parts) top = maximum(top, part);
  const Var<float> shares = exp(nn::concat_cols<float>(parts) - top);
  return top + log(row_sums(shares) / static_cast<float>(parts.size()));
}

SparseGpLayer::Law<float> hidden_law(const DeepGpBody& body, Var<float> x) {
  const std::size_t width = body.layers.hidden.mean.cols;
  const Var<float> map = x.graph().input(x.cols(), width);
  std::ranges::copy(body.mean_map, map.value().begin());
  auto law = body.layers.hidden(x);
  law.mean = law.mean + matmul(x, map);
  return law;
}

Var<float> sd_between(const DeepGpBody& body, Graph<float>& graph) {
  return positive(graph.parameter(body.layers.between), DeepGp::kNoiseFloor);
}

Var<float> noise_variance(const DeepGpBody& body, Graph<float>& graph) {
  return square(positive(graph.parameter(body.layers.noise), DeepGp::kNoiseFloor));
}

}  // namespace

Var<float> deep_gp_bound(const DeepGpBody& body, Var<float> x, Var<float> y,
                         const DeepGpDraws& draws) {
  Graph<float>& graph = x.graph();
  const std::size_t count = draws.between.rows() / x.rows();
  const auto first = hidden_law(body, x);
  const Var<float> h = repeated(first.mean + sqrt(first.variance) * draws.hidden, count) +
                       draws.between * sd_between(body, graph);
  const auto second = body.layers.output(h);
  const Var<float> noise = noise_variance(body, graph);
  const Var<float> miss = square(repeated(y, count) - second.mean) + second.variance;
  const Var<float> expected = (miss / noise + (log(noise) + kLog2Pi)) * -0.5F;
  return log_mean_exp(expected, x.rows());
}

Var<float> deep_gp_laws(const DeepGpBody& body, Var<float> x, std::span<const float> draws) {
  Graph<float>& graph = x.graph();
  const auto first = hidden_law(body, x);
  const Var<float> sd = sqrt(first.variance + square(sd_between(body, graph)));
  const std::size_t width = sd.cols();
  std::vector<Var<float>> h;
  for (std::size_t at = 0; at < draws.size(); at += width) {
    const Var<float> draw = graph.input(1, width);
    std::ranges::copy(draws.subspan(at, width), draw.value().begin());
    h.push_back(first.mean + sd * draw);
  }
  const auto second = body.layers.output(nn::concat_rows<float>(h));
  const std::array sides = {second.mean, second.variance + noise_variance(body, graph)};
  return nn::concat_cols<float>(sides);
}

Var<float> deep_gp_log_density(Var<float> laws, Var<float> y) {
  const Var<float> mean = slice_cols(laws, 0, 1);
  const Var<float> variance = slice_cols(laws, 1, 1);
  const Var<float> miss = square(repeated(y, laws.rows() / y.rows()) - mean);
  const Var<float> each = (miss / variance + (log(variance) + kLog2Pi)) * -0.5F;
  return log_mean_exp(each, y.rows());
}

}  // namespace tare
