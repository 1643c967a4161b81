// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/mmd.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/stages.h"
#include "base/strings.h"
#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "data/rows.h"
#include "model/gaussian/gaussian_training.h"
#include "model/nn/graph/operations.h"
#include "model/nn/mmd.h"
#include "model/nn/stored_network.h"

namespace tare {
namespace {

constexpr std::size_t kLeastBatch = 128;
constexpr std::size_t kMaxBandwidths = 32;

constexpr auto kMmdOptions = join_options(
    std::to_array<ParamInfo>({
        {"bandwidths", "0.25,0.5,1,2,4",
         "bandwidths of the kernels of the discrepancy, in standard deviations of the target"},
        {"mmd_learning_rate", "0.001",
         "step size of Adam in the second phase; grid=paper tries 0.01, 0.005, 0.001"},
        {"mmd_batch", "128", "rows of a minibatch in the second phase, at least 128"},
    }),
    nn::kBodyOptions, kGaussianDropout, kGaussianOptions, kGaussianTraining);

std::vector<double> parse_bandwidths(const Params& params) {
  const std::string text = params.text("bandwidths", "0.25,0.5,1,2,4");
  std::vector<double> bandwidths;
  for (const std::string& part : split_text(text, ',')) {
    const auto value = parse_number(trim(part));
    if (!value || !(*value >= 1e-3 && *value <= 1e3) || bandwidths.size() == kMaxBandwidths) {
      fail_option("bandwidths", text,
                  fmt::format("must be at most {} numbers from 0.001 to 1000, such as 0.5,1,2",
                              kMaxBandwidths));
    }
    bandwidths.push_back(*value);
  }
  return bandwidths;
}

/// The second phase's training: its own rate and batch, the first one's for the rest.
nn::FitOptions second_phase(const Params& given) {
  constexpr double kRate = 1e-3;
  Params params = given;
  const std::size_t batch = given.count("mmd_batch", kLeastBatch, kLeastBatch, 1'000'000);
  params.set("batch", std::to_string(batch));
  nn::FitOptions options(params, kRate);
  options.learning_rates = {given.number("mmd_learning_rate", kRate, 1e-8, 10.0)};
  if (given.text("grid", "none") == "paper" && !given.has("mmd_learning_rate"))
    options.learning_rates = {1e-2, 5e-3, 1e-3};
  return options;
}

/// What the second phase learns from. Must outlive the training.
struct Matching {
  const GaussianNetwork& start;
  const GaussianLayers& layers;
  const nn::ScaledRows& rows;
  const std::vector<double>& bandwidths;
  const std::vector<float>& fixed_draw;  // a standard normal value for each row, for validation
};

/// One draw from the predicted distribution of each row against the rows' targets. Draws are new in
/// each training step; in validation a row keeps its own, so that epochs can be compared.
nn::Batch record_discrepancy(const Matching& task, nn::Graph<float>& graph, std::size_t count,
                             Rng* noise) {
  const nn::RowInputs in(graph, task.rows, count);
  const nn::NormalHeads<float> law = task.layers.heads(in.x, noise);
  const nn::Var<float> draw = graph.input(count, 1);
  const nn::Var<float> sample = law.mean + law.sd * draw;
  nn::Batch batch;
  batch.loss = task.rows.weight.empty() ? nn::squared_mmd(sample, in.y, task.bandwidths)
                                        : nn::squared_mmd(sample, in.y, task.bandwidths, in.weight);
  batch.load = [in, draw, noise, fixed = &task.fixed_draw](std::span<const std::size_t> chosen) {
    in.load(chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      draw.value()[i] =
          noise != nullptr ? static_cast<float>(noise->normal()) : (*fixed)[chosen[i]];
    }
  };
  return batch;
}

nn::TrainProblem matching_problem(const Matching& task, const nn::Division& division) {
  nn::TrainProblem problem;
  problem.parameters = task.layers.parameters();
  problem.train = division.train;
  problem.validation = division.validation;
  problem.initialise = [&task](std::span<float> values, Rng&) {
    std::ranges::copy(task.start.fitted().result.parameters, values.begin());
  };
  problem.record = [&task](nn::Graph<float>& graph, std::size_t count, Rng* noise) {
    return record_discrepancy(task, graph, count, noise);
  };
  return problem;
}

}  // namespace

std::span<const ParamInfo> mmd_options() { return kMmdOptions; }

std::unique_ptr<QuantileModel> fit_mmd(const FitInput& input, const Params& params,
                                       const Execution& how) {
  const GaussianOptions options = GaussianOptions::feed_forward(params);
  const nn::FitOptions second = second_phase(params);
  const std::vector<double> bandwidths = parse_bandwidths(params);
  const TrainingRows training(input, all_rows(input.x.rows()));
  const RegressionData data = training.data();

  GaussianNetwork network = fit_gaussian_network(data, options, input.seed, part_of(how, 0, 2));
  if (!nn::is_trivial(data)) {
    const nn::ScaledRows rows(data, network.scaling());
    const GaussianLayers layers(network.shape());
    const nn::Division division = gaussian_division(rows.rows(), options, input.seed);
    std::vector<float> fixed_draw(rows.rows());
    Rng rng(split(input.seed, 11));
    for (float& value : fixed_draw) value = static_cast<float>(rng.normal());
    const Matching task{network, layers, rows, bandwidths, fixed_draw};
    nn::TrainOptions base;
    base.remainder = nn::Remainder::kDrop;
    nn::Fitted matched =
        nn::fit_grid(matching_problem(task, division), second, base, split(input.seed, 12),
                     part_of(how, 1, 2), "matching distributions");
    network = GaussianNetwork(network.shape(), network.scaling(), std::move(matched),
                              GaussianNetwork::Target::kVaries);
  }
  return std::make_unique<GaussianModel<GaussianNetwork>>(
      input.x.cols(), ModelColumns(input.model_columns), std::move(network));
}

std::unique_ptr<QuantileModel> load_mmd(const TensorReader& in) {
  return GaussianModel<GaussianNetwork>::load(in);
}

}  // namespace tare
