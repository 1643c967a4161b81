// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/bandwidth.h"
#include "calibrate/feature_map.h"
#include "calibrate/local_sample.h"
#include "calibrate/point_model.h"
#include "tare/calibrate/snq.h"

namespace tare {
namespace {

constexpr std::array kOptions = std::to_array<ParamInfo>({
    {"regressor", "forest", "point model f: ridge, forest, boosting, zero, or given"},
    {"reducer", "none", "features of the kernel: none, projection, correlation"},
    {"dims", "4", "features left by the reducer"},
    {"scale", "standard", "of the kernel's features: standard, none"},
    {"kernel", "gaussian", "naive, epanechnikov, triangular, tricube, gaussian, laplace, knn"},
    {"bandwidth", "auto", "auto, rate, rate:C, a number, or infinite"},
    {"split", "0.3", "share of rows that calibrate, cross, time, or time:SHARE"},
    {"folds", "5", "folds of --split cross"},
    {"fallback", "nearest", "where no row is in reach: nearest, marginal"},
    {"min_support", "20", "rows of the nearest fallback"},
});

SnqOptions parse_snq(const Params& params) {
  SnqOptions options;
  options.kernel = parse_kernel(params.text("kernel", "gaussian"));
  options.min_support = params.count("min_support", 20, 1, 1'000'000'000);
  const std::string fallback = canonical_name(params.text("fallback", "nearest"));
  if (fallback == "marginal") {
    options.fallback = Fallback::kMarginal;
  } else if (fallback != "nearest") {
    fail(ErrorCode::kInvalidArgument, "the fallback is nearest or marginal, got '{}'", fallback);
  }
  return options;
}

/// A bandwidth as text, before there is any data: read first, so that a slip does not cost a training.
struct BandwidthRule {
  std::string rule = "auto";
  double value = 0.0;  // of "given", and the constant of "rate"
};

BandwidthRule parse_bandwidth(const Params& params) {
  const std::string text = params.text("bandwidth", "auto");
  const std::string name = canonical_name(text);
  if (name == "auto" || name == "rate") return {name, 0.0};
  if (name == "infinite" || name == "inf") return {"given", std::numeric_limits<double>::infinity()};
  const bool rate = name.starts_with("rate:");
  const auto value = parse_number(rate ? text.substr(5) : text);
  if (!value || !(*value > 0.0)) {
    fail(ErrorCode::kInvalidArgument,
         "the bandwidth is auto, rate, rate:C, infinite or a positive number, got '{}'", text);
  }
  return {rate ? "rate" : "given", *value};
}

BandwidthChoice resolve_bandwidth(const BandwidthRule& rule, const LocalSample& sample,
                                  const SnqOptions& options, Seed seed, const Execution& how) {
  if (rule.rule == "auto") return choose_bandwidth(sample, options, seed, how);
  BandwidthChoice choice;
  choice.rule = rule.rule;
  choice.bandwidth = rule.rule == "given"
                         ? rule.value
                         : rate_bandwidth(options.kernel, sample.rows(), sample.dims(), rule.value);
  return choice;
}

class NrcModel final : public QuantileModel {
 public:
  NrcModel(PointModel point, FeatureMap map, Snq snq, BandwidthChoice choice)
      : point_(std::move(point)),
        map_(std::move(map)),
        snq_(std::move(snq)),
        choice_(std::move(choice)) {}

  std::size_t features() const override { return map_.inputs(); }
  std::size_t given() const override { return point_.is_given() ? 1 : 0; }

  void save(const TensorWriter& out) const override {
    point_.save(out.part("point"));
    map_.save(out.part("features"));
    snq_.save(out.part("snq"));
    Json path = Json::array();
    for (const BandwidthTrial& trial : choice_.path) path.push_back({trial.bandwidth, trial.loss});
    out.value("bandwidth_rule", choice_.rule);
    out.value("bandwidth_path", path);
    out.value("bandwidth_rows", choice_.rows_left_out);
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Prediction result = snq_.predict(map_.apply(rows.x), levels, how);
    const std::vector<double> center = point_.predict(rows, how);
    for (std::size_t i = 0; i < center.size(); ++i) {
      for (double& quantile : result.quantiles.row(i)) quantile += center[i];
    }
    return result;
  }

 private:
  PointModel point_;
  FeatureMap map_;
  Snq snq_;
  BandwidthChoice choice_;
};

void report(const Execution& how, std::string_view stage, double share) {
  if (how.progress) how.progress(stage, share);
}

}  // namespace

std::span<const ParamInfo> nrc_options() { return kOptions; }

std::unique_ptr<QuantileModel> fit_nrc(const FitInput& input, const Params& params,
                                       const Execution& how) {
  SnqOptions snq_options = parse_snq(params);
  const BandwidthRule bandwidth = parse_bandwidth(params);
  const SplitRule rule = parse_split(params);
  FeatureMapOptions map_options;
  map_options.reducer = parse_reducer(params.text("reducer", "none"));
  map_options.dims = params.count("dims", 4, 1, 1'000'000);
  map_options.scale = parse_scale(params.text("scale", "standard"));
  map_options.columns = input.calibrate_columns;
  if (input.given.cols() > 1) {
    fail(ErrorCode::kShapeMismatch, "nrc takes one given prediction per row, got {}", input.given.cols());
  }

  report(how, "training the point model", 0.0);
  TrainedPointModel trained = train_point_model(input, params, rule, how);
  std::vector<double> weight;
  std::size_t usable = 0;
  for (const std::size_t i : trained.calibration_rows) {
    if (!input.weight.empty()) weight.push_back(input.weight[i]);
    if (input.weight.empty() || input.weight[i] > 0.0) ++usable;
  }
  if (usable < kMinCalibrationRows) {
    fail(ErrorCode::kBadData,
         "{} calibration rows are too few, {} are the least (give more rows, a larger --split, or --split cross)",
         usable, kMinCalibrationRows);
  }

  report(how, "calibrating", 0.5);
  FeatureMap map =
      FeatureMap::fit(input.x, input.y, trained.training_rows, map_options, split(input.seed, 1001));
  Matrix calibration_x(trained.calibration_rows.size(), input.x.cols());
  for (std::size_t i = 0; i < trained.calibration_rows.size(); ++i) {
    const auto from = input.x.row(trained.calibration_rows[i]);
    std::copy(from.begin(), from.end(), calibration_x.row(i).begin());
  }
  const Matrix z = map.apply(calibration_x);
  auto sample = std::make_shared<const LocalSample>(z, trained.residuals, weight);
  BandwidthChoice choice = resolve_bandwidth(bandwidth, *sample, snq_options, split(input.seed, 1002), how);
  snq_options.bandwidth = choice.bandwidth;
  report(how, "calibrating", 1.0);
  return std::make_unique<NrcModel>(std::move(trained.model), std::move(map),
                                    Snq(std::move(sample), snq_options), std::move(choice));
}

std::unique_ptr<QuantileModel> load_nrc(const TensorReader& in) {
  PointModel point = PointModel::load(in.part("point"));
  FeatureMap map = FeatureMap::load(in.part("features"));
  Snq snq = Snq::load(in.part("snq"));
  point.check_inputs(map.inputs());
  if (snq.dims() != map.dims()) {
    fail(ErrorCode::kCorruptFile, "the model file's kernel has {} features and its map gives {}", snq.dims(),
         map.dims());
  }
  BandwidthChoice choice;
  choice.rule = in.get<std::string>("bandwidth_rule");
  choice.bandwidth = snq.options().bandwidth;
  choice.rows_left_out = in.count("bandwidth_rows", std::numeric_limits<std::uint32_t>::max());
  for (const auto& trial : in.get<std::vector<std::array<double, 2>>>("bandwidth_path")) {
    choice.path.push_back({trial[0], trial[1]});
  }
  return std::make_unique<NrcModel>(std::move(point), std::move(map), std::move(snq), std::move(choice));
}

}  // namespace tare
