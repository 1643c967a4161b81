// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/mc_dropout.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/stages.h"
#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "data/rows.h"
#include "model/gaussian/gaussian_training.h"

namespace tare {
namespace {

constexpr std::size_t kMaxPasses = 1'000'000;

// Layers of 20 units bear little: on the rows that stop the training, with 100 passes, the loss
// lies above that of no dropout at all by 0.07 at a rate of 0.01, 0.13 at 0.02, 0.21 at 0.05, 0.29
// at 0.1 and 0.43 at 0.2 (mean of four samples each of the eight sets named in
// gaussian_training.cpp).
constexpr double kDefaultRate = 0.01;

constexpr auto kMcDropoutOptions = join_options(
    std::to_array<ParamInfo>({
        {"dropout", "0.01",
         "share of the hidden units that are left out at random; grid=paper tries 0.01, 0.05, 0.1",
         "0.01,0.05,0.1"},
        {"passes", "100",
         "evaluations per answer, each with a different random set of units left out"},
    }),
    nn::kBodyOptions, kGaussianOptions, kGaussianTraining);

/// A network with the passes in which it is asked.
class DropoutLaw {
 public:
  DropoutLaw(GaussianNetwork network, const DropoutPasses& passes)
      : network_(std::move(network)), passes_(passes) {}

  std::size_t features() const { return network_.features(); }
  Gaussians predict(MatrixView x, const Execution& how) const {
    return network_.predict_passes(x, passes_, how);
  }

  void save(const TensorWriter& out) const {
    out.value("passes", passes_.count);
    out.value("seed", passes_.seed.value);
    network_.save(out);
  }
  static DropoutLaw load(const TensorReader& in) {
    DropoutPasses passes;
    passes.count = in.count("passes", kMaxPasses);
    if (passes.count == 0) fail(ErrorCode::kCorruptFile, "the model file asks for no passes");
    passes.seed = Seed{in.count("seed", std::numeric_limits<std::uint64_t>::max())};
    return {GaussianNetwork::load(in), passes};
  }

 private:
  GaussianNetwork network_;
  DropoutPasses passes_;
};

std::vector<double> dropout_rates(const Params& params) {
  if (params.text("grid", "none") == "paper" && !params.has("dropout")) return {0.01, 0.05, 0.1};
  return {params.number("dropout", kDefaultRate, 0.0, 0.95)};
}

/// Mean negative log-likelihood, without its constant, of the rows that stopped the training.
double validation_loss(const DropoutLaw& law, const RegressionData& data,
                       std::span<const std::size_t> rows, const Execution& how) {
  const Matrix x = take_rows(data.x, rows);
  const Gaussians laws = law.predict(x, quietly(how));
  double sum = 0.0;
  double total = 0.0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double weight = data.weight.empty() ? 1.0 : data.weight[rows[k]];
    const double score = (data.y[rows[k]] - laws.mean[k]) / laws.sd[k];
    sum += weight * (std::log(laws.sd[k]) + 0.5 * score * score);
    total += weight;
  }
  return sum / total;
}

}  // namespace

std::span<const ParamInfo> mc_dropout_options() { return kMcDropoutOptions; }

std::unique_ptr<QuantileModel> fit_mc_dropout(const FitInput& input, const Params& params,
                                              const Execution& how) {
  GaussianOptions options = GaussianOptions::feed_forward(params);
  const std::vector<double> rates = dropout_rates(params);
  const DropoutPasses passes{params.count("passes", 100, 1, kMaxPasses), split(input.seed, 11)};
  const TrainingRows rows(input, all_rows(input.x.rows()));
  const nn::Division division = gaussian_division(rows.y.size(), options, input.seed);

  std::optional<DropoutLaw> best;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < rates.size(); ++k) {
    options.shape.dropout = rates[k];
    DropoutLaw law(
        fit_gaussian_network(rows.data(), options, input.seed, part_of(how, k, rates.size())),
        passes);
    // Judged as it will be used, with its passes; the training's own loss is without them.
    const double loss =
        rates.size() == 1 ? 0.0 : validation_loss(law, rows.data(), division.validation, how);
    if (best && !(loss < lowest)) continue;
    lowest = loss;
    best = std::move(law);
  }
  return std::make_unique<GaussianModel<DropoutLaw>>(
      input.x.cols(), ModelColumns(input.model_columns), *std::move(best));
}

std::unique_ptr<QuantileModel> load_mc_dropout(const TensorReader& in) {
  return GaussianModel<DropoutLaw>::load(in);
}

}  // namespace tare
