// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/kqr.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "model/kernel_quantile/kernel_quantiles.h"

namespace tare {
namespace {

constexpr std::array kKqrOptions = std::to_array<ParamInfo>({
    {"penalty", "auto",
     "weight of |g|^2 / 2 beside the mean loss; auto: of 0.01, 0.001, 0.0001 and 0.00001 by "
     "cross-validation",
     "0.01,0.001,0.0001,0.00001"},
    {"kernel_width", "auto",
     "width of the kernel in medians of the distance between rows; auto: of 0.25, 0.5, 1 and 2 by "
     "cross-validation",
     "0.25,0.5,1,2"},
    {"most_rows", "2000", "of more rows, a random sample of this many is learned from"},
    {"gap", "0.001", "relative duality gap at which a level is solved"},
});

KernelQuantilesOptions parse_kqr(const Params& params) {
  const auto number_or_auto = [&](const char* name, double low, double high) {
    const bool given = canonical_name(params.text(name, "auto")) != "auto";
    return given ? std::optional(params.number(name, low, low, high)) : std::nullopt;
  };
  return {number_or_auto("penalty", 1e-9, 1e3), number_or_auto("kernel_width", 1e-3, 1e3),
          params.count("most_rows", 2000, 10, 10'000), params.number("gap", 1e-3, 1e-8, 0.5)};
}

class KqrModel final : public QuantileModel {
 public:
  KqrModel(std::size_t features, ModelColumns columns, KernelQuantiles quantiles)
      : features_(features), columns_(std::move(columns)), quantiles_(std::move(quantiles)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    columns_.save(out);
    quantiles_.save(out);
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = columns_.select(rows.x, storage);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    quantiles_.predict(x, levels, result.quantiles, how);
    return result;
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  KernelQuantiles quantiles_;
};

}  // namespace

std::span<const ParamInfo> kqr_options() { return kKqrOptions; }

std::unique_ptr<QuantileModel> fit_kqr(const FitInput& input, const Params& params,
                                       const Execution& how) {
  const KernelQuantilesOptions options = parse_kqr(params);
  const TrainingRows training(input, all_rows(input.x.rows()));
  return std::make_unique<KqrModel>(
      input.x.cols(), ModelColumns(input.model_columns),
      KernelQuantiles::fit(training.data(), options, input.seed, how));
}

std::unique_ptr<QuantileModel> load_kqr(const TensorReader& in) {
  const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  ModelColumns columns = ModelColumns::load(in, features);
  const std::size_t read = columns.width(features);
  return std::make_unique<KqrModel>(features, std::move(columns), KernelQuantiles::load(in, read));
}

}  // namespace tare
