// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/gaussian_network.h"

#include <string>
#include <utility>

#include "base/fail.h"
#include "io/tensor_store.h"
#include "model/nn/stored_network.h"

namespace tare {

GaussianNetwork::GaussianNetwork(const GaussianShape& shape, nn::Scaling scaling, nn::Fitted fitted,
                                 Target target)
    : shape_(shape),
      layers_(shape),
      scaling_(std::move(scaling)),
      fitted_(std::move(fitted)),
      target_(target) {}

void GaussianNetwork::evaluate(std::span<const float> parameters, MatrixView x,
                               const Execution& how, const Take& take) const {
  const double unit = is_constant() ? 0.0 : scaling_.target().scale;
  nn::evaluate_rows(layers_.network(), parameters, scaling_, x, how,
                    [&](std::size_t i, std::span<const float> heads) {
                      take(i, scaling_.restore_target(heads[0]),
                           nn::bounded(unit * layers_.sd_of(heads[1])));
                    });
}

Gaussians GaussianNetwork::predict(MatrixView x, const Execution& how) const {
  Gaussians result{std::vector<double>(x.rows()), std::vector<double>(x.rows())};
  check_query("gaussian network", features(), x, result.mean);

  evaluate(fitted_.result.parameters, x, how, [&](std::size_t i, double mean, double sd) {
    result.mean[i] = mean;
    result.sd[i] = sd;
  });
  return result;
}

Gaussians GaussianNetwork::predict_passes(MatrixView x, const DropoutPasses& passes,
                                          const Execution& how) const {
  if (shape_.dropout == 0.0) return predict(x, how);
  if (x.cols() != features()) {
    fail(ErrorCode::kShapeMismatch, "gaussian network: fitted on {} columns, asked about {}",
         features(), x.cols());
  }

  MixtureMoments moments(x.rows(), scaling_.target().scale);
  for (std::size_t k = 0; k < passes.count; ++k) {
    Rng rng(split(passes.seed, k));
    evaluate(layers_.thinned(fitted_.result.parameters, rng), x, how,
             [&](std::size_t i, double mean, double sd) { moments.add(i, mean, sd); });
  }
  return moments.result();
}

void GaussianNetwork::save(const TensorWriter& out) const {
  out.value("window", shape_.window);
  out.value("units", shape_.units);
  out.value("activation", std::string(nn::name_of_activation(shape_.activation)));
  out.value("dropout", shape_.dropout);
  out.value("sd_floor", shape_.sd_floor);
  out.value("constant", is_constant());
  scaling_.save(out);
  nn::save_training(fitted_, out);
  layers_.each_block([&](const std::string& part, std::string_view name, const nn::Block& block) {
    nn::save_block(fitted_.result.parameters, block, name, out.part(part));
  });
}

GaussianNetwork GaussianNetwork::load(const TensorReader& in) {
  nn::Scaling scaling(in);
  GaussianShape shape;
  shape.features = scaling.features();
  shape.window = in.count("window", 10'000);
  shape.units = nn::load_units("units", in);
  shape.activation = nn::load_activation(in);
  shape.dropout = in.get<double>("dropout");
  shape.sd_floor = in.get<double>("sd_floor");
  const bool steps_fit = shape.window == 0 || shape.features % shape.window == 0;
  if (!steps_fit || !(shape.dropout >= 0.0 && shape.dropout < 1.0) ||
      !(shape.sd_floor > 0.0 && shape.sd_floor < 1.0)) {
    fail(ErrorCode::kCorruptFile,
         "the model file's network has {} columns for a window of {}, a dropout of {} and an sd of "
         "at least {}",
         shape.features, shape.window, shape.dropout, shape.sd_floor);
  }
  nn::check_step_layers(shape.window, shape.units.size(), ErrorCode::kCorruptFile);
  const Target target = in.get<bool>("constant") ? Target::kConstant : Target::kVaries;
  nn::Fitted fitted = nn::load_training(in);
  GaussianLayers(shape).each_block(
      [&](const std::string& part, std::string_view name, const nn::Block& block) {
        nn::load_block(in.part(part), name, block, fitted.result.parameters);
      });
  return {shape, std::move(scaling), std::move(fitted), target};
}

}  // namespace tare
