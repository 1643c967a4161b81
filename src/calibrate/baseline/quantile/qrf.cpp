// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/qrf.h"

#include <utility>

#include "base/fail.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "model/forest/quantile_forest.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

class QrfModel final : public QuantileModel {
 public:
  QrfModel(std::size_t features, ModelColumns columns, QuantileForest forest)
      : features_(features), columns_(std::move(columns)), forest_(std::move(forest)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    columns_.save(out);
    forest_.save(out.part("forest"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = columns_.select(rows.x, storage);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    forest_.predict(x, levels, result.quantiles, how);
    return result;
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  QuantileForest forest_;
};

}  // namespace

std::span<const ParamInfo> qrf_options() { return kQuantileForestOptions; }

std::unique_ptr<QuantileModel> fit_qrf(const FitInput& input, const Params& params,
                                       const Execution& how) {
  const QuantileForestOptions options = QuantileForestOptions::parse(params);
  const TrainingRows rows(input, all_rows(input.x.rows()));
  return std::make_unique<QrfModel>(input.x.cols(), ModelColumns(input.model_columns),
                                    QuantileForest::fit(rows.data(), options, input.seed, how));
}

std::unique_ptr<QuantileModel> load_qrf(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  ModelColumns columns = ModelColumns::load(in, features);
  QuantileForest forest = QuantileForest::load(in.part("forest"));
  if (forest.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile, "the model file's forest is for {} features, not {}",
         forest.features(), columns.width(features));
  }
  return std::make_unique<QrfModel>(features, std::move(columns), std::move(forest));
}

}  // namespace tare
