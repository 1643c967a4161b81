// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/deep_gp.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "io/tensor_store.h"
#include "model/gp/deep_gp_graph.h"
#include "model/nn/stored_network.h"

namespace tare {
namespace {

// Columns of the second layer that are done together: the layer's matrices then have 0.5 MB each,
// and its factorisation is a tenth of the work.
constexpr std::size_t kColumns = 1024;
constexpr std::size_t kBlocks = 16;  // of rows, for which a thread records its graph once

/// body(block, name) for every block of a layer, in the order of the layout.
template <class Body>
void each_block(const SparseGpLayer& layer, const Body& body) {
  body(layer.points, "points");
  body(layer.length, "length");
  body(layer.scale, "scale");
  body(layer.mean, "mean");
  for (std::size_t j = 0; j < layer.factor.size(); ++j)
    body(layer.factor[j], "factor" + std::to_string(j));
}

std::vector<float> load_matrix(const TensorReader& in, std::string_view name, const Shape& shape) {
  std::vector<float> values = in.values<float>(name, shape);
  if (!std::ranges::all_of(values, [](float v) { return std::abs(v) <= DeepGp::kLargest; })) {
    fail(ErrorCode::kCorruptFile, "the model file's '{}' has an impossible value", name);
  }
  return values;
}

}  // namespace

DeepGp::Layers::Layers(const Shape& shape, nn::Layout& layout)
    : hidden(layout, shape.points, shape.features, shape.width),
      output(layout, shape.points, shape.width, 1),
      between(layout.add(1, shape.width)),
      noise(layout.add(1, 1)) {}

DeepGp::DeepGp(nn::Scaling scaling, Parts parts)
    : scaling_(std::move(scaling)), parts_(std::move(parts)), layers_(parts_.shape, layout_) {}

void DeepGp::save(const TensorWriter& out) const {
  const Shape& shape = parts_.shape;
  out.value("points", shape.points);
  out.value("spread", parts_.spread);
  scaling_.save(out);
  if (shape.points == 0) return;
  out.value("width", shape.width);
  out.value("samples", parts_.draws.size() / shape.width);
  out.tensor<float>("mean_map", parts_.mean_map, {shape.features, shape.width});
  out.tensor<float>("draws", parts_.draws, {parts_.draws.size() / shape.width, shape.width});
  nn::save_training(parts_.fitted, out);
  const auto& values = parts_.fitted.result.parameters;
  const auto layer_saver = [&](const TensorWriter& part) {
    return [&values, part](const nn::Block& block, std::string_view name) {
      nn::save_block(values, block, name, part);
    };
  };
  each_block(layers_.hidden, layer_saver(out.part("hidden")));
  each_block(layers_.output, layer_saver(out.part("output")));
  nn::save_block(values, layers_.between, "between", out);
  nn::save_block(values, layers_.noise, "noise", out);
}

DeepGp DeepGp::load(const TensorReader& in) {
  nn::Scaling scaling(in);
  Parts parts;
  parts.shape.features = scaling.features();
  parts.shape.points = in.count("points", kMaxPoints);
  parts.spread = in.get<double>("spread");
  if (!(parts.spread >= 0.0 && parts.spread <= 1.0)) {
    fail(ErrorCode::kCorruptFile, "the model file's target has the spread {}", parts.spread);
  }
  if (parts.shape.points == 0) return {std::move(scaling), std::move(parts)};

  parts.shape.width = in.count("width", kMaxWidth);
  const std::size_t samples = in.count("samples", kMaxSamples);
  if (parts.shape.width == 0 || samples == 0) {
    fail(ErrorCode::kCorruptFile, "the model file's deep Gaussian process has nothing inside");
  }
  parts.mean_map = load_matrix(in, "mean_map", {parts.shape.features, parts.shape.width});
  parts.draws = load_matrix(in, "draws", {samples, parts.shape.width});
  parts.fitted = nn::load_training(in);
  nn::Layout layout;
  const Layers layers(parts.shape, layout);
  auto& values = parts.fitted.result.parameters;
  const auto layer_loader = [&](const TensorReader& part) {
    return [&values, part](const nn::Block& block, std::string_view name) {
      nn::load_block(part, name, block, values);
    };
  };
  each_block(layers.hidden, layer_loader(in.part("hidden")));
  each_block(layers.output, layer_loader(in.part("output")));
  nn::load_block(in, "between", layers.between, values);
  nn::load_block(in, "noise", layers.noise, values);
  check_size(values, ErrorCode::kCorruptFile);
  return {std::move(scaling), std::move(parts)};
}

void DeepGp::check_size(std::span<const float> parameters, ErrorCode code) {
  if (!std::ranges::all_of(parameters, [](float v) { return std::abs(v) <= kLargest; })) {
    fail(code,
         "a deep Gaussian process has a parameter above {} (when fitting, give a smaller "
         "learning_rate)",
         kLargest);
  }
}

void DeepGp::predict(MatrixView x, const Execution& how,
                     const std::function<void(std::size_t i, const Mixture& mixture)>& take) const {
  const double scale = scaling_.target().scale;
  if (parts_.shape.points == 0) {
    const double mean = scaling_.target().mean;
    const double sd = scale * parts_.spread;
    for (std::size_t i = 0; i < x.rows(); ++i) take(i, {{&mean, 1}, {&sd, 1}});
    return;
  }
  const std::size_t samples = parts_.draws.size() / parts_.shape.width;
  const std::size_t most = std::max<std::size_t>(1, kColumns / samples);
  parallel_blocks(how, x.rows(), kBlocks * most, [&](std::size_t first, std::size_t last) {
    nn::Graph<float> graph(parts_.fitted.result.parameters);
    const std::size_t block = std::min(most, last - first);
    const nn::Var<float> in = graph.input(block, x.cols());
    const nn::Var<float> laws = deep_gp_laws({layers_, parts_.mean_map}, in, parts_.draws);
    std::vector<double> mean(samples), sd(samples);
    for (std::size_t start = first; start < last; start += block) {
      const std::size_t count = std::min(block, last - start);
      // A block that is not full keeps rows of the previous one; their results are not read.
      for (std::size_t i = 0; i < count; ++i)
        scaling_.scale_row(x.row(start + i), in.value().subspan(i * x.cols(), x.cols()));
      graph.forward();
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t s = 0; s < samples; ++s) {
          const float* law = laws.value().data() + 2 * (s * block + i);
          mean[s] = scaling_.restore_target(law[0]);
          sd[s] = scale * std::sqrt(static_cast<double>(law[1]));
        }
        take(start + i, {mean, sd});
      }
    }
  });
}

}  // namespace tare
