// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/ngboost.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "math/bounded.h"
#include "model/input/fit_input.h"
#include "model/natural/natural_boosting.h"

namespace tare {
namespace {

constexpr std::array kDistributionOption = std::to_array<ParamInfo>({
    {"distribution", "normal", "family of the target's distributions: normal, lognormal",
     "normal,lognormal"},
});
constexpr auto kNgboostOptions = join_options(kDistributionOption, kNaturalBoostingOptions);

enum class TargetScale : std::uint8_t { kItself, kLogarithm };

TargetScale target_scale(const Params& params) {
  const std::string name = params.text("distribution", "normal");
  if (canonical_name(name) == "normal") return TargetScale::kItself;
  if (canonical_name(name) == "lognormal") return TargetScale::kLogarithm;
  fail_option("distribution", name, "distribution is normal or lognormal");
}

class NgboostModel final : public QuantileModel {
 public:
  NgboostModel(std::size_t features, ModelColumns columns, TargetScale scale, NaturalBoosting law)
      : features_(features), columns_(std::move(columns)), scale_(scale), law_(std::move(law)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    out.value("distribution", scale_ == TargetScale::kLogarithm ? "lognormal" : "normal");
    columns_.save(out);
    law_.save(out.part("boosting"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    Prediction result = gaussian_quantiles(law_.predict(columns_.select(rows.x, storage), how),
                                           normal_scores(levels));
    if (scale_ == TargetScale::kLogarithm) {
      for (double& q : result.quantiles.values()) q = bounded(std::exp(q));
    }
    return result;
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  TargetScale scale_;
  NaturalBoosting law_;
};

}  // namespace

std::span<const ParamInfo> ngboost_options() { return kNgboostOptions; }

void check_ngboost(const FitInput& input, const Params& params) {
  if (target_scale(params) == TargetScale::kItself) return;
  for (std::size_t i = 0; i < input.y.size(); ++i) {
    const bool counts = input.weight.empty() || input.weight[i] > 0.0;
    if (!counts || input.y[i] > 0.0) continue;
    fail(ErrorCode::kBadData,
         {.row = i,
          .value = fmt::to_string(input.y[i]),
          .remedies = {use("distribution", "normal"), advice("leave the row out")}},
         "the target is {}; a lognormal distribution is for targets above 0", input.y[i]);
  }
}

std::unique_ptr<QuantileModel> fit_ngboost(const FitInput& input, const Params& params,
                                           const Execution& how) {
  const NaturalBoostingOptions options = NaturalBoostingOptions::parse(params);
  check_ngboost(input, params);
  TrainingRows rows(input, all_rows(input.x.rows()));
  // The logarithm and its inverse would not give back the one value that all targets share.
  const bool constant = std::ranges::all_of(rows.y, [&](double y) { return y == rows.y.front(); });
  const TargetScale scale = constant ? TargetScale::kItself : target_scale(params);
  if (scale == TargetScale::kLogarithm) {
    for (double& y : rows.y) y = std::log(y);
  }
  return std::make_unique<NgboostModel>(
      input.x.cols(), ModelColumns(input.model_columns), scale,
      NaturalBoosting::fit(rows.data(), options, input.seed, how));
}

std::unique_ptr<QuantileModel> load_ngboost(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  ModelColumns columns = ModelColumns::load(in, features);
  const auto name = in.get<std::string>("distribution");
  if (name != "normal" && name != "lognormal") {
    fail(ErrorCode::kCorruptFile, "the model file's distribution is '{}'", name);
  }
  NaturalBoosting law = NaturalBoosting::load(in.part("boosting"));
  if (law.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile, "the model file's trees are for {} features, not {}",
         law.features(), columns.width(features));
  }
  return std::make_unique<NgboostModel>(
      features, std::move(columns),
      name == "lognormal" ? TargetScale::kLogarithm : TargetScale::kItself, std::move(law));
}

}  // namespace tare
