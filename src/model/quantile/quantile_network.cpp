// SPDX-License-Identifier: BSD-3-Clause
#include "model/quantile/quantile_network.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "io/tensor_store.h"
#include "model/nn/stored_network.h"

namespace tare {

QuantileNetwork::QuantileNetwork(const Form& form, nn::Scaling scaling)
    : hidden_(form.hidden),
      body_(layout_, form.features, form.hidden),
      scaling_(std::move(scaling)) {
  body_.activation = body_.rest.activation = form.activation;
}

QuantileNetwork QuantileNetwork::fit(const RegressionData& data, const QuantileTask& task,
                                     Seed seed, const Execution& how) {
  QuantileNetwork network({data.x.cols(), task.hidden, task.activation}, nn::Scaling(data));
  if (std::ranges::all_of(data.y, [&](double y) { return y == data.y[0]; })) {
    network.fitted_ = nn::constant_network(network.layout_.size());
  } else {
    network.train(data, task, seed, how);
  }
  return network;
}

Matrix QuantileNetwork::quantiles(MatrixView x, std::span<const Level> knots,
                                  const Execution& how) const {
  if (x.cols() != features()) {
    fail(ErrorCode::kShapeMismatch, "quantile network: fitted on {} columns, asked about {}",
         features(), x.cols());
  }
  constexpr std::size_t kStretch = 256;  // rows for which a graph is recorded once
  std::vector<double> taus;
  for (const Level& level : knots) taus.push_back(level.value());
  Matrix result(x.rows(), knots.size());
  parallel_blocks(how, x.rows(), kStretch, [&](std::size_t first, std::size_t last) {
    nn::LevelEvaluation evaluation(body_, fitted_.result.parameters, taus);
    for (std::size_t i = first; i < last; ++i) {
      scaling_.scale_row(x.row(i), evaluation.x.value());
      evaluation.run();
      const std::span<float> values = evaluation.output.value();
      std::ranges::sort(values);
      for (std::size_t k = 0; k < knots.size(); ++k)
        result(i, k) = scaling_.restore_target(values[k]);
    }
  });
  return result;
}

void QuantileNetwork::save(const TensorWriter& out) const {
  out.value("hidden", hidden_);
  out.value("activation", std::string(nn::name_of_activation(body_.activation)));
  out.value("validation_pinball", validation_pinball_);
  scaling_.save(out);
  nn::save_training(fitted_, out);
  const std::vector<float>& values = fitted_.result.parameters;
  nn::save_block(values, body_.row_weight, "row_weight", out);
  nn::save_block(values, body_.level_weight, "level_weight", out);
  nn::save_block(values, body_.bias, "bias", out);
  for (std::size_t k = 0; k < body_.rest.layers.size(); ++k) {
    const TensorWriter layer = out.part("layer" + std::to_string(k + 1));
    nn::save_block(values, body_.rest.layers[k].weight, "weight", layer);
    nn::save_block(values, body_.rest.layers[k].bias, "bias", layer);
  }
}

QuantileNetwork QuantileNetwork::load(const TensorReader& in) {
  nn::Scaling scaling(in);
  const std::size_t features = scaling.features();
  QuantileNetwork network({features, nn::load_units("hidden", in), nn::load_activation(in)},
                          std::move(scaling));
  network.fitted_ = nn::load_training(in);
  network.validation_pinball_ = in.get<double>("validation_pinball");
  std::vector<float>& values = network.fitted_.result.parameters;
  nn::load_block(in, "row_weight", network.body_.row_weight, values);
  nn::load_block(in, "level_weight", network.body_.level_weight, values);
  nn::load_block(in, "bias", network.body_.bias, values);
  for (std::size_t k = 0; k < network.body_.rest.layers.size(); ++k) {
    const TensorReader layer = in.part("layer" + std::to_string(k + 1));
    nn::load_block(layer, "weight", network.body_.rest.layers[k].weight, values);
    nn::load_block(layer, "bias", network.body_.rest.layers[k].bias, values);
  }
  return network;
}

}  // namespace tare
