// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/dgp.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "math/normal_mixture.h"
#include "model/gp/deep_gp.h"

namespace tare {
namespace {

void quantiles_of(const DeepGp::Mixture& mixture, std::span<const Level> levels,
                  std::span<double> out) {
  if (mixture.mean.size() == 1 && mixture.sd[0] == 0.0) {
    std::ranges::fill(out, mixture.mean[0]);
    return;
  }
  const NormalMixture law(mixture.mean, mixture.sd);
  double before = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < levels.size(); ++j) {
    // Levels that differ in their last digits may come out in the wrong order by as little.
    out[j] = before = std::max(before, law.quantile(levels[j]));
  }
}

class DgpModel final : public QuantileModel {
 public:
  DgpModel(std::size_t features, ModelColumns columns, DeepGp process)
      : features_(features), columns_(std::move(columns)), process_(std::move(process)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    columns_.save(out);
    process_.save(out.part("process"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = columns_.select(rows.x, storage);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    process_.predict(x, how, [&](std::size_t i, const DeepGp::Mixture& mixture) {
      quantiles_of(mixture, levels, result.quantiles.row(i));
    });
    return result;
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  DeepGp process_;
};

}  // namespace

std::span<const ParamInfo> dgp_options() { return kDeepGpOptions; }

std::unique_ptr<QuantileModel> fit_dgp(const FitInput& input, const Params& params,
                                       const Execution& how) {
  const TrainingRows rows(input, all_rows(input.x.rows()));
  return std::make_unique<DgpModel>(input.x.cols(), ModelColumns(input.model_columns),
                                    fit_deep_gp(rows.data(), params, input.seed, how));
}

std::unique_ptr<QuantileModel> load_dgp(const TensorReader& in) {
  const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  ModelColumns columns = ModelColumns::load(in, features);
  DeepGp process = DeepGp::load(in.part("process"));
  if (process.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile, "the model file's process has {} inputs and not {}",
         process.features(), columns.width(features));
  }
  return std::make_unique<DgpModel>(features, std::move(columns), std::move(process));
}

}  // namespace tare
