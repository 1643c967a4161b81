// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/isr.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "calibrate/baseline/gaussian/recalibration.h"
#include "calibrate/rows/row_split.h"
#include "model/gaussian/gaussian_training.h"

namespace tare {
namespace {

constexpr auto kIsrOptions =
    join_options(std::to_array<ParamInfo>({
                     {"split", "0.3", "rows that recalibrate: a share, time, or time:SHARE"},
                 }),
                 nn::kBodyOptions, kGaussianDropout, kGaussianOptions, kGaussianTraining);

class IsrModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;
    GaussianNetwork network;
    Recalibration map;
  };
  explicit IsrModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.columns.save(out.part("columns"));
    parts_.network.save(out.part("network"));
    parts_.map.save(out.part("recalibration"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    std::vector<double> scores;
    for (const Level level : levels) scores.push_back(parts_.map.score(level));
    Matrix storage;
    return gaussian_quantiles(parts_.network.predict(parts_.columns.select(rows.x, storage), how),
                              scores);
  }

 private:
  Parts parts_;
};

Recalibration recalibrate(const GaussianNetwork& network, const TrainingRows& held_out,
                          const Execution& how) {
  const Gaussians laws = network.predict(held_out.x, how);
  std::vector<double> scores;
  for (std::size_t i = 0; i < held_out.y.size(); ++i) {
    const double gap = held_out.y[i] - laws.mean[i];
    scores.push_back(gap == 0.0 ? 0.0 : gap / laws.sd[i]);  // an sd of 0 puts it at infinity
  }
  return {scores, held_out.weight};
}

}  // namespace

std::span<const ParamInfo> isr_options() { return kIsrOptions; }

std::unique_ptr<QuantileModel> fit_isr(const FitInput& input, const Params& given,
                                       const Execution& how) {
  const Params params = with_series_split(given, input);
  const GaussianOptions options = GaussianOptions::feed_forward(params);
  const Partition parts = hold_out(input, parse_split(params));
  const TrainingRows rows(input, parts.first);
  const TrainingRows held_out(input, usable_rows(input, parts.second, parts.second.size()));

  GaussianNetwork network = fit_gaussian_network(rows.data(), options, split(input.seed, 1), how);
  Recalibration map = recalibrate(network, held_out, how);
  return std::make_unique<IsrModel>(IsrModel::Parts{
      input.x.cols(), ModelColumns(input.model_columns), std::move(network), std::move(map)});
}

std::unique_ptr<QuantileModel> load_isr(const TensorReader& in) {
  const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  ModelColumns columns = ModelColumns::load(in.part("columns"), features);
  GaussianNetwork network = GaussianNetwork::load(in.part("network"));
  if (network.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile, "the model file's network has {} inputs for {} columns",
         network.features(), columns.width(features));
  }
  return std::make_unique<IsrModel>(IsrModel::Parts{features, std::move(columns),
                                                    std::move(network),
                                                    Recalibration::load(in.part("recalibration"))});
}

}  // namespace tare
