// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/maqr.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/bandwidth/bandwidth.h"
#include "calibrate/baseline/quantile/knot_curve.h"
#include "calibrate/features/feature_map.h"
#include "calibrate/nrc/point_model.h"
#include "data/rows.h"
#include "model/input/fit_input.h"
#include "model/network/mlp.h"
#include "model/nn/graph/operations.h"

namespace tare {
namespace {

constexpr auto kMaqrOptions = join_options(
    std::to_array<ParamInfo>({
        {"bandwidth", "auto",
         "bandwidth of the Gaussian kernel of the local quantiles: auto, or a positive number"},
    }),
    kQuantileNetworkOptions);

// Rows at which local quantiles are taken, each from all rows; where there are more, a random part.
constexpr std::size_t kMostCenters = 20'000;
// Levels of the local quantiles: the middles of 100 equal parts.
constexpr std::size_t kTableLevels = 100;

class MaqrModel final : public QuantileModel {
 public:
  MaqrModel(std::size_t features, PointModel point, ModelColumns columns, QuantileNetwork network)
      : features_(features),
        point_(std::move(point)),
        columns_(std::move(columns)),
        network_(std::move(network)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    point_.save(out.part("point"));
    columns_.save(out);
    network_.save(out.part("network"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix chosen;
    Prediction result;
    result.quantiles = quantiles_by_knots(network_, columns_.select(rows.x, chosen), levels, how);
    const std::vector<double> center = point_.predict(rows, how);
    for (std::size_t i = 0; i < center.size(); ++i) {
      for (double& quantile : result.quantiles.row(i)) quantile += center[i];
    }
    return result;
  }

 private:
  std::size_t features_;
  PointModel point_;
  ModelColumns columns_;  // of the network; the point model has its own copy
  QuantileNetwork network_;
};

/// 0: to be chosen.
double parse_local_bandwidth(const Params& params) {
  const std::string text = params.text("bandwidth", "auto");
  if (canonical_name(text) == "auto") return 0.0;
  const auto value = parse_number(text);
  if (!value || !(*value > 0.0) || !std::isfinite(*value)) {
    fail_option("bandwidth", text, "must be auto or a positive number");
  }
  return *value;
}

/// What the point model takes of the options.
Params point_params(const Params& params) {
  Params taken;
  for (const ParamInfo& option : kMlpOptions) {
    const std::string name(option.name);
    if (params.has(name)) taken.set(name, params.text(name, ""));
  }
  return taken;
}

std::vector<std::size_t> choose_centers(std::size_t rows, Seed seed) {
  if (rows <= kMostCenters) return all_rows(rows);
  Rng rng(seed);
  std::vector<std::size_t> centers = random_permutation(rows, rng);
  centers.resize(kMostCenters);
  std::ranges::sort(centers);
  return centers;
}

/// Quantiles of the residuals around each center, a row each.
Matrix local_quantiles(const TrainingRows& rows, std::span<const double> residuals,
                       std::span<const std::size_t> centers, double bandwidth, Seed seed,
                       const Execution& how) {
  const FeatureMap map = FeatureMap::fit(rows.x, rows.y, all_rows(rows.x.rows()), {}, seed);
  const Matrix z = map.apply(rows.x);
  auto sample = std::make_shared<const LocalSample>(z, residuals, rows.weight);
  SnqOptions options;
  options.bandwidth =
      bandwidth > 0.0 ? bandwidth : choose_bandwidth(*sample, {}, options, seed, how).bandwidth;
  std::vector<Level> levels;
  for (std::size_t k = 0; k < kTableLevels; ++k) {
    levels.emplace_back((static_cast<double>(k) + 0.5) / static_cast<double>(kTableLevels));
  }
  return Snq(std::move(sample), options).predict(take_rows(z, centers), levels, how).quantiles;
}

/// A row of local quantiles at any level: linear between those there are.
double at_level(std::span<const double> row, double tau) {
  const double last = static_cast<double>(kTableLevels - 1);
  const double place = std::clamp(tau * static_cast<double>(kTableLevels) - 0.5, 0.0, last);
  const auto left = std::min(static_cast<std::size_t>(place), kTableLevels - 2);
  return row[left] + (place - static_cast<double>(left)) * (row[left + 1] - row[left]);
}

nn::Var<float> squared_error(const LevelBatch& batch) {
  return nn::mean(batch.rows.weighted(square(batch.quantile - batch.target)));
}

}  // namespace

std::span<const ParamInfo> maqr_options() { return kMaqrOptions; }

std::unique_ptr<QuantileModel> fit_maqr(const FitInput& input, const Params& params,
                                        const Execution& how) {
  QuantileTask task(params);
  task.stage = "maqr: quantiles";
  task.loss = squared_error;
  const double bandwidth = parse_local_bandwidth(params);
  const TrainingRows rows(input, all_rows(input.x.rows()));

  auto regressor =
      find_regressor("mlp").fit(rows.data(), point_params(params), split(input.seed, 1), how);
  std::vector<double> residuals(rows.y.size());
  regressor->predict(rows.x, residuals, how);
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] = rows.y[i] - residuals[i];

  const auto centers = choose_centers(rows.y.size(), split(input.seed, 2));
  const Matrix table =
      local_quantiles(rows, residuals, centers, bandwidth, split(input.seed, 3), how);
  task.target = [&](std::size_t row, double tau) { return at_level(table.row(row), tau); };
  const Matrix x = take_rows(rows.x, centers);
  const std::vector<double> u = take_rows(residuals, centers);
  const std::vector<double> weight = take_rows(rows.weight, centers);
  QuantileNetwork network = QuantileNetwork::fit({x, u, weight}, task, split(input.seed, 4), how);

  std::vector<std::unique_ptr<Regressor>> members;
  members.push_back(std::move(regressor));
  const ModelColumns columns(input.model_columns);
  return std::make_unique<MaqrModel>(input.x.cols(), PointModel("mlp", std::move(members), columns),
                                     columns, std::move(network));
}

std::unique_ptr<QuantileModel> load_maqr(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  PointModel point = PointModel::load(in.part("point"), features);
  ModelColumns columns = ModelColumns::load(in, features);
  QuantileNetwork network = QuantileNetwork::load(in.part("network"));
  if (point.is_given() || network.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile,
         "the model file's network, its features and its point model do not fit together");
  }
  return std::make_unique<MaqrModel>(features, std::move(point), std::move(columns),
                                     std::move(network));
}

}  // namespace tare
