// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "calibrate/rows/training_rows.h"
#include "io/tensor_store.h"
#include "model/gaussian/gaussian_mixture.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The standard normal's quantiles at the levels.
std::vector<double> normal_scores(std::span<const Level> levels);

/// mean + sd * score for every row and score, which ascend: quantiles that do not decrease. An sd
/// of 0 gives the mean, exactly.
Prediction gaussian_quantiles(const Gaussians& laws, std::span<const double> scores);

/// A method that answers with the quantiles of a normal distribution. `Law` has features(),
/// predict(x, how) to Gaussians, save(out) and a static load(in); it reads some of the columns of
/// x.
template <class Law>
class GaussianModel final : public QuantileModel {
 public:
  GaussianModel(std::size_t features, ModelColumns columns, Law law)
      : features_(features), columns_(std::move(columns)), law_(std::move(law)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    columns_.save(out.part("columns"));
    law_.save(out.part("network"));
  }

  static std::unique_ptr<GaussianModel> load(const TensorReader& in) {
    const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
    ModelColumns columns = ModelColumns::load(in.part("columns"), features);
    Law law = Law::load(in.part("network"));
    if (law.features() != columns.width(features)) {
      fail(ErrorCode::kCorruptFile, "the model file's network has {} inputs for {} columns",
           law.features(), columns.width(features));
    }
    return std::make_unique<GaussianModel>(features, std::move(columns), std::move(law));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    return gaussian_quantiles(law_.predict(columns_.select(rows.x, storage), how),
                              normal_scores(levels));
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  Law law_;
};

}  // namespace tare
