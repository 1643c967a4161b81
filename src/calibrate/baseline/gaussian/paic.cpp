// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/paic.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "math/bounded.h"
#include "math/normal_mixture.h"
#include "model/gaussian/randomised_network.h"

namespace tare {
namespace {

constexpr std::size_t kMostForecasts = 1000;

constexpr auto kPaicOptions = join_options(
    kRandomisedOptions,
    std::to_array<ParamInfo>({
        {"forecasts", "32", "values of r over which an answer is averaged"},
    }),
    nn::kBodyOptions, kGaussianDropout,
    std::to_array<ParamInfo>({
        {"sd_floor", "0.001", "least sd, as a share of the target's own"},
        {"refine", "0.1",
         "after training, train on from the best weights at this share of the learning rate; 0: do "
         "not"},
    }),
    kGaussianTraining);

class PaicModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;
    std::size_t forecasts = 1;
    RandomisedNetwork network;
  };
  explicit PaicModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    out.value("forecasts", parts_.forecasts);
    parts_.columns.save(out.part("columns"));
    parts_.network.save(out.part("network"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    constexpr std::size_t kRowsAtOnce = 256;
    Matrix storage;
    const MatrixView x = parts_.columns.select(rows.x, storage);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    parallel_blocks(how, x.rows(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
      answer_block(x.middle_rows(first, last - first), levels, first, result.quantiles);
    });
    return result;
  }

 private:
  void answer_block(MatrixView x, std::span<const Level> levels, std::size_t first,
                    Matrix& out) const {
    const std::size_t count = parts_.forecasts;
    Matrix repeated(x.rows() * count, x.cols());
    std::vector<double> r;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        std::ranges::copy(x.row(i), repeated.row(i * count + k).begin());
        r.push_back((static_cast<double>(k) + 0.5) / static_cast<double>(count));
      }
    }
    Gaussians laws = parts_.network.forecast(repeated, r, one_thread());
    const Standard& target = parts_.network.target();
    if (!parts_.network.is_constant()) {  // in its own unit no sum of large numbers overflows
      for (double& mean : laws.mean) mean = (mean - target.mean) / target.scale;
      for (double& sd : laws.sd)
        sd = std::max(sd / target.scale, std::numeric_limits<double>::min());
    }
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const std::span<double> row = out.row(first + i);
      if (parts_.network.is_constant()) {
        std::ranges::fill(row, laws.mean[i * count]);
        continue;
      }
      const NormalMixture mixture(std::span(laws.mean).subspan(i * count, count),
                                  std::span(laws.sd).subspan(i * count, count));
      double before = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double q = bounded(target.mean + target.scale * mixture.quantile(levels[j]));
        row[j] = before = std::max(before, q);
      }
    }
  }

  Parts parts_;
};

}  // namespace

std::span<const ParamInfo> paic_options() { return kPaicOptions; }

std::unique_ptr<QuantileModel> fit_paic(const FitInput& input, const Params& params,
                                        const Execution& how) {
  const std::size_t forecasts = params.count("forecasts", 32, 1, kMostForecasts);
  const TrainingRows rows(input, all_rows(input.x.rows()));
  return std::make_unique<PaicModel>(
      PaicModel::Parts{input.x.cols(), ModelColumns(input.model_columns), forecasts,
                       fit_randomised_network(rows.data(), params, input.seed, how)});
}

std::unique_ptr<QuantileModel> load_paic(const TensorReader& in) {
  const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  const std::size_t forecasts = in.count("forecasts", kMostForecasts);
  ModelColumns columns = ModelColumns::load(in.part("columns"), features);
  RandomisedNetwork network = RandomisedNetwork::load(in.part("network"));
  if (forecasts == 0 || network.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile,
         "the model file's randomised forecaster has {} inputs for {} columns, and {} forecasts",
         network.features(), columns.width(features), forecasts);
  }
  return std::make_unique<PaicModel>(
      PaicModel::Parts{features, std::move(columns), forecasts, std::move(network)});
}

}  // namespace tare
