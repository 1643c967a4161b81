// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/conformal_network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "calibrate/baseline/quantile/conformal_bands.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

// Rows whose knots are in memory at once when predicting.
constexpr std::size_t kRowsOfAPart = 4096;

class ConformalNetwork final : public QuantileModel {
 public:
  ConformalNetwork(std::size_t features, ModelColumns columns, QuantileNetwork network,
                   ConformalBands bands)
      : features_(features),
        columns_(std::move(columns)),
        network_(std::move(network)),
        bands_(std::move(bands)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", features_);
    columns_.save(out);
    network_.save(out.part("network"));
    bands_.save(out.part("bands"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Prediction result;
    result.quantiles = Matrix(rows.x.rows(), levels.size());
    for (std::size_t first = 0; first < rows.x.rows(); first += kRowsOfAPart) {
      const std::size_t count = std::min(kRowsOfAPart, rows.x.rows() - first);
      Matrix chosen;
      const MatrixView x = columns_.select(rows.x.middle_rows(first, count), chosen);
      const Matrix knots = network_.quantiles(x, knot_levels(), how);
      for (std::size_t i = 0; i < count; ++i)
        bands_.answer(knots.row(i), levels, result.quantiles.row(first + i));
    }
    return result;
  }

 private:
  std::size_t features_;
  ModelColumns columns_;
  QuantileNetwork network_;
  ConformalBands bands_;
};

}  // namespace

std::unique_ptr<QuantileModel> fit_conformal_network(const FitInput& input,
                                                     const Params& given_params,
                                                     const TrainQuantiles& train,
                                                     const Execution& how) {
  const Params params = with_series_split(given_params, input);
  const Partition parts = hold_out(input, parse_split(params));
  const std::vector<std::size_t> held_out = usable_rows(input, parts.second, kMostConformalRows);
  const TrainingRows training(input, parts.first);
  QuantileNetwork network = train(training.data(), split(input.seed, 1));

  const Matrix x = take_rows(input.x, held_out, input.model_columns);
  const Matrix knots = network.quantiles(x, knot_levels(), how);
  ConformalBands bands(knots, take_rows(input.y, held_out), take_rows(input.weight, held_out));
  return std::make_unique<ConformalNetwork>(input.x.cols(), ModelColumns(input.model_columns),
                                            std::move(network), std::move(bands));
}

std::unique_ptr<QuantileModel> load_conformal_network(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  ModelColumns columns = ModelColumns::load(in, features);
  QuantileNetwork network = QuantileNetwork::load(in.part("network"));
  if (network.features() != columns.width(features)) {
    fail(ErrorCode::kCorruptFile, "the model file's network reads {} features and is given {}",
         network.features(), columns.width(features));
  }
  return std::make_unique<ConformalNetwork>(features, std::move(columns), std::move(network),
                                            ConformalBands::load(in.part("bands")));
}

}  // namespace tare
