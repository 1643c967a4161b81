// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/ccl.h"

#include <utility>
#include <vector>

#include "base/fail.h"
#include "calibrate/baseline/quantile/knot_curve.h"
#include "calibrate/baseline/quantile/pair_losses.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "model/input/fit_input.h"
#include "model/nn/graph/operations.h"

namespace tare {
namespace {

constexpr auto kCclOptions =
    join_options(std::to_array<ParamInfo>({
                     {"sharpness", "0.1",
                      "weight w of the length of intervals, from 0 to 1; calibration has the "
                      "weight 1 - w; grid=paper tries 0, 0.1, 0.2 and 0.4 unless a value is given",
                      "0,0.1,0.2,0.4"},
                 }),
                 kQuantileNetworkOptions);

class CclModel final : public QuantileModel {
 public:
  CclModel(std::size_t features, ModelColumns columns, QuantileNetwork network)
      : features_(features), columns_(std::move(columns)), network_(std::move(network)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    columns_.save(out);
    network_.save(out.part("network"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix chosen;
    Prediction result;
    result.quantiles = quantiles_by_knots(network_, columns_.select(rows.x, chosen), levels, how);
    return result;
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  QuantileNetwork network_;
};

std::vector<double> sharpness_weights(const Params& params) {
  const double given = params.number("sharpness", 0.1, 0.0, 1.0);
  if (params.text("grid", "none") == "paper" && !params.has("sharpness")) {
    return {0.0, 0.1, 0.2, 0.4};
  }
  return {given};
}

}  // namespace

std::span<const ParamInfo> ccl_options() { return kCclOptions; }

std::unique_ptr<QuantileModel> fit_ccl(const FitInput& input, const Params& params,
                                       const Execution& how) {
  QuantileTask task(params);
  use_batch_losses(task, params);
  task.stage = "ccl";
  const std::vector<double> tried = sharpness_weights(params);
  const TrainingRows training(input, all_rows(input.x.rows()));
  QuantileNetwork network = best_of(tried, [&](double sharpness) {
    task.loss = [sharpness](const LevelBatch& batch) {
      const auto weight = static_cast<float>(sharpness);
      const nn::Var<float> length = batch.rows.weighted(interval_lengths(batch.quantile));
      return (1.0F - weight) * nn::mean(calibration_errors(batch.quantile, batch.rows.y, batch.tau,
                                                           row_weights(batch))) +
             weight * nn::mean(length);
    };
    return QuantileNetwork::fit(training.data(), task, split(input.seed, 1), how);
  });
  return std::make_unique<CclModel>(input.x.cols(), ModelColumns(input.model_columns),
                                    std::move(network));
}

std::unique_ptr<QuantileModel> load_ccl(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  ModelColumns columns = ModelColumns::load(in, features);
  QuantileNetwork network = QuantileNetwork::load(in.part("network"));
  if (network.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile, "the model file's network reads {} features and is given {}",
         network.features(), columns.width(features));
  }
  return std::make_unique<CclModel>(features, std::move(columns), std::move(network));
}

}  // namespace tare
